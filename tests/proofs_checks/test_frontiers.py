"""The limit of a block and of a run: figures worked out by hand, the costs that exist, and those that do not."""

from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from proofs_checks.frontiers.limits import KINDS, Limit, limit
from proofs_checks.frontiers.masses import continuation, laws
from proofs_checks.frontiers.placed import place
from proofs_checks.frontiers.rounds import Pair, by_block, by_prefix
from proofs_checks.frontiers.spans import greatest_accepted, least_calls
from proofs_checks.frontiers.verifiers import Verifier
from specsim import Chain, SpecsimError, Strict, Table, exact, random_table, table
from specsim.laws import target_mass
from specsim.rules.block import BlockVerification

CLOSED = 1e-9
"""Largest gap between the solver's value of a linear program and the bound that its rounded dual proves."""


def steady(law: list[F], length: int) -> Table:
    """The same law after every prefix."""
    return table([[law] * len(law) ** n for n in range(length)], vocab=len(law))


TOY = steady([F(1, 3), F(2, 3)], 3), steady([F(2, 3), F(1, 3)], 3)
RUN = steady([F(3, 10), F(7, 10)], 4), steady([F(7, 10), F(3, 10)], 4)


def tv(kind: str, models: tuple[Table, Table], lookahead: int) -> Limit:
    return limit(KINDS[kind], *models, lookahead, "tv")


@pytest.mark.parametrize(
    ("kind", "accepted", "least"),
    [
        ("block", F(10, 9), F(0)),
        ("block", F(11, 9), F(1, 24)),
        ("joint", F(11, 9), F(0)),
        ("joint", F(4, 3), F(1, 21)),
    ],
)
def test_a_toy_worked_out_by_hand(kind: str, accepted: F, least: F) -> None:
    """p = (1/3, 2/3), q = (2/3, 1/3), L = 2: token by token strict verification keeps 10/9, jointly 11/9 can be."""
    point = tv(kind, TOY, 2).at(accepted)
    assert point.bound is not None and point.note == ""
    assert point.bound <= least and float(least - point.bound) <= CLOSED and abs(point.value - float(least)) <= CLOSED


def test_rules_at_bias_0_reach_the_two_limits_of_the_toy() -> None:
    assert place(Strict(), *TOY, 2).accepted == F(10, 9)
    assert place(BlockVerification(), *TOY, 2).accepted == F(11, 9)


def test_a_whole_run_at_bias_0_can_take_fewer_calls_than_strict_verification() -> None:
    """p = (.3, .7), q = (.7, .3), N = 4, L = 2: 2.362 calls for a verifier that sees the whole tree, 2.416 for strict;
    block verification, which looks at whole blocks, takes 2.32."""
    run = tv("run", RUN, 2)
    assert exact(Chain(2), *RUN).calls == F(2416, 1000)
    too_few = run.at(F(2360, 1000)).bound
    assert run.at(F(2362, 1000)).value <= CLOSED and too_few is not None and too_few > CLOSED
    assert exact(Chain(2), *RUN, BlockVerification()).calls == F(232, 100)


# q = (0, 1) where the target is (3/4, 1/4) at both positions, so a draft is always token 1.  L = 1, N = 2: the first
# call keeps it (mass k <= 1) and its bonus is the last token, or replaces it and a second call follows: 2 - k calls.
# Token 1 is wanted in 1/4 of the runs, so at c calls [2 - c - 1/4]+ too many have it; the last token is the target's.
@pytest.mark.parametrize(("calls", "least"), [(F(1), F(3, 4)), (F(5, 4), F(1, 2)), (F(7, 4), F(0)), (F(2), F(0))])
def test_a_run_of_two_by_hand(calls: F, least: F) -> None:
    models = steady([F(3, 4), F(1, 4)], 2), steady([F(0), F(1)], 2)
    run = tv("run", models, 1)
    assert run.range() == (1, 2) and run.at(calls).value == pytest.approx(float(least), abs=CLOSED)


# The same run with a free bonus: at 1 call it follows token 1 with token 0, say; the first token stays wrong by 3/4,
# and no law of the second mends that.  At 2 calls every token is the target's.
def test_a_free_bonus_cannot_mend_the_first_token() -> None:
    models = steady([F(3, 4), F(1, 4)], 2), steady([F(0), F(1)], 2)
    run = tv("free-run", models, 1)
    assert run.at(F(1)).value == pytest.approx(3 / 4, abs=CLOSED) and run.at(F(2)).value <= CLOSED


@pytest.mark.parametrize(
    ("kind", "cost", "words"),
    [
        ("block", F(5, 2), "no verifier keeps 2.5 drafts a block; between 0 and 2"),
        ("joint", F(-1), "no verifier keeps -1 drafts a block; between 0 and 2"),
        ("run", F(1), "no verifier takes 1 target calls a run; between 2 and 4"),
        ("free-run", F(5), "no verifier takes 5 target calls a run; between 2 and 4"),
    ],
)
def test_a_cost_that_nothing_has_prints_the_range(kind: str, cost: F, words: str) -> None:
    models = TOY if kind in ("block", "joint") else RUN
    with pytest.raises(SpecsimError) as error:
        tv(kind, models, 2).at(cost)
    assert str(error.value) == f"frontier: {words}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("divergence", ["tv", "chi2"])
