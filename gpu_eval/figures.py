"""Sampled figures with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from specsim.sampling import Samples

CONFIDENCE = 0.95
"""Level of every interval."""
RESAMPLES = 2000
METHOD = f"{CONFIDENCE:.0%} percentile bootstrap over images, {RESAMPLES} resamples"
FEW_RESAMPLES = 400
"""Enough for a standard error: it is known within 1 / sqrt(2 R) = 3.5 %."""
NORMAL_METHOD = (
    f"{CONFIDENCE:.0%} normal interval, value +- {stats.norm.isf((1 - CONFIDENCE) / 2):.2f} bootstrap standard errors, "
    f"{FEW_RESAMPLES} resamples of images within each class"
)


def mean_interval(values: np.ndarray) -> dict[str, Any]:
    """Mean over images with its bootstrap interval."""
    return ratio_interval(values, np.ones(len(values)))


def ratio_interval(top: np.ndarray, bottom: np.ndarray) -> dict[str, Any]:
    """sum(top) / sum(bottom) with its bootstrap interval over images; no interval from a single image."""

    def ratio(t: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return t.sum(axis=axis) / b.sum(axis=axis)

    value = float(top.sum() / bottom.sum())
    if len(top) < 2 or (np.ptp(top) == 0 and np.ptp(bottom) == 0):
        return {"value": value, "interval": [value, value] if len(top) > 1 else None}
    found = stats.bootstrap(
        (top, bottom),
        ratio,
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    return {
        "value": value,
        "interval": [float(found.confidence_interval.low), float(found.confidence_interval.high)],
    }


def resampled_counts(labels: np.ndarray, seed: int, resamples: int = FEW_RESAMPLES) -> np.ndarray:
    """How often each image is in each resample [R, n]; a resample holds as many images of a class as there are.

    The classes of decoded images are chosen, not drawn, so they do not vary. Sets that are independent need seeds
    that differ.
    """
    rng, counts = np.random.default_rng(seed), np.zeros((resamples, len(labels)))
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        counts[:, rows] = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=resamples)
    return counts


def normal_interval(
    value: float, again: np.ndarray, labels: np.ndarray, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> list[float] | None:
    """value +- z standard errors, cut to bounds; again [R]: the figure of each resample of `resampled_counts`.

    Not the resamples' percentiles: duplicates make a resample's covariance narrower, so its Frechet distance is
    higher by as much as the distance itself is biased, and percentiles miss the value they are for. Where a distance
    is little more than that bias, the standard error is too large, at most some 2.2 times: never too small.
    Resampling m images of a class shows (m - 1) / m of their variance; the smallest class corrects that.
    None where resamples say nothing: a class with a single image, or nothing that varies.
    """
    fewest = np.unique(labels, return_counts=True)[1].min()
    if fewest < 2 or np.ptp(again) == 0:
        return None
    half = stats.norm.isf((1 - CONFIDENCE) / 2) * again.std(ddof=1) * np.sqrt(fewest / (fewest - 1))
    return [float(end) for end in np.clip([value - half, value + half], *bounds)]


def across_seeds(values: Sequence[float | None]) -> dict[str, Any]:
    """Mean and spread (standard deviation) of one figure over seeds; mean None where a seed has no finite value, spread
    None for a single seed."""
    finite = [value for value in values if value is not None]
    if len(finite) < len(values):
        return {"mean": None, "spread": None}
    return {"mean": float(np.mean(finite)), "spread": float(np.std(finite, ddof=1)) if len(finite) > 1 else None}


def with_spread(figure: dict[str, Any], digits: int) -> str:
    """mean ± spread."""
    if figure["mean"] is None:
        return "-inf"
    mean = f"{figure['mean']:.{digits}f}"
    return mean if figure["spread"] is None else f"{mean} ± {figure['spread']:.{digits}f}"


def slot_counts(batches: list[Samples]) -> list[int]:
    """How many drafts each slot judged, over all batches."""
    slots = max(int(b.reached.max(initial=0)) for b in batches)
    return [sum(int((b.reached > s).sum()) for b in batches) for s in range(slots)]


def slot_rates(batches: list[Samples]) -> list[float | None]:
    """P(kept | judged) per slot over all batches."""
    judged = slot_counts(batches)
    kept = [sum(int((b.kept > s).sum()) for b in batches) for s in range(len(judged))]
    return [k / n if n else None for k, n in zip(kept, judged, strict=True)]
