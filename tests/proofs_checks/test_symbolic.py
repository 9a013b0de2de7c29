"""Proofs of the source itself: right code is proved on every path, wrong code is refuted on one."""

import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("z3")

from proofs_checks.smt import MISSING, Outcome, discharge
from proofs_checks.symbolic import by_source
from proofs_checks.symbols import Paths
from specsim import Lenient, Strict, Verdict, optimal_residual, output_law
from specsim.arrays import positive_part, total_variation
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import ModelField, NumberField, OneOf, ProbabilityField, Shape
from specsim.testing.statements import Statement, equal
from specsim.verification import standard_residual
from tests import known_bad

SECONDS = 20.0
"""For each question; the slowest takes a tenth of a second."""


def token_off(case: Case, rule: Any) -> Any:
    return -total_variation(output_law(rule, case.draft, case.target, np.array(0)), case.target)


def asked(statement: Statement, *shapes: Shape) -> Outcome:
    return discharge(by_source(statement, *shapes), SECONDS)


def lossless(rule: Any) -> Statement:
    return Statement("out == p", Domain(PAIR), token_off, rule)


@pytest.mark.parametrize("vocab", [1, 2])
@pytest.mark.parametrize("rule", [Strict(), Lenient(0.5), Lenient(1)], ids=repr)
def test_lossless_rules_are_proved(rule: Any, vocab: int) -> None:
    assert asked(lossless(rule), Shape(vocab, 1)).proved


def test_every_path_is_an_obligation() -> None:
    """At V = 2 there are five ways through the source."""
    obligations = by_source(lossless(Strict()), Shape(2, 1)).obligations()
    assert len(obligations) == len({some.name for some in obligations}) == 5


@pytest.mark.parametrize(
    "rule",
    [
        known_bad.VanillaLenient(),
        known_bad.ResampleTarget(),
        known_bad.SharedUniform(),
        known_bad.Threshold(),
        Lenient(1.5),
    ],
    ids=repr,
)
def test_wrong_rules_are_refuted(rule: Any) -> None:
    found = asked(lossless(rule), Shape(2, 1))
    assert found.refuted and not found.proved


def test_what_is_right_at_two_tokens_is_proved_there() -> None:
    """Two tokens leave one replacement; test_known_bad has this rule fail at three."""
    assert asked(lossless(known_bad.OnlyDraftedToken()), Shape(2, 1)).proved


def test_a_division_by_zero_is_a_refutation() -> None:
    def unguarded(draft: Any, target: Any, position: Any) -> Verdict:
        return Verdict(np.minimum(target / draft, Fraction(1)), standard_residual(draft, target))

    assert asked(lossless(unguarded), Shape(2, 1)).refuted
    guarded = Domain(PAIR, where=lambda case: bool((case.draft > 0).all()))
    assert asked(Statement("out == p", guarded, token_off, unguarded), Shape(2, 1)).proved


def best_left(case: Case, residual: Any) -> Any:
    """TV(q b + r G, p) == sum [q b - p]+."""
    kept = case.draft * case.accept
    out = kept + (1 - kept.sum()) * residual(case.draft, case.target, case.accept)
    return equal(total_variation(out, case.target), positive_part(kept - case.target).sum())


@pytest.mark.parametrize(
    ("residual", "right"), [(optimal_residual, True), (lambda draft, target, accept: target, False)], ids=["G*", "p"]
)
def test_probabilities_are_symbols_too(residual: Any, right: bool) -> None:
    statement = Statement("TV = N(b)", Domain({**PAIR, "accept": ProbabilityField()}), best_left, residual)
    found = asked(statement, Shape(2, 1))
    assert (found.proved, found.refuted) == (right, not right)


@pytest.mark.parametrize(("low", "proved"), [(Fraction(1), True), (Fraction(1, 2), False)])
def test_numbers_have_their_range_and_choices_are_all_tried(low: Fraction, proved: bool) -> None:
    fields = {"omega": NumberField(low, Fraction(2)), "power": OneOf((1, 2))}

    def margin(case: Case, subject: Any) -> Any:
        return (case.omega if case.power == 1 else case.omega * case.omega) - 1

    found = asked(Statement("omega^k >= 1", Domain(fields), margin), Shape(1, 1))
    assert (found.proved, found.refuted) == (proved, not proved)


def test_models_are_tables_of_symbols() -> None:
    def margin(case: Case, subject: Any) -> Any:
        return equal(case.target.at_length(1).sum(axis=-1), subject)

    statement = Statement("rows sum to 1", Domain({"target": ModelField()}), margin, np.array([Fraction(1)] * 2))
    assert asked(statement, Shape(2, 2)).proved
    assert asked(statement.about(np.array([Fraction(1), Fraction(2)])), Shape(2, 2)).refuted


def test_a_field_without_symbols_is_named() -> None:
    class Other:
        pass

    with pytest.raises(TypeError, match="no form in symbols"):
        by_source(Statement("x", Domain({"other": Other()}), lambda case, some: 0), Shape(1, 1)).obligations()


NUMBERS = st.fractions(-2, 2, max_denominator=4)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_symbols_compute_as_fractions_do(a: Fraction, b: Fraction, c: Fraction) -> None:
    """Variables that are supposed to have a value: every operation and comparison gives what Fractions give."""
    paths = Paths()
    x, y, z = (paths.variable(name) for name in "xyz")
    paths.suppose(x.top == a, y.top == b, z.top == c)
    assert (x + y) * z - 1 == (a + b) * c - 1
    assert 2 - x * y + abs(z) == 2 - a * b + abs(c)
    assert ((x > y), (x < y), (x >= z), (x <= z), (x == z)) == ((a > b), (a < b), (a >= c), (a <= c), (a == c))
    assert bool(x) == bool(a)
    if b and c:
        assert x / y + 1 / z - (x / y) / z * y == a / b + 1 / c - (a / b) / c * b
        assert (x / y) * y == a and x / y - x / y == 0
    else:
        with pytest.raises(ZeroDivisionError):
            x / y / z


def test_without_z3_nothing_fails_but_the_proof() -> None:
    program = (
        "import sys; sys.modules['z3'] = None\n"
        "from proofs_checks.smt import discharge\n"
        "from proofs_checks.theorems.t01_strict import SMALL\n"
        "from proofs_checks.symbolic import by_source\n"
        "from specsim.testing.fields import Shape\n"
        "print(discharge(by_source(SMALL, Shape(1, 1)), 1.0).note)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == MISSING


REMEMBERED: dict[str, bool] = {}


def remembers(case: Case, _: Any) -> Any:
    """A comparison is made once and its answer used for ever."""
    if "answer" not in REMEMBERED:
        REMEMBERED["answer"] = bool(case.target[0] > case.draft[0])
    return Fraction(0 if REMEMBERED["answer"] else -1)


def in_floats(case: Case, _: Any) -> Any:
    return Fraction(-1) if case.target[0] in [0.28125, 0.71875] else Fraction(0)


def made_float(case: Case, _: Any) -> Any:
    try:
        return float(case.target[0])
    except Exception:
        return Fraction(0)


@pytest.mark.parametrize("margin", [remembers, in_floats, made_float])
def test_code_that_leaves_the_symbols_is_not_proved(margin: Any) -> None:
    """False statements all: nothing of what they do may pass for a proof."""
    with pytest.raises(TypeError, match="no proof by the source"):
        by_source(Statement("false", Domain(PAIR), margin), Shape(2, 1)).obligations()
