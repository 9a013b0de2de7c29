"""Rules that are no rules: one clear line names the rule, what is wrong, its value and the pair."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from specsim import SpecsimError, Verdict
from specsim.arrays import Array, number, positive_part
from specsim.checking.result import check
from specsim.verification import capped_ratio, optimal_residual, standard_residual

BACKENDS = {"torch": torch.asarray}


@dataclass(frozen=True)
class Mutant:
    """A rule made of one function."""

    verdict: Callable[[Array, Array, Array], Any]

    def __call__(self, draft: Array, target: Array, position: Array) -> Any:
        return self.verdict(draft, target, position)

    def __repr__(self) -> str:
        return f"Mutant({self.verdict.__name__})"


def strict(draft: Array, target: Array) -> Array:
    return capped_ratio(target, draft)


def above_one(draft: Array, target: Array, position: Array) -> Verdict:
    return Verdict(strict(draft, target) + number(Fraction(1, 10**9), target), standard_residual(draft, target))


def below_zero(draft: Array, target: Array, position: Array) -> Verdict:
    return Verdict(strict(draft, target) - number(Fraction(1, 8), target), standard_residual(draft, target))


def negative_residual(draft: Array, target: Array, position: Array) -> Verdict:
    gap = target - draft
    return Verdict(strict(draft, target), gap + 1 * number(Fraction(1, gap.shape[-1]), target))


def half_a_law(draft: Array, target: Array, position: Array) -> Verdict:
    return Verdict(strict(draft, target), standard_residual(draft, target) / 2)


def plain_division(draft: Array, target: Array, position: Array) -> Verdict:
    return Verdict(np.minimum(target / draft, number(1, target)), standard_residual(draft, target))


def empty_residual(draft: Array, target: Array, position: Array) -> Verdict:
    left = positive_part(target - draft)
    return Verdict(strict(draft, target), left / left.sum(axis=-1, keepdims=True))


def scalar_acceptance(draft: Array, target: Array, position: Array) -> Verdict:
    return Verdict(strict(draft, target).sum(axis=-1), standard_residual(draft, target))


def number_acceptance(draft: Array, target: Array, position: Array) -> Verdict:
    return Verdict(1, standard_residual(draft, target))


def no_verdict(draft: Array, target: Array, position: Array) -> Any:
    return strict(draft, target), target


def raises(draft: Array, target: Array, position: Array) -> Verdict:
    raise KeyError("omega\nof slot")


def raises_deep_inside(draft: Array, target: Array, position: Array) -> Verdict:
    return Verdict(np.broadcast_to(target, (7, 7)), target)


def writes_in_place(draft: Array, target: Array, position: Array) -> Verdict:
    draft[..., 0] = 0
    return Verdict(strict(draft, target), target)


def looks_at_the_batch(draft: Array, target: Array, position: Array) -> Verdict:
    share = (target.sum(axis=-1) * 0 + target.max()) / 2
    return Verdict(strict(draft, target) * share[..., None], optimal_residual(draft, target, strict(draft, target)))


INVALID = [
    # (rule, what the line must say)
    (
        above_one,
        r"accept is 1000000001/1000000000, above 1 at token 0; .*pair 'one token', p = \(1\).*; cap it",
    ),
    (below_zero, r"accept is -1/8, below 0 at token \d; pair '.*', p = \(.*\), q = \(.*\), slot 0; clip it"),
    (
        negative_residual,
        r"residual is -1/2, below 0 at token \d; pair 'grid .*slot 0; take its positive part",
    ),
    (
        half_a_law,
        r"residual sums to 1/2, not to 1; pair 'grid .*', p = \(.*\), q = \(.*\), slot 0; normalise it",
    ),
    (
        plain_division,
        r"accept is nan, not a number at token \d; pair '.*', p = \(.*0.*\), q = \(.*0.*\), slot 0",
    ),
    (empty_residual, r"residual is nan, not a number at token 0; pair 'one token', .* \(use p there\)"),
    (scalar_acceptance, r"shape of accept is \(\d+, 7\), must be \(\d+, 7, 1\), the shape of the laws"),
    (number_acceptance, r"shape of accept is none, it is a int, must be"),
    (no_verdict, r"returned tuple, not a Verdict"),
    (raises, r"KeyError: 'omega\\nof slot' at .*test_invalid_rules\.py:\d+; correct the rule"),
    (raises_deep_inside, r"ValueError: .* at .*test_invalid_rules\.py:\d+; correct the rule"),
    (writes_in_place, r"ValueError: assignment destination is read-only at .*test_invalid_rules\.py:\d+"),
    (
        looks_at_the_batch,
        r"its verdict on token \d moves by .* is judged alone; it must depend on its own laws",
    ),
]


@pytest.mark.parametrize(("function", "line"), INVALID, ids=lambda value: getattr(value, "__name__", ""))
def test_an_invalid_rule_is_one_clear_line(function: Any, line: str) -> None:
    with pytest.raises(SpecsimError) as caught:
        check(Mutant(function), BACKENDS)
    said = str(caught.value)
    assert said.startswith(f"Mutant({function.__name__})") and "\n" not in said and len(said) < 400
    assert re.search(line, said), said


def test_the_line_of_an_exception_is_the_line_that_raised() -> None:
    with pytest.raises(SpecsimError) as caught:
        check(Mutant(raises), {})
    line = int(str(caught.value).partition("test_invalid_rules.py:")[2].partition(";")[0])
    assert line == raises.__code__.co_firstlineno + 1 or line == Mutant.__call__.__code__.co_firstlineno + 1


@dataclass(frozen=True)
class TwoForms:
    """A rule whose `at` is not its whole-law form."""

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        return Verdict(strict(draft, target), standard_residual(draft, target))

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        accept = np.take_along_axis(strict(draft, target), token[..., None], axis=-1)[..., 0]
        return Verdict(accept, target)


@dataclass(frozen=True)
class NegativeAfterOne:
    """By token: the replacement of token 1 is no law."""

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        accept = np.take_along_axis(strict(draft, target), token[..., None], axis=-1)[..., 0]
        odd = number(2, target) * target - number(Fraction(1, target.shape[-1]), target)
        return Verdict(accept, np.where(token[..., None] == 1, odd, standard_residual(draft, target)))


def test_an_invalid_replacement_of_one_token_names_both_tokens() -> None:
    line = r"residual is -1/2, below 0 at token 1 after refusing token 1; pair 'grid 1, 0 \| 0, 1', p = \(1, 0\)"
    with pytest.raises(SpecsimError, match=line):
        check(NegativeAfterOne(), {})


def test_two_forms_that_differ_are_refused() -> None:
    with pytest.raises(SpecsimError, match=r"__call__ and `at` differ on token \d, pair '.*leave one of them out"):
        check(TwoForms(), {})


def test_an_object_that_is_no_rule() -> None:
    with pytest.raises(SpecsimError, match="is no rule"):
        check(object(), {})
