"""The band against a second implementation, in Fractions; what it is where one draft or omega = 1 makes it simple."""

from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from specsim import Band, BlockVerification, Chain, Jacobi, SpecsimError, exact, output_law, random_table
from specsim.rules.band import judge
from tests import oracle_blocks
from tests.test_block_rules import CASES, same

SLOT = np.array(0)


@pytest.mark.parametrize(("vocab", "length", "lookahead", "seed"), CASES)
@pytest.mark.parametrize("omega", [1.0, 1.5, 4.0])
def test_the_band(vocab: int, length: int, lookahead: int, seed: int, omega: float) -> None:
    same(Chain(lookahead), Band(omega), oracle_blocks.band(F(str(omega))), vocab, length, lookahead, seed)


@pytest.mark.parametrize("seed", range(4))
def test_the_band_at_one_is_block_verification(seed: int) -> None:
    target, draft = (random_table(3, 4, seed + n, zeros=seed > 1) for n in (0, 50))
    law, block = (exact(Chain(3), target, draft, rule) for rule in (Band(1.0), BlockVerification()))
    assert (law.mass == block.mass).all() and law.call_law == block.call_law and law.tv(target) == 0


def test_one_draft_by_hand() -> None:
    """p = (1/2, 1/4, 1/4), q = (0, 1/4, 3/4), omega = 2: the level is 3/4, out = (3/8, 1/4, 3/8), that of q clamped."""
    target, draft = np.array([F(1, 2), F(1, 4), F(1, 4)]), np.array([F(0), F(1, 4), F(3, 4)])
    out = output_law(Band(2.0), draft, target, SLOT)
    assert out.tolist() == [F(3, 8), F(1, 4), F(3, 8)]
    assert (np.maximum(F(3, 4) * target, np.minimum(draft, F(3, 2) * target)) == out).all()


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6, 7])
def test_one_draft_is_clamped_to_a_band(seed: int) -> None:
    """low is read off the law: what does not lie at the draft lies at low p or at omega low p."""
    target, draft = (random_table(3, 1, seed + n).laws[0] for n in (0, 100))
    out = output_law(Band(2.0), draft, target, SLOT)
    ratios = sorted({v / p for v, p, q in zip(out, target, draft, strict=True) if v != q})
    low = ratios[0] if ratios[0] < 1 else ratios[-1] / 2
    assert (np.maximum(low * target, np.minimum(draft, 2 * low * target)) == out).all()


def test_a_joint_rule_is_refused_in_a_coupled_window() -> None:
    with pytest.raises(SpecsimError, match="biased where a window is redrawn by a coupling"):
        exact(Jacobi(2, "maximal"), random_table(2, 3, 1), rule=Band())


@pytest.mark.parametrize("omega", [0.5, float("nan"), float("inf"), "2"])
def test_a_wrong_omega_is_one_line(omega: Any) -> None:
    with pytest.raises(SpecsimError, match="Band: omega") as caught:
        Band(omega)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("omega", [1.2, 2.0, 5.0])
def test_floats_take_the_same_steps(omega: float) -> None:
    """Small Fractions meet a level exactly all the time; rounding must not send the steps elsewhere."""
    rng, laws = np.random.default_rng(1), np.frompyfunc(F, 2, 1)
    for vocab in (2, 3, 4):
        weights = rng.integers(0, 6, (2, 300, vocab))
        weights[..., 0] += weights.sum(axis=-1) == 0
        draft, target = (laws(some, some.sum(axis=-1, keepdims=True)) for some in weights)
        path = (
            Band()
            .begin(target[:, 0])
            ._replace(
                weight=laws(rng.integers(1, 7, 300), 6), put=laws(rng.integers(0, 7, 300), rng.integers(1, 5, 300))
            )
        )
        wanted = judge(path, draft, target, F(str(omega)))
        floats = type(path)(*(field.astype(np.float64) for field in path))
        found = judge(floats, draft.astype(np.float64), target.astype(np.float64), omega)
        assert np.allclose(found.kept, wanted.kept.astype(np.float64), rtol=0, atol=1e-14)
        law = found.missing / found.lack
        put = wanted.left * wanted.missing / wanted.lack
        assert np.allclose(found.left * law, put.astype(np.float64), rtol=0, atol=1e-14)
