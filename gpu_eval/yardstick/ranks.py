"""Rank correlations between divergences and quality, at matched cost: within each level, then averaged over levels.

Over all settings a correlation says little: cost drives divergence and quality alike.  Within a level the cost is the
same, and what is left is whether the divergence orders the schemes as the images do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

Correlate = Callable[[np.ndarray, np.ndarray], np.ndarray]
Groups = Sequence[np.ndarray]
"""For each level the numbers of its settings."""
FEWEST = 3
"""Settings a level needs: of two a rank correlation is 1 or -1."""
WIDTH = 2.6
"""Standard errors on either side of a correlation, or of a difference of two.  With 1.96 only 87 to 93 % of the
intervals hold the true value in simulations of settings like ours, with 2.6 at least 95 %, down to a reliability of
0.5."""
LEAST_RELIABLE = 0.25


class Estimate(NamedTuple):
    """A value with its interval."""

    value: float
    low: float
    high: float


def cosine(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Cosine of vectors [..., n] -> [...]; 0 where one of them is 0: what does not vary orders nothing."""
    size = np.sqrt((one**2).sum(-1) * (other**2).sum(-1))
    return np.divide((one * other).sum(-1), size, out=np.zeros_like(size), where=size > 0)


def spearman(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Spearman's rank correlation of [..., n] -> [...]."""
    ranks = (stats.rankdata(values, axis=-1) for values in (one, other))
    return cosine(*(rank - rank.mean(-1, keepdims=True) for rank in ranks))


def kendall(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of [..., n] -> [...]."""
    return cosine(*(order_of_pairs(values) for values in (one, other)))


def order_of_pairs(values: np.ndarray) -> np.ndarray:
    """[..., n] -> -1, 0 or 1 for every pair, [..., n * n]; infinities of one sign are equal."""
    ranks = stats.rankdata(values, axis=-1)
    return np.sign(ranks[..., :, None] - ranks[..., None, :]).reshape(*ranks.shape[:-1], -1)


def within(one: np.ndarray, other: np.ndarray, groups: Groups, correlate: Correlate = spearman) -> np.ndarray:
    """Mean over levels of the rank correlation among a level's settings; one, other [..., settings] -> [...]."""
    large = [rows for rows in groups if len(rows) >= FEWEST]
    return np.mean([correlate(one[..., rows], other[..., rows]) for rows in large], axis=0)


def interval(value: float, again: np.ndarray, low: float = -1.0, high: float = 1.0) -> Estimate:
    """value +- WIDTH standard deviations of its resamples [R], all cut to low .. high."""
    half = WIDTH * float(again.std(ddof=1))
    return Estimate(*(float(end) for end in np.clip([value, value - half, value + half], low, high)))


def noise_factor(repeats: float) -> float:
    """1 / sqrt(reliability), Spearman's correction: noise in quality draws a correlation towards 0 by its inverse.

    Below LEAST_RELIABLE the reliability itself is too uncertain, and the correction stays what it is there.
    """
    return max(repeats, LEAST_RELIABLE) ** -0.5


def reliability(halves: Sequence[tuple[np.ndarray, np.ndarray]], groups: Groups) -> float:
    """Rank correlation that a measure would have with itself on as many new images.

    halves: the measure [settings] on one half of the images and on the other, for several splits; the mean correlation
    r of halves is stepped up to whole sets by Spearman and Brown's 2 r / (1 + r).
    """
    r = float(np.mean([within(one, other, groups) for one, other in halves]))
    return 2 * r / (1 + r) if r > 0 else 0.0
