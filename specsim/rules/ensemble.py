"""Static ensemble: strict verification against a mixture of target and draft."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from specsim.arrays import Array, namespace, number
from specsim.errors import require_number
from specsim.strength import Strength
from specsim.verification import Verdict, capped_ratio, standard_residual


@dataclass(frozen=True)
class Ensemble:
    """b = min(1, (1 - w) + w p/q), G = norm[p - q]+, w = weight.  Biased for w < 1, on the line.

    out = w p + (1 - w) q exactly, so TV(out, p) = (1 - w) TV(p, q).  Not masked: what the draft emits off the
    target's support is part of the mixture.
    Source: DIVERSED's static ensemble (arXiv 2604.07622); the weight is swept there.  [wang2026diversed]
    """

    strength: ClassVar[Strength] = Strength("weight", 1.0, 0.0)
    weight: float = 0.5

    def __post_init__(self) -> None:
        require_number("Ensemble", "weight", self.weight, 0, 1)

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        weight = number(self.weight, target)
        mixture = weight * target + (1 - weight) * draft
        ever = namespace(draft).where(draft > 0, mixture, target)  # what is never drafted is judged as everywhere
        return Verdict(capped_ratio(ever, draft), standard_residual(draft, target))
