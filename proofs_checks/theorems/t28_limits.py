"""Formulas of T28 for the most that is kept of several drafts, and what its margins measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.certificates import Program
from proofs_checks.several.drafts import (
    Drafting,
    Sets,
    distinct,
    greedy,
    independent,
    inside,
    likeliest,
    top,
)
from proofs_checks.several.limits import (
    Coupling,
    by_ratio,
    by_subsets,
    kept,
    marginals,
    optimal,
    program,
    sorted_subsets,
    subsets,
)
from specsim.arrays import Array
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import Field, OneOf
from specsim.testing.statements import equal

Formula = Callable[[Array, Array, int], Fraction]
"""formula(target, draft, count)"""
Order = Callable[[Array, Array], Sequence[int]]
"""order(target, draft) -> tokens"""
ONE: Any = Fraction(1)

FEW: dict[str, Field] = {**PAIR, "count": OneOf((1, 2, 3))}
DRAWN: dict[str, Field] = {**FEW, "drawing": OneOf((independent, distinct))}
EVERY_DRAWING: dict[str, Field] = {**FEW, "drawing": OneOf((independent, distinct, greedy, top))}
CHOSEN: dict[str, Field] = {**PAIR, "count": OneOf((1, 2)), "drawing": OneOf((top, greedy))}
SEVERAL: dict[str, Field] = {**PAIR, "count": OneOf((2, 3))}


def zero_below() -> list[dict[str, Any]]:
    """Laws whose orders of p - q and of p/q part where it matters."""
    third = Fraction(1, 3)
    pair = {"target": (0 * third, third, 2 * third), "draft": (2 * third, 0 * third, third)}
    return [{**pair, "count": 3, "drawing": independent}, {**pair, "count": 2, "drawing": distinct}]


LIMITS = Domain(FEW, cost=3)
MORE = Domain(SEVERAL, cost=3)
DRAWINGS = Domain(DRAWN, cost=3, known=zero_below)
COUPLED = Domain(EVERY_DRAWING, (1, 2, 3), cost=3)
MANY = Domain({**PAIR, "count": OneOf((1, 2, 5, 20))}, (1, 2, 3), cost=2)
SETS_CHOSEN = Domain(CHOSEN, (1, 2, 3), cost=2)


def sets_of(case: Case) -> Sets:
    """The drafts of a case."""
    return case.drawing(case.draft, case.count)


def mass(law: Array, tokens: Any) -> Fraction:
    """law(H)"""
    return sum((law[v] for v in tokens), 0 * ONE)


def largest(case: Case, formula: Formula, drawing: Drafting) -> Fraction:
    """The formula is what the best coupling of these drafts keeps."""
    sets = drawing(case.draft, case.count)
    return equal(kept(optimal(case.target, sets), sets), formula(case.target, case.draft, case.count))


def of_independent(case: Case, formula: Formula) -> Fraction:
    """Independent drafts."""
    return largest(case, formula, independent)


def of_distinct(case: Case, formula: Formula) -> Fraction:
    """Drafts without replacement."""
    return largest(case, formula, distinct)


def of_top(case: Case, formula: Formula) -> Fraction:
    """The likeliest tokens."""
    return largest(case, formula, top)


def of_greedy(case: Case, formula: Formula) -> Fraction:
    """The likeliest tokens and one that is drawn."""
    return largest(case, formula, greedy)


def of_one(case: Case, formula: Formula) -> Fraction:
    """One draft, by the formula of independent ones."""
    return equal(power(case.target, case.draft, 1), formula(case.target, case.draft, 1))


def power(target: Array, draft: Array, count: int) -> Fraction:
    """1 + min_H p(H) - q(H)^k"""
    return 1 + min(mass(target, H) - mass(draft, H) ** count for H in subsets(len(target)))


def without_replacement(target: Array, draft: Array, count: int) -> Fraction:
    """1 + min_H p(H) - P(every draft in H)"""
    return by_subsets(target, distinct(draft, count))


def of_the_set(target: Array, draft: Array, count: int) -> Fraction:
    """p(the k likeliest tokens)"""
    return mass(target, likeliest(draft, count))


def and_one_more(target: Array, draft: Array, count: int) -> Fraction:
    """p(the k - 1 likeliest) + sum min(p, q) over the rest, q renormalised there."""
    first = likeliest(draft, count - 1)
    rest = [v for v in range(len(draft)) if v not in first]
    total = mass(draft, rest)
    shares = (min(target[v], draft[v] / total) for v in rest) if total else ()
    return mass(target, first) + sum(shares, 0 * ONE)


def overlap(target: Array, draft: Array, count: int) -> Fraction:
    """1 - TV(p, q)"""
    return np.minimum(target, draft).sum()


def best_coupling(case: Case, coupling: Coupling) -> Fraction:
    """Both laws are right, and as much is kept as the subsets allow."""
    sets = sets_of(case)
    joint = coupling(case.target, sets)
    rows, columns = marginals(joint)
    gaps = [equal(rows, np.array(list(sets.values()), dtype=object)), equal(columns, case.target), joint.min()]
    return min(*gaps, equal(kept(joint, sets), by_subsets(case.target, sets)))


def its_program(case: Case) -> Program:
    """The linear program of a case."""
    return program(case.target, sets_of(case))


def its_point(case: Case, coupling: Coupling) -> Sequence[Fraction]:
    """The coupling that is claimed to be the optimum."""
    return list(coupling(case.target, sets_of(case)).reshape(-1))


def enough(case: Case, order: Order) -> Fraction:
    """Subsets that are the first few tokens of the order give the same minimum."""
    sets = sets_of(case)
    some = sorted_subsets(order(case.target, case.draft))
    return equal(by_subsets(case.target, sets, some), by_subsets(case.target, sets))


def other_ties(target: Array, draft: Array) -> list[int]:
    """The order of p/q, the last ones of equals first."""
    last = len(target) - 1
    return [last - v for v in by_ratio(target[::-1], draft[::-1])]


def one_more_draft(case: Case, drawing: Drafting) -> Fraction:
    """Limit of k + 1 drafts less that of k."""
    fewer, more = (by_subsets(case.target, drawing(case.draft, case.count + n)) for n in (0, 1))
    return more - fewer


def any_drawing(case: Case, spoilt: Callable[[Drafting], Drafting]) -> Fraction:
    """The same for the drawing of the case."""
    return one_more_draft(case, spoilt(case.drawing))


def as_it_is(drawing: Drafting) -> Drafting:
    """Nothing spoilt."""
    return drawing


def between(case: Case, ends: Callable[[Array, Array, int], tuple[Fraction, Fraction]]) -> Fraction:
    """low <= limit of k independent drafts <= high"""
    low, high = ends(case.target, case.draft, case.count)
    value = power(case.target, case.draft, case.count)
    return min(value - low, high - value)


def support(target: Array, draft: Array, count: int) -> tuple[Fraction, Fraction]:
    """min(p(q > 0), 1 - (1 - least q)^k) and p(q > 0)"""
    there = draft > 0
    reach = target[there].sum()
    return min(reach, 1 - (1 - draft[there].min()) ** count), reach


def better(case: Case, drawings: tuple[Drafting, Drafting]) -> Fraction:
    """Limit of the first drawing less that of the second."""
    first, second = (by_subsets(case.target, some(case.draft, case.count)) for some in drawings)
    return first - second


def new_tries(case: Case, formula: Formula) -> Fraction:
    """Limit of independent drafts less the formula."""
    values = case.target, case.draft, case.count
    return power(*values) - formula(*values)


def inside_at_most(case: Case, power_of: Callable[[Fraction, int], Fraction]) -> Fraction:
    """power_of(q(H), k) - P(every distinct draft in H), the least over H."""
    sets = distinct(case.draft, case.count)
    return min(power_of(mass(case.draft, H), case.count) - inside(sets, H) for H in subsets(len(case.draft)))
