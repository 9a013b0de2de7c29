"""Divergences of a run in every number type, memory in parts, rules of the whole law, estimates and errors."""

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from specsim import RULES as KNOWN
from specsim import Grouped, Lantern, LanternPlus, SpecsimError, Strict
from specsim.divergences import MEASURES, along, conditional_laws, difference, estimates, mean, paths, quotient
from specsim.divergences.whole import ALIKE, same_in_every_slot, whole_law
from specsim.flows import begin, flow, token_flow
from tests.divergence_models import CASES, RULES, Case

FLOAT64, FLOAT32 = 1e-12, 2e-5  # sums over 3 positions of ratios of up to some ten
CASE = Case(3, 3, 2, 9)


@cache
def in_fractions(rule: Any) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Exact figures and laws of the case, as floats."""
    arguments = (CASE.bound(rule), *CASE.laws, CASE.tokens, CASE.lookahead)
    figures, laws = along(*arguments)._asdict(), conditional_laws(*arguments)
    return {name: values.astype(np.float64) for name, values in figures.items()}, laws.astype(np.float64)


def in_numbers(case: Case, rule: Any, make: Any) -> tuple[Any, Any]:
    """Figures and laws of a case in other arrays."""
    laws = [make(law.astype(np.float64)) for law in case.laws]
    tokens = torch.from_numpy(case.tokens) if isinstance(laws[0], torch.Tensor) else case.tokens
    arguments = (case.bound(rule), *laws, tokens, case.lookahead)
    return along(*arguments), np.asarray(conditional_laws(*arguments))


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize(
    ("make", "rounding"),
    [
        (lambda law: law, FLOAT64),
        (lambda law: law.astype(np.float32), FLOAT32),
        (lambda law: torch.from_numpy(law), FLOAT64),
        (lambda law: torch.from_numpy(law).float(), FLOAT32),
    ],
    ids=["numpy float64", "numpy float32", "torch float64", "torch float32"],
)
def test_floats_are_the_fractions(rule: Any, make: Any, rounding: float) -> None:
    found, laws = in_numbers(CASE, rule, make)
    wanted, exact_laws = in_fractions(rule)
    for name in found._fields:
        assert np.allclose(getattr(found, name), wanted[name], rtol=rounding, atol=rounding), name
    assert np.allclose(laws, exact_laws, rtol=rounding, atol=rounding)


@pytest.mark.parametrize("number", [np.float32, np.float64])
def test_rounding_relaxes_nothing(number: type) -> None:
    found, _ = in_numbers(CASE, Strict(), lambda law: law.astype(number))
    assert (found.relaxed == 0).all() and quotient(found.relaxed, found.relaxed_runs) == (0.0, 0.0)


def test_sequences_in_parts_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = in_numbers(CASE, Lantern(1, 0.4), lambda law: law)
    monkeypatch.setattr(paths, "CHUNK_BYTES", 1)
    parts = in_numbers(CASE, Lantern(1, 0.4), lambda law: law)
    assert all((a == b).all() for a, b in zip(whole[0], parts[0], strict=True)) and (whole[1] == parts[1]).all()


@pytest.mark.parametrize("rule", [Lantern(1, 0.4), Lantern(2, 0.0), Lantern(2, 1.0), LanternPlus(2, 3.0), Grouped(3)])
@pytest.mark.parametrize("case", [Case(3, 4, 2, 9), Case(3, 4, 2, 8, zeros=True), Case(2, 3, 2, 1)], ids=repr)
def test_whole_laws_say_what_verdicts_on_every_token_say(case: Case, rule: Any) -> None:
    bound = case.bound(rule)
    draft, target = case.laws[1], case.laws[0]
    slot = np.zeros(target.shape[:-1], dtype=np.int64)
    wide, asked = (token_flow(some, draft, target, slot) for some in (whole_law(bound), bound))
    assert whole_law(bound) != bound
    assert (wide.kept == asked.kept).all() and (wide.corrected == asked.corrected).all()


@pytest.mark.parametrize("rule", [cls() for cls in KNOWN.values()], ids=repr)
def test_rules_that_are_asked_once_judge_every_slot_alike(rule: Any) -> None:
    bound = CASE.bound(rule)
    draft, target = (law.astype(np.float64)[:, 0, :] for law in (CASE.laws[1], CASE.laws[0]))
    first, later = (flow(bound, begin(bound, target[:, 0]), draft, target, slot)[0] for slot in (0, 3))
    alike = all((a == b).all() for a, b in zip(first, later, strict=True))
    assert alike or not same_in_every_slot(whole_law(bound))


def test_only_rules_without_slots_are_asked_once() -> None:
    assert {cls for cls in KNOWN.values() if same_in_every_slot(cls())} == {*ALIKE, KNOWN["Optimal"]}
    assert not same_in_every_slot(KNOWN["Optimal"](KNOWN["Annealed"]()))


def test_a_mean_and_its_error() -> None:
    assert mean(np.array([1.0, 3.0])) == (2.0, 1.0)
    assert mean(np.array([1.0, math.inf])) == (math.inf, math.inf)
    assert math.isnan(mean(np.array([1.0])).error)
    with pytest.raises(SpecsimError, match="no sequences: an estimate needs at least one"):
        mean(np.array([]))


def test_pairs_cancel_what_they_share() -> None:
    common = np.array([1.0, 5.0, -7.0])
    assert difference(common + 2, common) == (2.0, 0.0)
    with pytest.raises(SpecsimError, match="cannot be paired"):
        difference(common, common[:2])


def test_a_quotient_of_means() -> None:
    """The error is that of top - value bottom, over the mean of bottom."""
    top, bottom = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])
    assert quotient(top, bottom) == (0.5, 0.0)
    found = quotient(np.array([1.0, 3.0]), np.array([2.0, 2.0]))
    assert found == (1.0, 0.5)
    assert quotient(0 * top, 0 * top) == (0.0, 0.0) and quotient(top, 0 * top).value == math.inf


def test_all_estimates() -> None:
    """Each from its own sample, with the runs of relaxed tokens as a quotient."""
    plain, output = (Case(2, 4, 2, seed).paths(RULES[1]) for seed in (1, 2))
    found = estimates(plain, output)
    assert set(found) == {*MEASURES, "relaxed_run"}
    assert found["tv"] == mean(MEASURES["tv"].values(plain)) and found["kl"] == mean(output.token_kl)
    assert found["relaxed_run"] == quotient(output.relaxed, output.relaxed_runs)


@pytest.mark.parametrize("cut", [lambda a: a[:, :, :1], lambda a: a[:, :2], lambda a: a[:3], lambda a: a[0]])
def test_laws_that_do_not_fit_are_refused(cut: Any) -> None:
    target, draft = CASES[0].laws
    with pytest.raises(SpecsimError, match=r"target, draft and tokens have shapes .*: give laws \[B, N, V\]"):
        along(Strict(), target, cut(draft), CASES[0].tokens, 2)
    with pytest.raises(SpecsimError, match="Chain: lookahead = 0 must be a whole number"):
        along(Strict(), target, draft, CASES[0].tokens, 0)
