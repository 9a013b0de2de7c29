"""Rules as curves, one block read off by hand, and what convexity says of a limit between its points."""

import math
from dataclasses import dataclass
from fractions import Fraction as F
from itertools import pairwise
from typing import Any, ClassVar

import pytest

from proofs_checks.frontiers.command import curve_of
from proofs_checks.frontiers.convex import FLAT, bend, floor
from proofs_checks.frontiers.curves import COARSE, SAME_COST, TRIES, Seen, Setting, curve, held_against, value_of
from proofs_checks.frontiers.limits import Point
from proofs_checks.frontiers.placed import place
from specsim import Additive, FuzzyKL, Lantern, Lenient, Strict, Table, random_table, table
from specsim.rules import Optimal
from specsim.rules.block import BlockVerification
from specsim.rules.ledger import Ledger
from specsim.strength import Strength


def steady(law: list[F], length: int) -> Table:
    """The same law after every prefix."""
    return table([[law] * len(law) ** n for n in range(length)], vocab=len(law))


TOY = steady([F(1, 3), F(2, 3)], 3), steady([F(2, 3), F(1, 3)], 3)


def setting(lookahead: int = 2, length: int | None = None, divergence: str = "tv", models: Any = TOY) -> Setting:
    return Setting(*models, lookahead, length, divergence)


# Lenient(5/4) on the toy: b = (5/8, 1), so a = 3/4 and out = (5/12, 7/12) after every kept draft.  Kept: 3/4 + 9/16.
# The block's law: 00 25/144, 01 35/144, 10 1/3 5/12 + 1/4 1/3 = 32/144, 11 52/144; the target's 16, 32, 32, 64.
def test_a_block_by_hand() -> None:
    placed = place(Lenient(1.25), *TOY, 2)
    assert placed.accepted == F(21, 16) and [144 * mass for mass in placed.out] == [25, 35, 32, 52]
    assert placed.local == F(1, 12) + F(3, 4) * F(1, 12)
    assert setting().measure(Lenient(1.25)) == (F(21, 16), F(1, 12))


@pytest.mark.parametrize("rule", [Strict(), BlockVerification()], ids=repr)
def test_a_lossless_rule_has_no_local_error(rule: Any) -> None:
    target, draft = random_table(3, 2, 1, zeros=True), random_table(3, 2, 2, zeros=True)
    placed = place(rule, target, draft, 2)
    assert placed.local == 0 and placed.out.sum() == 1


def test_a_rule_that_reads_the_codebook_is_bound_to_it() -> None:
    target = table([["1/4", "1/4", "1/2"]], codebook=[[0.0], [1.0], [3.0]])
    draft = table([["1/2", "1/4", "1/4"]])
    assert place(Lantern(k=1, delta=1.0), target, draft, 1).accepted > place(Strict(), target, draft, 1).accepted


def test_a_run_costs_target_calls() -> None:
    """Three tokens, lookahead 1: a kept first draft leaves one call, a refused one a call and 1/3 of another."""
    whole = setting(1, 3)
    assert whole.measure(Lenient(1e9))[0] == 2 and whole.measure(Strict())[0] == F(19, 9)
    assert setting(2).measure(Lenient(1e9))[0] == 2


def test_a_curve_goes_from_strict_to_keeping_all_in_even_steps() -> None:
    some = curve(setting(), Lenient(1.25), 15)
    costs = [spot.cost for spot in some.spots]
    assert costs == sorted(costs) and costs[0] == F(10, 9) and costs[-1] == 2 and some.given in some.spots
    assert max(b - a for a, b in pairwise(costs)) < F(2, 9) and 15 <= len(set(costs)) <= 17
    assert [spot.strength for spot in some.spots] == sorted(spot.strength for spot in some.spots)
    assert not some.is_point and curve(setting(), Strict(), 15).is_point


