"""specsim.testing as a test suite of somebody else uses it."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import specsim
from specsim import Chain, Jacobi, Lenient, SpecsimError, Strict, Table, Verdict, optimal_residual
from specsim import testing as public
from specsim.testing import (
    CLAIMS,
    Case,
    Domain,
    LawField,
    Profile,
    Statement,
    assert_case,
    assert_claim,
    assert_lossless,
    assert_on_line,
    assert_supported,
    assert_valid_rule,
    examine,
    laws,
    models,
    pairs,
)
from tests.known_bad import VanillaLenient
from tests.testing.subjects import above_one

TINY = Profile("tiny", listed=60, drawn=15)


def lenient(draft: Any, target: Any, position: Any) -> Verdict:
    """A rule may be a plain function."""
    accept = Lenient(2)(draft, target, position).accept
    return Verdict(accept, optimal_residual(draft, target, accept))


def message_of(call: Any, *arguments: Any) -> str:
    with pytest.raises(AssertionError) as failure:
        call(*arguments, profile=TINY)
    return str(failure.value)


def test_what_holds_passes() -> None:
    assert_lossless(Strict(), profile=TINY)
    assert_lossless(Jacobi(2), profile=TINY)
    assert_lossless("Chain(lookahead=1)", profile=TINY)
    assert_on_line(lenient, profile=TINY)
    assert_valid_rule(lambda *laws: Strict()(*laws), profile=TINY)
    assert_supported(lenient, profile=TINY)
    assert_claim(Lenient(), "monotone", "on-line", profile=TINY)


@dataclass
class Mutable:
    """Two of these are compared by their fields, so they cannot be hashed."""

    omega: float = 1.0

    def __call__(self, draft: Any, target: Any, position: Any) -> Verdict:
        return Lenient(self.omega)(draft, target, position)


def test_a_rule_need_not_be_hashable() -> None:
    assert_lossless(Mutable(), profile=TINY)
    assert message_of(assert_lossless, Mutable(2.0)).startswith("lossless fails for Mutable(omega=2.0)")


@pytest.mark.parametrize(
    ("call", "subject", "claim"),
    [
        (assert_lossless, lenient, "lossless fails for lenient"),
        (assert_lossless, Jacobi(2, "maximal_stale"), "lossless fails for Jacobi"),
        (assert_on_line, VanillaLenient(), "on-line fails for VanillaLenient"),
        (assert_valid_rule, above_one, "valid fails for above_one"),
        (assert_supported, specsim.Ensemble(), "support fails for Ensemble"),
    ],
)
def test_what_fails_says_so(call: Any, subject: Any, claim: str) -> None:
    assert message_of(call, subject).startswith(claim)


def test_the_message_is_the_smallest_counterexample_and_how_to_see_it_again() -> None:
    message = message_of(assert_claim, Lenient(1.3), "lossless")
    assert "the smallest counterexample" in message and "margin -3/20" in message and "13/20" in message
    call = re.search(r"to see it again: specsim\.testing\.assert_case\((\{.*\})\)$", message)
    assert call is not None
    content = ast.literal_eval(call[1])
    with pytest.raises(AssertionError, match="lossless still fails for Lenient"):
        assert_case(content)
    assert_case(content, subject=Strict())
    assert_case({**content, "subject": "Strict"})


def test_a_rule_without_a_name_is_put_in_by_hand() -> None:
    message = message_of(assert_lossless, lenient)
    assert message.endswith(", subject=...)") and "'subject': None" in message
    content = ast.literal_eval(message[message.index("assert_case(") + len("assert_case(") : message.rindex(", subj")])
    with pytest.raises(SpecsimError, match="names no subject"):
        assert_case(content)
    with pytest.raises(AssertionError):
        assert_case(content, subject=lenient)


def test_the_file_of_a_subject_is_found_below_the_root(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("from specsim import Lenient\nrule = lambda *laws: Lenient(2)(*laws)\n")
    text = f"{tmp_path}/own.py:rule"
    content = ast.literal_eval(message_of(assert_lossless, text).rpartition("assert_case(")[2][:-1])
    assert content["subject"] == text
    with pytest.raises(AssertionError):
        assert_case({**content, "subject": "own.py:rule"}, root=tmp_path)
    (tmp_path / "own.py").write_text("from specsim import Strict\nrule = Strict()\n")
    assert_case({**content, "subject": "own.py:rule"}, root=str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Strict(), "quick"), "unknown claim 'quick'"),
        ((Strict(),), "needs a claim"),
        ((Strict, "valid"), "no rule"),
        ((None, "valid"), "neither a rule nor a decoder"),
        (("Strickt", "valid"), "did you mean 'Strict'"),
        ((Chain(2), "support"), "of a decoder; known: lossless"),
    ],
)
def test_what_makes_no_sense_is_an_error_not_a_failure(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(SpecsimError, match=message):
        assert_claim(*arguments, profile=TINY)


def test_profiles_have_names() -> None:
    with pytest.raises(SpecsimError, match="known: ci, thorough"):
        assert_lossless(Strict(), profile="quick")


def test_what_belongs_to_a_theorem_is_sent_elsewhere() -> None:
    content = {"schema": "specsim.counterexample/1", "statement": "T02.5", "case": {}, "margin": "-1", "minimal": True}
    with pytest.raises(SpecsimError, match="specsim replay"):
        assert_case(content, subject=Strict())


@given(laws(3), pairs(2), pairs(), models(2, 3))
@settings(max_examples=40, deadline=None)
def test_strategies_draw_what_rules_and_decoders_take(law: Any, pair: Any, any_pair: Any, model: Table) -> None:
    assert law.shape == (3,) and law.dtype == object and law.sum() == 1 and law.min() >= 0
    assert all(type(entry) is Fraction for entry in law)
    assert [some.shape for some in pair] == [(2,), (2,)] and any_pair[0].shape == any_pair[1].shape
    assert isinstance(model, Table) and (model.vocab, model.length) == (2, 3)
    assert specsim.exact(Chain(1), model, model).tv(model) == 0
    assert specsim.output_law(Strict(), pair[1], pair[0], np.array(0)).tolist() == pair[0].tolist()


@pytest.mark.parametrize("call", [lambda: laws(0), lambda: pairs(True), lambda: models(2, 30), lambda: models(3, 0)])
def test_strategies_refuse_what_cannot_be_drawn(call: Any) -> None:
    with pytest.raises(SpecsimError):
        call()


def test_a_statement_of_ones_own() -> None:
    """Total variation is no more than the sum of differences, and not always half of the largest."""

    def half(case: Case, factor: Fraction) -> Fraction:
        gap = abs(case.target - case.draft)
        return gap.sum() - factor * gap.max()

    domain = Domain({"target": LawField(), "draft": LawField()}, vocabs=(1, 2, 3))
    statement = Statement("sum of gaps >= factor x the largest", domain, half, Fraction(2))
    assert examine(statement, TINY).counterexample is None
    assert examine(statement.about(Fraction(3)), TINY).counterexample is not None


def test_everything_public_is_documented_and_exported() -> None:
    for name in public.__all__:
        thing = getattr(public, name)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            assert inspect.getdoc(thing), name
        if inspect.isfunction(thing):
            signature = inspect.signature(thing)
            assert signature.return_annotation is not inspect.Signature.empty
    assert all(re.fullmatch(r"(T\d\d(, T\d\d)*)?", claim.theorem) and claim.text for claim in CLAIMS.values())
