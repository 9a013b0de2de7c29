"""Speculative cascades: verify against the draft where it is as sure as the target, else against the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from specsim.arrays import Array, namespace, number, total_variation
from specsim.errors import require_number
from specsim.rules.fuzzy import keep_all_where
from specsim.rules.lenient import MOST
from specsim.strength import Strength
from specsim.verification import Verdict


@dataclass(frozen=True)
class CascadeOpt:
    """Strict against pi = q if max q >= max p - alpha TV(p, q), else pi = p: min(1, pi/q), norm[pi - q]+.  Biased.

    On the line: where pi = q everything is kept, elsewhere it is strict.  Not masked.  alpha = 0 still keeps all where
    the draft is at least as sure as the target; from alpha = 1 on everything is kept, as max p - max q <= TV.
    Source: speculative cascades (arXiv 2405.19261), rule OPT; alpha is the price of a deferral, swept there.
    [narasimhan2025cascades]
    """

    strength: ClassVar[Strength] = Strength("alpha", 0.0, 1.0)
    alpha: float = 0.5

    def __post_init__(self) -> None:
        require_number("CascadeOpt", "alpha", self.alpha, 0, MOST)

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        xp = namespace(draft)
        slack = number(self.alpha, target) * total_variation(target, draft)
        sure = xp.max(draft, axis=-1) >= xp.max(target, axis=-1) - slack
        return keep_all_where(sure | (self.alpha >= 1), draft, target)  # at 1 rounding would decide
