"""GSD: a token is judged with the tokens that the target ranks beside it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from specsim.arrays import Array, arange, at, namespace, number
from specsim.errors import require_number, require_whole
from specsim.rules.codebooks import Fixed, held, require_unbound, vectors
from specsim.rules.lenient import MOST, MOST_TOKENS
from specsim.rules.neighbours import total
from specsim.strength import Strength
from specsim.verification import Verdict, capped_ratio, standard_residual

LARGEST = 2**17
"""Largest window: it covers 65,536 tokens on either side of any one."""
FARTHEST = 1e300
"""Largest squared distance: beyond that of any two codes there can be."""


def ranking(target: Array) -> Array:
    """Token ids by target probability, least likely first, ties by lower id: [..., V]."""
    return namespace(target).argsort(target, axis=-1, stable=True)


def rank_of(target: Array, token: Array) -> Array:
    """The rank of tokens [...] in `ranking`: how many are less likely, or as likely with a lower id."""
    xp, own = namespace(target), at(target, token)[..., None]
    below = (target < own) | ((target == own) & (arange(target.shape[-1], token) < token[..., None]))
    return xp.sum(xp.astype(below, token.dtype), axis=-1)


@dataclass(frozen=True)
class Grouped:
    """b = min(1, P(C)/Q(C)), C the group of v; G = norm[p - q]+.  Biased, off the line.

    GSD as released.  With tokens ranked by target probability, least likely first, ties by id, and v at rank r, the
    window is ranks r - size//2 .. r + size - size//2 - 1, clipped at the ends; a member w of it is in C if |p(w) -
    p(v)| < gap and the squared distance of their codes is < distance; v always is.  P(C), Q(C) sum over C.  Windows
    overlap, so they are no partition: b can be below strict, in total too, and norm[p - q]+ is not its G*.  The
    `strict_tail` least likely ids are judged strictly (the released code: size//2, through an index that falls off
    the end); 0 clips their windows instead.  A law of no more tokens than that is judged strictly altogether.  Tokens
    of target probability 0 can be kept.  It needs a codebook; distances are float64 in exact laws too.
    Source: GSD (arXiv 2508.07747), released code: size 14, gap .15, distance .5, strict_tail 7.  [so2025gsd]
    """

    strength: ClassVar[Strength] = Strength("size", 1, LARGEST)
    size: int = 14
    gap: float = 0.15
    distance: float = 0.5
    strict_tail: int = 0
    codebook: Fixed | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        require_whole("Grouped", "size", self.size, 1, LARGEST)
        require_number("Grouped", "gap", self.gap, 0, MOST)
        require_number("Grouped", "distance", self.distance, 0, FARTHEST)
        require_whole("Grouped", "strict_tail", self.strict_tail, 0, MOST_TOKENS)
        require_unbound("Grouped", "codebook", self.codebook)

    @property
    def width(self) -> int:
        """Numbers that `acceptance` looks up for each token: the codes of its window."""
        return self.size * (self.codebook.values.shape[1] if self.codebook else 1)

    @property
    def codes(self) -> int:
        """Codes it is bound to; 0: it waits for a codebook."""
        return len(self.codebook or ())

    def bind(self, codebook: Any) -> Grouped:
        """The rule with the vectors of a codebook [V, d]."""
        return replace(self, codebook=Fixed(vectors(codebook)))

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        """draft, target [..., V], token [...] -> accept [...], residual [..., V]."""
        rank = rank_of(target, token)
        accept = self.judged(draft, target, ranking(target), token[..., None], rank[..., None])[..., 0]
        return Verdict(accept, standard_residual(draft, target))

    def acceptance(self, draft: Array, target: Array, position: Array) -> Array:
        """b of every token, [..., V], judged in the order of their ranks and put back."""
        xp, order = namespace(target), ranking(target)
        rank = xp.broadcast_to(arange(target.shape[-1], order), target.shape)
        return xp.take_along_axis(self.judged(draft, target, order, order, rank), xp.argsort(order, axis=-1), axis=-1)

    def judged(self, draft: Array, target: Array, order: Array, token: Array, rank: Array) -> Array:
        """b of the tokens [..., J] at the ranks [..., J] of the order [..., V]."""
        xp, vocab = namespace(target), target.shape[-1]
        before = min(self.size // 2, vocab - 1)
        offset = arange(before + min(self.size - self.size // 2, vocab), order) - before
        ranks = rank[..., None] + offset
        ids = taken(order, xp.clip(ranks, 0, vocab - 1))
        masses, own = taken(target, ids), xp.take_along_axis(target, token, axis=-1)[..., None]
        codes = held(self, "codebook", vocab).beside(ids)
        alike = (xp.abs(masses - own) < number(self.gap, target)) & (squared(codes, token, ids) < float(self.distance))
        inside = (ranks >= 0) & (ranks < vocab) & (rank[..., None] >= self.strict_tail)
        member = (inside & alike) | (offset == 0)
        return capped_ratio(total(masses, member), total(taken(draft, ids), member))


@dataclass(frozen=True)
class Partitioned:
    """b = min(1, P(C)/Q(C)), C the run of v; G = norm[p - q]+.  Biased, off the line.

    What GSD's theorem is about, on a true partition: target ranks, least likely first, ties by id, cut into runs of
    `size` from the bottom.  Exact: P(accept) = sum over runs of min(P(C), Q(C)) = 1 - TV of the two laws of the runs,
    never below strict in total, and never falling when runs are merged.  Not exact: b is below strict at some
    tokens, norm[p - q]+ is not its G*, and tokens of target probability 0 can be kept.
    Source: GSD (arXiv 2508.07747), its theorem; the released code has overlapping windows, see Grouped.  [so2025gsd]
    """

    strength: ClassVar[Strength] = Strength("size", 1, LARGEST)
    size: int = 14

    def __post_init__(self) -> None:
        require_whole("Partitioned", "size", self.size, 1, LARGEST)

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        xp, order = namespace(target), ranking(target)
        accept = capped_ratio(self.runs(target, order), self.runs(draft, order))
        run = xp.argsort(order, axis=-1) // self.size
        return Verdict(xp.take_along_axis(accept, run, axis=-1), standard_residual(draft, target))

    def runs(self, law: Array, order: Array) -> Array:
        """The mass of every run, [..., ceil(V / size)]."""
        xp, vocab = namespace(law), law.shape[-1]
        size = min(self.size, vocab)
        ranks = arange(-(-vocab // size) * size, order)
        masses = xp.take(xp.take_along_axis(law, order, axis=-1), xp.clip(ranks, 0, vocab - 1), axis=-1)
        masses = xp.where(ranks < vocab, masses, number(0, law))
        return xp.sum(xp.reshape(masses, (*law.shape[:-1], -1, size)), axis=-1)


def taken(table: Array, index: Array) -> Array:
    """table [..., V], index [..., J, n] -> table at the index, [..., J, n]."""
    xp = namespace(table)
    flat = xp.reshape(index, (*index.shape[:-2], -1))
    return xp.reshape(xp.take_along_axis(table, flat, axis=-1), index.shape)


def squared(codes: Array, token: Array, ids: Array) -> Array:
    """Squared distance between the codes [V, d] of the tokens [..., J] and of the ids [..., J, n]: [..., J, n]."""
    xp = namespace(codes)
    own, others = (xp.take(codes, xp.reshape(index, (-1,)), axis=0) for index in (token, ids))
    gap = xp.reshape(others, (*ids.shape, -1)) - xp.reshape(own, (*token.shape, 1, -1))
    return xp.sum(gap * gap, axis=-1)
