"""Several drafts of one position: the tools of T28 and T29 against other ways to the same numbers."""

from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest

from proofs_checks.several.drafts import Sets, distinct, greedy, independent, top
from proofs_checks.several.limits import (
    by_ratio,
    by_subsets,
    kept,
    marginals,
    optimal,
    program,
    sorted_subsets,
)
from proofs_checks.several.races import list_bound, listed, matched
from proofs_checks.several.rules import at_most, at_root, excess, factors, k_seq, matching, recursive
from proofs_checks.theorems.t10_formulas import agreement
from specsim import random_table
from specsim.siblings import SIBLINGS

DRAWINGS = {"independent": independent, "distinct": distinct}
STANDARD_ERRORS = 5
"""A mean of samples farther from the exact one is a fault: by chance one in 1.7 million."""
SAMPLES = 100_000


def laws(vocab: int, seed: int, zeros: bool = False) -> tuple[Any, Any]:
    return tuple(random_table(vocab, 1, seed + n, zeros).laws[0] for n in (0, 100))


def as_drawn(name: str, draft: Any, count: int) -> Sets:
    """The sets that the decoder's own way of drawing siblings makes, branch by branch."""
    found: Sets = {}

    def go(law: Any, token: Any, held: frozenset, chance: F, number: int) -> None:
        following, there = SIBLINGS[name](law, token, number)
        if number == count or not there.all():
            found[held] = found.get(held, F(0)) + chance
            return
        for v in np.flatnonzero(following[0, 0] > 0):
            go(following, np.array([[v]]), held | {int(v)}, chance * following[0, 0, v], number + 1)

    go(draft[None, None], None, frozenset(), F(1), 0)
    return found


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", SIBLINGS)
def test_sets_of_drafts_are_those_that_the_decoder_draws(name: str, count: int, zeros: bool) -> None:
    _, draft = laws(4, 1, zeros)
    assert DRAWINGS[name](draft, count) == as_drawn(name, draft, count)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("drawing", [independent, distinct, greedy, top])
def test_a_flow_reaches_what_its_cut_allows(drawing: Any, zeros: bool) -> None:
    for seed in range(4):
        target, draft = laws(5, seed, zeros)
        sets = drawing(draft, 3)
        joint = optimal(target, sets)
        rows, columns = marginals(joint)
        assert list(rows) == list(sets.values()) and list(columns) == list(target) and joint.min() >= 0
        assert kept(joint, sets) == by_subsets(target, sets)
        if drawing in DRAWINGS.values():
            assert by_subsets(target, sets, sorted_subsets(by_ratio(target, draft))) == by_subsets(target, sets)


def test_a_limit_by_hand() -> None:
    """p = (3/4, 1/4), q = (1/2, 1/2): H = {1} has p(H) - q(H)^2 = 0 and q(H)^3 below p(H): nothing need be lost."""
    target, draft = np.array([F(3, 4), F(1, 4)], dtype=object), np.array([F(1, 2), F(1, 2)], dtype=object)
    assert by_subsets(target, independent(draft, 1)) == F(3, 4) and by_subsets(target, independent(draft, 2)) == 1
    assert recursive("independent")(target, draft, 2).kept == F(7, 8)
    some = program(target, independent(draft, 2))
    assert len(some.cost) == 6 and sum(some.right) == 2


def by_hand(target: Any, draft: Any, count: int, without: bool) -> F:
    """What the recursive residual keeps, on lists: drafts in turn against what is left of the target."""

    def go(left: list, offers: list, number: int, mass: F) -> F:
        total = sum(offers)
        if not number or not total:
            return F(0)
        law = [x / total for x in offers]
        missing = [max(a - b, F(0)) for a, b in zip(left, law, strict=True)]
        rest = [x / sum(missing) for x in missing] if any(missing) else left
        found = mass * sum(map(min, left, law))
        for v, (a, b) in enumerate(zip(left, law, strict=True)):
            if b > a:
                others = [0 if without and u == v else x for u, x in enumerate(offers)]
                found += go(rest, others, number - 1, mass * (b - a))
        return found

    return go(list(target), list(draft), count, F(1))


