"""Certificates: any dual gives a true bound, an optimal one closes the gap, and a wrong optimum is found out."""

import builtins
from fractions import Fraction as F
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_checks.certificates import Certificate, Program, best_bound, certify, dual_bound, objective, solve
from specsim.testing.domains import Domain
from specsim.testing.fields import LawField, Shape

# min x + 2 y + 3 z  with  x + y + z = 1  and  x + 2 y = 1/2: optimum at x = 1/2, z = 1/2 or on the way to y = 1/4.
SMALL = Program([F(1), F(2), F(3)], [{0: F(1), 1: F(1), 2: F(1)}, {0: F(1), 1: F(2)}], [F(1), F(1, 2)])
BEST = [F(1, 2), F(0), F(1, 2)]
CASE = Domain({"target": LawField()}).case(Shape(1, 1), {"target": (F(1),)})


@settings(max_examples=100, derandomize=True)
@given(st.lists(st.fractions(-10, 10, max_denominator=30), min_size=2, max_size=2))
def test_no_dual_whatever_proves_more_than_the_optimum(dual: list[F]) -> None:
    feasible = [x for x in product([F(n, 4) for n in range(5)], repeat=3) if is_feasible(x)]
    assert len(feasible) >= 2 and dual_bound(SMALL, dual) <= min(objective(SMALL, x) for x in feasible)


def is_feasible(point: Any) -> bool:
    try:
        objective(SMALL, point)
    except ValueError:
        return False
    return True


def certificate(point: list[F], program: Program = SMALL) -> Certificate:
    return Certificate(
        "small", Domain({"target": LawField()}), lambda case: program, lambda case, subject: subject, point
    )


def test_the_optimum_is_certified_exactly() -> None:
    found = certify(certificate(BEST), CASE, BEST)
    assert found.gap == 0 and found.value == 2


def test_a_feasible_point_that_is_not_optimal_has_a_gap() -> None:
    worse = Program([F(2), F(2), F(3)], SMALL.rows, SMALL.right)
    assert certify(certificate(BEST, worse), CASE, BEST).gap == 0
    other = [F(0), F(1, 4), F(3, 4)]
    gap = certify(certificate(other, worse), CASE, other).gap
    assert gap is not None and gap == objective(worse, other) - objective(worse, BEST) > 0


@pytest.mark.parametrize("point", [[F(1), F(0), F(0)], [F(2), F(0), F(-1)], [F(1, 2), F(0)]], ids=str)
def test_a_point_that_is_not_feasible_is_no_value(point: list[F]) -> None:
    found = certify(certificate(point), CASE, point)
    assert found.gap is None and found.note.startswith("the claimed point")


def test_a_program_that_cannot_be_met_is_said_to_be() -> None:
    impossible = Program([F(1)], [{0: F(1)}], [F(2)])
    status, dual = solve(impossible)
    assert dual is None and "infeasible" in status
    assert certify(certificate([F(2)], impossible), CASE, [F(2)]).gap is None


def test_a_spoiled_dual_proves_less() -> None:
    _, dual = solve(SMALL)
    assert dual is not None and best_bound(SMALL, dual) == 2
    assert best_bound(SMALL, [y + 5 for y in dual]) < 2 and best_bound(SMALL, [-y for y in dual]) < 2


def test_without_the_solver_nothing_is_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name == "cvxpy":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    found = certify(certificate(BEST), CASE, BEST)
    assert found.gap is None and found.value == 2 and "cvxpy is not installed" in found.note
