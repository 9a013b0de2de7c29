"""LANTERN++: a token borrows from its neighbours no more than a multiple of its own probability."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from specsim.arrays import Array, at, constant, namespace, number
from specsim.errors import require_number, require_whole
from specsim.rules.codebooks import Fixed, held, require_unbound
from specsim.rules.lenient import MOST, MOST_TOKENS
from specsim.rules.neighbours import bind, certain, codes, dynamic_residual, gains, loan, reach, static_residual
from specsim.strength import Shape, Strength
from specsim.verification import Verdict, capped_ratio


def budget(lam: Any, probability: Array) -> Array:
    """(lambda - 1) p(v), with a last axis of 1 to stand beside the neighbours' masses."""
    return ((number(lam, probability) - 1) * probability)[..., None]


@dataclass(frozen=True)
class LanternPlus:
    """b = min(1, (p(v) + sum of p over v's nearest m <= k codes, sum <= (lam - 1) p(v)) / q(v)); LANTERN's residual.

    So q b <= lam p: nothing off the target's support is kept or emitted.  The residual is that of the released static
    path (see Lantern), which is not G*.  Biased, off the line; it needs a codebook.  With
    the optimal residual, Optimal(LanternPlus()), out <= lam p and the rule is on the line.
    Source: LANTERN++ (arXiv 2502.06352); published k 10 with lam 5, k 5 with lam 10 and 20, static trees.
    [park2025lanternpp]
    """

    strength: ClassVar[Strength] = Strength("lam", 1.0, MOST)
    shape: ClassVar[tuple[Shape, ...]] = (Shape("k", 1, 32),)
    k: int = 10
    lam: float = 5.0
    neighbours: Fixed | None = field(default=None, repr=False)
    reach, codes, bind = property(reach), property(codes), bind

    def __post_init__(self) -> None:
        check_fields(self)

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        """draft, target [..., V], token [...] -> accept [...], residual [..., V] (it depends on the token)."""
        neighbours, own = held(self, "neighbours", target.shape[-1]), at(target, token)
        found = loan(neighbours, target, token, self.k, budget(self.lam, own))
        return Verdict(capped_ratio(own + found.gain, at(draft, token)), static_residual(draft, target, found))

    def acceptance(self, draft: Array, target: Array, position: Array) -> Array:
        """b of every token, [..., V]."""
        neighbours = held(self, "neighbours", target.shape[-1])
        return capped_ratio(target + gains(neighbours, target, self.k, budget(self.lam, target)), draft)


@dataclass(frozen=True)
class LanternPlusDynamic:
    """LANTERN++ for a draft counted as certain: b = min(1, p(v) + sum over the nearest m <= k codes <= (lam - 1) p(v)).

    Replacement as LanternDynamic: p without x and, if m >= 1, without the k + 1 codes nearest to x; uniform where
    that is empty.  Biased, off the line; nothing off the target's support is kept; it needs a codebook.
    Source: LANTERN++ (arXiv 2502.06352), on the released dynamic path; published k 10 with lam 5.  [park2025lanternpp]
    """

    strength: ClassVar[Strength] = Strength("lam", 1.0, MOST)
    shape: ClassVar[tuple[Shape, ...]] = (Shape("k", 1, 32),)
    k: int = 10
    lam: float = 5.0
    neighbours: Fixed | None = field(default=None, repr=False)
    reach, codes, bind = property(reach), property(codes), bind

    def __post_init__(self) -> None:
        check_fields(self)

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        """draft, target [..., V], token [...] -> accept [...], residual [..., V] (it depends on the token)."""
        neighbours, own = held(self, "neighbours", target.shape[-1]), at(target, token)
        found = loan(neighbours, target, token, self.k, budget(self.lam, own))
        return Verdict(certain(target, token, found), dynamic_residual(target, token, found))

    def acceptance(self, draft: Array, target: Array, position: Array) -> Array:
        """b of every token, [..., V]."""
        neighbours = held(self, "neighbours", target.shape[-1])
        gain = gains(neighbours, target, self.k, budget(self.lam, target))
        return namespace(target).minimum(target + gain, constant(1, target))


def check_fields(rule: LanternPlus | LanternPlusDynamic) -> None:
    """Both forms have the same ranges."""
    name = type(rule).__name__
    require_whole(name, "k", rule.k, 1, MOST_TOKENS)
    require_number(name, "lam", rule.lam, 1, MOST)
    require_unbound(name, "neighbours", rule.neighbours)
