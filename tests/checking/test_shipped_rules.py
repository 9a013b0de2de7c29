"""What the check says of every shipped rule, and the figures of the theory as Fractions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch

from specsim import (
    RULES,
    Additive,
    AdditiveUnmasked,
    Annealed,
    Band,
    BlockVerification,
    Cactus,
    CascadeOpt,
    ContentAware,
    ContentAwareUnmasked,
    Ensemble,
    FuzzyJS,
    FuzzyKL,
    Grouped,
    Lantern,
    LanternDynamic,
    LanternPlus,
    LanternPlusDynamic,
    Ledger,
    Lenient,
    Optimal,
    Partitioned,
    Scheduled,
    Strict,
    Typical,
    Verdict,
    bind_codebook,
)
from specsim.arrays import Array, divide, normalise, number
from specsim.checking.onetoken import OneToken, measure
from specsim.checking.pairs import all_pairs, stack
from specsim.checking.result import CheckResult, check, meets
from specsim.checking.validity import exact_verdict
from specsim.verification import capped_ratio, optimal_residual

BACKENDS = {"torch": torch.asarray, "array_api_strict": array_api_strict.asarray}

# (rule, verdict, on the line, emits where p = 0)
VERDICTS = [
    (Strict(), "lossless", True, False),
    (Lenient(2), "biased", True, False),
    (Lenient(1), "lossless", True, False),
    (Lenient(0.8), "lossless", False, False),
    (Annealed(), "biased", True, False),
    (Annealed(delta=1.0), "lossless", True, False),
    (Annealed(mu=0.5, clamp=False), "lossless", False, False),
    (Additive(), "biased", True, False),
    (Additive(0), "lossless", True, False),
    (ContentAware(), "biased", True, False),
    (ContentAware(delta=0.5), "biased", True, False),
    (Lantern(), "biased", False, True),
    (Lantern(k=1), "biased", False, True),
    (Optimal(Lantern()), "biased", True, True),
    (Optimal(Lantern(k=2, delta=0.3)), "biased", True, True),
    (Optimal(LanternPlus()), "biased", True, False),
    (Optimal(LanternDynamic()), "biased", False, True),
    (Optimal(Grouped()), "biased", False, True),
    (Optimal(Lenient(0.8)), "lossless", False, False),
    (AdditiveUnmasked(), "biased", True, True),
    (ContentAwareUnmasked(), "biased", True, True),
    (LanternDynamic(), "biased", False, True),
    (LanternPlus(), "biased", False, False),
    (LanternPlusDynamic(), "biased", False, True),  # its replacement is uniform where nothing is left
    (Grouped(), "biased", False, True),
    (Grouped(size=1), "lossless", True, False),
    (Partitioned(), "biased", False, True),
    (Partitioned(size=20), "biased", True, True),  # no pair has more tokens than one run: all is kept
    (Grouped(strict_tail=7), "biased", False, False),  # on laws of more than 7 tokens
    (Annealed(delta=1.0, nu=-1.0, mu=3.0), "biased", True, False),  # from slot 4 on
    (Partitioned(size=2), "biased", False, True),
    (Partitioned(size=1), "lossless", True, False),
    (Typical(), "biased", False, False),
    (Ensemble(), "biased", True, True),
    (Ensemble(weight=1), "lossless", True, False),
    (Cactus(), "biased", True, False),
    (Cactus(d=0), "lossless", True, False),
    (FuzzyKL(), "biased", True, True),
    (FuzzyKL(threshold=0), "lossless", True, False),
    (FuzzyJS(), "biased", True, True),
    (FuzzyJS(threshold=0), "lossless", True, False),
    (CascadeOpt(), "biased", True, True),
    (BlockVerification(), "lossless", True, False),
    (BlockVerification(Lenient(0.8)), "lossless", True, False),  # the law of a dominated rule, without its waste
    (BlockVerification(Lenient(1.5)), "biased", True, False),
    (BlockVerification(Lantern(k=1)), "biased", False, True),
    (Ledger(), "biased", True, False),
    (Ledger(w=1.0), "lossless", True, False),
    (Band(), "biased", True, False),
    (Band(omega=1.0), "lossless", True, False),
    (Scheduled(), "biased", True, False),
    (Scheduled(scale=0), "lossless", True, False),
    (Scheduled((1.0, 3.0)), "biased", True, False),  # from slot 1 on
]


def on_pair(rule: Any, name: str) -> OneToken:
    """The figures on one named pair at slot 0, as scalars and vectors."""
    some = next(one for one in all_pairs() if one.name == name)
    bound = bind_codebook(rule, np.arange(some.vocab)[:, None])
    pile = stack([some])
    figures = measure(bound, pile, exact_verdict(bound, pile).accept)
    return OneToken(*(array[0, 0] for array in figures))


AT_AN_EDGE = [  # laws of the table meet a threshold of theirs exactly, and rounding decides
    *(ContentAware(delta=1.0), ContentAwareUnmasked(delta=0.5), ContentAwareUnmasked(delta=1.0)),
    *(CascadeOpt(alpha=0), CascadeOpt(alpha=1.0), LanternDynamic(delta=0.9), LanternDynamic(delta=1.0)),
    *(LanternPlusDynamic(lam=3.0, k=2), Typical(epsilon=1, delta=1), Grouped(gap=0.1), Lenient(omega=1e-300)),
    *(Optimal(LanternDynamic(delta=1.0)), FuzzyKL(threshold=0), FuzzyJS(threshold=0)),
]


@pytest.mark.parametrize("rule", AT_AN_EDGE, ids=repr)
def test_what_rounding_decides_is_no_mismatch(rule: Any) -> None:
    assert all(row.agrees for row in check(rule, {"torch": torch.asarray}).parity)


@pytest.mark.parametrize("rule", [CascadeOpt(alpha=1.0), LanternDynamic(delta=1.0), FuzzyKL(0), FuzzyJS(0)], ids=repr)
def test_the_ends_of_a_range_are_left_to_no_rounding(rule: Any) -> None:
    assert all(row.agrees and row.edges == 0 for row in check(rule, {"torch": torch.asarray}).parity)


@dataclass(frozen=True)
class Shaped:
    """A rule put together from an acceptance and a residual, to write the theory's wrong rules down."""

    accept: Callable[[Array, Array], Array]
    residual: Callable[[Array, Array, Array], Array]

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        accept = self.accept(draft, target)
        return Verdict(accept, self.residual(draft, target, accept))


