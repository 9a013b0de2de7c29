"""CSD: relaxation where the target is uncertain and the draft is close to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from specsim.arrays import Array, entropy, namespace, number, total_variation
from specsim.errors import require_number
from specsim.rules.additive import masked, raised_ratio
from specsim.rules.lenient import MOST
from specsim.strength import Shape, Strength
from specsim.verification import Verdict, standard_residual


@dataclass(frozen=True)
class ContentAware:
    """b = min(1, p/q + lam H(p)) where p > 0 and TV(p, q) < delta, else strict; G = norm[p - q]+.  Biased, on the line.

    H in nats, H and TV of the processed laws.  Tokens of target probability 0 are never kept here; the published
    formula has no such mask, see ContentAwareUnmasked.  Exact laws take H in float64 and convert it once.
    Source: CSD (arXiv 2606.27829); published lam .5, delta .35 / .65 / .8.  [wang2026csd]
    """

    strength: ClassVar[Strength] = Strength("lam", 0.0, MOST)
    shape: ClassVar[tuple[Shape, ...]] = (Shape("delta", 0.0, 1.0),)
    lam: float = 0.5
    delta: float = 0.35

    def __post_init__(self) -> None:
        check_fields(self)

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        raised = raised_ratio(draft, target, bonus(self.lam, self.delta, draft, target))
        return Verdict(masked(raised, target), standard_residual(draft, target))


@dataclass(frozen=True)
class ContentAwareUnmasked:
    """b = min(1, p/q + lam H(p)) if TV(p, q) < delta, else strict; G = norm[p - q]+.  Biased, on the line.

    The published formula of ContentAware: it can keep tokens of target probability 0.
    Source: CSD (arXiv 2606.27829); published lam .5, delta .35 / .65 / .8.  [wang2026csd]
    """

    strength: ClassVar[Strength] = Strength("lam", 0.0, MOST)
    shape: ClassVar[tuple[Shape, ...]] = (Shape("delta", 0.0, 1.0),)
    lam: float = 0.5
    delta: float = 0.35

    def __post_init__(self) -> None:
        check_fields(self)

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        raised = raised_ratio(draft, target, bonus(self.lam, self.delta, draft, target))
        return Verdict(raised, standard_residual(draft, target))


def bonus(lam: float, delta: float, draft: Array, target: Array) -> Array:
    """lam H(p) where TV(p, q) < delta, else 0: [..., 1]."""
    close = total_variation(target, draft) < number(delta, target)
    raised = number(lam, target) * entropy(target)
    return namespace(draft).where(close, raised, number(0, target))[..., None]


def check_fields(rule: ContentAware | ContentAwareUnmasked) -> None:
    """Both forms have the same ranges."""
    name = type(rule).__name__
    require_number(name, "lam", rule.lam, 0, MOST)
    require_number(name, "delta", rule.delta, 0, MOST)
