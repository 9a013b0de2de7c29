"""The checker of theorems, checked by broken theorems: each fault must be seen, and none be called proved."""

import builtins
import math
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
import z3

from proofs_checks import proving
from proofs_checks.certificates import Certificate
from proofs_checks.ledger.wording import problems
from proofs_checks.proving import prove
from proofs_checks.results import TheoremResult
from proofs_checks.smt import Obligation, Proof, reals
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems import THEOREMS
from proofs_checks.theorems.t02_optimal_residual import T02
from specsim.testing.domains import Domain
from specsim.testing.fields import LawField
from specsim.testing.statements import Profile, Statement

FEW = Profile("few", listed=100, drawn=20, solver_seconds=5)
LAWS = Domain({"target": LawField()}, vocabs=(1, 2))


def says(text: str, margin: Any, subject: Any = None) -> Statement:
    return Statement(text, LAWS, margin, subject)


TRUE = says("entries sum to the subject", lambda case, subject: -abs(case.target.sum() - subject), F(1))
FALSE = says("the first entry is at least 1/2", lambda case, subject: case.target[0] - F(1, 2))


def theorem(*parts: Part, **more: Any) -> TheoremResult:
    return prove(Theorem("T99", "a title", "a source", parts, **more), FEW)


def x_is(goal: bool) -> Proof:
    (x,) = reals("x")
    return Proof("every V", lambda: [Obligation("square", [x > 1], (x * x > x) if goal else (x * x < x))])


def test_a_true_statement_is_tested_and_its_cases_are_counted() -> None:
    result = theorem(Part(TRUE))
    (part,) = result.parts
    assert (part.id, part.result, part.method, part.margin, part.counterexample) == (
        "T99.1",
        "holds",
        "tested",
        "0",
        None,
    )
    assert part.tried == 8 + 20 and "8 listed" in part.notes[-1] and result.result == "holds" and not problems([result])


def test_a_false_statement_fails_with_its_smallest_counterexample() -> None:
    result = theorem(Part(FALSE))
    (part,) = result.parts
    assert (part.result, part.method, part.margin) == ("fails", "refuted", "-1/2")
    assert part.counterexample is not None and part.counterexample.minimal
    assert part.counterexample.case == {"vocab": 2, "length": 1, "values": {"target": ["0", "1"]}}
    assert part.counterexample.bars == {"target": ["0", "1"]}
    assert result.result == "fails" and "T99.1" in problems([result])[0]


def test_a_sentence_stated_to_fail_agrees_when_it_does() -> None:
    result = theorem(Part(FALSE, stated=FAILS, claimed="somebody"))
    assert result.result == "holds" and result.parts[0].agrees and not problems([result])


def test_a_sentence_stated_to_fail_that_does_not_is_inconclusive_and_a_problem() -> None:
    result = theorem(Part(TRUE, stated=FAILS))
    assert (result.parts[0].result, result.result) == ("inconclusive", "inconclusive") and problems([result])


def test_a_proof_counts_only_beside_a_search_that_found_nothing() -> None:
    assert theorem(Part(TRUE, proof=x_is(True))).method == "proved"
    contradicted = theorem(Part(FALSE, proof=x_is(True)))
    assert contradicted.parts[0].result == "fails" and problems([contradicted])


def test_a_proof_that_z3_refutes_makes_the_part_fail() -> None:
    result = theorem(Part(TRUE, proof=x_is(False)))
    assert result.parts[0].result == "fails" and "refuted by SMT: square" in result.parts[0].notes[0]


def test_the_method_of_a_theorem_is_that_of_its_weakest_part() -> None:
    assert theorem(Part(TRUE, proof=x_is(True)), Part(TRUE)).method == "tested"
    assert theorem(Part(TRUE, proof=x_is(True)), Part(FALSE, stated=FAILS)).method == "proved"


def test_mutants_are_caught_or_said_to_survive() -> None:
    result = theorem(Part(TRUE), mutants=(Mutant("two", F(2)), Mutant("one all the same", F(1))))
    assert [some.caught for some in result.mutants] == [True, False] and not result.sharp
    assert "target" in result.mutants[0].how and problems([result]) == ["T99: mutant survives: one all the same"]


def test_a_mutant_that_cannot_be_run_is_not_caught() -> None:
    result = theorem(Part(TRUE), mutants=(Mutant("nonsense", "text"),))
    assert not result.mutants[0].caught and "cannot be run: TypeError" in result.mutants[0].how


def test_weakened_statements_need_a_counterexample_or_a_reason() -> None:
    weakened = (Weakened(FALSE), Weakened(TRUE), Weakened(TRUE, "obviously"), Weakened(FALSE, "wrongly so"))
    result = theorem(Part(TRUE), weakened=weakened)
    assert [some.settled for some in result.weakened] == [True, False, True, False]
    assert [some.status.split()[0] for some in result.weakened] == ["refuted", "survives", "equivalent", "not"]
    assert len(problems([result])) == 2


def test_a_check_that_raises_is_inconclusive_and_the_rest_goes_on() -> None:
    result = theorem(Part(says("broken", lambda case, _: 1 / 0)), Part(TRUE))
    assert [part.result for part in result.parts] == ["inconclusive", "holds"]
    assert "ZeroDivisionError" in result.parts[0].notes[0] and problems([result])


