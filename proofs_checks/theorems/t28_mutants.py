"""Wrong limits of several drafts, wrong orders and wrong couplings."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from proofs_checks.several.drafts import Drafting, Sets, likeliest
from proofs_checks.several.limits import subsets, the_rest
from proofs_checks.theorems.t28_limits import ONE, mass
from specsim.arrays import Array

ZERO = 0 * ONE


def single_tokens(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake: H is empty, one token or all."""
    some = [H for H in subsets(len(target)) if len(H) in (0, 1, len(target))]
    return 1 + min(mass(target, H) - mass(draft, H) ** count for H in some)


def some_inside(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake, no feasible dual: 1 - (1 - q(H))^k, the probability that some draft is in H, in the place of all."""
    return 1 + min(mass(target, H) - 1 + (1 - mass(draft, H)) ** count for H in subsets(len(target)))


def one_set(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake: the set that is best for one draft."""
    H = [v for v in range(len(target)) if draft[v] > target[v]]
    return min(ONE, 1 + mass(target, H) - mass(draft, H) ** count)


def not_renormalised(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake: the last draft's law as it was before."""
    first = likeliest(draft, count - 1)
    rest = [v for v in range(len(draft)) if v not in first]
    return mass(target, first) + sum((min(target[v], draft[v]) for v in rest), ZERO)


def drafted_mass(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake: q(the k likeliest tokens)."""
    return mass(draft, likeliest(draft, count))


def new_try(target: Array, draft: Array, count: int) -> Fraction:
    """1 - TV^k, as if every draft were verified by itself and all had to fail."""
    return 1 - (1 - np.minimum(target, draft).sum()) ** count


def apart(target: Array, sets: Sets) -> Array:
    """Drafts and output independent."""
    return np.array(list(sets.values()), dtype=object)[:, None] * target


def in_turn(target: Array, sets: Sets) -> Array:
    """A mistake: every set fills its tokens in turn, and nothing is moved again."""
    flow, room = np.full((len(sets), len(target)), ZERO), target.copy()
    for d, (held, chance) in enumerate(sets.items()):
        for v in sorted(held):
            flow[d, v] = min(room[v], chance - flow[d].sum())
            room[v] -= flow[d, v]
    return flow + the_rest(flow, list(sets.values()), target)


def wasteful(target: Array, sets: Sets) -> Array:
    """A mistake: all is kept that can be, whatever the output's law."""
    rows = [[chance / len(held) if v in held else ZERO for v in range(len(target))] for held, chance in sets.items()]
    return np.array(rows, dtype=object)


def by_difference(target: Array, draft: Array) -> list[int]:
    """The order of p - q."""
    return sorted(range(len(target)), key=lambda v: target[v] - draft[v])


def by_target(target: Array, draft: Array) -> list[int]:
    """The order of p."""
    return sorted(range(len(target)), key=lambda v: target[v])


def by_draft(target: Array, draft: Array) -> list[int]:
    """The order of q, the largest first."""
    return sorted(range(len(target)), key=lambda v: -draft[v])


def all_of_it(target: Array, draft: Array, count: int) -> tuple[Fraction, Fraction]:
    """A mistake: the limit goes to 1."""
    return 1 - (1 - draft[draft > 0].min()) ** count, ONE


def first_only(target: Array, draft: Array, count: int) -> tuple[Fraction, Fraction]:
    """A mistake: no more than 1 - TV."""
    return ZERO, np.minimum(target, draft).sum()


def last_only(drawing: Drafting) -> Drafting:
    """A mistake: of k drafts the likeliest k - 1 are thrown away."""
    return lambda draft, count: {frozenset(likeliest(draft, count)[count - 1 :]): ONE}
