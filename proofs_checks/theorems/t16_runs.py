"""Runs of CSD for T16."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from specsim import Chain, ContentAware, Table, exact
from specsim.arrays import Array, entropy
from specsim.testing.domains import Case

Bound = Callable[[Case], Fraction]


def tight_pair(share: Fraction) -> tuple[Array, Array]:
    """p = (1 - t, t), q = (1, 0): TV(p, q) = t."""
    return np.array([1 - share, share]), np.array([Fraction(1), Fraction(0)])


def memoryless(law: Array, length: int) -> Table:
    """The same law after every prefix."""
    count = sum(len(law) ** n for n in range(length))
    return Table(np.array([list(law)] * count, dtype=object), length)


def repeated(case: Case, rule: Any) -> Fraction:
    """delta - TV of a run of N tokens whose laws are the same at every position."""
    target, draft = (memoryless(law, case.length) for law in (case.target, case.draft))
    return Fraction(str(rule.delta)) - exact(Chain(case.lookahead), target, draft, rule).tv(target)


def most_relaxed(case: Case) -> Fraction:
    """m = min(delta, lam H(p)) for the largest H of all prefixes, at most 1."""
    return min(case.delta, case.lam * max(entropy(case.target.laws)), Fraction(1))


def compounded(case: Case) -> Fraction:
    """1 - (1 - m)^(N-1): the last token of a chain is never a draft."""
    return 1 - (1 - most_relaxed(case)) ** (case.length - 1)


def run_below(case: Case, bound: Bound) -> Fraction:
    """bound - TV of the run."""
    law = exact(Chain(case.lookahead), case.target, case.draft, ContentAware(case.lam, case.delta))
    return bound(case) - law.tv(case.target)


def run_attains(case: Case, loss: Callable[[Fraction, int], Fraction]) -> Fraction:
    """-|TV of the run - loss(t, N)| for tokens of the tight pair, all but the last drafted."""
    target, draft = (memoryless(law, case.length) for law in tight_pair(case.share))
    law = exact(Chain(case.length), target, draft, ContentAware(case.lam, case.delta))
    return -abs(law.tv(target) - loss(case.share, case.length))


def enough(case: Case) -> bool:
    """t < delta and t <= lam H(p): the drafts of the tight pair are all kept."""
    target, _ = tight_pair(case.share)
    return bool(case.share < case.delta and case.share <= case.lam * entropy(target))
