"""One drafted token: the limit in closed form, worked out in Fractions, against the programs."""

from fractions import Fraction as F

import numpy as np
import pytest

from proofs_checks.frontiers.divergences import DIVERGENCES
from proofs_checks.frontiers.limits import KINDS, Limit, limit
from specsim import Table, random_table, table

LINEAR, CONIC = 1e-9, 1e-8
"""How far the value of a linear and of a conic program, and their bounds, may lie from the closed form."""

LAW_WISE = [name for name, row in DIVERGENCES.items() if row.of is not None]


def models(seed: int, zeros: bool = False) -> tuple[Table, Table]:
    return random_table(4, 1, seed, zeros), random_table(4, 1, seed + 50, zeros)


def one_slot(target: Table, draft: Table, divergence: str, kind: str = "block") -> Limit:
    return limit(KINDS[kind], target, draft, 1, divergence)


# TV(out, p) >= TV of what is kept: [q b - p]+ has mass accepted - sum min(q b, p) >= accepted - (1 - TV(p, q)), and
# keeping more of any token beyond min(p, q) reaches it.
@pytest.mark.parametrize("divergence", ["tv", "local"])
@pytest.mark.parametrize("seed", range(3))
def test_the_line_of_one_slot(seed: int, divergence: str) -> None:
    target, draft = models(seed, zeros=seed == 2)
    free = np.minimum(target.laws[0], draft.laws[0]).sum()
    some = one_slot(target, draft, divergence)
    for accepted in (free, (1 + free) / 2, F(1)):
        point = some.at(accepted)
        assert point.bound is not None
        assert abs(point.value - float(accepted - free)) <= LINEAR
        assert point.bound <= accepted - free and float(accepted - free - point.bound) <= LINEAR


def water_filling(target: np.ndarray, draft: np.ndarray, high: F) -> tuple[F, np.ndarray]:
    """(accepted, out): out = max(low p, min(q, high p)), where `low` makes it a law.

    A verifier whose token has law `out` keeps at most sum min(q, out).  For D = sum p f(out/p), f convex, stationarity
    with a price on that sum puts out/p at one level where out > q, at a higher one where out < q, and out = q between:
    the same family for every f, and since both levels follow from what is kept, the same law.
    """
    kept = np.minimum(draft, high * target)
    freed = (draft - kept).sum()
    order = sorted(range(len(target)), key=lambda v: draft[v] / target[v])
    for count in range(1, len(order) + 1):
        some = order[:count]
        low = (freed + draft[some].sum()) / target[some].sum()
        if count == len(order) or low <= draft[order[count]] / target[order[count]]:
            break
    return kept.sum(), np.maximum(low * target, kept)


@pytest.mark.parametrize("high", [F(11, 10), F(3, 2), F(5, 2)])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("divergence", LAW_WISE)
def test_one_law_is_the_limit_of_every_divergence(divergence: str, seed: int, high: F) -> None:
    target, draft = models(seed)
    accepted, out = water_filling(target.laws[0], draft.laws[0], high)
    assert out.sum() == 1 and accepted == np.minimum(draft.laws[0], out).sum()
    row = DIVERGENCES[divergence]
    assert row.of is not None
    least = float(row.of(out, target.laws[0]))
    point = one_slot(target, draft, divergence).at(accepted)
    assert point.bound is not None
    assert least > 100 * CONIC and abs(point.value - least) <= CONIC * max(1, least)
    assert -CONIC <= least - float(point.bound) <= CONIC * max(1, least) and float(point.bound) <= least + 1e-12


def test_a_wrong_law_is_not_the_limit() -> None:
    """Lenience keeps the same and replaces with norm[p - q]+: dearer in KL, as dear in TV."""
    target, draft = models(0)
    accepted, out = water_filling(target.laws[0], draft.laws[0], F(3, 2))
    kept = np.minimum(draft.laws[0], F(3, 2) * target.laws[0])
    rest = np.maximum(target.laws[0] - draft.laws[0], 0)
    lenient = kept + (1 - accepted) * rest / rest.sum()
    kl, tv = DIVERGENCES["kl"].of, DIVERGENCES["tv"].of
    assert kl is not None and tv is not None
    assert kl(lenient, target.laws[0]) > kl(out, target.laws[0]) + 100 * CONIC and tv(lenient, target.laws[0]) == tv(
        out, target.laws[0]
    )


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_with_one_draft_the_whole_block_is_no_more_to_look_at(divergence: str) -> None:
    target, draft = models(1)
    block, joint = (one_slot(target, draft, divergence, kind).at(F(19, 20)) for kind in ("block", "joint"))
    assert abs(block.value - joint.value) <= 2 * CONIC


def test_off_the_support_of_the_target() -> None:
    """p = (0, 1), q = (1/2, 1/2): half the drafts can be kept where token 0 costs infinitely much."""
    target, draft = table([[[0, 1]]]), table([[["1/2", "1/2"]]])
    for divergence, greatest in (("tv", 1), ("local", 1), ("kl_reverse", 1), ("ratio", F(1, 2)), ("kl", F(1, 2))):
        assert one_slot(target, draft, divergence).range() == (0, greatest)
    # Everything kept: out = q, and KL(p, q) = log 2, TV(p, q) = 1/2.
    assert one_slot(target, draft, "kl_reverse").at(F(1)).value == pytest.approx(np.log(2), abs=CONIC)
    assert one_slot(target, draft, "tv").at(F(1)).value == pytest.approx(1 / 2, abs=LINEAR)
    assert one_slot(target, draft, "kl").at(F(1, 2)).value == pytest.approx(0, abs=CONIC)
