"""Lenience with a residual that is not the one of its acceptance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from specsim import Lenient
from specsim.arrays import Array
from specsim.verification import Verdict, capped_ratio, optimal_residual, standard_residual


@dataclass(frozen=True)
class Vanilla:
    """b = min(1, omega p/q) with norm[p - q]+."""

    omega: Any

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V] -> accept, residual [..., V]."""
        return Verdict(Lenient(self.omega)(draft, target, position).accept, standard_residual(draft, target))


@dataclass(frozen=True)
class Emptied:
    """A mistake: tokens with q > p are always refused, the residual is that of min(1, omega p/q)."""

    omega: Any

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V] -> accept, residual [..., V]."""
        accept = capped_ratio(self.omega * target, draft)
        return Verdict(np.where(draft > target, 0 * accept, accept), optimal_residual(draft, target, accept))
