"""Sampled figures with their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from specsim.sampling import Samples

CONFIDENCE = 0.95
"""Level of every interval."""
RESAMPLES = 2000
METHOD = f"{CONFIDENCE:.0%} percentile bootstrap over images, {RESAMPLES} resamples"


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


def slot_counts(batches: list[Samples]) -> list[int]:
    """How many drafts each slot judged, over all batches."""
    slots = max(int(b.reached.max(initial=0)) for b in batches)
    return [sum(int((b.reached > s).sum()) for b in batches) for s in range(slots)]


def slot_rates(batches: list[Samples]) -> list[float | None]:
    """P(kept | judged) per slot over all batches."""
    judged = slot_counts(batches)
    kept = [sum(int((b.kept > s).sum()) for b in batches) for s in range(len(judged))]
    return [k / n if n else None for k, n in zip(kept, judged, strict=True)]
