"""Divergences of a run from laws along sequences, against the enumerated law: every sequence is in the sample."""

import math
from typing import Any

import numpy as np
import pytest

from specsim import Additive, Annealed, Law, Lenient, Strict, Table
from specsim.divergences import MEASURES, conditional_laws, max_ratio
from specsim.laws import conditionals, kl_divergence
from specsim.rules import BlockVerification
from tests.divergence_models import CASES, RULES, Case, total

LOGARITHMS = 1e-12  # sums of a few hundred float64 logarithms of exact ratios
EVERYWHERE = pytest.mark.parametrize("rule", RULES, ids=repr)


def close(found: Any, wanted: float) -> bool:
    """Equal, infinities too, up to the rounding of logarithms."""
    return math.isclose(found, wanted, rel_tol=LOGARITHMS, abs_tol=LOGARITHMS)


@EVERYWHERE
@pytest.mark.parametrize("case", [*CASES, Case(3, 1, 2, 4)], ids=repr)
def test_the_sums_over_all_sequences_are_those_of_the_exact_law(case: Case, rule: Any) -> None:
    law, paths = case.law(rule), case.paths(rule)
    found = {
        name: total(case.target_mass if measure.sample == "target" else law.mass, measure.values(paths))
        for name, measure in MEASURES.items()
    }
    assert found["tv"] == found["tv_two_sided"] == law.tv(case.target)
    assert found["off_support"] == law.mass[case.target_mass == 0].sum()
    assert found["calls"] == law.calls and found["accepted"] == law.accepted
    assert found["token_tv"] == sum(law.token_tv(case.target))
    assert found["tv"] <= found["token_tv"] <= found["local"]
    assert found["chi2"] == chi_square(law.mass, case.target_mass)
    assert close(found["kl"], law.kl(case.target))
    assert close(found["kl_reverse"], kl_divergence(case.target_mass, law.mass))
    assert close(found["token_chi2"], token_chi_square(law, case.target))
    assert close(found["log_ratio"], log_ratio(law, case.target)) and found["log_ratio"] >= found["kl"] - LOGARITHMS
    assert max_ratio(paths) == float(law.max_ratio(case.target))
    assert (paths.ratio == ratios(law.mass, case.target_mass)).all()


def ratios(out: np.ndarray, target: np.ndarray) -> np.ndarray:
    return np.array([a / b if b else (math.inf if a else 0) for a, b in zip(out, target, strict=True)], dtype=object)


def chi_square(out: np.ndarray, target: np.ndarray) -> Any:
    """sum (a - b)^2 / b; inf where the second lacks something."""
    return sum((a - b) ** 2 / b if b else (math.inf if a else 0) for a, b in zip(out, target, strict=True))


def token_chi_square(law: Law, target: Table) -> float:
    return sum(float(w) * float(chi_square(a, b)) for level in conditionals(law, target) for w, a, b in level)


def log_ratio(law: Law, target: Table) -> float:
    levels = (some for level in conditionals(law, target) for some in level)
    return sum(float(w) * math.log(max(float(r) for r in ratios(a, b))) for w, a, b in levels)


@EVERYWHERE
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_the_laws_of_the_next_token_are_those_of_the_exact_law(case: Case, rule: Any) -> None:
    assert laws_agree(case, rule)


def laws_agree(case: Case, rule: Any) -> bool:
    """out(v | x_<n) times the mass of x_<n is the mass of x_<n v, for every prefix; 0 for those of no mass."""
    found, mass = conditional_laws(case.bound(rule), *case.laws, case.tokens, case.lookahead), case.law(rule).mass
    for n in range(case.length):
        prefixes = mass.reshape(case.vocab**n, case.vocab, -1).sum(axis=-1)
        here = found[:: case.vocab ** (case.length - n), n, :]
        if not (here * prefixes.sum(axis=-1, keepdims=True) == prefixes).all():
            return False
        if not (here.sum(axis=-1) == (prefixes.sum(axis=-1) > 0)).all():
            return False
    return True


@pytest.mark.parametrize(
    "rule", [Lenient(1.5), Annealed(2.0, 0.7), Additive(0.2), BlockVerification(Lenient(1.5))], ids=repr
)
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_rounds_offset_nothing_where_every_slot_errs_to_the_same_side(case: Case, rule: Any) -> None:
    """A rule on the line puts too much where draft > target and too little elsewhere, at every slot: no error of one
    round meets an opposite one, so local is token_tv."""
    paths = case.paths(rule)
    assert (paths.local == paths.token_tv).all()


def test_a_lossless_rule_has_no_divergence() -> None:
    """Every value, not only every mean, is 0."""
    paths = CASES[2].paths(Strict())
    assert (paths.ratio == 1).all()
    for part in (paths.off_support, paths.token_tv, paths.token_kl, paths.token_chi2, paths.local, paths.relaxed):
        assert (part == 0).all()
