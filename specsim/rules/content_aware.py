"""CSD: relaxation where the target is uncertain and the draft is close to it."""

from __future__ import annotations

from dataclasses import dataclass

from specsim.arrays import Array, entropy, namespace, number, total_variation
from specsim.errors import require
from specsim.rules.additive import raised_ratio
from specsim.rules.lenient import MOST
from specsim.verification import Verdict, standard_residual


@dataclass(frozen=True)
class ContentAware:
    """b = min(1, p/q + lam H(p)) where p > 0 and TV(p, q) < delta, else strict; G = norm[p - q]+.  Biased, on the line.

    H in nats, H and TV of the processed laws.  Tokens of target probability 0 are never kept here (the published
    formula has no such mask).  Exact laws take H in float64 and convert it once.
    Source: CSD (arXiv 2606.27829); published lam .5, delta .35 / .65 / .8.
    """

    lam: float = 0.5
    delta: float = 0.35

    def __post_init__(self) -> None:
        require(0 <= self.lam <= MOST, "ContentAware", "lam", self.lam, f"a number from 0 to {MOST:g}")
        require(self.delta >= 0, "ContentAware", "delta", self.delta, "a number of at least 0")

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        xp = namespace(draft)
        close = total_variation(target, draft) < number(self.delta, target)
        bonus = xp.where(close, number(self.lam, target) * entropy(target), number(0, target))
        return Verdict(raised_ratio(draft, target, bonus[..., None]), standard_residual(draft, target))