@pytest.mark.parametrize("name", SIBLINGS)
def test_what_the_decoder_keeps_of_siblings(name: str) -> None:
    for seed, (vocab, count) in enumerate([(3, 2), (4, 2), (4, 3)]):
        target, draft = laws(vocab, seed, zeros=seed == 1)
        found = recursive(name)(target, draft, count)
        assert found.kept == by_hand(target, draft, count, name == "distinct") and list(found.out) == list(target)


def in_turn(target: Any, draft: Any, count: int, factor: F) -> tuple[list, F]:
    """k-SEQ on every tuple of drafts: the law of what is accepted, and its probability."""
    accept = [min(F(1), p / (factor * q)) if q else F(0) for p, q in zip(target, draft, strict=True)]
    put = [F(0) for _ in target]
    for tokens in product(range(len(target)), repeat=count):
        alive = np.prod([draft[v] for v in tokens])
        for v in tokens:
            put[v] += alive * accept[v]
            alive = alive * (1 - accept[v])
    return put, sum(put, F(0))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_k_seq_draft_by_draft(count: int) -> None:
    for seed in range(4):
        target, draft = laws(3, seed, zeros=seed == 3)
        low, high = factors(target, draft, count)
        put, some = in_turn(target, draft, count, high)
        found = k_seq(target, draft, count, high)
        assert found.kept == some and all(a <= p for a, p in zip(put, target, strict=True))
        assert list(found.out) == list(target)
        assert 1 <= low <= high <= count and excess(target, draft, count, high) >= 0
        assert low == high or excess(target, draft, count, low) < 0
        assert 0 <= at_most(target, draft, count) - at_root(target, draft, count).kept <= (high - low) * count


def test_the_worst_of_k_seq_by_hand() -> None:
    """p = (5/9, 4/9), q = (1/3, 2/3): factor 4/3, beta = 1/3 + (4/9)(3/4) = 2/3, kept 1 - 1/9 where all could be."""
    target, draft = np.array([F(5, 9), F(4, 9)], dtype=object), np.array([F(1, 3), F(2, 3)], dtype=object)
    assert excess(target, draft, 2, F(4, 3)) == 0 and k_seq(target, draft, 2, F(4, 3)).kept == F(8, 9)
    assert by_subsets(target, independent(draft, 2)) == 1
    assert recursive("independent")(target, draft, 2).kept == F(23, 27)


@pytest.mark.parametrize("vocab", [2, 3])
def test_one_list_and_one_sibling_are_one_race(vocab: int) -> None:
    target, draft = laws(vocab, vocab, zeros=vocab == 3)
    once = agreement(draft, target)
    assert once == listed(target, draft, 1) == matched(target, draft, 1) == list_bound(target, draft, 1)
    assert matching("distinct")(target, draft, 1).kept == once


def sampled(target: Any, draft: Any, count: int, seed: int) -> tuple[float, float]:
    """Shares of runs in which the lists, and the race of distinct siblings, keep a draft: the clocks themselves."""
    clocks = np.random.default_rng(seed).exponential(size=(SAMPLES, count, len(target)))
    wanted, drawn = target.astype(float), draft.astype(float)
    out, drafts = (clocks.min(axis=1) / wanted).argmin(axis=-1), (clocks / drawn).argmin(axis=-1)
    winner = (clocks[:, 0] / wanted).argmin(axis=-1)
    first = (clocks[:, 0] / drawn).argsort(axis=-1)[:, :count]
    return (drafts == out[:, None]).any(axis=1).mean(), (first == winner[:, None]).any(axis=1).mean()


@pytest.mark.parametrize(("vocab", "count"), [(3, 2), (4, 3)])
def test_races_against_clocks(vocab: int, count: int) -> None:
    target, draft = laws(vocab, 7 + vocab)
    exactly = listed(target, draft, count), matched(target, draft, count)
    for mine, share in zip(exactly, sampled(target, draft, count, seed=vocab), strict=True):
        assert abs(float(mine) - share) <= STANDARD_ERRORS * (float(mine * (1 - mine)) / SAMPLES) ** 0.5
