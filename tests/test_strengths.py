"""A rule's strength: what it is, what turning it does, and what is no strength."""

import math
import re
from fractions import Fraction
from typing import Any

import pytest

from specsim import RULES, SpecsimError
from specsim.rules import (
    BlockVerification,
    Grouped,
    Lantern,
    LanternPlus,
    Lenient,
    Optimal,
    Partitioned,
    Strict,
)
from specsim.rules.grouped import LARGEST
from specsim.strength import Strength, strength_of, with_strength
from tests.test_one_token import SOME_PAIRS, accepted

F = Fraction
WRAPPED = (Optimal(LanternPlus()), BlockVerification(Lenient()))
TURNED = [rule for rule in (*(kind() for kind in RULES.values()), *WRAPPED) if hasattr(rule, "strength")]
TURNED = [rule for rule in TURNED if rule.strength]


def values(strength: Strength) -> list[float]:
    """From the weakest end to the strongest: a few steps between, mostly where laws of a few tokens still change."""
    low, high = sorted(min(end, 8) for end in (strength.weakest, strength.strongest))
    steps = range(int(low), int(high) + 1) if strength.whole else [low + (high - low) * i / 8 for i in range(9)]
    return [strength.weakest, *sorted(steps, reverse=strength.strongest < strength.weakest), strength.strongest]


def totals(rule: Any, q: Any, p: Any) -> list[Fraction]:
    """The total acceptance sum q b at growing strength."""
    return [accepted(with_strength(rule, value), q, p) for value in values(strength_of(rule))]


def test_every_relaxed_rule_has_a_strength() -> None:
    assert {type(rule) for rule in TURNED} == set(RULES.values()) - {Strict}
    with pytest.raises(SpecsimError, match=r"Strict\(\) has no strength"):
        strength_of(Strict())
    with pytest.raises(SpecsimError, match="has no strength"):
        strength_of(Optimal(Strict()))


@pytest.mark.parametrize("rule", [rule for rule in TURNED if not isinstance(rule, (Grouped, Partitioned))], ids=repr)
def test_total_acceptance_grows_with_strength(rule: Any) -> None:
    grown = 0
    for q, p in SOME_PAIRS:
        found = totals(rule, q, p)
        assert found == sorted(found)
        grown += found[-1] > found[0]
    assert grown


def test_larger_runs_keep_more_where_they_merge_smaller_ones() -> None:
    """Runs of 1, 2, 4, 8: each cuts along the cuts of the next.  Runs of 2 and 3 cross, and no order holds."""
    for q, p in SOME_PAIRS:
        found = [accepted(Partitioned(size), q, p) for size in (1, 2, 4, 8, LARGEST)]
        assert found == sorted(found) and found[-1] == 1
    assert any(accepted(Partitioned(3), q, p) < accepted(Partitioned(2), q, p) for q, p in SOME_PAIRS)


def test_larger_windows_need_not_keep_more() -> None:
    """GSD's strength is no order: the wider window -1..0 keeps less than the strict rule; all of V keeps all."""
    q, p = (F(1, 2), F(1, 4), F(1, 4)), (F(1, 4), F(1, 4), F(1, 2))
    found = [accepted(Grouped(size, gap=9, distance=999), q, p) for size in (1, 2, LARGEST)]
    assert found == [F(3, 4), F(2, 3), 1]


NEVER_STRICT = ("Typical", "CascadeOpt", "LanternDynamic", "LanternPlusDynamic")
"""Typical looks at no draft; OPT defers to a surer draft at any price; the dynamic paths count any draft as certain."""


@pytest.mark.parametrize("rule", TURNED, ids=repr)
def test_the_weakest_end(rule: Any) -> None:
    """The strict acceptance, for all rules that contain it; a fuzzy rule keeps all of equal laws, as strict does."""
    weakest = with_strength(rule, strength_of(rule).weakest)
    same = [accepted(weakest, q, p) == accepted(Strict(), q, p) for q, p in SOME_PAIRS]
    assert all(same) != (type(rule).__name__ in NEVER_STRICT)


def test_strength_of_a_wrapper_is_the_inner_rules() -> None:
    rule = Optimal(Lantern(k=3, delta=0.2))
    assert strength_of(rule) == Lantern.strength
    assert with_strength(rule, 0.7) == Optimal(Lantern(k=3, delta=0.7))
    assert with_strength(Lenient(), 2.5) == Lenient(2.5) and not Lenient.strength.whole and Grouped.strength.whole
    assert with_strength(Optimal(Optimal(Lenient())), 3.0) == Optimal(Optimal(Lenient(3.0)))


class Plain:
    """No dataclass."""

    strength = Strength("omega", 1.0, 2.0)

    def __repr__(self) -> str:
        return "Plain()"


class Turning(Plain):
    """A rule that says how it is turned, or should."""

    def __init__(self, turn: Any, strength: Any = Plain.strength) -> None:
        self.with_strength, self.strength = turn, strength


def failing(value: float) -> Any:
    raise KeyError("two\nlines")


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        (Plain(), "strength 'omega' cannot be set; make the rule a frozen dataclass with that field"),
        (Lenient, "has no strength to turn"),
        (Turning(3), "Plain() at strength omega = 1.5: TypeError: 'int' object is not callable"),
        (Turning(failing), "Plain() at strength omega = 1.5: KeyError: 'two\\nlines'"),
        (Turning(lambda value: None), "Plain() at strength omega = 1.5: it returned None"),
        *(
            (Turning(id, Strength(*some)), "must name a field and two finite numbers, weakest and strongest")
            for some in ((3, 1.0, 2.0), ("x", "1", 2.0), ("x", 1.0, None), ("x", math.nan, 1), ("x", 1, math.inf))
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_strength_that_cannot_be_turned_is_one_line(rule: Any, wanted: str) -> None:
    with pytest.raises(SpecsimError, match=re.escape(wanted)) as caught:
        with_strength(rule, 1.5)
    assert "\n" not in str(caught.value)
