"""What z3 proves of T04, one token at a time (a = q b is kept), and the linear program that certifies it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from proofs_checks.certificates import Program
from proofs_checks.smt import Obligation, least, positive, reals
from proofs_checks.theorems import t02_optimal_residual as t02
from specsim.arrays import Array
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import ProbabilityField
from specsim.verification import capped_ratio

ABOVE_STRICT = Domain({**PAIR, "lift": ProbabilityField()}, cost=2)


def lifted(case: Case) -> Array:
    """Any b >= min(1, p/q): the strict one and a part of what is missing to 1."""
    strict = capped_ratio(case.target, case.draft)
    return strict + case.lift * (1 - strict)


def coordinate() -> list[Obligation]:
    """One token, a = q b: with a >= min(p, q) the room [p - a]+ is [p - q]+, before any normalisation."""
    p, q, a = reals("p q a")
    above = [p >= 0, q >= a, a >= least(p, q), a >= 0]
    return [Obligation("[p - a]+ = [p - q]+", above, positive(p - a) == positive(p - q))]


def at_least_strict() -> list[Obligation]:
    """a = q b of the rules with p/q + epsilon (x = epsilon q), masked or not, and of the mixture w p + (1 - w) q; what
    keeps everything has a = q."""
    p, q, a, x, w = reals("p q a x w")
    laws, strict = [p >= 0, q >= 0], a >= least(p, q)
    return [
        Obligation("p/q + epsilon", [*laws, x >= 0, a == least(q, p + x)], strict),
        Obligation("masked where p = 0", [*laws, p == 0, a == 0], strict),
        Obligation("mixture", [*laws, w >= 0, w <= 1, a == least(q, w * p + (1 - w) * q)], strict),
        Obligation("everything", [*laws, a == q], strict),
        *coordinate(),
    ]


def optimality() -> list[Obligation]:
    """r G <= [p - a]+ is what makes a residual optimal (T02), token by token; G = [p - q]+ / D, D = TV(p, q) > 0."""
    p, q, a, r, far = reals("p q a r D")
    assume = [p >= 0, q >= a, a >= 0, r >= 0, far > 0]
    inside = r * positive(p - q) <= far * positive(p - a)
    return [
        Obligation("p <= q: nothing is put there", [*assume, p <= q], inside),
        Obligation("p > q: the condition itself", [*assume, p > q], inside == (r * (p - q) <= far * (p - a))),
    ]


def certain() -> list[Obligation]:
    """Where a = q at every token with p > q, of which there is one if p != q."""
    p, q, a, r, far = reals("p q a r D")
    assume = [p > q, q >= 0, a == q, r >= 0, far > 0]
    return [*optimality(), Obligation("a = q", assume, (r * (p - q) <= far * (p - a)) == (r <= far))]


def averages() -> list[Obligation]:
    """p = q, G = p: r p <= p - p b at each token iff r <= 1 - b there; r is the mean of 1 - b, so all are equal."""
    p, b, r, x, y = reals("p b r x y")
    fits = (r * p <= positive(p - p * b)) == (r <= 1 - b)
    return [
        Obligation("one token", [p > 0, b >= 0, b <= 1, r >= 0], fits),
        Obligation("terms p (1 - b - r) >= 0 that sum to 0 are 0", [x >= 0, y >= 0, x + y == 0], x == 0),
        Obligation("a constant b has r = 1 - b, so it fits", [b >= 0, b <= 1, r == 1 - b], r <= 1 - b),
    ]


def program(case: Case) -> Program:
    """min TV over G for the b of the case."""
    given: Any = SimpleNamespace(vocab=case.vocab, draft=case.draft, target=case.target, accept=lifted(case))
    return t02.program(given)


def point(case: Case, residual: Callable[[Array, Array], Array]) -> Sequence[Fraction]:
    """The standard residual as its solution."""
    given: Any = SimpleNamespace(vocab=case.vocab, draft=case.draft, target=case.target, accept=lifted(case))
    return t02.point(given, lambda draft, target, accept: residual(draft, target))