def strict(draft: Array, target: Array) -> Array:
    return capped_ratio(target, draft)


@dataclass(frozen=True)
class OnlyTheDrafted:
    """The strict acceptance, with a residual that is the target without the drafted token."""

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        accept = np.take_along_axis(capped_ratio(target, draft), token[..., None], axis=-1)[..., 0]
        others = np.where(token[..., None] == np.arange(target.shape[-1]), number(0, target), target)
        return Verdict(accept, normalise(others, target))


@pytest.mark.parametrize(("rule", "verdict", "on_line", "off"), VERDICTS, ids=lambda value: str(value))
def test_verdict_of_every_shipped_rule(rule: Any, verdict: str, on_line: bool, off: bool) -> None:
    backends = BACKENDS if rule == type(rule)() else {}  # once for each rule
    result = check(rule, backends)
    assert (result.rule, result.exactness) == (repr(rule), "exact")
    assert (result.verdict, result.on_line) == (verdict, on_line)
    assert (result.off_support.value > 0) == off == (result.off_support.smallest is not None)
    assert (result.tv.value == 0) == (verdict == "lossless") == (result.tv.smallest is None)
    assert result.dominated == (verdict == "lossless" and not on_line)
    assert [row.agrees for row in result.parity] == [True] * 2 * (1 + len(backends))
    assert meets(result, verdict) and meets(result, "on-line") == on_line


def test_every_row_of_the_table_has_a_verdict() -> None:
    assert {type(rule) for rule, *_ in VERDICTS} == set(RULES.values())


def test_lenience_two_on_the_canonical_pair() -> None:
    figures = on_pair(Lenient(2), "canonical pair")
    assert 1 - figures.reject == Fraction(13, 20)
    assert (figures.tv, figures.distance, figures.off) == (Fraction(3, 20), 0, 0)
    assert figures.ratio == 2  # out/p <= omega, and q/p reaches it


