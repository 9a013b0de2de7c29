"""No rule passes the limit in any divergence; limits fall with the cost and are convex; larger classes lie lower."""

import math
from fractions import Fraction as F
from functools import cache
from typing import Any

import numpy as np
import pytest

from proofs_checks.frontiers.divergences import DIVERGENCES
from proofs_checks.frontiers.limits import KINDS, Limit, limit
from proofs_checks.frontiers.placed import place
from specsim import Annealed, Chain, Ensemble, Lenient, Strict, Table, exact, random_table, table
from specsim.divergences import MEASURES, along
from specsim.laws import target_mass
from specsim.rules.block import BlockVerification
from specsim.rules.ledger import Ledger
from specsim.verification import judges_blocks

ROUNDED = 1e-12
"""Rules' divergences with logarithms are float64 sums of some dozen terms."""
SOLVED = 1e-8
"""Values of the conic solver are right to this, relative to those above 1: the certificates say so."""
SHAPED = 4e-7
"""Convexity is seen in second differences: four values, the largest ratios near 10."""

SEQUENTIAL = [Strict(), Lenient(1.5), Annealed(2, 0.7), Ensemble(0.5), Ledger(2.0), Ledger(5.0, 0.5)]
BLOCKS = [*SEQUENTIAL, BlockVerification(), BlockVerification(Lenient(1.5))]


@cache
def models(vocab: int, length: int, seed: int, zeros: bool = False) -> tuple[Table, Table]:
    return random_table(vocab, length, seed, zeros), random_table(vocab, length, seed + 100, zeros)


@cache
def built(kind: str, divergence: str, vocab: int, length: int, seed: int, zeros: bool = False) -> Limit:
    lookahead = length if KINDS[kind].cost == "accepted" else 2
    return limit(KINDS[kind], *models(vocab, length, seed, zeros), lookahead, divergence)


def above(value: Any, some: Limit, cost: F) -> bool:
    """A rule's value is no lower than the certified bound; an infinite one needs no program."""
    if value == math.inf:
        return True
    point = some.at(cost)
    assert point.bound is not None and point.note == "" and point.value - float(point.bound) <= SOLVED
    return value >= point.bound if isinstance(value, F) else value >= float(point.bound) - ROUNDED


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("rule", BLOCKS, ids=repr)
def test_no_rule_passes_the_limit_of_a_block(rule: Any, divergence: str, zeros: bool) -> None:
    """Block verification looks at the whole block, so its limit is the joint one."""
    target, draft = models(3, 3, 1, zeros)
    placed = place(rule, target, draft, 3)
    of = DIVERGENCES[divergence].of
    value = placed.local if of is None else of(placed.out, target_mass(target, 3))
    kind = "joint" if isinstance(rule, BlockVerification) else "block"
    assert placed.out.sum() == 1 and above(value, built(kind, divergence, 3, 3, 1, zeros), placed.accepted)


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("rule", BLOCKS, ids=repr)
def test_no_rule_passes_the_limit_of_a_run(rule: Any, divergence: str) -> None:
    target, draft = models(2, 4, 3)
    law = exact(Chain(2), target, draft, rule)
    of = DIVERGENCES[divergence].of
    value = local_of_run(rule, target, draft, law.mass) if of is None else of(law.mass, target_mass(target, 4))
    assert above(value, built("joint-run" if judges_blocks(rule) else "run", divergence, 2, 4, 3), law.calls)


def local_of_run(rule: Any, target: Table, draft: Table, out: np.ndarray) -> float:
    """The sum of local errors over all rounds of Chain(2), averaged over every sequence of V = 2, N = 4."""
    tokens = np.arange(16)[:, None] // 2 ** np.arange(3, -1, -1) % 2
    wanted, drawn = (model.floats()(tokens, 0 * tokens[:, 0], 4) for model in (target, draft))
    assert MEASURES["local"].sample == "output"
    return float(out.astype(np.float64) @ MEASURES["local"].values(along(rule, wanted, drawn, tokens, 2)))


