"""Every known-bad variant fails the exact checks, by exactly the distance pinned here."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from specsim import COUPLINGS, Chain, Jacobi, Strict, Table, exact, output_law, random_table, table
from specsim.arrays import total_variation
from tests import known_bad, oracle
from tests.known_bad import Tampered, reused_noise, sharper_drafts

F = Fraction


def markov(first: list, after: list, length: int) -> Table:
    """A table in which a law depends on the token before it only."""
    vocab = range(len(first))
    return table([[first], *([after[x[-1]] for x in product(vocab, repeat=n)] for n in range(1, length))])


A, B, C = (F(1, 3),) * 3, (F(1, 6), F(1, 3), F(1, 2)), (F(1, 2), F(1, 4), F(1, 4))
TARGET = markov([F(1, 2), F(1, 3), F(1, 6)], [B, C, A], 3)
DRAFT = markov([F(1, 4), F(1, 4), F(1, 2)], [A, B, C], 3)
MODEL, DRAFT_MODEL = oracle.model_of(TARGET), oracle.model_of(DRAFT)


def distance(decoder: tuple) -> Fraction:
    """TV between what the oracle's decoder emits and the target's law."""
    law = oracle.run(decoder, 3).law
    true = oracle.run(oracle.chain(MODEL.get, MODEL.get, oracle.strict, 3, 0), 3).law
    return sum(abs(law[x] - true[x]) for x in product(range(3), repeat=3)) / 2


def vanilla_lenient(q: Any, p: Any, x: int, slot: int) -> tuple:
    return oracle.ratio(p[x] / 2, q[x]), oracle.vanilla(q, p)


def resample_target(q: Any, p: Any, x: int, slot: int) -> tuple:
    return oracle.ratio(p[x], q[x]), p


def only_drafted_token(q: Any, p: Any, x: int, slot: int) -> tuple:
    """Wherever q(x) > p(x), as it is after every rejection, nothing is left of token x."""
    keep = oracle.ratio(p[x], q[x])
    return keep, p if keep == 1 else oracle.norm([F(0) if v == x else p[v] for v in range(len(p))], p)


def shared_uniform(q: Any, p: Any, x: int, slot: int) -> tuple:
    low, high = sum(q[:x], F(0)), sum(q[: x + 1], F(0))
    part = max(min(oracle.ratio(p[x], q[x]), high) - low, F(0))
    return part / q[x], oracle.vanilla(q, p)


def threshold(q: Any, p: Any, x: int, slot: int) -> tuple:
    return F(oracle.ratio(p[x], q[x]) > F(1, 2)), oracle.vanilla(q, p)


RULES = [
    (known_bad.VanillaLenient(), vanilla_lenient, F(13, 48), F(115, 384)),
    (known_bad.ResampleTarget(), resample_target, F(7, 54), F(241, 2592)),
    (known_bad.OnlyDraftedToken(), only_drafted_token, F(437, 5400), F(299, 4050)),
    (known_bad.SharedUniform(), shared_uniform, F(7, 24), F(55, 216)),
    (known_bad.Threshold(), threshold, F(1, 3), F(11, 36)),
]
"""(rule, the same in the oracle, TV in a chain of two, TV in a window of two)."""


@pytest.mark.parametrize(("rule", "plain", "in_chain", "in_window"), RULES, ids=[repr(r[0]) for r in RULES])
def test_bad_rules(rule: Any, plain: Callable[..., tuple], in_chain: Fraction, in_window: Fraction) -> None:
    assert exact(Chain(2), TARGET, DRAFT, rule).tv(TARGET) == in_chain > 0
    assert exact(Jacobi(2), TARGET, rule=rule).tv(TARGET) == in_window > 0
    assert distance(oracle.chain(MODEL.get, DRAFT_MODEL.get, plain, 3, 2)) == in_chain
    assert distance(oracle.jacobi(MODEL.get, plain, 3, 3, 2, "independent", "uniform")) == in_window


@pytest.mark.parametrize(
    ("rule", "tv"),
    [
        (known_bad.VanillaLenient(), F(7, 40)),
        (known_bad.ResampleTarget(), F(7, 40)),
        (known_bad.OnlyDraftedToken(), F(3, 19)),
        (known_bad.SharedUniform(), F(3, 20)),
    ],
    ids=repr,
)
def test_bad_rules_on_the_canonical_pair(rule: Any, tv: Fraction) -> None:
    target = np.array([F(x, 20) for x in (6, 4, 3, 2, 2, 1, 1, 1)], dtype=object)
    assert total_variation(output_law(rule, target[::-1].copy(), target, np.array(0)), target) == tv


@pytest.mark.parametrize(("tail", "tv"), [("uniform", F(7, 324)), ("onehot", F(35551, 5038848))])
def test_a_stale_draft_law(tail: str, tv: Fraction) -> None:
    """The law of a kept token is not brought up to date: the released coupled Jacobi code."""
    assert exact(Jacobi(3, "maximal_stale", tail), TARGET).tv(TARGET) == tv > 0
    assert distance(oracle.jacobi(MODEL.get, oracle.strict, 3, 3, 3, "maximal_stale", tail)) == tv


@pytest.mark.parametrize(("lookahead", "tv"), [(1, F(1, 18)), (2, F(31, 504))])
def test_a_draft_law_that_was_not_sampled(lookahead: int, tv: Fraction) -> None:
    """Drafts at half the temperature, judged by the law at temperature 1."""
    sharp = {law: oracle.norm([share**2 for share in law], law) for law in DRAFT_MODEL.values()}
    stored = {drawn: law for law, drawn in sharp.items()}

    def rule(q: Any, p: Any, x: int, slot: int) -> tuple:
        return oracle.strict(stored[q], p, x, slot)

    decoder = Tampered(Chain(lookahead), sharper_drafts(lookahead))
    assert exact(decoder, TARGET, DRAFT).tv(TARGET) == tv > 0
    assert distance(oracle.chain(MODEL.get, lambda x: sharp[DRAFT_MODEL[x]], rule, 3, lookahead)) == tv


@pytest.mark.parametrize(
    ("window", "tail", "tv"),
    [(2, "onehot", F(5, 972)), (3, "uniform", F(1, 972)), (3, "onehot", F(43, 5832))],
)
def test_noise_that_is_used_twice(window: int, tail: str, tv: Fraction) -> None:
    """The residual is drawn with the noise that drew the refused draft; at V = 2 the residual is certain."""
    assert exact(Tampered(Jacobi(window, "gumbel", tail), reused_noise), TARGET).tv(TARGET) == tv > 0
    two = markov([F(1, 2), F(1, 2)], [[F(1, 4), F(3, 4)], [F(2, 3), F(1, 3)]], 4)
    assert exact(Tampered(Jacobi(window, "gumbel", tail), reused_noise), two).tv(two) == 0


def test_the_tampering_itself_changes_nothing() -> None:
    """With the mistake taken out each variant is lossless: it is the mistake that is caught."""
    assert exact(Chain(2), TARGET, DRAFT, Strict()).tv(TARGET) == 0
    assert exact(Tampered(Chain(2), sharper_drafts(0)), TARGET, DRAFT).tv(TARGET) == 0
    # Fresh noise that nothing else reads may well draw the correction.
    assert exact(Tampered(Jacobi(3, "independent"), reused_noise), TARGET).tv(TARGET) == 0


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("tail", ["uniform", "onehot"])
def test_couplings_say_whether_they_are_lossless(coupling: str, tail: str) -> None:
    target = random_table(2, 4, 1)
    assert (exact(Jacobi(3, coupling, tail), target).tv(target) == 0) == COUPLINGS[coupling].lossless
