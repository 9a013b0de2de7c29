"""The sampler against the exact law: the one statistical test, everything else about laws is exact."""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import chi2

from specsim import Jacobi, Lenient, Race, exact, random_table
from specsim.interpreters import pick, sampling
from specsim.sampling import Samples, sample

FALSE_ALARM = 1e-6
"""Chance that a right sampler fails, over all seeds; with the seed below the outcome never changes."""
LEAST_EXPECTED = 5
"""Cells are pooled until each expects this many, the usual condition for the chi-square approximation."""
ROWS = 20_000
"""Enough to see the wrong law below at once: its statistic is then several times the threshold."""

DECODERS = [Jacobi(2, "gumbel", "onehot"), Race()]
"""One that lives by uniforms, with some shared noise, and one that has nothing but shared noise."""
TARGET = random_table(3, 3, seed=2, zeros=True)


def counts(samples: Samples) -> np.ndarray:
    """How often each sequence came, in base-V order."""
    codes = samples.tokens @ (TARGET.vocab ** np.arange(TARGET.length)[::-1])
    return np.bincount(codes, minlength=TARGET.vocab**TARGET.length)


def pooled(values: np.ndarray, groups: list[np.ndarray]) -> np.ndarray:
    return np.array([values[group].sum() for group in groups])


def groups_of(expected: np.ndarray) -> list[np.ndarray]:
    """Cells from the rarest on, put together until a group expects enough."""
    groups: list[list[int]] = [[]]
    for cell in np.argsort(expected, kind="stable"):
        if expected[groups[-1]].sum() >= LEAST_EXPECTED:
            groups.append([])
        groups[-1].append(int(cell))
    return [np.array(group) for group in groups]


def excess(observed: np.ndarray, law: np.ndarray) -> float:
    """The chi-square statistic over its threshold: above 1 it rejects; what cannot come is rejected too."""
    if observed[law == 0].any():
        return float("inf")
    expected = law * observed.sum()
    groups = groups_of(expected)
    seen, due = pooled(observed, groups), pooled(expected, groups)
    return float(((seen - due) ** 2 / due).sum() / chi2.isf(FALSE_ALARM, len(groups) - 1))


@pytest.mark.parametrize("decoder", DECODERS, ids=repr)
def test_sequences_come_with_their_probability(decoder: Any) -> None:
    observed = counts(sample(decoder, TARGET.floats(), rows=ROWS, seed=0))
    assert excess(observed, exact(decoder, TARGET).mass.astype(float)) < 1
    # The same statistic sees a law that is wrong by a few hundredths in total variation.
    wrong = exact(Jacobi(2), TARGET, rule=Lenient(1.3))
    assert 0.01 < wrong.tv(TARGET) < 0.1
    assert excess(observed, wrong.mass.astype(float)) > 2


def test_the_statistic_itself() -> None:
    """Draws of numpy's own generator pass, a forbidden sequence never does, and rare cells are pooled."""
    law = np.array([0.7, 0.2, 0.0999, 0.0001, 0.0])
    observed = np.random.default_rng(0).multinomial(2000, law)
    assert excess(observed, law) < 1
    assert excess(observed + np.array([0, 0, 0, 0, 1]), law) == float("inf")
    assert [len(group) for group in groups_of(law * 2000)] == [3, 1, 1]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pick_never_leaves_the_support(dtype: Any) -> None:
    """Random laws with zeros, at u = 0 and just below 1, where a rounded sum could run off the end."""
    law = np.random.default_rng(0).random((200, 64)).astype(dtype)
    law *= np.random.default_rng(1).random(law.shape) < 0.3
    for u in (0, np.nextafter(dtype(1), dtype(0))):
        index = pick(law, np.full(200, u, dtype=dtype))
        assert (np.take_along_axis(law, index[:, None], axis=1) > 0).all()


def test_pick_where_a_sum_rounds_unevenly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parallel cumulative sum may rise a little at an index of weight 0, which still owns nothing."""

    class Uneven(NamedTuple):
        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        def cumulative_sum(self, law: np.ndarray, axis: int) -> np.ndarray:
            return np.cumsum(law, axis) + np.array([0, 2.0**-30, 0])

    monkeypatch.setattr(sampling, "namespace", lambda _: Uneven())
    assert pick(np.array([0.25, 0, 0.75]), np.array(0.25)) == 2


def test_streams_have_nothing_in_common() -> None:
    """Every seed, row and purpose has its own stream: shared noise must not know the uniforms that accept."""
    kinds = (sampling.SHARED_NOISE, sampling.UNIFORMS)
    names = list(product((0, 1), kinds, (0, 1, 2)))
    streams = (sampling.Sampling(seed, [row], 1, np.ones(1)).stream(kind, row) for seed, kind, row in names)
    firsts = {stream.random() for stream in streams}
    assert len(firsts) == len(names) == 12
