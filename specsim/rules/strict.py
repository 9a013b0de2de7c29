"""Strict verification: the lossless rule."""

from __future__ import annotations

from dataclasses import dataclass

from specsim.arrays import Array
from specsim.verification import Verdict, capped_ratio, standard_residual


@dataclass(frozen=True)
class Strict:
    """b = min(1, p/q), G = norm[p - q]+.  Lossless.

    Source: Leviathan et al. 2023 (arXiv 2211.17192), Chen et al. 2023 (arXiv 2302.01318).
    [leviathan2023] [chen2023]
    """

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        return Verdict(capped_ratio(target, draft), standard_residual(draft, target))
