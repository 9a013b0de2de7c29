"""What T30 says of the optimal residual inside LANTERN++, against the residual as released, in a tree."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proofs_checks.several.rules import Verified
from proofs_checks.theorems.t30_margins import bias
from proofs_checks.theorems.t30_rules import APART, ONE_CHILD, SETTINGS, TWO, Wrap, bound, verified
from specsim.rules import LanternPlus
from specsim.testing.domains import Case, Domain
from specsim.testing.fields import OneOf
from specsim.testing.statements import equal

Compared = Callable[[Case, Verified, Verified], Fraction]
"""compared(case, released, wrapped)"""


def plus(case: Case) -> Any:
    """LANTERN++ as released."""
    lam, k = case.setting
    return LanternPlus(k, lam)


def against_released(compared: Compared) -> Callable[[Case, Wrap], Fraction]:
    """A comparison of LANTERN++ as released with another form of it."""

    def margin(case: Case, wrap: Wrap) -> Fraction:
        rule = bound(plus(case), case.vocab)
        return compared(case, verified(case, rule), verified(case, wrap(rule)))

    return margin


def as_many(case: Case, released: Verified, wrapped: Verified) -> Fraction:
    """kept = kept"""
    return equal(wrapped.kept, released.kept)


def no_more_kept(case: Case, released: Verified, wrapped: Verified) -> Fraction:
    """What the released residual keeps more."""
    return released.kept - wrapped.kept


def no_more_bias(case: Case, released: Verified, wrapped: Verified) -> Fraction:
    """What the released residual's TV is more."""
    return bias(case, released) - bias(case, wrapped)


def same_at_no_more_bias(case: Case, released: Verified, wrapped: Verified) -> Fraction:
    """As many kept, and no more TV."""
    return min(as_many(case, released, wrapped), no_more_bias(case, released, wrapped))


def no_more_of_both(case: Case, released: Verified, wrapped: Verified) -> Fraction:
    """No more kept, and no more TV."""
    return min(no_more_kept(case, released, wrapped), no_more_bias(case, released, wrapped))


def one_law(case: Case, released: Verified, wrapped: Verified) -> Fraction:
    """The same law, and as many kept."""
    return min(as_many(case, released, wrapped), equal(wrapped.out, released.out))


def no_farther(case: Case, released: Verified, wrapped: Verified) -> Fraction:
    """How much farther from kept = limit + TV(out, p) the released residual is."""
    return (bias(case, released) - released.kept) - (bias(case, wrapped) - wrapped.kept)


ALL = OneOf(SETTINGS)
SMALL = OneOf(((2, 1),))
LARGE = OneOf(((5, 1),))
CHILDREN = Domain({**ONE_CHILD, "setting": ALL}, cost=2)
OF_TWO = Domain({**TWO, "setting": ALL}, (1, 2), highest={1: 1, 2: 8})
OF_THREE = Domain({**TWO, "setting": ALL}, (3,), highest={3: 6})
THREE = Domain({**APART, "setting": SMALL}, (1, 2, 3), highest={1: 1, 2: 4, 3: 4})
FOUR = Domain({**APART, "setting": SMALL}, (4,), highest={4: 3})
FOUR_FIFTHS = Domain({**APART, "setting": LARGE}, (4,), highest={4: 5})
