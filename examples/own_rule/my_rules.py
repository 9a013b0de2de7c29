"""Acceptance rules of our own, and what we claim of them.  `specsim rules` lists the published ones."""

from dataclasses import dataclass
from typing import Any, ClassVar

from specsim import Verdict, optimal_residual
from specsim.arrays import number
from specsim.strength import Strength
from specsim.verification import capped_ratio


@dataclass(frozen=True)
class Headroom:
    """b = min(1, p (1/q + gamma)), G = G* = norm[p - q b]+.  Biased for gamma > 0.

    A drafted token gets a bonus in proportion to what the target thinks of it, so nothing is given to tokens that
    the target would never emit.

    Claims: on-line, support, optimal-residual, at-least-strict, monotone.
    """

    strength: ClassVar[Strength] = Strength("gamma", 0.0, 1e9)
    gamma: float = 0.5

    def __call__(self, draft: Any, target: Any, position: Any) -> Verdict:
        """draft, target: laws [..., V]; position [...]: 0-based slot -> accept [..., V], residual [..., V]."""
        gamma = number(self.gamma, target)  # a Fraction among Fractions, so that laws stay exact
        accept = capped_ratio(target * (1 + gamma * draft), draft)  # min(1, weights / q), right for q = 0 too
        return Verdict(accept, optimal_residual(draft, target, accept))
