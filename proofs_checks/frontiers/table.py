"""How far above the limit every rule lies, at equal costs; and whether a rule lies below it, which none can."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from proofs_checks.frontiers.convex import floor
from proofs_checks.frontiers.curves import Curve, Seen, Setting, Spot
from proofs_checks.frontiers.limits import Point
from specsim.comparing.lineup import has_strength

NOTHING = 1e-7
"""A limit below this is called 0: solvers stop near it, and a percentage of it would say nothing."""
ROUNDING = 1e-9
"""How far below a certified bound a rule may lie whose figures are float64 sums; one in Fractions may not at all."""
DRAWN = 1e-6
"""The same against what a curve's points say between them: solvers stop near 1e-8, and lines are drawn on."""
SHARES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
"""Costs of the table: shares of the way from strict verification to keeping everything."""

NEAR = 0.05
"""One of these costs is left out where a rule as given is nearer than this share of the way."""

LimitAt = Callable[[str, Fraction], Point | None]
"""limit_at(kind, cost): None where no verifier has that cost."""


@dataclass(frozen=True)
class Row:
    """A rule at one of the table's costs.

    goal: the cost asked for, None where the rule has no strength to bring it there; spot: what it really costs;
    kind, limit: the limit it is held against, at that very cost.
    """

    rule: Any
    goal: Fraction | None
    spot: Spot
    kind: str
    limit: Point | None

    @property
    def difference(self) -> float | None:
        """How far above the limit; None where there is none, or it is infinite."""
        if self.limit is None or math.isinf(self.limit.value):
            return None
        return float(self.spot.value) - self.limit.value

    @property
    def above(self) -> float | None:
        """The same as a share of the limit; None where the limit is 0."""
        if self.limit is None or self.difference is None or self.limit.value <= NOTHING:
            return None
        return self.difference / self.limit.value


class Goal(NamedTuple):
    """A cost at which rules are compared.  words: why this one."""

    cost: Fraction
    words: str


def goals(ends: tuple[Fraction, Fraction], curves: Sequence[Curve]) -> list[Goal]:
    """Where each rule is as given, and three costs between strict verification and keeping everything, the ends."""
    strict, fastest = ends
    whole = [Goal(strict + share * (fastest - strict), f"{100 * share} %") for share in SHARES]
    low, high = sorted(ends)
    costs = {repr(some.rule): Fraction(some.given.cost) for some in curves if not some.is_point}
    own = [Goal(cost, name) for name, cost in costs.items() if low < cost < high]
    near = NEAR * (high - low)
    apart = [
        goal for goal in whole if low < goal.cost < high and all(abs(goal.cost - mine.cost) > near for mine in own)
    ]
    found = {goal.cost: goal for goal in (*apart, *own)}
    return sorted(found.values(), key=lambda goal: goal.cost, reverse=fastest < strict)


def rows_of(setting: Setting, some: Curve, asked: Sequence[Goal], limit_at: LimitAt) -> list[Row]:
    """One rule at every cost it can be brought to; a rule that cannot be, as it is."""
    if not has_strength(some.rule) or some.is_point:
        return [row(some, None, some.given, limit_at)]
    quick, found = Seen(setting.floats(), some.rule), []
    for goal in asked:
        if goal.words == repr(some.rule):
            found.append(row(some, goal.cost, some.given, limit_at))
        elif (tuned := quick.tuned(float(goal.cost))) is not None:
            rule, value = tuned
            found.append(row(some, goal.cost, Spot(rule, value, *setting.measure(rule)), limit_at))
    return found


def row(some: Curve, goal: Fraction | None, spot: Spot, limit_at: LimitAt) -> Row:
    """A spot against the limit at its cost."""
    return Row(some.rule, goal, spot, some.kind, limit_at(some.kind, Fraction(spot.cost)))


def breaks(some: Row) -> str | None:
    """What is wrong where a rule lies below its limit, which no verifier can."""
    where, value = f"{some.spot.rule!r} at cost {float(some.spot.cost):.9g}", some.spot.value
    if not math.isfinite(value):
        return None
    if some.limit is None:
        return f"{where}: no verifier costs that"
    if below(value, some.limit.bound):
        return f"{where}: {float(value):.9g} is below the limit {some.limit.value:.9g}"
    return None


def below(value: Any, bound: Fraction | None) -> bool:
    """Whether a figure is below what is proved: compared in Fractions where it is one."""
    if bound is None:
        return False
    return value < bound if isinstance(value, Fraction) else value < float(bound) - ROUNDING * max(1, float(bound))


def breaks_curve(some: Curve, points: Sequence[Point]) -> str | None:
    """The same along a curve; a rule that is but a point has its row."""
    for spot in () if some.is_point else some.spots:
        low = floor(points, float(spot.cost))
        if float(spot.value) < low - DRAWN * max(1, low):
            return f"{spot.rule!r} at cost {float(spot.cost):.9g}: {float(spot.value):.9g} is below the limit"
    return None
