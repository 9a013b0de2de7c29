"""Rules that verify several drafts of one position: the decoder's own, and k-SEQ of SpecTr."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from proofs_checks.several.drafts import ONE
from specsim import Race, Strict, Table, Tree, exact
from specsim.arrays import Array, point

ZERO = 0 * ONE
HALVINGS = 24
"""Steps of the search for k-SEQ's division factor, which is a root of a polynomial and mostly not rational."""


class Verified(NamedTuple):
    """out: law of the token put out, [V]; kept: P(it is one of the drafts that was accepted)."""

    out: Array
    kept: Fraction


def one_position(law: Array) -> Table:
    """The law, then a token that is certain: a run of two tokens drafts its first one only."""
    certain = point(np.zeros(len(law), dtype=np.int64), law)
    return Table(np.concatenate([law[None], certain]), 2)


def decoded(decoder: Any, target: Array, draft: Array, rule: Any = None) -> Verified:
    """One position as a decoder of the package decodes it, enumerated."""
    law = exact(decoder, one_position(target), one_position(draft), rule=rule)
    return Verified(law.mass.reshape(len(target), -1).sum(axis=1), law.accepted)


def children(count: int) -> tuple[tuple[int, ...], ...]:
    """The paths of so many siblings."""
    return tuple((n,) for n in range(count))


def recursive(siblings: str, rule: Any = None) -> Callable[[Array, Array, int], Verified]:
    """`Tree` with one level: siblings in turn, each against what the residual left (SpecInfer; EAGLE if distinct)."""
    strict = rule or Strict()

    def kept(target: Array, draft: Array, count: int) -> Verified:
        return decoded(Tree(children(count), siblings), target, draft, strict)

    kept.__name__ = f"recursive, {siblings}"
    return kept


def matching(siblings: str) -> Callable[[Array, Array, int], Verified]:
    """`Race` of the same tree: one noise for drafts and output."""
    return lambda target, draft, count: decoded(Race(Tree(children(count), siblings)), target, draft)


def accepts(target: Array, draft: Array, factor: Fraction) -> Fraction:
    """beta: P(one draft is accepted) with b = min(1, p / (factor q)), so sum min(q, p / factor)."""
    return np.minimum(draft, target / factor).sum()


def excess(target: Array, draft: Array, count: int, factor: Fraction) -> Fraction:
    """factor beta - (1 - (1 - beta)^k): what p has to spare where p <= factor q; it must not be below 0."""
    beta = accepts(target, draft, factor)
    return factor * beta - (1 - (1 - beta) ** count)


def factors(target: Array, draft: Array, count: int) -> tuple[Fraction, Fraction]:
    """(below or at, at or above) k-SEQ's division factor, the least in [1, k] with no lack, 2^-HALVINGS (k - 1) apart.

    The excess over beta grows with the factor, since beta falls and (1 - (1 - x)^k)/x does in x.
    """
    low, high = ONE, ONE * count
    if excess(target, draft, count, low) >= 0:
        return low, low
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(target, draft, count, middle) < 0 else (low, middle)
    return low, high


def k_seq(target: Array, draft: Array, count: int, factor: Fraction) -> Verified:
    """k-SEQ (SpecTr, arXiv 2310.15141): independent drafts in turn, each accepted with the same b = min(1, p/(f q)).

    After none of them the token is drawn from what p lacks.  Lossless iff nothing is lacking below 0; `out` may else
    have a negative entry, which no sampler has.
    """
    beta = accepts(target, draft, factor)
    some = 1 - (1 - beta) ** count
    put = np.minimum(draft, target / factor) * (some / beta if beta else ZERO)
    lack = target - put
    room = np.maximum(lack, 0 * lack)
    rest = room / room.sum() * (1 - some) if some < 1 else 0 * lack
    return Verified(put + rest, some)


def at_root(target: Array, draft: Array, count: int) -> Verified:
    """k-SEQ with the factor rounded up: lossless, and as near its best as the search goes."""
    return k_seq(target, draft, count, factors(target, draft, count)[1])


def at_most(target: Array, draft: Array, count: int) -> Fraction:
    """More than k-SEQ keeps with any factor that is lossless: the factor rounded down."""
    return k_seq(target, draft, count, factors(target, draft, count)[0]).kept