COSTS = {"accepted": [F(a, 4) for a in range(3, 12)], "calls": [F(c, 8) for c in range(24, 15, -1)]}
"""From cheap to dear: more tokens kept, fewer calls.  V = 2: blocks of 3, runs of 4."""


@cache
def curve(kind: str, divergence: str) -> tuple[float, ...]:
    some = built(kind, divergence, 2, 3 if KINDS[kind].cost == "accepted" else 4, 5)
    return tuple(some.at(cost).value for cost in COSTS[KINDS[kind].cost])


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("kind", KINDS)
def test_limits_rise_with_speed_and_are_convex(kind: str, divergence: str) -> None:
    values = curve(kind, divergence)
    steps = np.diff(values)
    assert (steps >= -SOLVED).all() and (np.diff(steps) >= -SHAPED).all() and values[-1] - values[0] > 1000 * SOLVED


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize(("larger", "smaller"), [("joint", "block"), ("free-run", "run"), ("joint-run", "run")])
def test_a_larger_class_of_verifiers_lies_lower(larger: str, smaller: str, divergence: str) -> None:
    pairs = list(zip(curve(larger, divergence), curve(smaller, divergence), strict=True))
    assert all(low <= high + SOLVED for low, high in pairs)
    # The sum of local errors charges a bonus token for departing from the target: being free gains nothing here.
    gains = max(high - low for low, high in pairs) > 1000 * SOLVED
    assert gains == ((larger, divergence) != ("free-run", "local"))


# Token 1 is drawn half the time at position 2, as the bonus of the first call (L = 1).  After it the drafts at
# positions 3 and 5 are always wrong, else always right.  3 calls for 6 tokens keep every draft: two errors of 1 in half
# the runs, or one bonus token that is always 0, an error of 1/2.
def test_a_free_bonus_can_gain_where_it_decides_how_good_later_drafts_are() -> None:
    zero, one, half = [F(1), F(0)], [F(0), F(1)], [F(1, 2), F(1, 2)]
    after = [[path // 2 ** (n - 2) % 2 for path in range(2**n)] for n in range(2, 6)]
    first = [[zero], [half] * 2]
    target = table(first + [[zero for _ in row] for row in after])
    draft = table(first + [[one if second else zero for second in row] for row in after])
    fixed, free = (limit(KINDS[kind], target, draft, 1, "local").at(F(3)).value for kind in ("run", "free-run"))
    assert fixed == pytest.approx(1, abs=SOLVED) and free == pytest.approx(1 / 2, abs=SOLVED)


@pytest.mark.parametrize("kind", KINDS)
def test_the_sum_of_local_errors_bounds_the_tv(kind: str) -> None:
    assert all(tv <= local + SOLVED for tv, local in zip(curve(kind, "tv"), curve(kind, "local"), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_divergences_bound_each_other(kind: str) -> None:
    """Pinsker both ways, KL <= log(1 + chi2) <= log of the largest ratio; each holds law by law, so limit by limit."""
    tv, ratio, kl, reverse, chi2 = (np.array(curve(kind, name)) for name in ("tv", "ratio", "kl", "kl_reverse", "chi2"))
    assert (2 * tv**2 <= kl + SOLVED).all() and (2 * tv**2 <= reverse + SOLVED).all()
    assert (kl <= np.log1p(chi2) + SOLVED).all() and (chi2 <= ratio - 1 + SOLVED).all()


def test_an_infinite_divergence_is_not_given_a_number() -> None:
    """All drafts kept: token 1, which the target draws, is never put out."""
    target, draft = random_table(2, 1, 1), table([[[1, 0]]])
    some = limit(KINDS["block"], target, draft, 1, "kl_reverse")
    end = some.at(F(1))
    assert end.value == math.inf and end.bound is None and end.note.startswith("not certified")
    assert some.at(F(9, 10)).note == "" and some.at(F(9, 10)).value < math.inf
