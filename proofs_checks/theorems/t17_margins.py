"""Margins, hypotheses and wrong variants of T17."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.theorems.t17_codes import (
    REST,
    RULES,
    STATIC,
    Wrap,
    borrowing_all,
    emitted,
    nearly_doubled,
    rule_of,
    swapped_halves,
)
from specsim import Optimal, Verdict, bind_codebook, output_law
from specsim.arrays import Array, total_variation
from specsim.rules.optimal import acceptance
from specsim.testing.domains import Case
from specsim.testing.statements import equal

Residual = Callable[[Array, Array, Array], Array]
DELTA, LAM = "delta", "lam"
LINE = np.arange(4)[:, None] / 2


def released(rule: Any) -> Any:
    """The rule as it is."""
    return rule


def stronger(rule: Any) -> Any:
    """With G*, and a budget of lam p in place of (lam - 1) p, or of 2 delta."""
    wider = {LAM: rule.lam + 1} if hasattr(rule, LAM) else {DELTA: 2 * rule.delta}
    return Optimal(replace(rule, **wider))


def put_back_by(rule: Any, residual: Residual) -> Any:
    """The rule's acceptance with another residual, a function of (draft, target, accept)."""

    def altered(draft: Array, target: Array, position: Array) -> Verdict:
        accept = acceptance(rule, draft, target, position)
        return Verdict(accept, residual(draft, target, accept))

    return altered


def no_worse(name: str) -> Callable[[Case, Residual], Fraction]:
    """TV with the released residual - TV with the one under test."""

    def margin(case: Case, residual: Residual) -> Fraction:
        rule = rule_of(case, name)
        other = emitted(case, put_back_by(rule, residual))
        return total_variation(emitted(case, rule), case.target) - total_variation(other, case.target)

    return margin


def out_of(case: Case, name: str, wrap: Wrap) -> Array:
    """What a rule emits, wrapped: with G*, or as released."""
    return emitted(case, wrap(rule_of(case, name)))


def below_multiple(factor: Callable[[Fraction], Fraction]) -> Callable[[Case, Wrap], Fraction]:
    """The least of factor(lam) p(v) - out(v)."""
    return lambda case, wrap: (factor(case.lam) * case.target - out_of(case, LAM, wrap)).min()


def tv_below(name: str, bound: Callable[[Fraction], Fraction]) -> Callable[[Case, Wrap], Fraction]:
    """bound(strength) - TV(out, p)."""
    return lambda case, wrap: bound(getattr(case, name)) - total_variation(out_of(case, name, wrap), case.target)


def local(case: Case, wrap: Wrap) -> Fraction:
    """out(v) <= p(v) + delta, and TV <= min(TV(p, q), delta times the number of tokens with q > p)."""
    out = out_of(case, DELTA, wrap)
    count = int((case.draft > case.target).sum())
    most = min(total_variation(case.draft, case.target), case.delta * count)
    return min((case.target + case.delta - out).min(), most - total_variation(out, case.target))


def apart(case: Case) -> bool:
    """TV(p, q) > delta > 0 and q > p at two tokens: elsewhere G* cannot fail."""
    over = int((case.draft > case.target).sum())
    return bool(total_variation(case.draft, case.target) > case.delta > 0 and over > 1)


def differ(case: Case) -> bool:
    """p and q differ, else nothing is refused at delta = 0."""
    return bool((case.draft != case.target).any())


def two_above(case: Case) -> bool:
    """q > p at two tokens.  At lam >= 2 out > lam p needs q > p there, else out <= q + p; another is refused."""
    return int((case.draft > case.target).sum()) > 1


def inside(case: Case) -> bool:
    """0 < s < 1."""
    return bool(0 < case.small < 1)


def doubled(case: Case, wrap: Wrap) -> Fraction:
    """out/p = 2 - s at token 2 of p = (0, 0, s, 1 - s), q = (0, 1 - s, s, 0), lam = 1."""
    nothing, small = Fraction(0), case.small
    target, draft = (np.array([nothing, *rest]) for rest in ((nothing, small, 1 - small), (1 - small, small, nothing)))
    rule = wrap(bind_codebook(RULES[LAM][STATIC](1, Fraction(1)), LINE))
    return equal(output_law(rule, draft, target, np.array(0))[2] / small, 2 - small)


def halves(case: Case, wrap: Wrap) -> Fraction:
    """TV = 1 on 2n tokens in pairs with delta = 1/n."""
    target, draft = swapped_halves(case.pairs)
    codes = np.array([[10 * (v // 2) + v % 2] for v in range(2 * case.pairs)])
    rule = wrap(bind_codebook(RULES[DELTA][STATIC](1, Fraction(1, case.pairs)), codes))
    return equal(total_variation(output_law(rule, draft, target, np.array(0)), target), Fraction(1))


def all_borrowed(case: Case, wrap: Wrap) -> Fraction:
    """TV = 1 - 1/lam on two tokens."""
    target, draft = borrowing_all(case.lam)
    rule = wrap(bind_codebook(RULES[LAM][STATIC](1, case.lam), LINE[:2]))
    return equal(total_variation(output_law(rule, draft, target, np.array(0)), target), 1 - 1 / case.lam)


def nearly(factor: Callable[[Case], Fraction]) -> Callable[[Case, Wrap], Fraction]:
    """factor - out/p at token 1 of `nearly_doubled`."""

    def margin(case: Case, wrap: Wrap) -> Fraction:
        target, draft = nearly_doubled(case.part / 20, case.lam)
        rule = wrap(bind_codebook(RULES[LAM][STATIC](1, case.lam), LINE))
        return factor(case) - output_law(rule, draft, target, np.array(0))[1] / target[1]

    return margin


def short_of(case: Case) -> Fraction:
    """(lam + 1) (1 - s / (1 - 1/4))."""
    return (case.lam + 1) * (1 - case.part / 20 / (1 - REST))


def fits(case: Case) -> bool:
    """Token 2 can lend, and the masses of `nearly_doubled` make laws."""
    small = case.part / 20
    return bool(small > 0 and small <= (case.lam - 1) * REST and case.lam * small <= 1 - REST)
