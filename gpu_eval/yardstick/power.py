"""How small a difference the images can show, and what the common random numbers are worth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from gpu_eval.yardstick.ranks import Groups

LEVEL, POWER = 0.05, 0.8
REACH = float(stats.norm.isf(LEVEL / 2) + stats.norm.ppf(POWER))
"""2.80: a difference of so many standard errors is found with this power at this level, two-sided, one pair alone."""


def power_of(values: np.ndarray, again: np.ndarray, groups: Groups, images: int, effect: float) -> dict[str, Any]:
    """One measure: values [settings], resamples [R, settings] of `images` images a setting.

    paired, unpaired: median standard error of a difference between two settings of a level, with the shared random
    numbers and as if they were not shared; correlation: the share of the variance that sharing removes; visible: the
    difference found with POWER; images_for_effect: how many images a setting make a difference of `effect` visible,
    None for no effect; spread: median difference of two settings of a level as found; separated: share of pairs whose
    difference is beyond the two-sided level.
    """
    pairs = [pair for rows in groups for pair in combinations(rows, 2)]
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    paired = (again[:, first] - again[:, second]).std(0, ddof=1)
    variances = again.var(0, ddof=1)
    unpaired = np.sqrt(variances[first] + variances[second])
    apart = np.abs(values[first] - values[second])
    visible = REACH * float(np.median(paired))
    return {
        "images": images,
        "paired": float(np.median(paired)),
        "unpaired": float(np.median(unpaired)),
        "correlation": 1 - float(np.median(paired**2 / unpaired**2)),
        "visible": visible,
        "effect": effect,
        "images_for_effect": int(np.ceil(images * (visible / effect) ** 2)) if effect else None,
        "spread": float(np.median(apart)),
        "separated": float(np.mean(apart > stats.norm.isf(LEVEL / 2) * paired)),
    }


def between_seeds(blocks: np.ndarray, errors: np.ndarray) -> dict[str, float | None]:
    """blocks [seeds, settings]: a measure on each seed's images; errors [settings]: its bootstrap standard errors, all
    images together -> median spread between seeds, and its ratio to what the bootstrap expects of a single seed."""
    seeds = len(blocks)
    if seeds < 2:
        return {"spread": None, "ratio": None}
    spread = blocks.std(0, ddof=1)
    return {
        "spread": float(np.median(spread)),
        "ratio": float(np.sqrt((spread**2).mean() / (errors**2 * seeds).mean())),
    }


def halves(labels: np.ndarray, splits: int, seed: int = 0) -> np.ndarray:
    """Random splits in two halves, each with half of every class: 0 or 1 for every image [2 splits, n], a split's two
    halves one after the other."""
    rng, found = np.random.default_rng(seed), np.zeros((splits, 2, len(labels)))
    for split in found:
        for label in np.unique(labels):
            rows = rng.permutation(np.flatnonzero(labels == label))
            split[0, rows[: len(rows) // 2]] = 1
        split[1] = 1 - split[0]
    return found.reshape(2 * splits, -1)


def seed_parts(seeds: int, images: int) -> np.ndarray:
    """The images of each seed: 0 or 1 for every image, [seeds, seeds * images]."""
    return np.kron(np.eye(seeds), np.ones(images))


def level_groups(levels: Sequence[float | None]) -> list[np.ndarray]:
    """Numbers of the settings of each level; lossless references belong to none."""
    known = sorted({level for level in levels if level is not None})
    return [np.array([i for i, level in enumerate(levels) if level == some]) for some in known]
