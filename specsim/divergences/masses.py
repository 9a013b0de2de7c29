"""Which rounds can have produced a prefix, and so the law of the next token of the whole run."""

from __future__ import annotations

from typing import NamedTuple

from specsim.arrays import Array, at, column, divide, namespace, number
from specsim.divergences.rounds import Slot, slots_along
from specsim.verification import Rule


class Masses(NamedTuple):
    """Along each sequence, given its prefix before n.

    alive: [B, N, S+1] chance that the output has this prefix through a round that has kept exactly i drafts before n
    (i = 0: a round begins at n), relative to the chance of the prefix; it sums to 1, to 0 once the prefix is
    impossible.  own: [B, N] out(x_n | x_<n).
    """

    alive: Array
    own: Array


def masses_along(slots: list[Slot], target: Array, tokens: Array) -> Masses:
    """The recursion over the positions.

    out(x_n) = sum_i alive_i (kept_i + corrected_i)(x_n) + alive_S target(x_n): a round that has kept all S of its
    drafts adds the bonus token; at the last position every round does.  alive_(i+1)' = alive_i kept_i(x_n) / out(x_n),
    and alive_0' is the rest: the rounds that ended with x_n.
    """
    xp, likely = namespace(target), at(target, tokens)
    nothing = 0 * likely[:, 0]
    alive = [nothing + number(1, target), *([nothing] * len(slots))]
    every: list[list[Array]] = [alive]
    owns: list[Array] = []
    for n in range(tokens.shape[1]):
        on = slots if n < tokens.shape[1] - 1 else []
        kept = [alive[i] * part.kept[:, n] for i, part in enumerate(on)]
        ended = total([alive[i] * part.corrected[:, n] for i, part in enumerate(on)], nothing)
        ended = ended + total(alive[len(on) :], nothing) * likely[:, n]
        own = total(kept, ended)
        alive = [divide(part, own, number(0, target)) for part in (ended, *kept)]
        every, owns = [*every, alive], [*owns, own]
    return Masses(xp.stack([xp.stack(some, axis=-1) for some in every[:-1]], axis=1), xp.stack(owns, axis=-1))


def total(parts: list[Array], start: Array) -> Array:
    """The sum of arrays [B]."""
    for part in parts:
        start = start + part
    return start


def laws_of(slots: list[Slot], masses: Masses, target: Array) -> Array:
    """out(v | x_<n) [B, N, V]; 0 after a prefix that the decoder cannot produce."""
    xp, alive = namespace(target), masses.alive
    out = column(alive[:, :-1, -1], target) * target[:, :-1, :]
    for i, part in enumerate(slots):
        out = out + column(alive[:, :-1, i], target) * part.law
    last = column(xp.sum(alive[:, -1:, :], axis=-1), target) * target[:, -1:, :]
    return xp.concat([out, last], axis=1)


def laws_along(rule: Rule, target: Array, draft: Array, tokens: Array, lookahead: int) -> Array:
    """out(v | x_<n) [B, N, V] of a run of Chain(lookahead) with `rule`, all sequences at once."""
    slots = slots_along(rule, target, draft, tokens, lookahead)
    return laws_of(slots, masses_along(slots, target, tokens), target)
