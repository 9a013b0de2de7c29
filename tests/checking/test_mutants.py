"""Rules that are valid and wrong: biased, off the line, leaking, or another rule on another backend."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from array_api_compat import array_namespace

from specsim import Verdict
from specsim.arrays import Array, is_exact, normalise, number, positive_part
from specsim.checking.result import CheckResult, check, meets
from specsim.verification import capped_ratio, standard_residual

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


def vanilla_residual(draft: Array, target: Array, position: Array) -> Verdict:
    return Verdict(capped_ratio(number(0.8, target) * target, draft), standard_residual(draft, target))


def residual_is_target(draft: Array, target: Array, position: Array) -> Verdict:
    return Verdict(strict(draft, target), target)


def wrong_at_slot_two(draft: Array, target: Array, position: Array) -> Verdict:
    xp = array_namespace(target)
    right = standard_residual(draft, target)
    return Verdict(strict(draft, target), xp.where((position == 2)[..., None], target, right))


def biased_beyond_floats(draft: Array, target: Array, position: Array) -> Verdict:
    share = number(Fraction(1, 10**18), target)
    return Verdict(strict(draft, target), (1 - share) * standard_residual(draft, target) + share * target)


def leaks_in_floats(draft: Array, target: Array, position: Array) -> Verdict:
    right = positive_part(target - draft)
    return Verdict(strict(draft, target), normalise(right if is_exact(target) else right + 1e-12, target))


def leaks_below_rounding(draft: Array, target: Array, position: Array) -> Verdict:
    right = positive_part(target - draft)
    return Verdict(strict(draft, target), normalise(right if is_exact(target) else right + 1e-15, target))


def answers_in_numpy(draft: Array, target: Array, position: Array) -> Verdict:
    draft, target = np.asarray(draft), np.asarray(target)
    return Verdict(strict(draft, target), standard_residual(draft, target))


def leaks_where_not_exact(draft: Array, target: Array, position: Array) -> Verdict:
    left = np.maximum(target.astype(np.float64) - draft.astype(np.float64), 0) + 1e-14
    return Verdict(strict(draft, target), left / left.sum(axis=-1, keepdims=True))


def wrong_in_torch(draft: Array, target: Array, position: Array) -> Verdict:
    right = standard_residual(draft, target)
    return Verdict(strict(draft, target), target if isinstance(target, torch.Tensor) else right)


def numpy_only(draft: Array, target: Array, position: Array) -> Verdict:
    return Verdict(strict(draft, target), standard_residual(draft, target).astype(target.dtype))


def nan_in_float32(draft: Array, target: Array, position: Array) -> Verdict:
    wrong = strict(draft, target)
    return Verdict(wrong * float("nan") if str(target.dtype).endswith("float32") else wrong, target)


def biased(function: Any) -> CheckResult:
    result = check(Mutant(function), BACKENDS)
    assert result.exactness == "exact" and result.verdict == "biased" and meets(result, "biased")
    assert not meets(result, "lossless") and result.agrees
    return result


def test_vanilla_residual_below_one_is_biased_and_off_the_line() -> None:
    result = biased(vanilla_residual)
    assert not result.on_line and result.off_support.value == 0
    some = result.tv.smallest
    assert some is not None and len(some.target) == 2 and some.slot == 0


def test_residual_target_has_the_smallest_counterexample() -> None:
    some = biased(residual_is_target).tv.smallest
    assert some is not None
    assert (some.value, some.slot) == (Fraction(1, 4), 0)
    assert (some.target, some.draft) == (("1/2", "1/2"), ("0", "1"))
    assert (some.accept, some.residual, some.out) == (("1", "1/2"), ("1/2", "1/2"), ("1/4", "3/4"))


def test_a_bias_that_no_float_could_show_is_a_bias() -> None:
    result = biased(biased_beyond_floats)
    assert 0 < result.tv.value <= Fraction(1, 10**18) and result.tv.smallest is not None and not result.on_line


def test_wrong_at_one_slot_only_names_the_slot() -> None:
    result = biased(wrong_at_slot_two)
    assert result.tv.smallest is not None and result.tv.smallest.slot == 2
    assert result.line.smallest is not None and result.line.smallest.slot == 2
    assert result.tv.where.endswith("slot 2")


def test_a_leak_in_floats_is_found_though_the_exact_rule_is_right() -> None:
    result = check(Mutant(leaks_in_floats), BACKENDS)
    assert (result.exactness, result.verdict, result.off_support.value) == ("exact", "lossless", 0)
    assert not result.agrees and not meets(result, "lossless")
    assert all(0 < row.leak < 2e-12 for row in result.parity if row.numbers == "float64")


def test_a_leak_that_could_pass_for_rounding_is_a_leak() -> None:
    row = check(Mutant(leaks_below_rounding), {}).parity[0]
    assert row.difference is not None and row.difference < row.tolerance and 0 < row.leak < 2e-15 and not row.agrees


def test_a_verdict_in_another_kind_of_array_is_a_finding() -> None:
    rows = check(Mutant(answers_in_numpy), BACKENDS).parity
    assert [row.agrees for row in rows] == [True, True, False, False]
    assert all(row.note == "laws in a Tensor give a verdict in a ndarray" for row in rows[2:])


def test_a_leak_of_a_rule_without_fractions_has_no_slack() -> None:
    result = check(Mutant(leaks_where_not_exact), {})
    assert result.exactness == "float64: on Fractions its residual holds float64"
    assert result.verdict == "biased" and result.tv.smallest is None
    assert 0 < result.off_support.value < 1e-11 and result.off_support.smallest is not None


def test_right_in_numpy_wrong_in_torch_is_a_finding() -> None:
    result = check(Mutant(wrong_in_torch), BACKENDS)
    assert result.verdict == "lossless" and not meets(result, "lossless") and not meets(result, "on-line")
    assert [(row.backend, row.agrees) for row in result.parity] == [
        ("numpy", True),
        ("numpy", True),
        ("torch", False),
        ("torch", False),
    ]
    assert all(row.difference is not None and row.difference > 0.1 for row in result.parity[2:])


def test_a_rule_that_only_numpy_can_run_is_a_finding_with_its_line() -> None:
    result = check(Mutant(numpy_only), BACKENDS)
    assert result.verdict == "lossless" and not result.agrees
    assert all(row.difference is None and "AttributeError" in row.note for row in result.parity[2:])


def test_not_a_number_on_a_backend_is_a_finding() -> None:
    rows = check(Mutant(nan_in_float32), {}).parity
    assert [(row.numbers, row.agrees, row.difference is None) for row in rows] == [
        ("float64", True, False),
        ("float32", False, True),
    ]
    assert rows[1].note == "a verdict is not a number"


@dataclass(frozen=True)
class OnlyDraftedZeroed:
    """Strict acceptance, a residual that removes the refused token and nothing else."""

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        xp = array_namespace(target)
        accept = xp.take_along_axis(strict(draft, target), token[..., None], axis=-1)[..., 0]
        mine = token[..., None] == xp.arange(target.shape[-1])
        return Verdict(accept, normalise(xp.where(mine, number(0, target), target), target))


def test_residual_that_zeroes_only_the_drafted_token_is_biased_off_the_line() -> None:
    result = check(OnlyDraftedZeroed(), BACKENDS)
    assert result.exactness == "exact" and result.agrees
    assert result.verdict == "biased" and not result.on_line
    assert result.tv.smallest is not None and len(result.tv.smallest.target) == 3  # with two tokens it is right
