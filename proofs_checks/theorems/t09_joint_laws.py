"""Joint laws of a token and its redraw, enumerated with the couplings' own code.  Shared by T09 to T13."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from specsim.arrays import Array, positive_part, total_variation
from specsim.couplings import Redraw, gumbel, independent, maximal
from specsim.interpreters.exact import Exact
from specsim.testing.domains import Case
from specsim.testing.fields import Field, LawField
from specsim.testing.statements import equal

Joint = Callable[[Array, Array], Array]
"""old, new [V] -> joint law [V, V] of the old token X (rows) and the new token Y (columns)."""
Formula = Callable[[Array, Array], Fraction]
"""old, new [V] -> what P(X = Y) is said to be."""
CHANGE: dict[str, Field] = {"old": LawField(), "new": LawField()}
"""A token's law before and after a redraw."""
BYTES = 2**28
"""Budget of one enumeration, which takes a handful of rows."""


def joint_law(redraw: Redraw, first: Callable[..., Any], old: Array, new: Array) -> Array:
    """The joint law of X ~ old, drawn by `first`, and Y, redrawn by a coupling.

    first: `Exact.token`, or `Exact.race` for an X that won the race under its law with the noise of its position.
    """
    choose, position = Exact(old, 1, BYTES), np.zeros((1, 1), dtype=np.int64)
    before, (was, now) = first(choose, old[None, None], position, (old[None, None], new[None, None]))
    weights, (before,) = redraw(choose, was, now, before, 0 * before, (before,))
    after, (before,) = choose(weights, (before,))
    joint = np.full((len(old), len(old)), Fraction(0))
    np.add.at(joint, (before[:, 0], after[:, 0]), choose.weight)
    return joint


def maximal_joint(old: Array, new: Array) -> Array:
    """Modified rejection sampling of a token that was drawn from its old law."""
    return joint_law(maximal, Exact.token, old, new)


def independent_joint(old: Array, new: Array) -> Array:
    """A fresh token, whatever the old one was."""
    return joint_law(independent, Exact.token, old, new)


def race_joint(old: Array, new: Array) -> Array:
    """Two races with one noise (V <= 3: exact regions)."""
    return joint_law(gumbel, Exact.race, old, new)


def overlap(first: Array, second: Array) -> Fraction:
    """1 - TV = sum min(p, q)."""
    return 1 - total_variation(first, second)


def laws_of(joint: Array) -> tuple[Array, Array]:
    """Both marginals, of X and of Y."""
    return joint.sum(axis=1), joint.sum(axis=0)


def keeps_laws(joint: Array, case: Case) -> Fraction:
    """Margin of: X ~ old and Y ~ new."""
    left, right = laws_of(joint)
    return min(equal(left, case.old), equal(right, case.new))


def transport(given: Array, wanted: Array) -> Array:
    """Mass `given` moved to where it is `wanted`, row by row, each filling the columns from the first one on."""
    plan, left = np.full((len(given), len(wanted)), Fraction(0)), wanted.copy()
    for row, mass in enumerate(given):
        for column in range(len(wanted)):
            plan[row, column] = min(left[column], mass - plan[row].sum())
        left = left - plan[row]
    return plan


def several(case: Case) -> bool:
    """Whether what leaves can be matched with what enters in two ways: filling from either end differs."""
    leaving, entering = positive_part(case.old - case.new), positive_part(case.new - case.old)
    return bool((transport(leaving, entering) != transport(leaving[::-1], entering)[::-1]).any())
