"""The limit of a block and of a run: figures worked out by hand, rules that never pass it, certificates that close."""

from fractions import Fraction as F
from typing import Any

import pytest

from proofs_checks.frontiers.limits import Limit, local_errors, total_variation
from proofs_checks.frontiers.masses import laws
from proofs_checks.frontiers.placed import place
from proofs_checks.frontiers.verifiers import joint_block, sequential_block, whole_run
from specsim import Annealed, Chain, Ensemble, Lenient, SpecsimError, Strict, Table, exact, random_table, table
from specsim.laws import target_mass
from specsim.rules.block import BlockVerification
from specsim.rules.ledger import Ledger

CLOSED = 1e-9
"""Largest gap between the solver's value and the bound that its rounded dual proves."""


def steady(law: list[F], length: int) -> Table:
    """The same law after every prefix."""
    return table([[law] * len(law) ** n for n in range(length)], vocab=len(law))


TOY = steady([F(1, 3), F(2, 3)], 3), steady([F(2, 3), F(1, 3)], 3)


def limit(kind: Any, target: Table, draft: Table, lookahead: int) -> Limit:
    verifier = kind(laws(target, lookahead), laws(draft, lookahead), lookahead)
    return Limit(verifier, total_variation(verifier))


@pytest.mark.parametrize(
    ("kind", "accepted", "least"),
    [
        (sequential_block, F(10, 9), F(0)),
        (sequential_block, F(11, 9), F(1, 24)),
        (joint_block, F(11, 9), F(0)),
        (joint_block, F(4, 3), F(1, 21)),
    ],
)
def test_a_toy_worked_out_by_hand(kind: Any, accepted: F, least: F) -> None:
    """p = (1/3, 2/3), q = (2/3, 1/3), L = 2: token by token strict verification keeps 10/9, jointly 11/9 can be."""
    point = limit(kind, *TOY, 2).at(accepted)
    assert point.bound <= least and float(least - point.bound) <= CLOSED and abs(point.value - float(least)) <= CLOSED


def test_rules_at_bias_0_reach_the_two_limits_of_the_toy() -> None:
    assert place(Strict(), *TOY, 2).accepted == F(10, 9)
    assert place(BlockVerification(), *TOY, 2).accepted == F(11, 9)


RULES = [Strict(), Lenient(1.5), Annealed(2, 0.7), Ensemble(0.5), Ledger(2.0), Ledger(5.0, 0.5), BlockVerification()]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_no_rule_passes_the_limit(rule: Any, seed: int) -> None:
    """Block verification looks at the whole block, so its limit is the joint one."""
    target, draft = random_table(3, 3, seed), random_table(3, 3, seed + 100)
    placed = place(rule, target, draft, 3)
    tv = abs(placed.out - target_mass(target, 3)).sum() / 2
    kind = joint_block if isinstance(rule, BlockVerification) else sequential_block
    point = limit(kind, target, draft, 3).at(placed.accepted)
    assert placed.out.sum() == 1 and point.bound <= tv and abs(point.value - float(point.bound)) <= CLOSED


@pytest.mark.parametrize("seed", range(2))
def test_the_joint_limit_is_the_lower_one_and_both_fall_with_the_cost(seed: int) -> None:
    target, draft = random_table(2, 3, seed), random_table(2, 3, seed + 100)
    one, joint = (limit(kind, target, draft, 3) for kind in (sequential_block, joint_block))
    values = [(one.at(F(a, 4)).value, joint.at(F(a, 4)).value) for a in range(4, 12)]
    assert all(b <= a + CLOSED for a, b in values) and values == sorted(values)


def test_the_local_errors_of_a_block_bound_its_tv() -> None:
    target, draft = random_table(2, 3, 5), random_table(2, 3, 6)
    verifier = sequential_block(laws(target, 3), laws(draft, 3), 3)
    least = Limit(verifier, local_errors(verifier)).at(F(2))
    assert limit(sequential_block, target, draft, 3).at(F(2)).value <= least.value + CLOSED


def test_a_whole_run_at_bias_0_can_take_fewer_calls_than_strict_verification() -> None:
    """p = (.3, .7), q = (.7, .3), N = 4, L = 2: 2.362 calls for a verifier that sees the whole tree, 2.416 for strict;
    block verification, which looks at whole blocks, takes 2.32."""
    target, draft = steady([F(3, 10), F(7, 10)], 4), steady([F(7, 10), F(3, 10)], 4)
    verifier = whole_run(laws(target, 4), laws(draft, 4), 2, 4)
    run = Limit(verifier, total_variation(verifier))
    assert exact(Chain(2), target, draft).calls == F(2416, 1000)
    assert run.at(F(2362, 1000)).value <= CLOSED < run.at(F(2360, 1000)).bound
    assert exact(Chain(2), target, draft, BlockVerification()).calls == F(232, 100)


def test_a_free_bonus_is_a_larger_class() -> None:
    target, draft = random_table(2, 4, 1), random_table(2, 4, 2)
    values = []
    for free in (False, True):
        verifier = whole_run(laws(target, 4), laws(draft, 4), 2, 4, free)
        values.append(Limit(verifier, total_variation(verifier)).at(F(2)).value)
    assert values[1] < values[0]


def test_a_cost_that_nothing_has_is_said() -> None:
    with pytest.raises(SpecsimError, match=r"no verifier costs 2\.5"):
        limit(sequential_block, *TOY, 2).at(F(5, 2))
