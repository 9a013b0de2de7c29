"""Certificates of optimality: a linear program is solved by a solver, and the solver's dual is checked in Fractions.

    minimise c x  subject to  A x = b,  0 <= x <= 1
Any y whatever gives the bound  b y + sum_j min(0, c_j - (A'y)_j) <= optimum, so a dual rounded to rationals proves a
bound that no rounding can spoil.  The solver proposes, Fractions dispose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from specsim.testing.domains import Case, Domain

ROUNDED_TO = (1, 12, 1000, 10**6, 10**9)
"""Denominators tried for the dual, small first: at a vertex of a small program the small ones are already exact."""
CERTIFIED_WITHIN = Fraction(1, 10**8)
"""Largest gap between a value and its certified bound: solvers stop at about 1e-9.  Gaps of 0 are told apart."""

UNCERTIFIED = "not certified"
"""Begins the note where a solver had no answer, as opposed to a claimed optimum that is wrong."""


@dataclass(frozen=True)
class Program:
    """minimise cost x, rows x = right, 0 <= x <= 1.  rows: one {column: coefficient} for each equation."""

    cost: Sequence[Fraction]
    rows: Sequence[dict[int, Fraction]]
    right: Sequence[Fraction]


class Certified(NamedTuple):
    """value: of the point that was claimed to be optimal; bound: what the rounded dual proves; gap: their difference,
    which is also the sum of all violations of complementarity; note: in words, where there is no certificate."""

    value: Fraction | None
    bound: Fraction | None
    note: str = ""

    @property
    def gap(self) -> Fraction | None:
        """0 = exactly optimal."""
        return None if self.value is None or self.bound is None else self.value - self.bound


@dataclass(frozen=True)
class Certificate:
    """program(case) is the linear program of a case, point(case, subject) the point that is claimed to solve it."""

    text: str
    domain: Domain
    program: Callable[[Case], Program]
    point: Callable[[Case, Any], Sequence[Fraction]]
    subject: Any = None


def objective(program: Program, point: Sequence[Fraction]) -> Fraction:
    """c x of a point; ValueError when it is not feasible, which is checked in Fractions."""
    if len(point) != len(program.cost):
        raise ValueError(f"the claimed point has {len(point)} entries, the program has {len(program.cost)}")
    outside = [j for j, x in enumerate(point) if not 0 <= x <= 1]
    broken = [
        i
        for i, (row, right) in enumerate(zip(program.rows, program.right, strict=True))
        if sum((a * point[j] for j, a in row.items()), Fraction(0)) != right
    ]
    if outside or broken:
        raise ValueError(f"the claimed point is not feasible: entries {outside}, equations {broken}")
    return sum((c * x for c, x in zip(program.cost, point, strict=True)), Fraction(0))


def dual_bound(program: Program, dual: Sequence[Fraction]) -> Fraction:
    """b y + sum min(0, c - A'y): a lower bound for any y."""
    reduced = list(program.cost)
    for row, y in zip(program.rows, dual, strict=True):
        for j, a in row.items():
            reduced[j] -= a * y
    bound = sum((b * y for b, y in zip(program.right, dual, strict=True)), Fraction(0))
    return bound + sum((min(Fraction(0), r) for r in reduced), Fraction(0))


def best_bound(program: Program, dual: Sequence[float]) -> Fraction:
    """The best of the bounds that the roundings of a dual prove."""
    roundings = ([Fraction(float(y)).limit_denominator(d) for y in dual] for d in ROUNDED_TO)
    return max(dual_bound(program, rounded) for rounded in roundings)


def solve(program: Program) -> tuple[str, Sequence[float] | None]:
    """(status of the solver, dual of the equations with the sign of the Lagrangian c x - y (A x - b))."""
    try:
        import cvxpy
    except ImportError:
        return "cvxpy is not installed (pip install cvxpy)", None
    x = cvxpy.Variable(len(program.cost))
    matrix = np.zeros((len(program.rows), len(program.cost)))
    for i, row in enumerate(program.rows):
        for j, a in row.items():
            matrix[i, j] = float(a)
    equations = matrix @ x == np.array([float(b) for b in program.right])
    problem = cvxpy.Problem(cvxpy.Minimize(np.array([float(c) for c in program.cost]) @ x), [equations, x >= 0, x <= 1])
    try:
        problem.solve(solver=cvxpy.HIGHS)
    except cvxpy.SolverError as error:
        return f"the solver failed: {error}", None
    if problem.status != cvxpy.OPTIMAL:
        return f"the solver says {problem.status}", None
    return problem.status, [-float(y) for y in np.atleast_1d(equations.dual_value)]


def certify(certificate: Certificate, case: Case, subject: Any) -> Certified:
    """Compare the claimed optimum of a case with the bound that the dual proves."""
    program = certificate.program(case)
    try:
        value = objective(program, certificate.point(case, subject))
    except ValueError as error:
        return Certified(None, None, str(error))
    status, dual = solve(program)
    if dual is None:
        return Certified(value, None, f"{UNCERTIFIED}: {status}")
    return Certified(value, best_bound(program, dual))
