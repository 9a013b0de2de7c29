"""CACTUS: the target's probability of the drafted token is raised within a budget of divergence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from specsim.arrays import Array, at, constant, divide, from_floats, hits, namespace, normalise, number, positive_part
from specsim.errors import require_number
from specsim.rules.lenient import MOST
from specsim.strength import Strength
from specsim.verification import Verdict, capped_ratio


@dataclass(frozen=True)
class Cactus:
    """b = min(1, g/q), g = min(1, p + sqrt(2 d p (1 - p))); the replacement depends on the refused token.

    Biased, on the line.

    After refusing x: norm[H_x - q]+ with H_x(x) = g(x), H_x(y) = p(y) (1 - g(x))/(1 - p(x)); p where that is empty.
    No G_x(y) exceeds [p(y) - q(y)]+ / r, as sum [H_x - q]+ >= r; so it costs what the optimal residual costs.
    Lossless for d = 0.  Nothing of target probability 0 is kept.  Exact laws take the root in float64, converted once.
    Source: CACTUS (arXiv 2604.04987) and its released code; d is called delta there, 1 in its example.
    [hao2026cactus]
    """

    strength: ClassVar[Strength] = Strength("d", 0.0, MOST)
    d: float = 1.0

    def __post_init__(self) -> None:
        require_number("Cactus", "d", self.d, 0, MOST)

    def raised(self, probability: Array) -> Array:
        """g, entry by entry."""
        xp, one = namespace(probability), constant(1, probability)
        square = number(2, probability) * number(self.d, probability) * probability * (1 - probability)
        root = from_floats(lambda values: namespace(values).sqrt(values), positive_part(square))
        return xp.minimum(probability + root, one)

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        """draft, target [..., V], token [...] -> accept [...], residual [..., V] (it depends on the token)."""
        xp, own, one = namespace(draft), at(target, token), number(1, target)
        raised = self.raised(own)
        scaled = target * divide(1 - raised, 1 - own, one)[..., None]
        bent = xp.where(hits(token, target.shape[-1]), raised[..., None], scaled)
        return Verdict(capped_ratio(raised, at(draft, token)), normalise(positive_part(bent - draft), target))

    def acceptance(self, draft: Array, target: Array, position: Array) -> Array:
        """b of every token, [..., V]."""
        return capped_ratio(self.raised(target), draft)
