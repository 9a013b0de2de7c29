"""Addition: a constant added to the ratio."""

from __future__ import annotations

from dataclasses import dataclass

from specsim.arrays import Array, divide, namespace, number
from specsim.errors import require
from specsim.rules.lenient import MOST
from specsim.verification import Verdict, standard_residual


def raised_ratio(draft: Array, target: Array, bonus: Array) -> Array:
    """min(1, p/q + bonus) [..., V] on the target's support and 0 off it; bonus a scalar or [..., 1].

    q(v) = 0 gives 1: such a token is never drafted, and its acceptance is the limit of the formula.
    """
    xp = namespace(draft)
    one, zero = number(1, target), number(0, target)
    raised = xp.minimum(divide(target, draft, one) + bonus, one)
    return xp.where(target > 0, raised, zero)


@dataclass(frozen=True)
class Additive:
    """b = min(1, p/q + epsilon) where p > 0, else 0; G = norm[p - q]+.  Biased for epsilon > 0, on the line.

    "Addition" of CSD's table.  The published formula has no support mask and can emit tokens of target probability
    0; here they are never kept.  Note: ratio + epsilon; (p + epsilon)/q would be another rule.
    Source: baseline of CSD (arXiv 2606.27829), formula inferred; epsilon .1 (Lumina), .4 (Janus).
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        require(0 <= self.epsilon <= MOST, "Additive", "epsilon", self.epsilon, f"a number from 0 to {MOST:g}")

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        accept = raised_ratio(draft, target, number(self.epsilon, target))
        return Verdict(accept, standard_residual(draft, target))
