"""The ledger against the limit of a block: linear programs over all verifiers that decide slot by slot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from statistics import median
from typing import Any

import numpy as np

from proofs_checks.certificates import CERTIFIED_WITHIN, ROUNDED_TO, Program, best_bound, objective
from proofs_checks.frontiers.masses import laws
from proofs_checks.frontiers.verifiers import sequential_block
from proofs_checks.theorems.blocks import Slot, accepted, block_error, by_rule, walk
from proofs_checks.theorems.t15_masses import equations, row, slacks
from proofs_checks.theorems.t24_accounts import slots_of
from proofs_checks.theorems.t24_margins import LATE, Ledgers
from specsim import Annealed, Table, random_table
from specsim.rules.ledger import Ledger
from specsim.testing.domains import Case, Domain
from specsim.testing.fields import OneOf
from specsim.verification import carries_state

ONE = Fraction(1)
MODELS_TRIED = 16
HALVINGS = 12
"""Steps of the search for a strength; the limit is then taken at what that strength really keeps."""
STRONGEST = 4096.0


def least_error(target: Table, draft: Table, length: int, kept: Fraction, support: bool) -> Program:
    """min TV over all verifiers of a block that decide slot by slot and keep so many drafts; every row an equation.

    support: only those that never leave the target's.
    """
    verifier = sequential_block(laws(target, length), laws(draft, length), length, support)
    masses = verifier.masses
    for path in sorted(verifier.out):
        sides = {masses.var("over", path): -ONE, masses.var("under", path): ONE}
        masses.equation({**verifier.out[path], **sides}, verifier.wanted[path])
    budget = {column: value / length for column, value in verifier.cost.items()}
    masses.equation({**budget, masses.var("spare"): -ONE}, kept / length)
    rows = equations(masses)
    return Program([ONE if key[0] == "over" else 0 * ONE for key in masses.columns], rows, masses.right)


def as_point(target: Table, draft: Table, slots: Sequence[Slot], support: bool) -> list[Fraction]:
    """The masses of a block in the columns of that program."""
    length, vocab = len(slots), draft.vocab
    verifier = sequential_block(laws(target, length), laws(draft, length), length, support)
    program = least_error(target, draft, length, accepted(slots), support)
    known = {"kept": [slot.after for slot in slots], "corrected": [slot.corrected for slot in slots]}

    def mass(name: str, start: Any, path: Any = ()) -> Fraction:
        return known[name][len(path) - 1][row(path, vocab)] if path else ONE

    point = [mass(*key) for key in verifier.masses.columns]
    for path in sorted(verifier.out):
        gap = sum((value * point[column] for column, value in verifier.out[path].items()), -verifier.wanted[path])
        point += [max(gap, 0 * ONE), max(-gap, 0 * ONE)]
    point.append(0 * ONE)
    point += slacks(verifier.masses, point)
    assert len(point) == len(program.cost)
    return point


def program(case: Case) -> Program:
    """The limit among verifiers that keep the support, at what Ledger relaxed in the first slot keeps."""
    slots = slots_of(Ledger(case.w, LATE), case.target, case.draft, case.length)
    return least_error(case.target, case.draft, case.length, accepted(slots), True)


def point(case: Case, ledgers: Ledgers) -> list[Fraction]:
    """The rule's masses."""
    slots = slots_of(ledgers(case.w, LATE), case.target, case.draft, case.length)
    return as_point(case.target, case.draft, slots, True)


def solved(some: Program) -> tuple[list[float], list[float]]:
    """The solver's masses, and its dual of the equations."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix

    entries = [(i, j, float(value)) for i, terms in enumerate(some.rows) for j, value in terms.items()]
    rows, columns, values = zip(*entries, strict=True)
    matrix = csr_matrix((values, (rows, columns)), shape=(len(some.rows), len(some.cost)))
    cost, right = ([float(value) for value in part] for part in (some.cost, some.right))
    found = linprog(cost, A_eq=matrix, b_eq=right, bounds=(0, 1), method="highs")
    return list(found.x), list(found.eqlin.marginals)


def best_found(some: Program) -> Fraction | None:
    """The value of a point that is feasible, checked in Fractions: the solver's, rounded; None where none is."""
    found, masses = [], solved(some)[0]
    for most in ROUNDED_TO:
        try:
            found.append(objective(some, [Fraction(x).limit_denominator(most) for x in masses]))
        except ValueError:
            continue
    return min(found, default=None)


def unbeaten(case: Case, support: bool) -> Fraction:
    """No verifier found keeps as many drafts as Ledger relaxed in the first slot, with a smaller TV."""
    slots = slots_of(Ledger(case.w, LATE), case.target, case.draft, case.length)
    best = best_found(least_error(case.target, case.draft, case.length, accepted(slots), support))
    return 0 * ONE if best is None else min(best - block_error(slots), 0 * ONE)


def walked(rule: Any, target: Table, draft: Table) -> list[Slot]:
    """The slots of a rule of either form."""
    if carries_state(rule):
        return slots_of(rule, target, draft, target.length)
    if draft.laws.dtype != object:
        return walk(by_rule(rule), target, draft, target.length, mass=np.ones(1))
    return walk(by_rule(rule), target, draft, target.length)


def strength(family: Callable[[Any], Any], target: Table, draft: Table, level: Fraction) -> Fraction:
    """A strength that keeps about so much of the way from strict to everything."""
    models = target.floats(), draft.floats()

    def kept(w: float) -> float:
        return float(sum(slot.after.sum() for slot in walked(family(w), *models)))

    low, high = 1.0, STRONGEST
    asked = (1 - float(level)) * kept(low) + float(level) * kept(high)
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if kept(middle) < asked else (low, middle)
    return Fraction(high).limit_denominator(1000)


@lru_cache(maxsize=64)
def ratios(family: Callable[[Any], Any], level: Fraction) -> tuple[float, ...]:
    """TV/limit of a family on random models of V = L = 3, at what it keeps, sorted."""
    found = []
    for seed in range(MODELS_TRIED):
        target, draft = random_table(3, 3, seed), random_table(3, 3, seed + 1000)
        slots = walked(family(strength(family, target, draft, level)), target, draft)
        some = least_error(target, draft, 3, accepted(slots), True)
        masses, dual = solved(some)
        bound = best_bound(some, dual)
        value = sum(float(cost) * mass for cost, mass in zip(some.cost, masses, strict=True))
        if value - float(bound) > CERTIFIED_WITHIN:
            raise ValueError(f"seed {seed}: the limit {value} is certified from {float(bound)} on only")
        found.append(float(block_error(slots) / bound))
    return tuple(sorted(found))


def cooled(delta: Any) -> Annealed:
    """COOL-SD with its published decay."""
    return Annealed(delta, 0.7)


def near(case: Case, family: Callable[[Any], Any]) -> float:
    """1.01 - the median of TV/limit."""
    return 1.01 - median(ratios(family, case.level))


def compared(case: Case, family: Callable[[Any], Any]) -> float:
    """A twentieth of the median excess of COOL-SD, less the family's."""
    return (median(ratios(cooled, case.level)) - 1) / 20 - (median(ratios(family, case.level)) - 1)


def at_levels(*levels: str) -> Domain:
    """Seeded models of V = L = 3, some way from strict to everything."""
    return Domain({"level": OneOf(tuple(Fraction(level) for level in levels))}, (3,), (3,), cost=400)