def certified(part: Part) -> Part:
    assert part.certificate is not None
    return part


def test_a_wrong_optimum_is_refuted_by_its_certificate_alone() -> None:
    """The program of T02 with the target in the place of the optimal residual, under a statement that holds."""
    part = certified(T02.parts[1])
    wrong = replace(part.certificate, subject=lambda draft, target, accept: target)  # type: ignore[type-var]
    result = theorem(Part(TRUE, certificate=wrong))
    assert result.parts[0].result == "fails" and "not optimal: gap" in result.parts[0].notes[0]
    right = theorem(Part(TRUE, certificate=part.certificate))
    assert (right.parts[0].method, right.parts[0].result) == ("certified", "holds")
    assert "largest gap 0" in right.parts[0].notes[0]


@pytest.mark.parametrize(("module", "word"), [("z3", "not proved: z3 is not installed"), ("cvxpy", "not certified")])
def test_a_missing_solver_is_said_and_never_a_pass(module: str, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == module:
            raise ImportError(name)
        return real(name, *rest)

    part = certified(T02.parts[1])
    monkeypatch.setattr(builtins, "__import__", refuse)
    (found,) = theorem(replace(part, proof=part.proof if module == "z3" else None)).parts
    assert found.result == "holds" and found.method == ("certified" if module == "z3" else "tested")
    assert any(note.startswith(word) for note in found.notes)
    assert any(note.startswith(word) for note in found.missing), "and so it is a problem"


def test_a_solver_that_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    import cvxpy

    def stop(*_: Any, **__: Any) -> None:
        raise cvxpy.SolverError("it stopped")

    monkeypatch.setattr(cvxpy.Problem, "solve", stop)
    (found,) = theorem(Part(TRUE, certificate=certified(T02.parts[1]).certificate)).parts
    assert (found.result, found.method) == ("holds", "tested") and any("it stopped" in note for note in found.notes)


def test_ids_are_those_of_the_rows() -> None:
    assert list(THEOREMS) == sorted(THEOREMS) and all(key == some.id for key, some in THEOREMS.items())
    assert all(some.parts and some.mutants for some in THEOREMS.values()), "a theorem without mutants cannot be trusted"


def test_a_certificate_is_an_instance_of_the_public_record() -> None:
    assert isinstance(T02.parts[1].certificate, Certificate) and proving.PROGRAM_COST >= 1


@pytest.mark.parametrize(
    ("margin", "word"),
    [
        (lambda case, _: False, "the margin is False, must be a number"),
        (lambda case, _: np.bool_(True), "must be a number"),
        (lambda case, _: None, "the margin is None, must be a number"),
        (lambda case, _: math.inf, "the margin is infinite"),
        (lambda case, _: [F(0)], "must be a number"),
    ],
)
def test_a_margin_that_is_no_number_is_inconclusive(margin: Any, word: str) -> None:
    result = theorem(Part(says("odd", margin)), weakened=(Weakened(says("odd", margin), "so it is said"),))
    assert result.parts[0].result == "inconclusive" and word in result.parts[0].notes[0]
    assert not result.weakened[0].settled


def test_a_margin_that_is_not_a_number_fails() -> None:
    (part,) = theorem(Part(says("nan", lambda case, _: math.nan))).parts
    assert (part.result, part.margin) == ("fails", "-inf")


def test_a_slack_is_small_and_a_number() -> None:
    for slack in (math.nan, math.inf, -1.0, 0.5):
        with pytest.raises(ValueError, match="must be a small number"):
            Statement("loose", LAWS, lambda case, _: F(0), slack=slack)


def test_a_proof_of_nothing_proves_nothing() -> None:
    (part,) = theorem(Part(TRUE, proof=Proof("every V", lambda: []))).parts
    assert part.method == "tested" and "nothing to prove" in part.missing[0]


def test_no_solver_can_refute_without_a_counterexample_what_is_stated_to_fail() -> None:
    result = theorem(Part(TRUE, stated=FAILS, proof=x_is(False)))
    assert result.parts[0].result == "inconclusive" and problems([result])


def test_a_proof_or_certificate_that_came_to_nothing_is_a_problem() -> None:
    unanswered = Proof("every V", lambda: [Obligation("vacuous", [z3.BoolVal(False)], z3.BoolVal(True))])
    result = theorem(Part(TRUE, proof=unanswered))
    assert result.parts[0].result == "holds" and "contradict" in problems([result])[0]


@pytest.mark.parametrize("part", [0, -1, 3, 2])
def test_a_mutant_is_put_to_a_part_that_holds(part: int) -> None:
    with pytest.raises(ValueError, match="must hold"):
        Theorem("T99", "", "", (Part(TRUE), Part(FALSE, stated=FAILS)), (Mutant("lost", F(2), part),))


def test_a_theorem_says_something() -> None:
    with pytest.raises(ValueError, match="has no statement"):
        Theorem("T99", "", "", ())


def test_a_step_of_a_proof_is_told_and_does_not_make_the_statement_proved() -> None:
    (part,) = theorem(Part(TRUE, proof=replace(x_is(True), step=True))).parts
    assert part.method == "tested" and part.notes[0].startswith("a step proved: every V") and not part.missing
