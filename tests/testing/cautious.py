"""A rule of somebody's own, as the text of its file: broken, and mended."""

CAUTIOUS = """
from dataclasses import dataclass
from specsim import Verdict, optimal_residual
from specsim.arrays import number
from specsim.verification import capped_ratio, standard_residual


@dataclass(frozen=True)
class Cautious:
    omega: float = 0.5

    def __call__(self, draft, target, position):
        accept = capped_ratio(number(self.omega, target) * target, draft)
        return Verdict(accept, RESIDUAL)
"""
BROKEN = CAUTIOUS.replace("RESIDUAL", "standard_residual(draft, target)")
MENDED = CAUTIOUS.replace("RESIDUAL", "optimal_residual(draft, target, accept)")
