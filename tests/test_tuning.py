"""Tuning a strength to a cost: against cost functions known in advance, and wrong tuners that must be caught."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import pytest

from specsim.comparing import tuning
from specsim.comparing.tuning import EXACT, Search, Tuned, tune
from specsim.strength import Strength

NEAR = 5e-4
"""A tuned strength has at least four digits, so it may be rounded by this share of itself."""


def dial(weakest: float, strongest: float, value: float | None = None) -> Any:
    """A thing with a strength from weakest to strongest and nothing else."""

    @dataclass(frozen=True)
    class Dial:
        value: float
        strength: ClassVar[Strength] = Strength("value", weakest, strongest)

    return Dial(weakest if value is None else value)


@dataclass(frozen=True)
class Case:
    """cost(strength), the range of strengths, a goal, and what must come out: (strength, cost) pairs, weaker first."""

    cost: Callable[[float], float]
    ends: tuple[float, float]
    goal: float
    points: tuple[tuple[float, float], ...]
    reach: tuple[float, float] | None = None
    backtrack: float = 0.0
    crossings: int = 1


CASES = {
    "rising": Case(lambda v: v * v, (0.0, 3.0), 2.0, ((math.sqrt(2), 2.0),), (0, 9)),
    "falling": Case(lambda v: 3 - v, (0.0, 3.0), 0.5, ((2.5, 0.5),), (0, 3)),
    "strongest is the smaller number": Case(lambda v: 1 / v, (1.0, 0.1), 4.0, ((0.25, 4.0),), (1, 10)),
    "over nine orders of magnitude": Case(lambda v: 1 / v, (1.0, 1e9), 0.75, ((4 / 3, 0.75),), (1e-9, 1)),
    "steps": Case(lambda v: math.floor(10 * v) / 10, (0.0, 1.0), 0.35, ((0.4, 0.3), (0.4, 0.4)), (0, 1)),
    "steps down": Case(lambda v: 2.0 if v < 0.37 else 1.0, (0.0, 1.0), 1.5, ((0.37, 2.0), (0.37, 1.0)), (1, 2)),
    "goal on a step": Case(lambda v: math.floor(10 * v) / 10, (0.0, 1.0), 0.5, ((0.5, 0.5),), (0, 1)),
    "saturates at the goal": Case(lambda v: min(v, 1), (0.0, 10.0), 1.0, ((1.0, 1.0),), (0, 1), 0, 0),
    "whole, met": Case(lambda v: v * v, (1, 1000), 49, ((7, 49),), (1, 10**6), 0, 1),
    "whole, between": Case(lambda v: v * v, (1, 1000), 50, ((7, 49), (8, 64)), (1, 10**6)),
    "flat at the goal": Case(lambda v: 1.0, (0.0, 5.0), 1.0, ((0.0, 1.0),), (1, 1), 0, 0),
    "flat elsewhere": Case(lambda v: 1.0, (0.0, 5.0), 2.0, (), (1, 1), 0, 0),
    "beyond the range": Case(lambda v: v * v, (0.0, 3.0), 9.5, (), (0, 9), 0, 0),
    "at the weak end": Case(lambda v: v * v, (2.0, 3.0), 4.0, ((2.0, 4.0),), (4, 9), 0, 0),
    "at the strong end": Case(lambda v: v * v, (2.0, 3.0), 9.0, ((3.0, 9.0),), (4, 9), 0, 0),
    "turns back": Case(lambda v: v * (3 - v), (0.0, 3.0), 2.0, ((1.0, 2.0),), None, 2.25, 2),
}


def faults(tuner: Callable[..., Tuned]) -> list[str]:
    """The cases a tuner gets wrong."""
    return [name for name, case in CASES.items() if not right(case, tuned(tuner, case))]


def tuned(tuner: Callable[..., Tuned], case: Case) -> Tuned:
    """What a tuner makes of a case."""
    return tuner(lambda thing: case.cost(thing.value), dial(*case.ends), case.goal)


def right(case: Case, found: Tuned) -> bool:
    """Whether everything that came out is as it must be; costs are recomputed."""
    near = [math.isclose(p.value, v, rel_tol=NEAR) for p, (v, _) in zip(found.points, case.points, strict=False)]
    costs = [
        p.cost == case.cost(p.value) == pytest.approx(c, abs=EXACT.slack)
        for p, (_, c) in zip(found.points, case.points, strict=False)
    ]
    reach = case.reach is None or found.reach == pytest.approx(case.reach)
    # The scan sees the turn of "turns back" on its grid only: within a hundredth.
    turned = abs(found.backtrack - case.backtrack) < 0.01
    whole = [p.rule.value == p.value for p in found.points]
    counted = len(found.points) == len(case.points) and (found.crossings == case.crossings or not case.points)
    return all([*near, *costs, reach, turned, *whole, counted])


def test_tuning():
    assert faults(tune) == []


def remade(change: Callable[[tuple], tuple]) -> Callable[..., Tuned]:
    """A tuner whose points are changed."""

    def tuner(*asked: Any) -> Tuned:
        found = tune(*asked)
        return Tuned(change(found.points), found.reach, found.backtrack, found.crossings)

    return tuner


def with_search(**methods: Any) -> Callable[..., Tuned]:
    """A tuner whose search has other methods."""

    def tuner(*asked: Any) -> Tuned:
        with pytest.MonkeyPatch.context() as patch:
            for name, method in methods.items():
                patch.setattr(Search, name, method)
            return tune(*asked)

    return tuner


def from_the_strong_end(self: Search, values: list[float]) -> tuple[float, ...]:
    """The last crossing in place of the first."""
    for weak, strong in reversed(list(pairwise(values))):
        if self.apart(weak, strong):
            return self.bisect(weak, strong)
    return ()


MUTANTS = {
    "the weaker side of a jump as if it met the goal": remade(lambda points: points[:1]),
    "the stronger side of a jump as if it met the goal": remade(lambda points: points[-1:]),
    "the sides of a jump swapped": remade(lambda points: points[::-1]),
    "the far end of a step": with_search(weakest=lambda self, weak, strong: strong),
    "only between scanned strengths": with_search(meets=lambda self, value: False),
    "the last crossing": with_search(solve=from_the_strong_end),
    "always something": remade(lambda points: points or tune(lambda d: d.value, dial(0.0, 1.0), 0.5).points),
    "no bisection": with_search(bisect=lambda self, weak, strong: (weak, strong)),
    "the wrong half": with_search(
        apart=lambda self, one, other: not (self.cost(one) - self.goal) * (self.cost(other) - self.goal) < 0
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=list(MUTANTS))
def test_a_tuner_that_is_wrong_is_caught(mutant):
    assert faults(mutant)


def test_the_neighbours_of_a_jump_lie_on_its_two_sides():
    """Not only near it: their costs differ, and neither is the goal."""
    weak, strong = tune(lambda d: float(d.value >= 0.123456), dial(0.0, 1.0), 0.5).points
    assert weak.cost == 0 and strong.cost == 1 and weak.value < 0.123456 <= strong.value
    assert strong.value - weak.value < 1e-4 * 3  # four digits each


def test_no_strength_is_scanned_twice():
    """Each costs an enumeration or a pilot run."""
    asked: list[float] = []
    tune(lambda d: asked.append(d.value) or d.value**2, dial(0.0, 3.0), 2.0)
    assert len(asked) == len(set(asked)) < 100


def test_shortest_decimal():
    """1/3 to a slack of 1e-6 needs six digits; the first that do are taken, and they are on the goal."""
    (point,) = tune(lambda d: d.value, dial(0.0, 1.0), 1 / 3).points
    assert abs(point.value - 1 / 3) <= EXACT.slack and len(str(point.value)) == len("0.333333")
    assert list(tuning.decimals(0.123456))[:3] == [0.1235, 0.1234, 0.1236]
