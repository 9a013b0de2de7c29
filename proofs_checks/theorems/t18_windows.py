"""T18, the windows of GSD: three refutations of the sentence that grouped acceptance is never below strict."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from proofs_checks.theorem import FAILS, Part
from proofs_checks.theorems.t20_rules import judge
from specsim import Grouped, Strict
from specsim.arrays import Array
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import OneOf
from specsim.testing.statements import Statement

OPEN = (Grouped(size=2, gap=1.0, distance=1e9), Grouped(size=3, gap=1.0, distance=1e9))
"""Every filter passed: the window alone is the group."""
RELEASED, TAIL = Grouped(), Grouped(strict_tail=7)
GSD = "GSD (arXiv 2508.07747), its theorem, read for the released windows"
Windows = Callable[[Any], Any]


def kept(rule: Any, case: Case) -> Fraction:
    """E_q[b]."""
    return 1 - judge(rule, case).reject


def strictly(case: Case) -> Fraction:
    """What the strict rule keeps, sum min(p, q) = 1 - TV(p, q)."""
    return np.minimum(case.target, case.draft).sum()


def windows_not_below(case: Case, version: Windows) -> Fraction:
    """E_q[b] - (1 - TV) of a rule with windows."""
    return kept(version(case.rule), case) - strictly(case)


def window_bars(case: Case, version: Windows) -> dict[str, Array]:
    """p, q and b beside the strict one."""
    accept = judge(version(case.rule), case).accept
    return {"target": case.target, "draft": case.draft, "accept": accept, "strict": judge(Strict(), case).accept}


@lru_cache(maxsize=4096)
def overlap(target: tuple[Fraction, ...]) -> bool:
    """Of tokens next to each other on the line and alike in p, some are no group: two that have not the same third."""
    alike = [abs(p - after) < Fraction(3, 20) for p, after in pairwise(target)]
    return any(first and second for first, second in pairwise(alike))


def overlapping(case: Case) -> bool:
    """p > 0, and the windows are no partition."""
    target = dict(case.raw)["target"]
    return min(target) > 0 and overlap(target)


def published(rule: Any) -> Any:
    """The rule as it is."""
    return rule


def by_windows(size: int) -> Grouped:
    """The bug that the released code is: a window around every token."""
    return Grouped(size=size, gap=9.0, distance=1e9)


def everywhere(case: Case) -> bool:
    """p > 0 and q > 0."""
    return bool((case.target > 0).all() and (case.draft > 0).all())


def above_tail(case: Case) -> bool:
    """The likeliest token, the last id of several, and an id beside it that is alike in p are both drafted.

    At V = 8 every other token is judged strictly, and without a drafted companion this one has b >= min(1, p/q) too.
    """
    target, draft = case.target, case.draft
    likeliest = case.vocab - 1 - int(np.argmax(target[::-1]))
    beside = [v for v in (likeliest - 1, likeliest + 1) if 0 <= v < case.vocab]
    return bool(draft[likeliest] > 0) and any(
        draft[v] > 0 and abs(target[v] - target[likeliest]) < Fraction(3, 20) for v in beside
    )


WINDOWS = (
    Part(
        Statement(
            "overlapping windows of 2 or 3 ranks, every filter passed, accept at least 1 - TV(p, q)",
            Domain({**PAIR, "rule": OneOf(OPEN)}),
            windows_not_below,
            published,
            shows=window_bars,
        ),
        stated=FAILS,
        claimed=GSD,
    ),
    Part(
        Statement(
            "overlapping windows of 2 or 3 ranks, every filter passed, accept at least 1 - TV(p, q) where p, q > 0",
            Domain({**PAIR, "rule": OneOf(OPEN)}, where=everywhere, highest={2: 4, 3: 4}),
            windows_not_below,
            published,
            shows=window_bars,
        ),
        stated=FAILS,
        claimed=GSD,
    ),
    Part(
        Statement(
            "windows of 14 ranks with the published filters (|dp| < .15, squared distance < .5, codes half apart "
            "on a line) accept at least 1 - TV(p, q), where p > 0 and the windows overlap",
            Domain({**PAIR, "rule": OneOf((RELEASED,))}, vocabs=(3, 4), where=overlapping, highest={3: 5, 4: 5}),
            windows_not_below,
            published,
            shows=window_bars,
        ),
        stated=FAILS,
        claimed=GSD,
    ),
    Part(
        Statement(
            "the released code, which judges the seven least likely ids strictly, accepts at least 1 - TV(p, q) at "
            "V = 8, the first V at which it judges a token by its window (codes half apart on a line)",
            Domain({**PAIR, "rule": OneOf((TAIL,))}, vocabs=(8,), where=above_tail, highest={8: 3}),
            windows_not_below,
            published,
            shows=window_bars,
        ),
        stated=FAILS,
        claimed=GSD,
    ),
)
