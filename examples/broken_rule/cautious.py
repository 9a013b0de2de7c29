"""A rule with a plausible mistake, for showing what a failing claim looks like."""

from dataclasses import dataclass
from typing import Any, ClassVar

from specsim import Verdict
from specsim.arrays import number
from specsim.strength import Strength
from specsim.verification import capped_ratio, standard_residual


@dataclass(frozen=True)
class Cautious:
    """b = min(1, omega p/q) with omega <= 1, G = norm[p - q]+.

    Claims: lossless.  "It only refuses more than speculative sampling does, and speculative sampling is lossless."
    """

    strength: ClassVar[Strength] = Strength("omega", 0.1, 1.0)
    omega: float = 0.5

    def __call__(self, draft: Any, target: Any, position: Any) -> Verdict:
        """draft, target: laws [..., V]; position [...]: 0-based slot -> accept [..., V], residual [..., V]."""
        accept = capped_ratio(number(self.omega, target) * target, draft)
        return Verdict(accept, standard_residual(draft, target))
