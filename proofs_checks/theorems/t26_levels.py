"""The law of T26, max(low p, min(q, high p)), and what its margins measure."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from proofs_checks.smt import Obligation, least, reals
from specsim import Lenient, output_law
from specsim.arrays import Array
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import Field, LawField, NumberField, OneOf
from specsim.testing.statements import equal

SLOT = np.array(0)
LogOf = Callable[[Array], Array]


class Levels(NamedTuple):
    """low and high of a context."""

    low: Any
    high: Any


Law = Callable[[Array, Array, Levels], Array]
"""law(draft, target, levels) -> out [V]"""


def on_support(case: Case) -> bool:
    """The other law is nowhere that the target never is."""
    return not case.other[case.target == 0].any()


def everywhere(case: Case) -> bool:
    """And everywhere that the target is; the low level above 0."""
    wanted = case.target > 0
    return on_support(case) and bool((case.other[wanted] > 0).all()) and levels(case).low > 0


def above_zero(case: Case) -> bool:
    """On the support, and something is put back after a rejection."""
    return on_support(case) and levels(case).low > 0


def three_tokens() -> list[dict[str, Any]]:
    """A pair on which lenience puts back otherwise, beside the law that is better: few small cases are such."""
    half, third, quarter = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
    pair = {"target": (quarter, half, quarter), "draft": (0 * half, third, 2 * third), "high": 4 * half}
    return [{**pair, "other": (third / 2, third, half)}]


CAPPED: dict[str, Field] = {**PAIR, "high": NumberField(Fraction(1), Fraction(4))}
TWICE: dict[str, Field] = {**PAIR, "high": OneOf((Fraction(2),))}
OTHERS: dict[str, Field] = {**CAPPED, "other": LawField()}
ANY = Domain(OTHERS, (1, 2, 3), where=on_support, cost=3, known=three_tokens)
SOME = Domain(OTHERS, (1, 2, 3), where=above_zero, cost=3, known=three_tokens)
ALL = Domain(OTHERS, (1, 2, 3), where=everywhere, cost=3, known=three_tokens)


def levels(case: Case) -> Levels:
    """high as given, and the low level that makes max(low p, min(q, high p)) a law: linear between the ratios."""
    capped, target = np.minimum(case.draft, case.high * case.target), case.target
    corners = sorted({Fraction(0), Fraction(1), *(m / p for m, p in zip(capped, target, strict=True) if 0 < m < p)})
    total = {corner: np.maximum(corner * target, capped).sum() for corner in corners}
    right = next(corner for corner in corners if total[corner] >= 1)
    left = max((corner for corner in corners if corner < right), default=right)
    if total[right] == 1 or left == right:
        return Levels(right, case.high)
    return Levels(left + (1 - total[left]) / (total[right] - total[left]) * (right - left), case.high)


def between(draft: Array, target: Array, found: Levels) -> Array:
    """max(low p, min(q, high p))"""
    return np.maximum(found.low * target, np.minimum(draft, found.high * target))


def lenient(draft: Array, target: Array, found: Levels) -> Array:
    """What lenience makes of the same kept mass: the replacement from norm[p - q b]+."""
    return output_law(Lenient(found.high), draft, target, SLOT)


def spread(draft: Array, target: Array, found: Levels) -> Array:
    """The same kept mass, the rest put back along p."""
    kept = np.minimum(draft, found.high * target)
    return kept + (1 - kept.sum()) * target


def strict(draft: Array, target: Array, found: Levels) -> Array:
    """No relaxation at all."""
    return target


def chi2(out: Array, target: Array) -> Fraction:
    """sum (out - p)^2 / p over p > 0"""
    there = target > 0
    return ((out - target)[there] ** 2 / target[there]).sum()


def gained(case: Case, law: Law, value: Callable[[Array], Fraction], price: Fraction) -> Fraction:
    """D(other) - price sum min(q, other) less the same of the law: its price cannot be beaten."""
    out = law(case.draft, case.target, levels(case))

    def dear(some: Array) -> Fraction:
        return value(some) - price * np.minimum(case.draft, some).sum()

    return dear(case.other) - dear(out)


def least_chi2(case: Case, law: Law) -> Fraction:
    """At the price f'(high) - f'(low) = 2 (high - low)."""
    found = levels(case)
    return gained(case, law, lambda out: chi2(out, case.target), 2 * (found.high - found.low))


def half_price(case: Case, law: Law) -> Fraction:
    """At half of that price."""
    found = levels(case)
    return gained(case, law, lambda out: chi2(out, case.target), found.high - found.low)


def least_kl(case: Case, law: Law) -> float:
    """KL(out || p) at the price log(high/low)."""
    return float(gained(case, law, lambda out: kl(out, case.target), Fraction(log_ratio(levels(case)))))


def least_reverse(case: Case, law: Law) -> float:
    """KL(p || out) at the price 1/low - 1/high."""
    found = levels(case)
    return float(gained(case, law, lambda out: kl(case.target, out), 1 / found.low - 1 / found.high))


def log_ratio(found: Levels) -> float:
    """log(high/low)"""
    return float(np.log(float(found.high)) - np.log(float(found.low)))


def kl(first: Array, second: Array) -> Fraction:
    """KL in nats, the logarithms in float64."""
    ratios = [(a, float(a / b)) for a, b in zip(first, second, strict=True) if a]
    return sum((a * Fraction(float(np.log(ratio))) for a, ratio in ratios), Fraction(0))


def reached(case: Case, law: Law) -> Fraction:
    """Whether a law is the best one of its high level."""
    found = levels(case)
    return equal(law(case.draft, case.target, found), between(case.draft, case.target, found))


def one_token() -> list[Obligation]:
    """One token of the sum for chi2, times p: m = low - 1 is the multiplier of sum out = 1 and cancels over a law."""
    p, q, low, high, other = reals("p q low high other")
    given = [p > 0, q >= 0, other >= 0, low >= 0, low <= 1, high >= 1]

    def lagrangian(out: Any) -> Any:
        return (out - p) * (out - p) - 2 * (high - low) * p * least(q, out) - 2 * (low - 1) * p * out

    cases = {"low p": [q <= low * p], "q": [q >= low * p, q <= high * p], "high p": [q >= high * p]}
    at = {"low p": low * p, "q": q, "high p": high * p}
    return [
        Obligation(f"where out = {name}", [*given, *more], lagrangian(other) >= lagrangian(at[name]))
        for name, more in cases.items()
    ]