def test_a_rule_that_jumps_has_a_curve_all_the_same() -> None:
    """FuzzyKL keeps all from a threshold on: two costs, however often its gap is split."""
    some = curve(setting(), FuzzyKL(), 15)
    assert {spot.cost for spot in some.spots} == {F(10, 9), F(2)}


def test_what_changes_by_rounding_only_is_not_split() -> None:
    """The target gives a token 1e-30: the rule keeps the same at every strength, at a TV of up to 1e-21."""
    rare = steady([F(1, 10**30), 1 - F(1, 10**30)], 2), steady([F(1, 2), F(1, 2)], 2)
    assert len(Seen(setting(models=rare).floats(), Lenient(1.5)).along(4)) == COARSE


def test_a_divergence_that_changes_at_one_cost_is_split_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Setting, "measure", lambda _, rule: (1.0, float(rule.omega)))
    assert len(Seen(setting(), Lenient(1.5)).along(4)) == 4 * TRIES


def test_a_rule_is_tuned_to_a_cost() -> None:
    rule, value = Seen(setting().floats(), Lenient(3.0)).tuned(21 / 16) or (None, 0.0)
    assert rule == Lenient(value) and abs(value - 1.25) < 1e-3
    assert abs(float(setting().measure(rule)[0]) - 21 / 16) <= SAME_COST.slack
    assert Seen(setting().floats(), Lenient(3.0)).tuned(1.0) is None, "it never keeps less than strict verification"


def test_what_a_rule_is_held_against() -> None:
    """One that sees whole blocks looks further ahead than a sequential rule."""
    block, run = setting(), setting(1, 3)
    assert [held_against(block, rule) for rule in (Lenient(), Ledger())] == ["block"] * 2
    assert held_against(block, BlockVerification()) == "joint"
    found = [held_against(run, rule) for rule in (Lenient(), Ledger(), BlockVerification())]
    assert found == ["run", "run", "joint-run"]


def test_the_strength_of_a_rule_inside_another_one() -> None:
    assert value_of(Additive(0.25)) == 0.25 and value_of(Optimal(Lantern(delta=0.3))) == 0.3


@dataclass(frozen=True)
class Secret:
    """A rule that does not say how strong it is."""

    strength: ClassVar[Strength] = Strength("omega", 1.0, 10.0)

    def with_strength(self, value: float) -> Any:
        return Lenient(value)

    def __call__(self, *arguments: Any) -> Any:
        return Lenient(1.5)(*arguments)


def test_a_rule_that_hides_its_strength_is_drawn() -> None:
    some = curve(setting(), Secret(), 10)
    assert value_of(Secret()) is None and some.given not in some.spots and len(some.spots) >= 10


def corner(cost: float) -> float:
    """0 up to 1.3, then rising by 1/2, from 1.7 on by 2."""
    return max(0.0, (cost - 1.3) / 2, 0.2 + 2 * (cost - 1.7))


def limit_at(_: str, cost: F) -> Point:
    return Point(cost, corner(float(cost)), F(corner(float(cost))), "")


def test_a_limits_curve_finds_its_corners() -> None:
    points = curve_of(limit_at, "block", (F(1), F(2)), 25)
    costs = [float(point.cost) for point in points]
    assert len(points) < 25 and bend(points) is None, "it stops where nothing can bend"
    assert all(min(abs(cost - at) for cost in costs) < 1e-3 for at in (1.3, 1.7))
    for some in (1.15, 1.29, 1.5, 1.71, 1.95):
        assert floor(points, some) <= corner(some) + 1e-12
    assert floor(points, 1.5) > corner(1.5) - FLAT
    unproved = [point._replace(bound=None) for point in points]
    assert floor(unproved, 1.5) == 0, "a value that nothing certifies proves nothing"


def test_a_bend_between_four_points() -> None:
    points = [limit_at("", F(cost, 10)) for cost in (11, 12, 16, 17)]
    found = bend(points)
    assert found is not None and math.isclose(float(found), 1.3, abs_tol=1e-6)
