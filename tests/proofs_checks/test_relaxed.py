"""Relaxed rules on siblings: the recursion of T30 against rules written on dicts, and the claim that rests on it."""

from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from proofs_checks.claims import CLAIMS, settle
from proofs_checks.claims.claim import AGAINST, FOR, IN_PART, REFUTED, RESULTS, Context, part
from proofs_checks.claims.computed import InATree
from proofs_checks.claims.coolsd import IN_A_TREE
from proofs_checks.claims.published import PUBLISHED
from proofs_checks.several.relaxed import Leaves, in_turn
from proofs_checks.theorems import THEOREMS
from specsim import Optimal, Strict, random_table
from specsim.arrays import total_variation
from specsim.rules import Additive, Lantern, LanternDynamic, LanternPlus, Lenient
from tests.test_one_token import bound, plain

RULES = [
    Strict(), Lenient(1.5), Additive(0.4), Lantern(1, 0.4), LanternDynamic(1, 0.4), LanternPlus(1, 2.0),
    Optimal(LanternPlus(1, 2.0)),
]  # fmt: skip
STATED = {f"{name}.{n}": some.stated for name, theorem in THEOREMS.items() for n, some in enumerate(theorem.parts, 1)}
CONTEXT = Context(STATED, THEOREMS, PUBLISHED, RESULTS)


def laws(vocab: int, seed: int, zeros: bool) -> list[Any]:
    return [random_table(vocab, 1, seed + n, zeros).laws[0] for n in (0, 100)]


def by_hand(rule: Any, target: Any, draft: Any, count: int, distinct: bool) -> tuple[list, F]:
    """Siblings in turn on lists, with a rule of the oracle."""
    out, kept = [F(0)] * len(target), F(0)

    def go(left: tuple, held: tuple, number: int, mass: F) -> None:
        nonlocal kept
        some = [F(0) if v in held and distinct else x for v, x in enumerate(draft)]
        if number == 0 or not sum(some):
            for v, share in enumerate(left):
                out[v] += mass * share
            return
        offer = tuple(x / sum(some) for x in some)
        for v, share in enumerate(offer):
            keep, rest = rule(offer, left, v, 0) if share else (F(1), left)
            out[v] += mass * share * keep
            kept += mass * share * keep
            if keep < 1:
                go(tuple(rest), (*held, v), number - 1, mass * share * (1 - keep))

    go(tuple(target), (), count, F(1))
    return out, kept


@pytest.mark.parametrize("siblings", ["distinct", "independent"])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_recursion_against_rules_on_dicts(rule: Any, siblings: str) -> None:
    for seed, (vocab, count) in enumerate([(2, 3), (3, 2), (3, 3), (4, 2), (4, 3)]):
        target, draft = laws(vocab, 10 * seed, zeros=seed % 2 == 1)
        found = in_turn(bound(rule, vocab), target, draft, count, siblings)
        wanted = by_hand(plain(rule, vocab), target, draft, count, siblings == "distinct")
        assert (list(found.out), found.kept) == wanted and sum(found.out) == 1


def test_fewer_tokens_than_siblings() -> None:
    """A draft that gives one token has one distinct sibling; what is left of the target then comes out."""
    target, draft = np.array([F(1, 4), F(3, 4)], dtype=object), np.array([F(1), F(0)], dtype=object)
    assert in_turn(Strict(), target, draft, 3, "distinct").kept == F(1, 4)
    found = in_turn(Leaves(Strict()), target, draft, 2, "independent")
    assert list(found.out) == [1, 0] and found.kept == 1


@pytest.mark.parametrize("keep", [F(1), F(1, 2)])
def test_the_worst_residuals(keep: F) -> None:
    """p = q: keep of it is accepted, the rest is uniform, or the draft again."""
    law = np.array([F(1, 4), F(3, 4)], dtype=object)
    uniform = in_turn(Leaves(Strict(), True, keep), law, law, 1, "distinct")
    assert uniform.out[0] == keep / 4 + (1 - keep) / 2
    assert list(in_turn(Leaves(Strict(), False, keep), law, law, 1, "distinct").out) == list(law)


def test_the_smallest_case_in_which_the_optimal_residual_is_worse_outright() -> None:
    """p = (1, 1, 2)/4, q = (0, 2, 1)/3: token 1 is kept with 1/2 and refused with 1/6, token 2 kept with 1/3.

    Left of p: G* has (1, 0, 2/3)/4 to norm, so 2/5 for token 2, drafted next for certain; released (1, 0, 2)/4, 2/3.
    """
    target = np.array([F(1, 4), F(1, 4), F(1, 2)], dtype=object)
    draft = np.array([F(0), F(2, 3), F(1, 3)], dtype=object)
    rule = LanternPlus(1, 2.0).bind([[0], [1], [2]])
    one, best = (in_turn(some, target, draft, 2, "distinct") for some in (rule, Optimal(rule)))
    assert (one.kept, best.kept) == (F(5, 6) + F(1, 6) * F(2, 3), F(5, 6) + F(1, 6) * F(2, 5))
    assert total_variation(one.out, target) == total_variation(best.out, target) == F(1, 4)


def test_a_run_in_a_tree_speaks_for_the_bias_and_against_the_calls() -> None:
    for toy in ("digits", "fashion"):
        assert InATree(toy, "tv", IN_A_TREE).weigh(CONTEXT).stance == FOR
        assert InATree(toy, "calls", IN_A_TREE).weigh(CONTEXT).stance == AGAINST
        assert InATree(toy, "calls", Optimal(Lenient(1.5))).weigh(CONTEXT).stance == FOR


def test_the_claim_of_the_optimal_residual_inside_lantern() -> None:
    """It holds of one draft a node; without that part only the bias of three tokens is left, and then nothing."""
    (claim,) = [some for some in CLAIMS if "inside LANTERN++" in some.text]
    names = [
        part("T30", words, CONTEXT.texts)
        for words in ("one child a node: as many", "V = 3, two siblings: with G* no more")
    ]
    assert settle([claim], STATED)[0].verdict == IN_PART
    assert settle([claim], {**STATED, names[0]: "fails"})[0].verdict == IN_PART
    assert settle([claim], {**STATED, **dict.fromkeys(names, "fails")})[0].verdict == REFUTED
