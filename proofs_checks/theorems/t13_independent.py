"""T13: how often independent tokens agree: the Renyi-2 bound, and where they stand beside the other couplings."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp

import numpy as np

from proofs_checks.smt import EVERY, Obligation, Proof, either, least, reals
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t09_joint_laws import CHANGE, Formula, independent_joint, overlap
from proofs_checks.theorems.t10_formulas import agreement, jaccard
from specsim.arrays import Array, entropy
from specsim.testing.domains import Case, Domain
from specsim.testing.statements import Statement, equal, holds

PAIRS = Domain(CHANGE)
DIFFERENT = Domain(CHANGE, where=lambda case: bool((case.old != case.new).any()))
FLOATS = 1e-12
ROUNDING = "two entropies and an exponential in float64, each within 1e-15 of numbers below 3"
Condition = Callable[[Case], bool]


def collisions(case: Case) -> Fraction:
    """P(X = Y) of the independent redraw, as specsim enumerates it."""
    return np.trace(independent_joint(case.old, case.new))


def squares(first: Array, second: Array) -> Fraction:
    """exp(-H2(p) - H2(q)) = sum p^2 sum q^2."""
    return (first * first).sum() * (second * second).sum()


def is_product(case: Case, formula: Formula) -> Fraction:
    """P(X = Y) is the formula."""
    return equal(collisions(case), formula(case.old, case.new))


def below_root(case: Case, formula: Formula) -> Fraction:
    """formula - P(X = Y)^2: the Renyi-2 bound, squared so that it is rational."""
    return formula(case.old, case.new) - collisions(case) ** 2


def below(case: Case, formula: Formula) -> Fraction:
    """formula - P(X = Y)."""
    return formula(case.old, case.new) - collisions(case)


def met_when(case: Case, condition: Condition) -> Fraction:
    """The Renyi-2 bound is met iff the condition."""
    return holds((below_root(case, squares) == 0) == condition(case))


def best_when(case: Case, condition: Condition) -> Fraction:
    """Independent, one noise and maximal agree equally often iff the condition."""
    independent, best = collisions(case), overlap(case.old, case.new)
    noise = agreement(case.old, case.new)
    return holds((independent == noise) == condition(case) and (independent == best) == condition(case))


def equal_laws(case: Case) -> bool:
    """p = q."""
    return bool((case.old == case.new).all())


def nothing_to_choose(case: Case) -> bool:
    """A point mass, or no common token."""
    return bool(case.old.max() == 1 or case.new.max() == 1 or (case.old * case.new == 0).all())


def shannon(first: Array, second: Array) -> float:
    """exp(-(H(p) + H(q)) / 2), in nats."""
    return exp(-float(entropy(first) + entropy(second)) / 2)


def float_below(case: Case, formula: Callable[[Array, Array], float]) -> float:
    """formula - P(X = Y), in floats."""
    return formula(case.old, case.new) - float(collisions(case))


def pairs() -> list[Obligation]:
    """Lagrange: sum p^2 sum q^2 - (sum p q)^2 is the sum over pairs of tokens of (p_i q_j - p_j q_i)^2."""
    pi, pj, qi, qj, rest, other = reals("p_i p_j q_i q_j rest other")
    cross, assume = pi * qj - pj * qi, [pi >= 0, pj >= 0, qi >= 0, qj >= 0]
    square = pi * pi * qj * qj + pj * pj * qi * qi - 2 * pi * qi * pj * qj
    laws = [rest >= 0, other >= 0, pi + pj + rest == 1, qi + qj + other == 1]
    proportional = [pi * qj == pj * qi, pi * other == rest * qi]
    return [
        Obligation("the pair's part is a square", assume, square == cross * cross),
        Obligation("so it is at least 0", assume, square >= 0),
        Obligation("0 iff p_i q_j = p_j q_i", assume, (cross * cross == 0) == (pi * qj == pj * qi)),
        Obligation("0 at every j, summed: p_i = q_i", [*assume, *laws, *proportional], pi == qi),
        Obligation("and equal laws have 0", [*assume, pi == qi, pj == qj], cross == 0),
    ]


def token() -> list[Obligation]:
    """p q <= min(p, q), equal iff one of them is 0 or 1."""
    p, q = reals("p q")
    assume = [p >= 0, p <= 1, q >= 0, q <= 1]
    edge = either(p == 0, q == 0, p == 1, q == 1)
    return [
        Obligation("p q <= min(p, q)", assume, p * q <= least(p, q)),
        Obligation("equal iff one is 0 or 1", assume, (p * q == least(p, q)) == edge),
    ]


def term() -> list[Obligation]:
    """p_i q_i <= 1 / M, M = sum_j max(p_j/p_i, q_j/q_i): p_i q_i M = sum_j max(p_j q_i, q_j p_i) <= 1."""
    a, b, p, q, m, t = reals("a b p q M t")
    law, inside = [p > 0, p <= 1, q > 0, q <= 1], [a >= 0, b >= 0]
    larger, whole = a + b - least(a, b), p * q + (1 - p) * q + (1 - q) * p
    return [
        Obligation("max(p_j q_i, q_j p_i) <= p_j q_i + q_j p_i at j != i", inside, larger <= a + b),
        Obligation("equal iff one of them is 0", inside, (larger == a + b) == either(a == 0, b == 0)),
        Obligation("p_i q_i + (1 - p_i) q_i + (1 - q_i) p_i <= 1", law, whole <= 1),
        Obligation("equal iff p_i = 1 or q_i = 1", law, (whole == 1) == either(p == 1, q == 1)),
        Obligation("p q M <= 1: p q <= 1 / M", [*law, m > 0, t * m == 1, p * q * m <= 1], p * q <= t),
        Obligation("equal iff p q M = 1", [*law, m > 0, t * m == 1], (p * q == t) == (p * q * m == 1)),
    ]


T13 = Theorem(
    "T13",
    "Independent tokens agree with probability sum p q <= exp(-(H2(p) + H2(q)) / 2), and no coupling here agrees less",
    "Cauchy and Schwarz; as a bound on SJD: Speculative Coupled Decoding",
    parts=(
        Part(
            Statement("the independent redraw has P(X = Y) = sum p q", PAIRS, is_product, lambda q, p: (q * p).sum()),
        ),
        Part(
            Statement(
                "P(X = Y)^2 <= sum p^2 sum q^2, which is P(X = Y) <= exp(-(H2(p) + H2(q)) / 2)",
                PAIRS,
                below_root,
                squares,
            ),
            proof=Proof(EVERY, pairs),
        ),
        Part(
            Statement("P(X = Y)^2 = sum p^2 sum q^2 iff p = q", PAIRS, met_when, equal_laws),
            proof=Proof(EVERY, pairs),
        ),
        Part(
            Statement("P(X = Y) <= 1 - TV, the maximal coupling", PAIRS, below, overlap),
            proof=Proof(EVERY, token),
        ),
        Part(
            Statement("P(X = Y) <= sum_i 1 / sum_j max(p_j/p_i, q_j/q_i), one noise", PAIRS, below, agreement),
            proof=Proof(EVERY, term),
        ),
        Part(
            Statement(
                "P(X = Y) is that of one noise, and the maximal one, iff p or q is a point mass or no token is common",
                PAIRS,
                best_when,
                nothing_to_choose,
            ),
            proof=Proof(EVERY, lambda: [*token(), *term()]),
        ),
        Part(
            Statement("P(X = Y) <= (1 - TV) / (1 + TV), the least that one noise gives", PAIRS, below, jaccard),
            stated=FAILS,
            claimed="folklore: a coupling's guarantee should be above independence",
        ),
        Part(
            Statement(
                "P(X = Y) <= exp(-(H(p) + H(q)) / 2) with Shannon's entropy",
                PAIRS,
                float_below,
                shannon,
                slack=FLOATS,
                why_slack=ROUNDING,
            ),
            stated=FAILS,
            claimed="folklore: any entropy will do",
        ),
    ),
    mutants=(
        Mutant("min(p, q) for p q", lambda q, p: np.minimum(q, p).sum(), 1),
        Mutant("a product without the square root: (sum p^2 sum q^2)^2", lambda q, p: squares(q, p) ** 2, 2),
        Mutant("the smaller of the two sums, squared", lambda q, p: min((q * q).sum(), (p * p).sum()) ** 2, 2),
        Mutant("met iff p and q have the same H2", lambda case: (case.old**2).sum() == (case.new**2).sum(), 3),
        Mutant("(1 - TV)^2", lambda q, p: overlap(q, p) ** 2, 4),
        Mutant("(1 - TV) / (1 + TV)", jaccard, 5),
        Mutant("met iff both are point masses", lambda case: case.old.max() == 1 == case.new.max(), 6),
        Mutant("met iff p = q", equal_laws, 6),
    ),
    weakened=(
        Weakened(Statement("P(X = Y)^2 >= sum p^2 sum q^2", PAIRS, lambda case, f: -below_root(case, f), squares)),
        Weakened(Statement("P(X = Y)^2 < sum p^2 sum q^2", PAIRS,
                           lambda case, f: holds(below_root(case, f) > 0), squares)),
        Weakened(Statement("P(X = Y)^2 < sum p^2 sum q^2 for p != q", DIFFERENT,
                           lambda case, f: holds(below_root(case, f) > 0), squares), "equality needs p = q"),
        Weakened(Statement("P(X = Y) < 1 - TV for p != q", DIFFERENT,
                           lambda case, f: holds(below(case, f) > 0), overlap)),
        Weakened(Statement("P(X = Y) < sum_i 1 / sum_j max(p_j/p_i, q_j/q_i) for p != q", DIFFERENT,
                           lambda case, f: holds(below(case, f) > 0), agreement)),
        Weakened(Statement("P(X = Y) >= (1 - TV) / (1 + TV)", PAIRS, lambda case, f: -below(case, f), jaccard)),
    ),
)  # fmt: skip
