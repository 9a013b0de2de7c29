"""What every round that can begin along given sequences does there, whatever the others do: the flows of its slots.

A round that begins at position m meets position n in its slot n - m, knows the tokens in between and no other round, so
the rounds of all sequences and all beginnings are one batch, and a lookahead of L takes L steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from specsim.arrays import Array, at, is_exact, namespace, number, positive_part, total_variation
from specsim.divergences.whole import same_in_every_slot
from specsim.flows import Flow, begin, flow
from specsim.verification import Rule

ROUNDING = 64
"""Units in the last place that a kept mass of floats may lie above the strict rule's by rounding alone."""


class Slot(NamedTuple):
    """Slot i of the round begun at n - i, at positions n = 0 .. N-2 (the last holds no draft); anything for n < i.

    All relative to the mass of that round still alive there.  law [B, N-1, V]: kept + corrected, what it makes of the
    position; kept, corrected, relaxed [B, N-1]: of the sequence's own token; keeps, relaxes: the same over all tokens;
    local: TV(law, target).  Relaxed is what is kept beyond the strict rule: [kept - min(draft, target)]+.
    """

    law: Array
    kept: Array
    corrected: Array
    relaxed: Array
    keeps: Array
    relaxes: Array
    local: Array


class Ahead(NamedTuple):
    """Laws [B, M, V] and tokens [B, M] that slot i of the rounds begun at 0 .. M-1 meets."""

    target: Array
    draft: Array
    tokens: Array


def slots_along(rule: Rule, target: Array, draft: Array, tokens: Array, lookahead: int) -> list[Slot]:
    """The slots of a lookahead along tokens [B, N], laws [B, N, V]: min(L, N-1), as none reaches the last token."""
    drafted = tokens.shape[1] - 1
    along = Ahead(*(array[:, :drafted, ...] for array in (target, draft, tokens)))
    count = min(lookahead, drafted)
    if count and same_in_every_slot(rule):
        found, _ = flow(rule, begin(rule, flat(along.target)[:, 0]), *flats(along), 0)
        return [slot_of(found, along, 0)] * count
    return list(every_slot(rule, along, count))


def every_slot(rule: Rule, along: Ahead, count: int) -> Iterator[Slot]:
    """Slot by slot, the state of each round following the sequence from where the round begins."""
    state = begin(rule, 0 * flat(along.target)[:, 0])
    for i in range(count):
        ahead = Ahead(*(shifted_back(array, i) for array in along))
        found, carry = flow(rule, state, *flats(ahead), i)
        state = carry(namespace(along.tokens).reshape(ahead.tokens, (-1,)))
        yield slot_of(found, ahead, i)


def flat(law: Array) -> Array:
    """Laws [B, M, V] -> [B M, V]."""
    return namespace(law).reshape(law, (-1, law.shape[-1]))


def flats(ahead: Ahead) -> tuple[Array, Array]:
    """The laws as a flow takes them: draft, target [B M, V]."""
    return flat(ahead.draft), flat(ahead.target)


def slot_of(found: Flow, ahead: Ahead, i: int) -> Slot:
    """The figures of slot i, moved from where a round begins to the position it meets."""
    xp = namespace(ahead.target)
    found = Flow(*(xp.reshape(part, ahead.target.shape) for part in found))
    relaxed = beyond_strict(found.kept, xp.minimum(ahead.draft, ahead.target))
    own = (at(part, ahead.tokens) for part in (found.kept, found.corrected, relaxed))
    sums = (xp.sum(part, axis=-1) for part in (found.kept, relaxed))
    return Slot(*(shifted(part, i) for part in (found.law, *own, *sums, total_variation(found.law, ahead.target))))


def beyond_strict(kept: Array, strict: Array) -> Array:
    """[kept - strict]+; 0 where it is rounding, or a strict rule would have runs of relaxed tokens."""
    xp, over = namespace(kept), positive_part(kept - strict)
    if is_exact(kept):
        return over
    return xp.where(over > ROUNDING * xp.finfo(kept.dtype).eps * kept, over, 0 * over)


def shifted_back(array: Array, by: int) -> Array:
    """[B, M, ...] -> the entry `by` places on; past the end, where no round looks, the last one."""
    last = array[:, -1:, ...]
    return namespace(array).concat([array[:, by:, ...], *([last] * by)], axis=1)


def shifted(array: Array, by: int) -> Array:
    """[B, M, ...] -> the entry `by` places before; 0 where there is none."""
    xp = namespace(array)
    nothing = xp.zeros_like(array[:, :by, ...]) + number(0, array)
    return xp.concat([nothing, array[:, : array.shape[1] - by, ...]], axis=1)
