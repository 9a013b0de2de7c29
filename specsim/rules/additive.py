"""Addition: a constant added to the ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from specsim.arrays import Array, constant, indicator, namespace, number
from specsim.errors import require_number
from specsim.rules.lenient import MOST
from specsim.strength import Strength
from specsim.verification import Verdict, capped_ratio, standard_residual


def raised_ratio(draft: Array, target: Array, bonus: Array) -> Array:
    """min(1, p/q + bonus) [..., V], where q(v) = 0: 1 if p(v) > 0, else 0; bonus a scalar or [..., 1]."""
    xp, one = namespace(draft), constant(1, target)
    # The ratio is capped before the bonus: p/q alone can be beyond the largest number.
    raised = xp.minimum(capped_ratio(target, draft) + bonus, one)
    return xp.where(draft > 0, raised, indicator(target > 0, target))


def masked(accept: Array, target: Array) -> Array:
    """Acceptance on the target's support, 0 off it."""
    return namespace(target).where(target > 0, accept, number(0, target))


@dataclass(frozen=True)
class Additive:
    """b = min(1, p/q + epsilon) where p > 0, else 0; G = norm[p - q]+.  Biased for epsilon > 0, on the line.

    "Addition" of CSD's table.  The published formula has no support mask (AdditiveUnmasked) and can emit tokens of
    target probability 0; here they are never kept.  Note: ratio + epsilon; (p + epsilon)/q would be another rule.
    Source: baseline of CSD (arXiv 2606.27829), formula inferred; epsilon .1 (Lumina), .4 (Janus).
    [wang2026csd]
    """

    strength: ClassVar[Strength] = Strength("epsilon", 0.0, 1.0)
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        check_fields(self)

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        accept = masked(raised_ratio(draft, target, number(self.epsilon, target)), target)
        return Verdict(accept, standard_residual(draft, target))


@dataclass(frozen=True)
class AdditiveUnmasked:
    """b = min(1, p/q + epsilon), G = norm[p - q]+.  Biased for epsilon > 0, on the line.

    The formula of Additive as published: it can keep tokens of target probability 0.
    Source: baseline of CSD (arXiv 2606.27829), formula inferred; epsilon .1 (Lumina), .4 (Janus).  [wang2026csd]
    """

    strength: ClassVar[Strength] = Strength("epsilon", 0.0, 1.0)
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        check_fields(self)

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        accept = raised_ratio(draft, target, number(self.epsilon, target))
        return Verdict(accept, standard_residual(draft, target))


def check_fields(rule: Additive | AdditiveUnmasked) -> None:
    """Both forms have the same range."""
    require_number(type(rule).__name__, "epsilon", rule.epsilon, 0, MOST)
