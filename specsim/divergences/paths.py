"""Along given sequences: how likely the run makes them, and what its laws of the next token are worth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from specsim.arrays import Array, at, divide, indicator, is_exact, namespace, number, to_numpy, total_variation
from specsim.decoding import require_slots
from specsim.divergences.masses import Masses, laws_along, laws_of, masses_along
from specsim.divergences.positions import chi_square, kl, log_largest
from specsim.divergences.rounds import Slot, shifted, slots_along
from specsim.divergences.whole import whole_law
from specsim.errors import SpecsimError
from specsim.verification import Rule

CHUNK_BYTES = 2**26
"""Memory that sequences worked on together take, roughly; one sequence is always taken."""
NUMBERS = 24
"""Arrays as large as the laws that are held at a time beside one for every slot, counted on the high side."""

Laws = tuple[Array, Array, Array]
"""Target and draft laws along sequences, and the sequences."""


class Paths(NamedTuple):
    """One number a sequence, all numpy [B]; `named.py` says what each one estimates, and from which sample.

    ratio: out(x) / target(x), inf where the target alone lacks x; off_support: sum_n ratio(x_<n) out(no target token |
    x_<n), 0 from the first such token on.  Sums over the positions, up to where out can not produce the sequence:
    token_kl, token_kl_reverse, token_tv, token_chi2, token_log_ratio, local.  Expected counts given the sequence's
    prefixes: relaxed tokens, relaxed_runs of them, calls of the target, accepted drafts.
    """

    ratio: np.ndarray
    off_support: np.ndarray
    token_kl: np.ndarray
    token_kl_reverse: np.ndarray
    token_tv: np.ndarray
    token_chi2: np.ndarray
    token_log_ratio: np.ndarray
    local: np.ndarray
    relaxed: np.ndarray
    relaxed_runs: np.ndarray
    calls: np.ndarray
    accepted: np.ndarray


def conditional_laws(rule: Rule, target: Array, draft: Array, tokens: Array, lookahead: int) -> Array:
    """out(v | x_<n) [B, N, V] of a run of Chain(lookahead) with `rule` that writes tokens [B, N].

    target, draft: laws [B, N, V] along the tokens, laws[b, n] given tokens[b, :n]; numpy, torch or Fractions.  Exact
    for every rule that specsim.flows knows; 0 after a prefix that the decoder cannot produce.  No end of sequence.
    A rule that needs a codebook is bound first (bind_codebook).
    """
    check(target, draft, tokens, lookahead)
    wide = whole_law(rule)
    some = (laws_along(wide, *part, lookahead) for part in chunks(wide, target, draft, tokens, lookahead))
    return namespace(target).concat(list(some), axis=0)


def along(rule: Rule, target: Array, draft: Array, tokens: Array, lookahead: int) -> Paths:
    """Every figure of each sequence; arguments as of `conditional_laws`.  In Fractions all but logarithms are exact."""
    check(target, draft, tokens, lookahead)
    wide = whole_law(rule)
    return join([paths_of(wide, *part, lookahead) for part in chunks(wide, target, draft, tokens, lookahead)])


def join(parts: list[Paths]) -> Paths:
    """The sequences of all parts, in order."""
    return Paths(*(np.concatenate(some) for some in zip(*parts, strict=True)))


def chunks(rule: Rule, target: Array, draft: Array, tokens: Array, lookahead: int) -> Iterator[Laws]:
    """target, draft and tokens of as many sequences at a time as fit the memory."""
    arrays = NUMBERS + min(lookahead, tokens.shape[1]) + looked_up(rule, target.shape[-1])
    each = arrays * math.prod(target.shape[1:]) * getattr(target.dtype, "itemsize", 8)
    size = max(1, CHUNK_BYTES // each)
    for i in range(0, tokens.shape[0], size):
        yield target[i : i + size, ...], draft[i : i + size, ...], tokens[i : i + size, ...]


def looked_up(rule: Rule, vocab: int) -> int:
    """Numbers that a rule looks up for each token: what it says itself, or V where it is asked token by token."""
    inner = getattr(rule, "rule", rule)
    if not callable(rule) and hasattr(rule, "at"):
        return vocab
    return max(getattr(inner, "reach", 0), getattr(inner, "width", 0))


def paths_of(rule: Rule, target: Array, draft: Array, tokens: Array, lookahead: int) -> Paths:
    """The figures of sequences that are worked on together."""
    slots = slots_along(rule, target, draft, tokens, lookahead)
    masses = masses_along(slots, target, tokens)
    law = laws_of(slots, masses, target)
    ratio, before = ratios(masses.own, at(target, tokens))
    off = namespace(law).sum(law * indicator(target == 0, law), axis=-1)
    measures = (kl(law, target), kl(target, law), total_variation(law, target), chi_square(law, target))
    sums = (live_sum(part, masses) for part in (*measures, log_largest(law, target)))
    return Paths(*map(to_numpy, (ratio, row_sum(before * off), *sums, *counts(slots, masses))))


def ratios(own: Array, likely: Array) -> tuple[Array, Array]:
    """own, likely [B, N] -> out/target of each sequence [B], and of its prefixes [B, N], which is 0 off the support."""
    xp = namespace(own)
    steps = divide(own, likely, number(0, own))
    prefixes = xp.cumulative_prod(steps, axis=-1)
    off = xp.any((likely == 0) & (own > 0), axis=-1) & xp.all(own > 0, axis=-1)
    before = xp.concat([0 * steps[:, :1] + number(1, own), prefixes[:, :-1]], axis=1)
    return xp.where(off, infinite(prefixes[:, -1]), prefixes[:, -1]), before


def infinite(like: Array) -> Array:
    """inf everywhere."""
    return np.full(like.shape, math.inf, dtype=object) if is_exact(like) else namespace(like).full_like(like, math.inf)


def counts(slots: list[Slot], masses: Masses) -> tuple[Array, ...]:
    """local, relaxed, relaxed_runs, calls, accepted.

    A run of relaxed tokens begins with one whose predecessor is not relaxed; every round ends with a token of another
    kind, so a run is of one round.  Of a round with i kept drafts, the last was relaxed with probability
    relaxed_(i-1) / kept_(i-1) of its token.
    """
    alive = masses.alive[:, :-1, :]
    local = relaxed = runs = accepted = 0 * masses.own[:, 0]
    after_relaxed = 0 * alive[:, :, 0]
    for i, part in enumerate(slots):
        mass = alive[:, :, i]
        local = local + row_sum(mass * part.local)
        relaxed = relaxed + row_sum(mass * part.relaxes)
        runs = runs + row_sum(mass * (1 - after_relaxed) * part.relaxes)
        accepted = accepted + row_sum(mass * part.keeps)
        after_relaxed = shifted(divide(part.relaxed, part.kept, number(0, part.kept)), 1)
    return local, relaxed, runs, row_sum(masses.alive[:, :, 0]), accepted


def live_sum(values: Array, masses: Masses) -> Array:
    """values [B, N] summed over the positions whose prefix is possible."""
    xp = namespace(values)
    live = xp.sum(masses.alive, axis=-1) > 0
    return row_sum(xp.where(live, values, number(0, values)))


def row_sum(values: Array) -> Array:
    """Sum over the positions."""
    return namespace(values).sum(values, axis=-1)


def check(target: Array, draft: Array, tokens: Array, lookahead: int) -> None:
    """One row of laws for each token."""
    require_slots("Chain", "lookahead", lookahead)
    shapes = tuple(target.shape), tuple(draft.shape), tuple(tokens.shape)
    if len(shapes[0]) != 3 or shapes[0] != shapes[1] or shapes[0][:2] != shapes[2] or 0 in shapes[0]:
        raise SpecsimError(
            f"target, draft and tokens have shapes {shapes[0]}, {shapes[1]} and {shapes[2]}: give laws [B, N, V] of "
            "both models along tokens [B, N]"
        )