def test_the_ends_of_the_range_can_be_had_and_nothing_beyond(kind: str, divergence: str) -> None:
    """The range is found by looking ahead along the paths, the programs know nothing of it."""
    target, draft = (random_table(3, 3, seed, zeros=True) for seed in (7, 8))
    some = limit(KINDS[kind], target, draft, 2, divergence)
    least, greatest = some.range()
    end = greatest if KINDS[kind].cost == "accepted" else least
    assert some.at(least).bound is not None and some.at(greatest).bound is not None
    some.refuse = lambda cost: None  # type: ignore[method-assign]
    with pytest.raises(SpecsimError, match="infeasible"):
        some.at(end + F(1, 1000) * (1 if end == greatest else -1))


def test_the_most_that_a_block_can_keep_by_hand() -> None:
    """q = (1/2, 1/2) where the target never draws token 0: on its support half of the drafts can be kept each time."""
    target, draft = laws(steady([F(0), F(1)], 2), 2), laws(steady([F(1, 2), F(1, 2)], 2), 2)
    assert greatest_accepted(target, draft, 2, support=False) == 2
    assert greatest_accepted(target, draft, 2, support=True) == F(1, 2) + F(1, 4)
    # N = 2, L = 1: a kept draft saves the second call.
    for held in (by_prefix, by_block):
        assert least_calls(Pair(target, draft, False), held, 1, 2, free_bonus=False) == 1
        assert least_calls(Pair(target, draft, True), held, 1, 2, free_bonus=False) == F(3, 2)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["run", "joint-run", "free-run"])
def test_the_least_calls_are_those_of_the_program(kind: str, seed: int) -> None:
    target, draft = (random_table(2, 4, seed + some, zeros=True) for some in (0, 50))
    verifier = KINDS[kind].build(laws(target, 4), laws(draft, 4), 2, 4, True)
    assert abs(float(verifier.span[0]) - least_cost(verifier)) <= CLOSED


def least_cost(verifier: Verifier) -> float:
    """The least cost over all masses, by a solver."""
    width = len(verifier.masses.columns)
    dense = np.zeros((len(verifier.masses.rows), width))
    for i, row in enumerate(verifier.masses.rows):
        dense[i, list(row)] = [float(value) for value in row.values()]
    cost = np.zeros(width)
    cost[list(verifier.cost)] = [float(value) for value in verifier.cost.values()]
    loose, right = np.array(verifier.masses.loose), np.array([float(value) for value in verifier.masses.right])
    return linprog(cost, dense[loose], right[loose], dense[~loose], right[~loose]).fun


@pytest.mark.parametrize("seed", range(3))
def test_whole_blocks_are_masses_of_blocks_and_how_many_of_them_are_kept(seed: int) -> None:
    """The block-level limit once more, from its definition: variables P(block x, i kept), which give the masses."""
    target, draft = (random_table(2, 3, seed + some, zeros=seed == 2) for some in (0, 70))
    cost = F(9, 4)
    found = limit(KINDS["joint"], target, draft, 3, "tv").at(cost).value
    assert abs(found - by_definition(target, draft, 3, float(cost))) <= CLOSED


def by_definition(target: Table, draft: Table, length: int, cost: float) -> float:
    """min TV over P(block x, i kept) and the corrections of what stops at each prefix."""
    import cvxpy

    blocks = list(product(range(target.vocab), repeat=length))
    kept = cvxpy.Variable((len(blocks), length + 1), nonneg=True)
    out: dict = {block: kept[n, length] for n, block in enumerate(blocks)}
    given = [cvxpy.sum(kept, axis=1) == target_mass(draft, length).astype(float)]
    models = laws(target, length)
    for i in range(length):
        for prefix in product(range(target.vocab), repeat=i):
            law = cvxpy.Variable(target.vocab, nonneg=True)
            stops = sum(kept[n, i] for n, block in enumerate(blocks) if block[:i] == prefix)
            given.append(cvxpy.sum(law) == stops)
            for token in range(target.vocab):
                for end, share in continuation(models, (*prefix, token), length):
                    out[end] = out[end] + float(share) * law[token]
    given.append(cvxpy.sum(kept @ np.arange(length + 1)) >= cost)
    wanted = target_mass(target, length).astype(float)
    goal = sum(cvxpy.pos(out[block] - wanted[n]) for n, block in enumerate(blocks))
    problem = cvxpy.Problem(cvxpy.Minimize(goal), given)
    problem.solve(solver=cvxpy.HIGHS)
    return float(problem.value)


def test_a_run_that_sees_whole_blocks_at_bias_0() -> None:
    """The run of p = (.3, .7), q reversed: block verification takes 2.32 calls, and no verifier of blocks fewer than
    its limit says; who decides draft by draft needs 2.362."""
    seen = tv("joint-run", RUN, 2)
    calls = exact(Chain(2), *RUN, BlockVerification()).calls
    assert calls == F(232, 100) and seen.at(calls).value <= CLOSED < tv("run", RUN, 2).at(calls).value


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"divergence": "hellinger"}, "frontier: divergence = 'hellinger' must be one of tv, local, ratio, kl"),
        ({"lookahead": 4}, "frontier: lookahead = 4 must be a whole number from 1 to 3"),
        ({"kind": KINDS["run"], "length": 5}, "frontier: length = 5 must be a whole number from 1 to 3"),
        ({"draft": steady([F(1)], 3)}, "frontier: target vocab 2 and draft vocab 1 differ"),
    ],
)
def test_what_does_not_go_together_is_said(change: dict, words: str) -> None:
    given = {"kind": KINDS["block"], "target": TOY[0], "draft": TOY[1], "lookahead": 2, "divergence": "tv"}
    with pytest.raises(SpecsimError, match=words):
        limit(**(given | change))
