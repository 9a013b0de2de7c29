"""Lenience: the target's probability multiplied by a constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from specsim.arrays import Array, number
from specsim.errors import require_number
from specsim.strength import Strength
from specsim.verification import Verdict, capped_ratio, optimal_residual

MOST = 1e9
"""Largest factor: every rule accepts all there is long before, and float32 stays far from overflow."""
MOST_TOKENS = 2**20
"""Largest number of tokens that a field can mean: more than any vocabulary has, and no index overflows."""


@dataclass(frozen=True)
class Lenient:
    """b = min(1, omega p/q), G = G* = norm[p - q b]+.  Biased for omega > 1 (on the line), lossless for omega <= 1.

    Also called Amplify (CSD's table) and UniformRSD (COOL-SD's ablation).  out/p <= max(1, omega).
    omega < 1 is legal and dominated: no token is ever accepted more often than by the strict rule.
    Source: Leviathan et al. 2023 (arXiv 2211.17192), appendix A.5.  [leviathan2023]
    """

    strength: ClassVar[Strength] = Strength("omega", 1.0, MOST)
    omega: float = 1.3

    def __post_init__(self) -> None:
        require_number("Lenient", "omega", self.omega, 0, MOST, above=True)

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        accept = capped_ratio(number(self.omega, target) * target, draft)
        return Verdict(accept, optimal_residual(draft, target, accept))
