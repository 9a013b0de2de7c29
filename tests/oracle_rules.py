"""The published rules once more, one token at a time in plain Fractions: what the array code is compared with.

A rule is rule(q, p, x, slot) -> (b, G), as in the oracle of whole runs.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tests.oracle import ONE, ZERO, Law, Rule, borrowed, nats, norm, optimal, ratio, rule_of, strict, vanilla


def mixture(weight: Fraction) -> Rule:
    """Ensemble: strict against w p + (1 - w) q."""
    return rule_of(lambda q, p, *_: ratio(weight * p + (1 - weight) * q, q), vanilla)


def raised(bonus: Callable[[Law], Fraction], delta: Any) -> Rule:
    """The ratio plus bonus(p) if TV < delta, without a mask."""

    def keep(q: Fraction, p: Fraction, law: Law, draft: Law, slot: int, v: int) -> Fraction:
        near = sum(abs(a - b) for a, b in zip(law, draft, strict=True)) / 2 < delta
        return min(ONE, ratio(p, q) + (bonus(law) if near else 0)) if q else ratio(p, q)

    return rule_of(keep, vanilla)


def typical(epsilon: Fraction, delta: Fraction) -> Rule:
    def rule(q: Law, p: Law, x: int, slot: int) -> tuple[Fraction, Law]:
        certainty = Fraction(float(np.exp(-np.array([float(nats(p))]))[0]))
        return Fraction(p[x] > min(epsilon, delta * certainty)), p

    return rule


def cactus(budget: Fraction) -> Rule:
    def lifted(p: Fraction) -> Fraction:
        return min(ONE, p + Fraction(float(np.sqrt(float(2 * budget * p * (1 - p))))))

    def rule(q: Law, p: Law, x: int, slot: int) -> tuple[Fraction, Law]:
        g = lifted(p[x])
        scale = (1 - g) / (1 - p[x]) if p[x] < 1 else ONE
        bent = [g if y == x else p[y] * scale for y in range(len(p))]
        return ratio(g, q[x]), norm([max(h - share, ZERO) for h, share in zip(bent, q, strict=True)], p)

    return rule


def all_where(close: Callable[[Law, Law], bool]) -> Rule:
    """Everything is kept where close(q, p), else strict."""

    def rule(q: Law, p: Law, x: int, slot: int) -> tuple[Fraction, Law]:
        return (Fraction(bool(q[x] or p[x])) if close(q, p) else strict(q, p, x, slot)[0]), vanilla(q, p)

    return rule


def entropy_of(first: Any, second: Any) -> float:
    """sum a log(a/b) of float arrays; the terms of a = 0 are 0."""
    used = first > 0
    ones = np.ones_like(first)
    return float((first * np.log(np.where(used, first, ones) / np.where(used, second, ones))).sum())


def kl_within(threshold: Fraction) -> Callable[[Law, Law], bool]:
    def close(q: Law, p: Law) -> bool:
        if any(a and not b for a, b in zip(p, q, strict=True)):
            return False
        return Fraction(entropy_of(*(np.array(law, dtype=float) for law in (p, q)))) <= threshold

    return close


def js_within(threshold: Fraction) -> Callable[[Law, Law], bool]:
    def close(q: Law, p: Law) -> bool:
        first, second = (np.array(law, dtype=float) for law in (p, q))
        middle = (first + second) / 2
        return Fraction((entropy_of(first, middle) + entropy_of(second, middle)) / 2) <= threshold

    return close


def as_sure(alpha: Fraction) -> Callable[[Law, Law], bool]:
    return lambda q, p: max(q) >= max(p) - alpha * sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def best(inner: Rule) -> Rule:
    """The acceptance of a rule with the optimal residual."""

    def rule(q: Law, p: Law, x: int, slot: int) -> tuple[Fraction, Law]:
        keep = [inner(q, p, v, slot)[0] for v in range(len(p))]
        return keep[x], optimal(q, p, keep)

    return rule


def lantern(k: int, near: Any, budget: Callable[[Fraction], Fraction], certain: bool) -> Rule:
    """Every LANTERN, with budget(p(v)); `certain` drafts are the dynamic path."""

    def keep(q: Law, p: Law, v: int) -> Fraction:
        lent = p[v] + borrowed(p, near[v], k, budget(p[v]))[0]
        return min(ONE, lent) if certain else ratio(lent, q[v])

    def rule(q: Law, p: Law, x: int, slot: int) -> tuple[Fraction, Law]:
        every = range(len(p))
        out = near[x][: k + 1] if borrowed(p, near[x], k, budget(p[x]))[1] else ()
        left = [ZERO if v in (x, *out) else p[v] for v in every]
        if not certain:
            left = [max(p[v] - (0 if v in out else q[v]), ZERO) for v in every]
        return keep(q, p, x), norm(left, (Fraction(1, len(p)),) * len(p) if certain else p)

    return rule


def grouped(rule: Any, codebook: list) -> Rule:
    """GSD's window, walked rank by rank."""

    def judge(q: Law, p: Law, x: int, slot: int) -> tuple[Fraction, Law]:
        order = sorted(range(len(p)), key=lambda v: (p[v], v))
        rank = order.index(x)
        members = {x}
        for r in range(rank - rule.size // 2, rank + rule.size - rule.size // 2):
            if 0 <= r < len(p) and rank >= rule.strict_tail:
                w = order[r]
                apart = sum((a - b) ** 2 for a, b in zip(codebook[w], codebook[x], strict=True))
                if abs(p[w] - p[x]) < Fraction(str(rule.gap)) and apart < rule.distance:
                    members.add(w)
        return ratio(sum(p[w] for w in members), sum(q[w] for w in members)), vanilla(q, p)

    return judge


def partitioned(size: int) -> Rule:
    def judge(q: Law, p: Law, x: int, slot: int) -> tuple[Fraction, Law]:
        order = sorted(range(len(p)), key=lambda v: (p[v], v))
        run = order.index(x) // size * size
        members = order[run : run + size]
        return ratio(sum(p[w] for w in members), sum(q[w] for w in members)), vanilla(q, p)

    return judge


def one_draft(judge: Any) -> Rule:
    """A rule that judges blocks (tests/oracle_blocks.py), of a block of one draft."""

    def rule(q: Law, p: Law, x: int, slot: int) -> tuple[Fraction, Law]:
        (refused, law), _ = judge([(x, q, p)], p)
        return ONE - refused, law

    return rule


def towards(inner: Rule, judge: Any) -> Rule:
    """The same with the law of a token-wise rule in the target's place."""

    def rule(q: Law, p: Law, x: int, slot: int) -> tuple[Fraction, Law]:
        law = [ZERO] * len(p)
        for v in (v for v in range(len(p)) if q[v]):
            keep, residual = inner(q, p, v, 0)
            law = [
                a + q[v] * ((1 - keep) * g + (y == v) * keep)
                for y, (a, g) in enumerate(zip(law, residual, strict=True))
            ]
        return one_draft(judge)(q, tuple(law), x, slot)

    return rule
