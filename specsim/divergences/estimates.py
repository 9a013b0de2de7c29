"""Estimates from one number a sequence, with standard errors."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from specsim.errors import SpecsimError


class Estimate(NamedTuple):
    """A value and its standard error: inf where the value is, nan from a single sequence."""

    value: float
    error: float


def mean(values: np.ndarray) -> Estimate:
    """The mean of independent values [B], and s / sqrt(B)."""
    values = np.asarray(values, dtype=np.float64)
    if not len(values):
        raise SpecsimError("no sequences: an estimate needs at least one, and two for its error")
    if not np.isfinite(values).all():
        return Estimate(float(values.mean()), math.inf)
    error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Estimate(float(values.mean()), float(error))


def difference(first: np.ndarray, second: np.ndarray) -> Estimate:
    """Mean of first - second [B], the same sequences under two rules: what they share cancels in the error too."""
    first, second = (np.asarray(values, dtype=np.float64) for values in (first, second))
    if first.shape != second.shape:
        raise SpecsimError(f"{first.shape} and {second.shape} values cannot be paired: give one of each per sequence")
    return mean(first - second)


def quotient(top: np.ndarray, bottom: np.ndarray) -> Estimate:
    """E[top] / E[bottom] of paired values [B]; error to first order (delta method); 0 where both means are 0.

    A quotient of means is biased by O(1/B), unlike the means.
    """
    above, below = mean(top).value, mean(bottom).value
    if below == 0:
        return Estimate(math.inf if above > 0 else 0.0, math.inf if above > 0 else 0.0)
    value = above / below
    residual = np.asarray(top, dtype=np.float64) - value * np.asarray(bottom, dtype=np.float64)
    return Estimate(value, mean(residual).error / abs(below))
