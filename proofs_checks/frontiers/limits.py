"""The least divergence of any verifier at a given cost: built once, solved for many costs, certified in Fractions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from proofs_checks.certificates import UNCERTIFIED
from proofs_checks.frontiers.divergences import DIVERGENCES, Divergence
from proofs_checks.frontiers.masses import Laws, laws
from proofs_checks.frontiers.memory import (
    SizeOf,
    block_size,
    free_run_size,
    refuse_too_large,
    run_size,
)
from proofs_checks.frontiers.rationals import UNIT, products, sparse_of, units
from proofs_checks.frontiers.rounds import by_block
from proofs_checks.frontiers.verifiers import Verifier, joint_block, sequential_block, whole_run
from specsim.arrays import Array
from specsim.errors import SpecsimError, require_whole
from specsim.tables import Table

CLOSED = 1e-7
"""Largest gap between a value and its bound, relative to a value above 1, that needs no word: solvers stop at 1e-9."""


class Point(NamedTuple):
    """cost: as asked; value: of the solver; bound: what its rounded dual proves that no verifier passes, None where
    there is none; note: in words, what a certificate leaves open."""

    cost: Fraction
    value: float
    bound: Fraction | None
    note: str = ""


class Kind(NamedTuple):
    """words: for an axis; cost: `accepted` (more is better) or `calls` (fewer are); build(target, draft, lookahead,
    length, support): its verifiers; size: of their program."""

    words: str
    cost: str
    build: Callable[[Laws, Laws, int, int, bool], Verifier]
    size: SizeOf


def block(target: Laws, draft: Laws, lookahead: int, length: int, support: bool) -> Verifier:
    """Decisions draft by draft."""
    return sequential_block(target, draft, lookahead, support)


def joint(target: Laws, draft: Laws, lookahead: int, length: int, support: bool) -> Verifier:
    """Decisions on the whole block."""
    return joint_block(target, draft, lookahead, support)


def run(target: Laws, draft: Laws, lookahead: int, length: int, support: bool) -> Verifier:
    """Whole runs whose bonus tokens follow the target."""
    return whole_run(target, draft, lookahead, length, False, support)


def joint_run(target: Laws, draft: Laws, lookahead: int, length: int, support: bool) -> Verifier:
    """Whole runs whose decisions look at the whole block; the bonus tokens follow the target."""
    return whole_run(target, draft, lookahead, length, False, support, by_block)


def free_run(target: Laws, draft: Laws, lookahead: int, length: int, support: bool) -> Verifier:
    """Whole runs whose bonus tokens follow any law."""
    return whole_run(target, draft, lookahead, length, True, support)


KINDS = {
    "block": Kind("E[accepted drafts] of a block", "accepted", block, block_size),
    "joint": Kind("E[accepted drafts] of a block, decided as a whole", "accepted", joint, block_size),
    "run": Kind("E[target calls] of a run", "calls", run, run_size),
    "joint-run": Kind("E[target calls] of a run, its blocks decided as a whole", "calls", joint_run, run_size),
    "free-run": Kind("E[target calls] of a run, its bonus tokens free", "calls", free_run, free_run_size),
}


def limit(
    kind: Kind,
    target: Table,
    draft: Table,
    lookahead: int,
    divergence: str,
    length: int | None = None,
    memory: float = 4.0,
) -> Limit:
    """The least `divergence` (a name in DIVERGENCES) of any verifier of a kind against its cost.

    length: tokens of a run, by default as many as both tables have; a block has `lookahead`.  memory: GiB that the
    program may take, estimated before it is built.
    """
    if divergence not in DIVERGENCES:
        raise SpecsimError(f"frontier: divergence = {divergence!r} must be one of {', '.join(DIVERGENCES)}")
    if target.vocab != draft.vocab:
        raise SpecsimError(f"frontier: target vocab {target.vocab} and draft vocab {draft.vocab} differ")
    longest = min(target.length, draft.length)
    whole = kind.cost == "calls"
    require_whole("frontier", "lookahead", lookahead, 1, 10**6 if whole else longest)
    length = (longest if length is None else length) if whole else lookahead
    require_whole("frontier", "length", length, 1, longest)
    refuse_too_large(kind.size, target.vocab, lookahead, length, memory, whole)
    row = DIVERGENCES[divergence]
    return Limit(kind.build(laws(target, length), laws(draft, length), lookahead, length, row.support), row)


class Limit:
    """min divergence over everything that a verifier can do, at a cost."""

    def __init__(self, verifier: Verifier, divergence: Divergence) -> None:
        import cvxpy

        self.verifier, self.divergence = verifier, divergence
        masses, width = verifier.masses, len(verifier.masses.columns)
        # More tokens than asked and fewer calls are welcome; per token, so that a dual is of the size of the others.
        self.scale = Fraction(-verifier.sign, verifier.length)
        budget = {column: self.scale * value for column, value in verifier.cost.items()}
        self.rows = sparse_of([*masses.rows, budget], width)
        self.loose = np.array([*masses.loose, True])
        self.cells = divergence.cells(verifier)
        self.x, self.cost = cvxpy.Variable(width, nonneg=True), cvxpy.Parameter()
        self.parts = self.constraints()
        self.posed = divergence.pose(self.cells.terms.floats() @ self.x, self.cells)
        self.problem = cvxpy.Problem(cvxpy.Minimize(self.posed.value), [*self.parts, *self.posed.given])

    def constraints(self) -> list[Any]:
        """The rows as equations, inequalities and the cost."""
        matrix, loose = self.rows.floats(), self.loose[:-1]
        right = np.array([float(value) for value in self.verifier.masses.right])
        equal = matrix[:-1][~loose] @ self.x == right[~loose]
        below = matrix[:-1][loose] @ self.x <= right[loose]
        return [equal, below, matrix[-1] @ self.x <= self.cost]

    def range(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest cost that a verifier can have with a finite divergence."""
        return self.verifier.span

    def at(self, cost: Fraction) -> Point:
        """The limit at a cost; SpecsimError where no verifier has it.

        Infinite, and not certified, where the solver has no answer for a divergence that is infinite when a verifier
        misses a sequence of the target: at the ends of the range all of them may.
        """
        cost = Fraction(cost)
        self.refuse(cost)
        self.cost.value = float(self.scale * cost)
        status = self.solve()
        if status and not self.divergence.covers:
            raise SpecsimError(f"frontier: no answer at cost {float(cost):g}: {status}")
        if status:
            return Point(cost, math.inf, None, f"{UNCERTIFIED}: {status}")
        value, bound = self.value(), max(self.bound(cost), self.divergence.least)
        gap = value - float(bound)
        # A solver's masses miss the rows by its tolerance, so its value may lie a little below what is proved.
        return Point(cost, max(value, float(bound)), bound, remark(gap, CLOSED * max(1.0, value)))

    def solve(self) -> str:
        """What stands in the way of an answer, in words; nothing where there is one."""
        import cvxpy

        with warnings.catch_warnings():
            # An inaccurate answer is one whose bound is weaker, and the bound is always looked at.
            warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
            try:
                self.problem.solve(**self.divergence.solver)
            except cvxpy.SolverError as error:
                return str(error).split(".")[0].replace("'", "")
        if self.problem.status not in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE):
            return f"the solver says {self.problem.status}"
        return "" if math.isfinite(self.value()) else "the solver's answer misses a sequence of the target"

    def value(self) -> float:
        """The divergence of the solver's masses, which it may have left a rounding below 0."""
        for variable in self.problem.variables():
            variable.value = np.maximum(np.asarray(variable.value), 0)
        return float(self.problem.objective.value)

    def refuse(self, cost: Fraction) -> None:
        """A cost that no verifier has."""
        least, greatest = self.range()
        if not least <= cost <= greatest:
            what = "keeps {:g} drafts a block" if self.verifier.sign == 1 else "takes {:g} target calls a run"
            raise SpecsimError(
                f"frontier: no verifier {what.format(float(cost))}; between {float(least):g} and {float(greatest):g}"
            )

    def dual(self) -> Array:
        """The solver's dual of all rows in units, with the sign that a bound needs."""
        found = np.zeros(len(self.loose))
        (equal, below, budget), loose = self.parts, self.loose[:-1]
        found[:-1][~loose], found[:-1][loose] = -equal.dual_value, -below.dual_value
        found[-1] = -budget.dual_value.item()
        rounded = units(found)
        return np.where(self.loose, np.minimum(rounded, 0), rounded)

    def bound(self, cost: Fraction) -> Fraction:
        """plane x >= dual right + sum min(0, slopes - A' dual) for 0 <= x <= 1, every sum rounded down."""
        plane, dual = self.posed.plane(), self.dual()
        reduced = self.cells.terms.weighed(plane.slopes) + self.rows.weighed(-dual)
        right = [*self.verifier.masses.right, self.scale * cost]
        return Fraction(np.minimum(reduced, 0).sum() + products(dual, right) + plane.constant, UNIT)


def remark(gap: float, allowed: float) -> str:
    """What a certificate leaves open: gap = value - bound, beside what needs no word."""
    if gap < -allowed:
        return f"{UNCERTIFIED} from above: the limit is higher than the solver's answer, which lies {-gap:.1e} too low"
    return f"certified to within {gap:.1e}" if gap > allowed else ""
