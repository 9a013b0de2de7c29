"""LANTERN: a token may borrow the probability of its nearest neighbours in the codebook."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from array_api_compat import device

from specsim.arrays import Array, arange, at, hits, namespace, normalise, number, positive_part
from specsim.errors import SpecsimError, require
from specsim.verification import Verdict, capped_ratio, optimal_residual

Neighbours = tuple[tuple[int, ...], ...]


def nearest(codebook: Any, count: int) -> Neighbours:
    """For every code its `count` nearest others, nearest first (L2, the code itself left out, ties by lower id).

    codebook: [V, d] array-like of floats -> V tuples of min(count, V - 1) ids.
    """
    codes = np.asarray(codebook, dtype=np.float64)
    if codes.ndim != 2 or not np.isfinite(codes).all():
        raise SpecsimError(f"codebook: shape {codes.shape} or its values are not V finite vectors; give a [V, d] array")
    return tuple(nearest_to(i, codes, count) for i in range(len(codes)))


def nearest_to(code: int, codes: np.ndarray, count: int) -> tuple[int, ...]:
    """One code's nearest others.  Differences are squared: |a|^2 + |b|^2 - 2ab would break ties by rounding."""
    distance = ((codes - codes[code]) ** 2).sum(-1)
    distance[code] = np.inf
    return tuple(np.argsort(distance, kind="stable")[: min(count, len(codes) - 1)].tolist())


def bind_codebook(rule: Any, codebook: Any) -> Any:
    """The rule with its neighbours filled in from `codebook`; a rule that needs none is returned as it is."""
    if getattr(rule, "neighbours", ()) is not None:
        return rule
    if codebook is None:
        raise SpecsimError(f"{rule!r} needs a codebook for its neighbours, and this model has none")
    return replace(rule, neighbours=nearest(codebook, rule.reach))


def table(neighbours: Neighbours | None, vocab: int, like: Array) -> Array:
    """The neighbours as an integer array [V, n] beside `like`."""
    if neighbours is None:
        raise SpecsimError("LANTERN has no neighbours yet: bind a codebook (specsim.bind_codebook) before using it")
    if len(neighbours) != vocab:
        raise SpecsimError(f"the codebook has {len(neighbours)} codes, the laws have {vocab} tokens")
    xp = namespace(like)
    return xp.asarray(np.asarray(neighbours, dtype=np.int64).reshape(vocab, -1), device=device(like))


def borrowed(masses: Array, budget: Any) -> tuple[Array, Array]:
    """The longest run of neighbour masses, nearest first, with sum <= budget: the sum, and whether it has any.

    masses [..., k] -> sum [...], bool [...].
    """
    xp = namespace(masses)
    inside = xp.cumulative_sum(masses, axis=-1) <= budget
    return xp.sum(xp.where(inside, masses, number(0, masses)), axis=-1), xp.any(inside, axis=-1)


@dataclass(frozen=True)
class Lantern:
    """b = min(1, (p(v) + sum of p over v's nearest m <= k codes, sum <= delta) / q(v)); the released static residual.

    Replacement after refusing x, if m >= 1: norm[p - q']+ with q' = q set to 0 on the k + 1 codes nearest to x (q(x)
    stays); if m = 0: norm[p - q]+; uniform where that is empty.  Biased, off the line, and delta bounds nothing.
    Source: LANTERN (arXiv 2410.03355), residual as in the released static path; published k 1000, delta .1 - .4.
    """

    k: int = 10
    delta: float = 0.1
    neighbours: Neighbours | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def reach(self) -> int:
        """How many neighbours of each code the rule reads."""
        return self.k + 1

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        """draft, target [..., V], token [...] -> accept [...], residual [..., V] (it depends on the token)."""
        xp = namespace(draft)
        vocab = target.shape[-1]
        ids = xp.take(table(self.neighbours, vocab, token), xp.reshape(token, (-1,)), axis=0)
        ids = xp.reshape(ids, (*token.shape, ids.shape[-1]))
        masses = xp.take_along_axis(target, ids[..., : min(self.k, ids.shape[-1])], axis=-1)
        gain, any_near = borrowed(masses, number(self.delta, target))
        accept = capped_ratio(at(target, token) + gain, at(draft, token))
        near = xp.any(hits(ids, vocab), axis=-2) & any_near[..., None]
        left = positive_part(target - xp.where(near, number(0, draft), draft))
        return Verdict(accept, normalise(left, number(1, target) / vocab))


@dataclass(frozen=True)
class LanternOptimal:
    """LANTERN's acceptance with the optimal residual G* = norm[p - q b]+.  Biased, on the line.

    "LANTERN with G*" of COOL-SD's ablation.  Source: acceptance of arXiv 2410.03355, residual of arXiv 2601.09212.
    """

    k: int = 10
    delta: float = 0.1
    neighbours: Neighbours | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def reach(self) -> int:
        """How many neighbours of each code the rule reads."""
        return self.k

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        xp = namespace(draft)
        vocab = target.shape[-1]
        ids = table(self.neighbours, vocab, arange(1, target))
        masses = xp.take(target, xp.reshape(ids, (-1,)), axis=-1)
        gain, _ = borrowed(xp.reshape(masses, (*target.shape, ids.shape[-1])), number(self.delta, target))
        accept = capped_ratio(target + gain, draft)
        return Verdict(accept, optimal_residual(draft, target, accept))


def check_fields(rule: Lantern | LanternOptimal) -> None:
    """Both forms have the same ranges."""
    name = type(rule).__name__
    require(type(rule.k) is int and rule.k >= 1, name, "k", rule.k, "a whole number of at least 1")
    require(rule.delta >= 0, name, "delta", rule.delta, "a number of at least 0")
