"""T04: above strict the standard residual norm[p - q]+ is the optimal one; exactly when it is so below."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.certificates import Certificate
from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems import t02_optimal_residual as t02
from proofs_checks.theorems.t04_proofs import (
    ABOVE_STRICT,
    at_least_strict,
    averages,
    certain,
    coordinate,
    lifted,
    optimality,
    point,
    program,
)
from proofs_checks.theorems.t04_rules import STANDARD, uniform_if_empty
from specsim import Lenient, Partitioned, Typical, optimal_residual
from specsim.arrays import Array, normalise, positive_part, total_variation
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import LawField, NumberField, ProbabilityField
from specsim.testing.statements import Statement, equal, holds, implies
from specsim.verification import standard_residual

ANY = Domain({**PAIR, "accept": ProbabilityField()})
EQUAL = Domain({"law": LawField(), "accept": ProbabilityField()})
STRENGTHS = Domain({**PAIR, "omega": NumberField(Fraction(1, 4), Fraction(4))}, highest={1: 4, 2: 4, 3: 3, 4: 2})
APART = Domain({**PAIR, "accept": ProbabilityField()}, where=lambda case: bool((case.target != case.draft).any()))
SLOT = np.array([0])
Residual = Callable[[Array, Array], Array]
Condition = Callable[[Array, Array, Array], bool]


def loss(draft: Array, target: Array, accept: Array, residual: Array) -> Fraction:
    """TV(out, p) - sum [q b - p]+, what a residual costs beyond the least for this b (T02)."""
    kept = draft * accept
    out = kept + (1 - kept.sum()) * residual
    return total_variation(out, target) - positive_part(kept - target).sum()


def same_residual(case: Case, residual: Residual) -> Fraction:
    """norm[p - q]+ = norm[p - q b]+ for b >= min(1, p/q), both p where they are empty."""
    return equal(residual(case.draft, case.target), optimal_residual(case.draft, case.target, lifted(case)))


def least_tv(case: Case, residual: Residual) -> Fraction:
    """No residual gives a smaller TV for this b."""
    return -loss(case.draft, case.target, lifted(case), residual(case.draft, case.target))


def rules_at_least(case: Case, rules: tuple[Any, ...]) -> Fraction:
    """The residual of each rule is G* of its own b."""
    draft, target = case.draft[None], case.target[None]
    verdicts = [rule(draft, target, SLOT) for rule in rules]
    return min(equal(found.residual, optimal_residual(draft, target, found.accept)) for found in verdicts)


def room_everywhere(draft: Array, target: Array, accept: Array) -> bool:
    """r (p - q) <= TV(p, q) (p - q b) wherever p > q."""
    refused, far = 1 - (draft * accept).sum(), total_variation(target, draft)
    fits = refused * (target - draft) <= far * (target - draft * accept)
    return bool((fits | (target <= draft)).all())


def refuses_no_more(draft: Array, target: Array, accept: Array) -> bool:
    """P(reject) <= TV(p, q)."""
    return bool(1 - (draft * accept).sum() <= total_variation(target, draft))


def optimal_iff(case: Case, condition: Condition) -> Fraction:
    """For p != q the standard residual is optimal iff the condition."""
    return implies(bool((case.target != case.draft).any()), optimal_iff_of_any(case, condition))


def optimal_iff_of_any(case: Case, condition: Condition) -> Fraction:
    """The same of any two laws."""
    lost = loss(case.draft, case.target, case.accept, standard_residual(case.draft, case.target))
    return holds((lost == 0) == condition(case.draft, case.target, case.accept))


def optimal_iff_refusing(case: Case, condition: Condition) -> Fraction:
    """The same where every token with p > q is kept for certain."""
    return implies(bool(((case.accept == 1) | (case.target <= case.draft)).all()), optimal_iff(case, condition))


def equal_laws(case: Case, condition: Callable[[Array, Array], bool]) -> Fraction:
    """For p = q, where norm[p - q]+ is empty and p stands for it."""
    lost = loss(case.law, case.law, case.accept, standard_residual(case.law, case.law))
    return holds((lost == 0) == condition(case.law, case.accept))


def constant(law: Array, accept: Array) -> bool:
    """b is the same wherever p > 0."""
    return len(set(accept[law > 0])) == 1


def any_acceptance(case: Case, residual: Residual) -> Fraction:
    """The two residuals are one law, whatever b is."""
    return equal(residual(case.draft, case.target), optimal_residual(case.draft, case.target, case.accept))


def any_strength(case: Case, rule: Callable[[Any], Any]) -> Fraction:
    """The standard residual gives the least TV with the acceptance of lenience at any omega."""
    accept = rule(case.omega)(case.draft, case.target, SLOT[0]).accept
    return -loss(case.draft, case.target, accept, standard_residual(case.draft, case.target))


def only_above(case: Case, residual: Residual) -> Fraction:
    """Where the standard residual is optimal, b >= min(1, p/q) wherever q > 0."""
    above = bool((case.draft * case.accept >= np.minimum(case.target, case.draft)).all())
    return holds(above or loss(case.draft, case.target, case.accept, residual(case.draft, case.target)) > 0)


T04 = Theorem(
    "T04",
    "norm[p - q]+ stays the optimal residual as long as b >= min(1, p/q)",
    "CSD (arXiv 2606.27829), Theorem 3.1; COOL-SD (arXiv 2601.09212), Proposition 1; the exact condition is shown here",
    parts=(
        Part(
            Statement(
                "if b >= min(1, p/q) wherever q > 0 then norm[p - q b]+ = norm[p - q]+, both being p for p = q",
                *(ABOVE_STRICT, same_residual, standard_residual),
            ),
            proof=Proof(EVERY, coordinate),
        ),
        Part(
            Statement(
                "if b >= min(1, p/q) wherever q > 0 then norm[p - q]+ gives the least TV(out, p) of all residuals",
                *(ABOVE_STRICT, least_tv, standard_residual),
            ),
            proof=Proof(EVERY, lambda: [*coordinate(), *t02.coordinate(), *t02.room()]),
            certificate=Certificate("min TV over G", ABOVE_STRICT, program, point, standard_residual),
        ),
        Part(
            Statement(
                "Addition, CSD, ensemble, fuzzy and cascade rules: norm[p - q]+ is G* = norm[p - q b]+ of their b",
                *(Domain(PAIR, cost=5), rules_at_least, STANDARD),
            ),
            proof=Proof(EVERY, at_least_strict),
        ),
        Part(
            Statement(
                "for p != q and any b: norm[p - q]+ is optimal iff r (p - q) <= TV(p, q) (p - q b) wherever p > q",
                *(ANY, optimal_iff, room_everywhere),
            ),
            proof=Proof(EVERY, optimality),
        ),
        Part(
            Statement(
                "for p != q and b = 1 wherever p > q: norm[p - q]+ is optimal iff P(reject) <= TV(p, q)",
                *(ANY, optimal_iff_refusing, refuses_no_more),
            ),
            proof=Proof(EVERY, certain),
        ),
        Part(
            Statement(
                "for p = q the residual is p itself, and optimal iff b is constant where p > 0",
                *(EQUAL, equal_laws, constant),
            ),
            proof=Proof(EVERY, averages),
        ),
        Part(
            Statement("norm[p - q b]+ = norm[p - q]+ for every b", ANY, any_acceptance, standard_residual),
            stated=FAILS,
            claimed="folklore; the hypothesis b >= min(1, p/q) dropped",
        ),
        Part(
            Statement(
                "with b = min(1, omega p/q) norm[p - q]+ gives the least TV for every omega > 0",
                *(STRENGTHS, any_strength, Lenient),
            ),
            stated=FAILS,
            claimed="COOL-SD's Proposition 1 read without omega >= 1, as slots with omega_i < 1 would need it",
        ),
        Part(
            Statement(
                "for p != q norm[p - q]+ is optimal only if b >= min(1, p/q)", APART, only_above, standard_residual
            ),
            stated=FAILS,
            claimed="folklore; a b below strict can be harmless",
        ),
    ),
    mutants=(
        Mutant("uniform where it is empty", uniform_if_empty, 1),
        Mutant("norm[q - p]+", lambda draft, target: standard_residual(target, draft), 1),
        Mutant("the target", lambda draft, target: target, 2),
        Mutant("norm max(p, q)", lambda draft, target: normalise(np.maximum(draft, target), target), 2),
        Mutant("groups", (Partitioned(size=2),), 3),
        Mutant("typical acceptance", (Typical(),), 3),
        Mutant("P(reject) <= TV(p, q) for any b", refuses_no_more, 4),
        Mutant("always", lambda draft, target, accept: True, 5),
        Mutant("b = 1 where p > 0", lambda law, accept: bool((accept[law > 0] == 1).all()), 6),
    ),
    weakened=(
        Weakened(
            Statement("for any p, q: optimal iff P(reject) <= TV(p, q)", ANY, optimal_iff, refuses_no_more),
        ),
        Weakened(Statement("p = q included: iff the room suffices", ANY, optimal_iff_of_any, room_everywhere)),
        Weakened(
            Statement("p = q dropped: iff b is constant", ANY, optimal_iff, lambda q, p, accept: constant(p, accept))
        ),
        Weakened(
            Statement("b constant everywhere, p = q", EQUAL, equal_laws, lambda law, accept: len(set(accept)) == 1),
        ),
    ),
)
