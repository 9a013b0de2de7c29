"""Turning a rule's strength until it costs what is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from specsim.strength import Strength, strength_of, with_strength

ROUNDING = 1e-9
"""Costs closer than this are one cost: float64 sums of probabilities err by less."""
FEWEST_DIGITS, MOST_DIGITS = 4, 17
"""Digits tried for a tuned strength: the shortest decimal that does is what people and Fractions read.  Fewer digits
would walk along a step of the cost, on which the output may still change."""

Cost = Callable[[Any], float]
"""cost_of(rule): the cost of decoding with it."""
ByValue = Callable[[float], float]


class Effort(NamedTuple):
    """How finely to tune.

    slack: how far an attained cost may lie from the goal and still be called the same.  grid: strengths of a scan; a
    second scan as fine covers the part of the range where the cost changes.  resolution: gap between two strengths,
    relative beyond 1, from which a cost that still differs is a jump.
    """

    slack: float = 1e-6
    grid: int = 17
    resolution: float = 1e-12


EXACT = Effort()
"""For costs in float64: a slack far below what any figure shows."""


class Point(NamedTuple):
    """A rule with one strength, and what it costs."""

    rule: Any
    value: float
    cost: float


@dataclass(frozen=True)
class Tuned:
    """What tuning found.

    points: one that meets the goal; or the two neighbours of a jump over it, the weaker first; or none, out of reach.
    reach: least and greatest cost seen.  backtrack: how far the cost turns back along the strengths (0: monotone).
    crossings: how often the scan passes the goal; the first passage from the weak end is the one that is taken.
    """

    points: tuple[Point, ...]
    reach: tuple[float, float]
    backtrack: float
    crossings: int

    @property
    def met(self) -> bool:
        """Whether the goal was met within the slack."""
        return len(self.points) == 1


def tune(cost_of: Cost, rule: Any, goal: float, effort: Effort = EXACT) -> Tuned:
    """The rule's strength at which `cost_of(rule)` is `goal`, by bisection after a scan.

    cost_of is a function: the same rule always costs the same.  SpecsimError for a rule without strength.
    """
    strength, seen = strength_of(rule), dict[float, float]()

    def cost(value: float) -> float:
        if value not in seen:
            seen[value] = float(cost_of(with_strength(rule, value)))
        return seen[value]

    values = scan(cost, strength, effort.grid)
    found = Search(cost, strength, goal, effort).solve(values)
    points = tuple(Point(with_strength(rule, value), value, cost(value)) for value in found)
    costs = [cost(value) for value in values]
    off = [cost - goal for cost in costs if abs(cost - goal) > effort.slack]
    crossings = sum(a * b < 0 for a, b in pairwise(off))
    return Tuned(points, (min(seen.values()), max(seen.values())), backtrack(costs), crossings)


def between(strength: Strength, share: float) -> float:
    """The strength at a share from 0 (weakest) to 1: steps grow with the distance, for ranges such as 1 to 1e9."""
    span = abs(strength.strongest - strength.weakest)
    step = math.copysign(math.expm1(share * math.log1p(span)), strength.strongest - strength.weakest)
    value = strength.weakest + step
    ends = sorted((strength.weakest, strength.strongest))
    return round(value) if strength.whole else min(max(value, float(ends[0])), float(ends[1]))


def shares(grid: int, low: float, high: float) -> Iterator[float]:
    """`grid` shares from low to high, both included."""
    return (low + (high - low) * i / (grid - 1) for i in range(grid))


def scan(cost: ByValue, strength: Strength, grid: int) -> list[float]:
    """Strengths from weak to strong: over the whole range, then once more where the cost changes."""
    coarse = list(shares(grid, 0, 1))
    costs = [cost(between(strength, share)) for share in coarse]
    first = next((i for i in range(1, grid) if abs(costs[i] - costs[0]) > ROUNDING), grid - 1) - 1
    last = next((i for i in reversed(range(grid - 1)) if abs(costs[i] - costs[-1]) > ROUNDING), 0) + 1
    fine = shares(grid, coarse[first], coarse[last]) if first < last else ()
    values = {between(strength, share) for share in (*coarse, *fine)}
    return sorted(values, reverse=strength.strongest < strength.weakest)


def backtrack(costs: list[float]) -> float:
    """How far a sequence goes against its own main direction: the smaller of its greatest later rise and fall."""
    rise = fall = 0.0
    for i, early in enumerate(costs):
        rise = max(rise, max(costs[i:]) - early)
        fall = max(fall, early - min(costs[i:]))
    return min(rise, fall)


class Search(NamedTuple):
    """Looks for the goal between strengths already scanned."""

    cost: ByValue
    strength: Strength
    goal: float
    effort: Effort

    def meets(self, value: float) -> bool:
        """Whether the cost there is the goal, within the slack."""
        return abs(self.cost(value) - self.goal) <= self.effort.slack

    def apart(self, one: float, other: float) -> bool:
        """Whether the goal lies between the costs of two strengths."""
        return (self.cost(one) - self.goal) * (self.cost(other) - self.goal) < 0

    def solve(self, values: list[float]) -> tuple[float, ...]:
        """The weakest strength that meets the goal, the two beside a jump over it, or none."""
        for weak, strong in pairwise([values[0], *values]):  # the first pair stands for the weak end alone
            if self.meets(strong):
                return (self.shortest(self.weakest(weak, strong), self.meets),)
            if self.apart(weak, strong):
                return self.bisect(weak, strong)
        return ()

    def bisect(self, weak: float, strong: float) -> tuple[float, ...]:
        """The goal lies between the costs of both -> the strength that meets it, or the two beside a jump."""
        while (middle := self.halfway(weak, strong)) is not None:
            if self.meets(middle):
                return (self.shortest(self.weakest(weak, middle), self.meets),)
            weak, strong = (weak, middle) if self.apart(weak, middle) else (middle, strong)
        return tuple(self.shortest(end, self.on_step(end)) for end in (weak, strong))

    def weakest(self, weak: float, strong: float) -> float:
        """Where the step of the cost that `strong` stands on begins."""
        same = self.on_step(strong)
        while (middle := self.halfway(weak, strong)) is not None:
            weak, strong = (weak, middle) if same(middle) else (middle, strong)
        return strong

    def halfway(self, weak: float, strong: float) -> float | None:
        """The strength in the middle, None where both are as close as makes sense."""
        middle = (weak + strong) // 2 if self.strength.whole else (weak + strong) / 2
        close = abs(strong - weak) <= self.effort.resolution * max(1, abs(weak), abs(strong))
        return None if close or middle in (weak, strong) else middle

    def on_step(self, end: float) -> Callable[[float], bool]:
        """Whether another strength costs the same as `end`."""
        return lambda value: abs(self.cost(value) - self.cost(end)) <= ROUNDING

    def shortest(self, value: float, good: Callable[[float], bool]) -> float:
        """The strength with the fewest digits that is as good; whole numbers are left alone."""
        if self.strength.whole:
            return value
        low, high = sorted((self.strength.weakest, self.strength.strongest))
        return next((short for short in decimals(value) if low <= short <= high and good(short)), value)


def decimals(value: float) -> Iterator[float]:
    """Decimals near a value, the shortest first: rounded to the nearest, then down and up."""
    for digits in range(FEWEST_DIGITS, MOST_DIGITS):
        nearest = float(f"{value:.{digits}g}")
        step = 10.0 ** (math.floor(math.log10(abs(value))) + 1 - digits) if value else 0.0
        yield from (nearest, *(float(f"{nearest + side * step:.{digits}g}") for side in (-1, 1)))
