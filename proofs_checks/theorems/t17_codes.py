"""Codebooks and rules of T17, by name, and pairs of laws at which its constants are attained."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from specsim import Lantern, LanternDynamic, LanternPlus, LanternPlusDynamic, bind_codebook, output_law
from specsim.arrays import Array
from specsim.testing.domains import PAIR, Case, Domain, anything
from specsim.testing.fields import NumberField, OneOf

Wrap = Callable[[Any], Any]
STATIC, DYNAMIC = "static", "dynamic"
RULES: dict[str, dict[str, Any]] = {
    "delta": {STATIC: Lantern, DYNAMIC: LanternDynamic},
    "lam": {STATIC: LanternPlus, DYNAMIC: LanternPlusDynamic},
}
RANGES = {"delta": NumberField(Fraction(0), Fraction(1)), "lam": NumberField(Fraction(1), Fraction(4))}
CODES: dict[str, Callable[[int], Any]] = {
    "line": lambda vocab: [[v / 2] for v in range(vocab)],
    "pairs": lambda vocab: [[10 * (v // 2) + v % 2] for v in range(vocab)],
    "star": lambda vocab: np.diag(np.arange(vocab) > 0),
    "one point": lambda vocab: [[0]] * vocab,
}
"""Neighbours along a line; in pairs far apart; token 0 nearest to every other; ties alone, broken by the lower id."""


@lru_cache(maxsize=64)
def vectors(codes: str, vocab: int) -> Any:
    """The codebook of a name, [V, d]."""
    return np.array(CODES[codes](vocab), dtype=float)


class Kind(NamedTuple):
    """The path whose residual it is, the codebook, and from how many neighbours a token may borrow."""

    path: str
    codes: str
    k: int


KINDS = (
    Kind(STATIC, "line", 1),
    Kind(DYNAMIC, "line", 1),
    Kind(STATIC, "pairs", 2),
    Kind(DYNAMIC, "star", 1),
    Kind(STATIC, "one point", 2),
)


def rule_of(case: Case, name: str) -> Any:
    """LANTERN ("delta") or LANTERN++ ("lam") as released, of the case's kind."""
    path, codes, k = case.kind
    return bind_codebook(RULES[name][path](k, getattr(case, name)), vectors(codes, case.vocab))


def emitted(case: Case, rule: Any) -> Array:
    """The law of one verified token."""
    return output_law(rule, case.draft, case.target, np.array(0))


def lanterns(strength: str, path: str = "") -> Domain:
    """Pairs of laws, a kind of rule (of one path, if it is named) and the strength: delta to 1, or lam from 1 to 4."""
    kinds = tuple(kind for kind in KINDS if path in ("", kind.path))
    return Domain({**PAIR, "kind": OneOf(kinds), strength: RANGES[strength]}, cost=3)


def smallest(
    name: str,
    path: str,
    vocabs: tuple[int, ...],
    where: Callable[[Case], bool] = anything,
    strength: OneOf | None = None,
    cost: int = 1,
) -> Domain:
    """Codes on a line and k = 1 alone, and one strength if it is given, so that more cases can be listed."""
    kind, given = OneOf((Kind(path, "line", 1),)), strength or RANGES[name]
    return Domain({**PAIR, "kind": kind, name: given}, vocabs, where=where, cost=cost, highest={2: 3, 3: 4, 4: 2})


def swapped_halves(pairs: int) -> tuple[Array, Array]:
    """2n tokens in pairs: p uniform on the odd ones, q on the even ones; each even token borrows 1/n = delta."""
    odd = np.array([Fraction(v % 2, pairs) for v in range(2 * pairs)])
    return odd, odd[::-1].copy()


def borrowing_all(lam: Fraction) -> tuple[Array, Array]:
    """p = (1/lam, 1 - 1/lam), q = (1, 0): token 0 borrows all that token 1 has."""
    return np.array([1 / lam, 1 - 1 / lam]), np.array([Fraction(1), Fraction(0)])


REST = Fraction(1, 4)


def nearly_doubled(small: Fraction, lam: Fraction) -> tuple[Array, Array]:
    """Token 1, of mass s, borrows lam - 1 times s from token 0, is kept at lam s, and is put back s more."""
    target = np.array([(lam - 1) * small, small, REST, 1 - REST - lam * small])
    return target, np.array([Fraction(0), lam * small, 1 - lam * small, Fraction(0)])
