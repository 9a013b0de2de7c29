"""Medusa's typical acceptance: a threshold on the target's probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from specsim.arrays import Array, column, constant, entropy, from_floats, indicator, namespace, number
from specsim.errors import require_number
from specsim.rules.lenient import MOST
from specsim.strength import Strength
from specsim.verification import Verdict


@dataclass(frozen=True)
class Typical:
    """b = 1 if p(v) > min(epsilon, delta exp(-H(p))), else 0; G = p.  Biased, off the line.

    The draft's law plays no part.  H in nats; exact laws take exp(-H) in float64 and convert it once.  A refused
    token is replaced by one from p.  Nothing of target probability 0 is kept.  No setting of it is strict.  For flat
    laws delta exp(-H) is the smaller one, so delta sets how much it relaxes; delta = 0 keeps all of p's support.
    Source: Medusa (arXiv 2401.10774); released epsilon .09, delta .3.  [cai2024medusa]
    """

    strength: ClassVar[Strength] = Strength("delta", MOST, 0.0)
    epsilon: float = 0.09
    delta: float = 0.3

    def __post_init__(self) -> None:
        require_number("Typical", "epsilon", self.epsilon, 0, 1)
        require_number("Typical", "delta", self.delta, 0, MOST)

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        xp = namespace(target)
        perplexity = column(from_floats(lambda law: namespace(law).exp(-entropy(law)), target), target)
        threshold = xp.minimum(number(self.delta, target) * perplexity, constant(self.epsilon, target))
        return Verdict(indicator(target > threshold, target), target)
