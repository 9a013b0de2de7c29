"""T20, what holds for every rule: how far from the Pareto line, what G* leaves, and what the line says of trades."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, Part
from proofs_checks.theorems.t20_proofs import (
    nothing_wasted,
    refused,
    terms,
    two_points,
    within_room,
)
from proofs_checks.theorems.t20_rules import OFF_LINE, ON_LINE, Altered, judge
from specsim import Optimal, Strict, optimal_residual
from specsim.arrays import Array, positive_part, total_variation
from specsim.checking.onetoken import figures
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import LawField, OneOf, ProbabilityField
from specsim.testing.statements import Statement, equal, holds
from specsim.verification import standard_residual

ACCEPTED = {**PAIR, "accept": ProbabilityField()}
COST = 10
ONES, OTHERS = (tuple(rule for row in rows for rule in row.rules) for rows in (ON_LINE, OFF_LINE))


def published(rule: Any) -> Any:
    """The rule as it is; mutants put another in its place."""
    return rule


def shortfall(case: Case, accept: Array) -> Fraction:
    """sum [min(p, q) - q b]+."""
    return positive_part(np.minimum(case.target, case.draft) - case.draft * accept).sum()


def made_of_two(case: Case, measured: Callable[..., Any]) -> Fraction:
    """distance = shortfall + (TV(out, p) - N(b))."""
    kept = case.draft * case.accept
    out = kept + (1 - kept.sum()) * case.residual
    waste = total_variation(out, case.target) - positive_part(kept - case.target).sum()
    rows = (law[None, :] for law in (case.draft, case.target, case.accept, out))
    return equal(measured(*rows).distance[0], shortfall(case, case.accept) + waste)


def given(case: Case) -> Altered:
    """A rule with the acceptances of the case."""
    return Altered(Strict(), optimal_residual, lambda draft, target, accept: accept * 0 + case.accept)


def repaired(case: Case, wrapper: Callable[[Any], Any]) -> Fraction:
    """With G* only the shortfall is left."""
    return equal(judge(wrapper(given(case)), case).distance, shortfall(case, case.accept))


def refuses_no_more(case: Case) -> bool:
    """P(reject) <= TV(p, q)."""
    return bool(1 - (case.draft * case.accept).sum() <= total_variation(case.target, case.draft))


def standard_suffices(case: Case, residual: Callable[[Array, Array], Array]) -> Fraction:
    """TV(q b + r G, p) = N(b)."""
    kept = case.draft * case.accept
    out = kept + (1 - kept.sum()) * residual(case.draft, case.target)
    return equal(total_variation(out, case.target), positive_part(kept - case.target).sum())


def traded(case: Case, version: Callable[[Any], Any]) -> Fraction:
    """TV(out_1, p) - TV(out_2, p) = r_2 - r_1."""
    first, second = judge(version(case.rule), case), judge(version(case.other), case)
    return equal(first.tv - second.tv, second.reject - first.reject)


def no_free_gain(case: Case, version: Callable[[Any], Any]) -> Fraction:
    """Less divergence needs more rejection."""
    first, second = judge(version(case.rule), case), judge(version(case.other), case)
    return holds(first.tv >= second.tv or first.reject > second.reject)


def strict_accepts(case: Case, version: Callable[[Any], Any]) -> Fraction:
    """1 - r = 1 - TV(p, q)."""
    return equal(judge(version(Strict()), case).reject, total_variation(case.target, case.draft))


def inverse(case: Case, version: Callable[[Any], Any]) -> Fraction:
    """alpha TV, alpha = 1 - r, does not depend on the draft."""
    products = []
    for draft in (case.draft, case.other):
        alpha = 1 - (draft * (1 - version(Strict())(draft, case.target, 0).accept)).sum()
        products.append(alpha * total_variation(case.target, draft))
    return equal(*products)


TWO_RULES = Domain({**PAIR, "rule": OneOf(ONES), "other": OneOf(ONES)}, cost=COST)
ANY_TWO = Domain({**PAIR, "rule": OneOf((Strict(),)), "other": OneOf(OTHERS)})
GENERAL = (
    Part(
        Statement(
            "for every b and G: P(reject) + TV(out, p) - TV(p, q) = sum [min(p, q) - q b]+ + (TV(out, p) - N(b)), "
            "N(b) = sum [q b - p]+ the least TV that b allows: what b refuses too much, and what G wastes",
            Domain({**ACCEPTED, "residual": LawField()}, cost=6),
            made_of_two,
            figures,
        ),
        proof=Proof(EVERY, terms),
    ),
    Part(
        Statement(
            "for every b, Optimal(rule) is sum [min(p, q) - q b]+ above the line: on it iff q b >= min(p, q)",
            Domain(ACCEPTED, cost=6),
            repaired,
            Optimal,
        ),
        proof=Proof(EVERY, nothing_wasted),
    ),
    Part(
        Statement(
            "norm[p - q]+ is an optimal replacement, TV(out, p) = sum [q b - p]+, wherever P(reject) <= TV(p, q)",
            Domain(ACCEPTED, where=refuses_no_more, cost=6),
            standard_suffices,
            standard_residual,
        ),
        proof=Proof(EVERY, within_room),
    ),
    Part(
        Statement(
            "between two rules on the line TV(out, p) falls by exactly what P(reject) rises",
            TWO_RULES,
            traded,
            published,
        ),
        proof=Proof(EVERY, two_points),
    ),
    Part(
        Statement(
            "between any two rules, a smaller TV(out, p) requires a larger P(reject): Strict() against every setting "
            "of the rules off the line that are looked at here",
            ANY_TWO,
            no_free_gain,
            published,
        ),
        stated=FAILS,
        claimed="CSD's trade-off theorem (arXiv 2606.27829) without its optimal replacement",
    ),
    Part(
        Statement("the strict rule accepts E_q[b] = 1 - TV(p, q)", Domain(PAIR, cost=3), strict_accepts, published),
        proof=Proof(EVERY, refused),
    ),
    Part(
        Statement(
            "the strict acceptance is inversely proportional to TV(p, q): their product is the same for all drafts",
            Domain({**PAIR, "other": LawField()}, cost=6),
            inverse,
            published,
        ),
        stated=FAILS,
        claimed="summary of SCD, in words; it falls linearly, 1 - TV",
    ),
)