def test_strict_accepts_half_of_the_canonical_pair_without_bias() -> None:
    figures = on_pair(Strict(), "canonical pair")
    assert (figures.reject, figures.tv, figures.ratio) == (Fraction(1, 2), 0, 1)


def test_lenience_below_one_is_dominated_by_exactly_what_it_refuses_more() -> None:
    strict_one, low = on_pair(Strict(), "canonical pair"), on_pair(Lenient(0.8), "canonical pair")
    assert low.tv == 0
    assert low.distance == low.reject - strict_one.reject > 0


def test_residual_target_on_the_canonical_pair() -> None:
    rule = Shaped(strict, lambda draft, target, accept: target)
    assert on_pair(rule, "canonical pair").tv == Fraction(7, 40)


def test_residual_without_only_the_drafted_token_on_the_canonical_pair() -> None:
    assert on_pair(OnlyTheDrafted(), "canonical pair").tv == Fraction(3, 19)


def test_unmasked_addition_emits_a_token_of_target_probability_zero() -> None:
    def accept(draft: Array, target: Array) -> Array:
        bonus = number(0.1, target)
        return np.minimum(divide(target, draft, number(1, target)) + bonus, number(1, target))

    rule = Shaped(accept, optimal_residual)
    some = replace(all_pairs()[0], target=laws("1/2 1/2 0"), draft=laws("1/4 1/4 1/2"))
    pile = stack([some])
    figures = measure(rule, pile, exact_verdict(rule, pile).accept)
    assert figures.out[0, 0, 2] == figures.off[0, 0] == Fraction(1, 20)
    assert check(rule, {}).off_support.value > 0
    assert on_pair(Additive(), "target zeros").off == 0
    assert on_pair(AdditiveUnmasked(), "target zeros").off > 0


def laws(text: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(x) for x in text.split())


def test_lantern_trap_pair_delta_bounds_nothing() -> None:
    optimal = on_pair(Optimal(Lantern(k=1, delta=0.1)), "LANTERN trap pair")
    assert (optimal.tv, optimal.distance) == (Fraction(1, 5), 0)
    released = on_pair(Lantern(k=1, delta=0.1), "LANTERN trap pair")
    assert released.distance == Fraction(1, 15)
    assert released.tv == optimal.tv + released.distance


def test_gsd_refutation_pair() -> None:
    """The window -1..0 keeps 2/3 where the strict rule keeps 3/4; a true partition keeps 3/4 too."""
    rules = (Grouped(2, 9, 999), Partitioned(2), Strict())
    kept = [1 - on_pair(rule, "GSD refutation pair").reject for rule in rules]
    assert kept == [Fraction(2, 3), Fraction(3, 4), Fraction(3, 4)]


def test_lantern_plus_stays_below_lam() -> None:
    figures = on_pair(Optimal(LanternPlus(k=1, lam=2)), "LANTERN trap pair")
    assert (figures.ratio, figures.tv, figures.distance) == (2, Fraction(1, 5), 0)


def test_annealing_is_seen_slot_by_slot() -> None:
    some = next(one for one in all_pairs() if one.name == "canonical pair")
    rule, pile = Annealed(delta=1.5, nu=0.2), stack([some])
    tv = measure(rule, pile, exact_verdict(rule, pile).accept).tv[0]
    assert tv[0] > tv[1] > tv[2] == tv[3] == 0 or tv[0] > tv[1] > tv[2] > tv[3] >= 0


def test_a_made_up_codebook_is_said_and_a_given_one_is_used() -> None:
    assert check(Strict(), {}).assumption is None
    assert "token v at point v/2 on a line" in str(check(Lantern(), {}).assumption)
    swapped = np.array([[0.0], [9.0], [1.0], [8.0], [2.0], [7.0], [3.0], [6.0]])
    other: CheckResult = check(Lantern(k=1), {}, codebook=swapped)
    assert "first V codes" in str(other.assumption)
    assert other.tv.value != check(Lantern(k=1), {}).tv.value


def test_neighbours_bound_beforehand_restrict_the_vocabulary() -> None:
    rule = bind_codebook(Optimal(Lantern(k=1)), np.arange(4.0)[:, None])
    result = check(rule, {})
    assert 0 < result.pairs < len(all_pairs()) and result.assumption is None
    assert result.verdict == "biased" and result.on_line
