"""LANTERN: a token may borrow the probability of its nearest neighbours in the codebook."""

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


def limit(delta: float, like: Array) -> Any:
    """delta; 2 from delta = 1 on, which bounds nothing: a running sum may round above 1."""
    return number(2 if delta >= 1 else delta, like)


@dataclass(frozen=True)
class Lantern:
    """b = min(1, (p(v) + sum of p over v's nearest m <= k codes, sum <= delta) / q(v)); the released static residual.

    Replacement after refusing x, if m >= 1: norm[p - q']+ with q' = q set to 0 on the k + 1 codes nearest to x (q(x)
    stays); if m = 0: norm[p - q]+.  Where that is empty b = 1; where rounding alone empties it, p.  Biased, off the
    line, and delta bounds nothing: tokens of target probability 0 can be kept.  A neighbour of probability 0 counts,
    so m >= 1 also at delta = 0.  It needs a codebook.
    Source: LANTERN (arXiv 2410.03355), residual as in the released static path; published k 1000, delta .1 - .4.
    [jang2025lantern]
    """

    strength: ClassVar[Strength] = Strength("delta", 0.0, 1.0)
    shape: ClassVar[tuple[Shape, ...]] = (Shape("k", 1, 32),)
    k: int = 10
    delta: float = 0.1
    neighbours: Fixed | None = field(default=None, repr=False)
    reach, codes, bind = property(reach), property(codes), bind

    def __post_init__(self) -> None:
        check_fields(self)

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        """draft, target [..., V], token [...] -> accept [...], residual [..., V] (it depends on the token)."""
        neighbours = held(self, "neighbours", target.shape[-1])
        found = loan(neighbours, target, token, self.k, limit(self.delta, target))
        accept = capped_ratio(at(target, token) + found.gain, at(draft, token))
        return Verdict(accept, static_residual(draft, target, found))

    def acceptance(self, draft: Array, target: Array, position: Array) -> Array:
        """b of every token, [..., V]."""
        neighbours = held(self, "neighbours", target.shape[-1])
        return capped_ratio(target + gains(neighbours, target, self.k, limit(self.delta, target)), draft)


@dataclass(frozen=True)
class LanternDynamic:
    """LANTERN for a draft counted as certain: b = min(1, p(v) + sum of p over the nearest m <= k codes, sum <= delta).

    Replacement after refusing x: norm of p set to 0 on x and, if m >= 1, on the k + 1 codes nearest to x; uniform
    where that is empty.  Biased, off the line.  The released dynamic path, for trees of top-k drafts, sets q := 1 on
    the drafted token whatever law it was drawn from; where m = 0 for every token that is lossless, and dominated.
    It needs a codebook, and keeps tokens of target probability 0.
    Source: LANTERN (arXiv 2410.03355), released dynamic path; published k 1000, delta .1 - .4.  [jang2025lantern]
    """

    strength: ClassVar[Strength] = Strength("delta", 0.0, 1.0)
    shape: ClassVar[tuple[Shape, ...]] = (Shape("k", 1, 32),)
    k: int = 10
    delta: float = 0.1
    neighbours: Fixed | None = field(default=None, repr=False)
    reach, codes, bind = property(reach), property(codes), bind

    def __post_init__(self) -> None:
        check_fields(self)

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        """draft, target [..., V], token [...] -> accept [...], residual [..., V] (it depends on the token)."""
        neighbours = held(self, "neighbours", target.shape[-1])
        found = loan(neighbours, target, token, self.k, limit(self.delta, target))
        return Verdict(certain(target, token, found), dynamic_residual(target, token, found))

    def acceptance(self, draft: Array, target: Array, position: Array) -> Array:
        """b of every token, [..., V]."""
        neighbours = held(self, "neighbours", target.shape[-1])
        gain = gains(neighbours, target, self.k, limit(self.delta, target))
        return namespace(target).minimum(target + gain, constant(1, target))


def check_fields(rule: Lantern | LanternDynamic) -> None:
    """Both forms have the same ranges."""
    name = type(rule).__name__
    require_whole(name, "k", rule.k, 1, MOST_TOKENS)
    require_number(name, "delta", rule.delta, 0, MOST)
    require_unbound(name, "neighbours", rule.neighbours)
