"""Schedules: lenience and annealing are two of them, and tuned ones are at least as good."""

from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from specsim import Annealed, Chain, Lenient, SpecsimError, Strict, exact, random_table
from specsim.rules.scheduled import WIDEST, Scheduled
from specsim.specs import parse
from specsim.strength import shape_value, shapes_of, with_shape, with_strength
from specsim.tune.divergences import DIVERGENCES
from specsim.tune.search import Searcher
from specsim.tune.sequences import every_block
from specsim.tune.turning import Meter

LIKE = np.array([F(1, 2)], dtype=object)
SLOTS = np.arange(6)
MODELS = random_table(2, 4, 1), random_table(2, 4, 2)


def law(rule: Any) -> list[F]:
    return exact(Chain(3), *MODELS, rule).mass.tolist()


def test_lenience_and_strictness_are_schedules() -> None:
    assert law(Scheduled((1.5,))) == law(Scheduled((1.5, 1.5, 1.5))) == law(Lenient(1.5)) != law(Strict())
    assert law(Scheduled((3.0, 2.0), scale=0)) == law(Strict())
    assert law(Scheduled((2.0,), scale=0.5)) == law(Lenient(1.5))


@pytest.mark.parametrize("rule", [Annealed(2.0, 0.7), Annealed(1.1, -0.3), Annealed(4.0, 2.0)], ids=repr)
def test_annealing_is_a_schedule(rule: Annealed) -> None:
    factors = tuple(rule.omega(SLOTS[:3], LIKE).tolist())
    assert law(Scheduled(factors)) == law(rule)


def test_factors_by_slot_the_last_one_going_on() -> None:
    assert Scheduled((3.0, 2.0, 1.5)).omega(SLOTS, LIKE).tolist() == [3, 2, F(3, 2), F(3, 2), F(3, 2), F(3, 2)]
    assert Scheduled((3.0, 1.0), scale=0.25).omega(SLOTS, LIKE).tolist() == [F(3, 2), 1, 1, 1, 1, 1]
    assert Scheduled((1e9,), scale=1e9).omega(SLOTS, np.ones(1, dtype=np.float32)).max() == 1e9
    assert Scheduled().omega(SLOTS, np.ones(1, dtype=np.float32)).dtype == np.float32


def test_the_scale_is_its_strength_and_the_later_factors_its_shape() -> None:
    rule = Scheduled((2.0, 1.5, 1.0))
    assert with_strength(rule, 0.5) == Scheduled((2.0, 1.5, 1.0), 0.5)
    assert [shape.field for shape in shapes_of(rule)] == ["omegas[1]", "omegas[2]"] and not shapes_of(Scheduled((2.0,)))
    assert shape_value(rule, "omegas[1]") == 1.5 and with_shape(rule, "omegas[2]", 4.0) == Scheduled((2.0, 1.5, 4.0))
    assert parse(repr(rule), {"Scheduled": Scheduled}, "rule") == rule


@pytest.mark.parametrize("name", ["tv", "kl"])
def test_a_tuned_schedule_is_as_good_as_any_exponential_one(name: str) -> None:
    target, draft = random_table(3, 3, 1).floats(), random_table(3, 3, 2).floats()
    meter = Meter(every_block(target, draft, 3, "tables"), 3, DIVERGENCES[name])
    found = Searcher(meter, Scheduled((2.0, 1.5, 1.0)), 2.4).search()
    cooled = Searcher(meter, Annealed(), 2.4).search()
    assert found.best.divergence <= cooled.best.divergence <= cooled.published.divergence
    assert found.best.divergence < found.published.divergence
    assert all(1 <= value <= WIDEST for value in found.best.values)


@pytest.mark.parametrize(
    ("omegas", "scale", "wanted"),
    [
        ((), 1.0, r"omegas = \(\) must be a tuple of 1 to 1024 numbers"),
        ([2.0], 1.0, r"omegas = \[2.0\] must be a tuple"),
        (2.0, 1.0, "omegas = 2.0 must be a tuple"),
        ((2.0, 0.5), 1.0, r"omegas\[1\] = 0.5 must be a number from 1 to 1e\+09"),
        ((2.0, "1"), 1.0, r"omegas\[1\] = '1' must be a Python number"),
        ((2.0, True), 1.0, r"omegas\[1\] = True"),
        ((2.0,), -0.1, "scale = -0.1 must be a number from 0"),
        ((2.0,), float("nan"), "scale = nan"),
    ],
)
def test_what_is_no_schedule_is_refused(omegas: Any, scale: float, wanted: str) -> None:
    with pytest.raises(SpecsimError, match=f"Scheduled: {wanted}"):
        Scheduled(omegas, scale)
