"""The prover: true goals are proved, false ones are not, and what is no proof is never called one."""

import builtins
from typing import Any

import pytest
import z3

from proofs_checks.smt import Obligation, Proof, discharge, law, magnitude, positive, reals, total

X, Y = reals("x y")


def outcome(*obligations: Obligation, seconds: float = 10) -> Any:
    return discharge(Proof("every V", lambda: list(obligations)), seconds)


def test_a_true_goal_is_proved() -> None:
    found = outcome(Obligation("triangle", [], magnitude(X + Y) <= magnitude(X) + magnitude(Y)))
    assert found.proved and not found.refuted and found.note == "every V (1 SMT obligation)"


def test_a_false_goal_is_refuted_and_named() -> None:
    true, false = Obligation("fine", [X > 0], positive(X) == X), Obligation("too much", [X >= 0], X > 0)
    found = outcome(true, false)
    assert (found.proved, found.refuted) == (False, True) and "too much" in found.note


def test_contradictory_hypotheses_prove_nothing() -> None:
    found = outcome(Obligation("vacuous", [X > 0, X < 0], X == 7))
    assert not found.proved and not found.refuted and "contradict" in found.note


def test_no_answer_is_no_proof() -> None:
    n, m, k = z3.Ints("n m k")
    fermat = Obligation("a cube", [n > 0, m > 0, k > 0], n * n * n + m * m * m != k * k * k)
    found = outcome(fermat, seconds=0.2)
    assert not found.proved and not found.refuted and "no answer in 0.2 s" in found.note


def test_without_z3_nothing_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name == "z3":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    found = outcome(Obligation("true", [], X == X))
    assert not found.proved and not found.refuted and "z3 is not installed" in found.note


def test_a_law_of_variables_is_a_law() -> None:
    values, formulas = law("p", 3)
    assert outcome(Obligation("at most 1", formulas, values[0] <= 1)).proved
    assert outcome(Obligation("may be less", formulas, total(values[:2]) == 1)).refuted
