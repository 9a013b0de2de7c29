"""Rules, codebooks and domains of T30."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from proofs_checks.several.relaxed import Leaves, in_turn
from proofs_checks.several.rules import Verified
from proofs_checks.theorems.t17_codes import vectors
from specsim import Optimal, Strict, bind_codebook
from specsim.rules import (
    Additive,
    AdditiveUnmasked,
    Annealed,
    ContentAware,
    Lantern,
    LanternDynamic,
    LanternPlus,
    LanternPlusDynamic,
    Lenient,
    Typical,
)
from specsim.testing.domains import PAIR, Case
from specsim.testing.fields import Field, NumberField, OneOf

Wrap = Callable[[Any], Any]
Make = Callable[[str, Fraction], Any]
"""make(kind, strength) -> rule"""

HALF: Any = Fraction(1, 2)
ON_LINE = (
    *(Lenient(1.5), Annealed(2.0, 0.7), Additive(0.4), ContentAware(0.5, 0.8)),
    *(Optimal(Lantern(1, 0.4)), Optimal(LanternPlus(1, 2.0))),
)
"""b >= min(1, p/q), and what G* leaves."""
NO_STRICTER = (*ON_LINE, Lantern(1, 0.4), LanternPlus(1, 2.0), Leaves(Lenient(1.5)), Leaves(Strict(), uniform=True))
"""b >= min(1, p/q), whatever they leave."""
ANY = (*NO_STRICTER, Strict(), Typical(), AdditiveUnmasked(0.4), LanternDynamic(1, 0.4), LanternPlusDynamic(1, 2.0))
MASKED = (
    *(Strict(), Lenient(2.0), Annealed(2.0, 0.7), Additive(0.4), ContentAware(0.5, 0.8), Typical()),
    *(LanternPlus(1, 2.0), LanternPlus(), Optimal(LanternPlus())),
)
"""T21: of one draft they emit nothing off the target's support."""

FEW: dict[str, Field] = {**PAIR, "count": OneOf((1, 2, 3)), "siblings": OneOf(("independent", "distinct"))}
TWO: dict[str, Field] = {**PAIR, "count": OneOf((2,)), "siblings": OneOf(("independent", "distinct"))}
ONE_CHILD: dict[str, Field] = {**PAIR, "count": OneOf((1,)), "siblings": OneOf(("distinct",))}
APART: dict[str, Field] = {**PAIR, "count": OneOf((2,)), "siblings": OneOf(("distinct",))}
AGAIN: dict[str, Field] = {**PAIR, "count": OneOf((2,)), "siblings": OneOf(("independent",))}
SHARE = NumberField(Fraction(0), Fraction(1))
FACTOR = NumberField(Fraction(1), Fraction(4))


@lru_cache(maxsize=1024)
def bound(rule: Any, vocab: int) -> Any:
    """The rule with codes half apart on a line, if it needs some."""
    return bind_codebook(rule, vectors("line", vocab))


def verified(case: Case, rule: Any) -> Verified:
    """What becomes of the siblings of a case."""
    return in_turn(bound(rule, case.vocab), case.target, case.draft, case.count, case.siblings)


def as_it_is(rule: Any) -> Any:
    """Nothing changed."""
    return rule


def seldom(rule: Any) -> Any:
    """A mistake: half of what the rule keeps, and then any token."""
    return Leaves(rule, uniform=True, keep=HALF)


def strictly(rule: Any) -> Any:
    """A mistake: not relaxed."""
    return Strict()


def budgeted(rule: Any) -> Any:
    """A mistake: G*, and a budget of lam p."""
    return Optimal(replace(rule, lam=rule.lam + 1))


def released(lam: Any, k: int = 1) -> Any:
    """LANTERN++ as released, static path."""
    return LanternPlus(k, lam)


LENIENT, COOLED, LANTERN_BEST = "Lenient", "Annealed", "LANTERN++ with G*"
KINDS: dict[str, Callable[[Any], Any]] = {
    LENIENT: Lenient,
    COOLED: lambda factor: Annealed(factor, 0.7),
    LANTERN_BEST: lambda factor: Optimal(LanternPlus(1, factor)),
}


def made(kind: str, factor: Fraction) -> Any:
    """The rule of a kind that keeps at most factor times the target."""
    return KINDS[kind](factor)


def without_best(kind: str, factor: Any) -> Any:
    """A mistake: LANTERN++ as released."""
    return LanternPlus(1, factor) if kind == LANTERN_BEST else made(kind, factor)


def stronger(kind: str, factor: Fraction) -> Any:
    """A mistake: the factor is one more."""
    return made(kind, factor + 1)


def leaving_draft(kind: str, factor: Fraction) -> Any:
    """A mistake: what a refusal leaves is the draft's law."""
    return Leaves(made(LENIENT, factor))


HARD = (
    *(((1, 1), (0, 1)), ((0, 1, 1), (1, 0, 0)), ((1, 2, 2), (3, 0, 1)), ((0, 1, 3), (3, 0, 1)), ((1, 1, 2), (0, 2, 1))),
    *(((0, 0, 1, 1), (0, 1, 1, 0)), ((0, 0, 1, 2), (0, 2, 1, 0)), ((0, 0, 1, 1), (0, 1, 1, 1))),
    *(((0, 0, 1, 2), (0, 1, 1, 3)), ((4, 4, 1, 1), (0, 0, 1, 1))),
)
"""Pairs of laws p, q, as weights, at which some bound of one draft fails of two siblings."""


def hard(**others: tuple) -> Callable[[], list[dict[str, Any]]]:
    """Known cases: these pairs with one to three siblings of either kind and every choice of the other fields."""

    def law(weights: tuple[int, ...]) -> tuple[Fraction, ...]:
        return tuple(Fraction(weight, sum(weights)) for weight in weights)

    choices = {"count": (1, 2, 3), "siblings": ("independent", "distinct"), **others}
    return lambda: [
        {"target": law(p), "draft": law(q), **dict(zip(choices, chosen, strict=True))}
        for p, q in HARD
        for chosen in product(*choices.values())
    ]


SETTINGS = ((2, 1), (5, 1), (5, 10))
"""(lam, k) of LANTERN++; the last is published."""
CORNERS = np.array([[2, 0], [0, 0], [-5, 0], [-2, 5], [100, 0]], dtype=float)
"""Code 1 is the nearest of 0, 2 and 3; 2 and 3 are each other's second, 0 is the nearest of 1."""
