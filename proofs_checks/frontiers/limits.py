"""The least divergence of any verifier at a given cost: built once, solved for many costs, certified in Fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from proofs_checks.certificates import Program, best_bound
from proofs_checks.frontiers.masses import ONE, ZERO, Laws, Path, Terms, add
from proofs_checks.frontiers.verifiers import Verifier
from specsim.errors import SpecsimError


class Point(NamedTuple):
    """cost: as asked; value: of the solver; bound: a lower bound that its rounded dual proves."""

    cost: Fraction
    value: float
    bound: Fraction


def target_masses(target: Laws, length: int) -> dict[Path, Fraction]:
    """The law of plain decoding."""
    masses: dict[Path, Fraction] = {(): ONE}
    for _ in range(length):
        masses = {(*path, v): mass * share for path, mass in masses.items() for v, share in enumerate(target[path])}
    return masses


def excess(verifier: Verifier, path: Path, terms: Terms, wanted: Fraction, prefix: Terms) -> int:
    """A variable for [terms - wanted - prefix]+ -> its column."""
    masses = verifier.masses
    over, under = masses.var("over", path), masses.var("under", path)
    row: Terms = {over: -ONE, under: ONE}
    for part, sign in ((terms, ONE), (prefix, -ONE)):
        for column, value in part.items():
            add(row, column, sign * value)
    masses.equation(row, wanted)
    return over


def total_variation(verifier: Verifier) -> Terms:
    """TV(out, target) = sum [out - target]+."""
    wanted = target_masses(verifier.target, verifier.length)
    return {excess(verifier, path, terms, wanted[path], {}): ONE for path, terms in verifier.out.items()}


def local_errors(verifier: Verifier) -> Terms:
    """The sum of the local errors of a block, sum_i sum_x A_(i-1) TV(out_i, p_i)."""
    objective: Terms = {}
    for path, (arrives, prefix) in verifier.local.items():
        share = verifier.target[path[:-1]][path[-1]]
        wanted = ZERO if prefix else share
        scaled = {column: share * value for column, value in prefix.items()}
        objective[excess(verifier, path, arrives, wanted, scaled)] = ONE
    return objective


class Limit:
    """min objective over everything that a verifier can do, at a cost."""

    def __init__(self, verifier: Verifier, objective: Terms) -> None:
        import cvxpy

        self.verifier, self.scale = verifier, Fraction(verifier.length)
        masses = verifier.masses
        budget = {column: value / self.scale for column, value in verifier.cost.items()}
        # Accepted tokens may exceed what is asked, calls may stay below it.
        self.budget = masses.equation(budget | {masses.var("spare"): -ONE * verifier.sign})
        cost = [objective.get(column, ZERO) for column in range(len(masses.columns))]
        self.program = Program(cost, masses.rows, masses.right)
        self.x, self.right = cvxpy.Variable(len(cost)), cvxpy.Parameter(len(masses.rows))
        self.equations = matrix(self.program) @ self.x == self.right
        goal = cvxpy.Minimize(np.array([float(c) for c in cost]) @ self.x)
        self.problem = cvxpy.Problem(goal, [self.equations, self.x >= 0, self.x <= 1])

    def at(self, cost: Fraction) -> Point:
        """The limit at a cost; SpecsimError where no verifier has it."""
        import cvxpy

        right = [*self.program.right]
        right[self.budget] = cost / self.scale
        self.right.value = np.array([float(value) for value in right])
        self.problem.solve(solver=cvxpy.HIGHS)
        if self.problem.status != cvxpy.OPTIMAL:
            raise SpecsimError(f"frontier: no verifier costs {float(cost):g} ({self.problem.status})")
        dual: Sequence[float] = [-float(y) for y in self.equations.dual_value]
        bound = best_bound(Program(self.program.cost, self.program.rows, right), dual)
        return Point(cost, float(self.problem.value), bound)


def matrix(program: Program) -> Any:
    """The equations as a sparse matrix of floats."""
    entries = [(i, j, float(value)) for i, row in enumerate(program.rows) for j, value in row.items()]
    rows, columns, values = zip(*entries, strict=True)
    return sparse.csr_matrix((values, (rows, columns)), shape=(len(program.rows), len(program.cost)))
