"""The rules that T04 looks at, and a wrong residual."""

from __future__ import annotations

from fractions import Fraction

from specsim import (
    Additive,
    AdditiveUnmasked,
    CascadeOpt,
    ContentAware,
    ContentAwareUnmasked,
    Ensemble,
    FuzzyJS,
    FuzzyKL,
)
from specsim.arrays import Array, normalise, positive_part

STANDARD = (
    *(Additive(), AdditiveUnmasked(), ContentAware(), ContentAwareUnmasked()),
    *(Ensemble(), FuzzyKL(), FuzzyJS(), CascadeOpt()),
)
"""Rules whose published residual is norm[p - q]+ and whose b is never below strict."""


def uniform_if_empty(draft: Array, target: Array) -> Array:
    """A mistake: uniform where norm[p - q]+ is empty."""
    return normalise(positive_part(target - draft), 0 * target + Fraction(1, len(target)))
