"""T09: no coupling has P(X = Y) above 1 - TV, the maximal redraw attains it; when it is the only one that does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.certificates import Certificate, Program
from proofs_checks.smt import EVERY, Obligation, Proof, both, either, least, magnitude, reals
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t09_joint_laws import (
    CHANGE,
    Formula,
    Joint,
    independent_joint,
    joint_law,
    keeps_laws,
    laws_of,
    maximal_joint,
    overlap,
    several,
)
from proofs_checks.theorems.t11_proofs import diagonal, refilled
from specsim.arrays import Array, total_variation
from specsim.couplings import maximal
from specsim.interpreters.exact import Exact
from specsim.testing.domains import Case, Domain
from specsim.testing.fields import LawField
from specsim.testing.statements import Statement, equal, holds

JOINT = Domain({"joint": LawField(order=2)}, vocabs=(1, 2, 3))
UNRELATED = Domain({"joint": LawField(order=2), **CHANGE}, vocabs=(1, 2, 3))


def never_above(case: Case, formula: Formula) -> Fraction:
    """formula(marginals) - P(X = Y) of a joint law."""
    return formula(*laws_of(case.joint)) - np.trace(case.joint)


def attained(case: Case, coupling: Joint) -> Fraction:
    """X ~ old, Y ~ new and P(X = Y) = 1 - TV."""
    joint = coupling(case.old, case.new)
    return min(keeps_laws(joint, case), equal(np.trace(joint), overlap(case.old, case.new)))


def exactly_when(case: Case, member: Callable[[Array], bool]) -> Fraction:
    """P(X = Y) = 1 - TV iff the joint law is such."""
    return holds((never_above(case, overlap) == 0) == member(case.joint))


def one_way(joint: Array) -> bool:
    """No token is both left and taken up: off the diagonal its row or its column is empty."""
    apart = joint - np.diag(np.diag(joint))
    return bool(((apart.sum(axis=1) == 0) | (apart.sum(axis=0) == 0)).all())


def no_swaps(joint: Array) -> bool:
    """No two tokens turn into each other."""
    return bool((np.triu(joint * joint.T, 1) == 0).all())


def one_end_single(case: Case) -> bool:
    """At most one token loses mass, or at most one gains."""
    return bool(min((case.old > case.new).sum(), (case.new > case.old).sum()) <= 1)


def unique(case: Case, condition: Callable[[Case], bool]) -> Fraction:
    """One maximal coupling iff the condition."""
    return holds(several(case) != condition(case))


def one_token() -> list[Obligation]:
    """Token v: d = P(X = Y = v), r and c the rest of its row and column, so that its laws are d + r and d + c."""
    d, r, c, p, q = reals("d r c p q")
    assume = [d >= 0, r >= 0, c >= 0]
    short = d == least(d + r, d + c)
    return [
        Obligation("d <= min(p, q)", assume, d <= least(d + r, d + c)),
        Obligation("d = min(p, q) iff the rest of its row or column is empty", assume, short == either(r == 0, c == 0)),
        Obligation("2 min = p + q - |p - q|: summed, min is 1 - TV", [p >= 0, q >= 0],
                   2 * least(p, q) == p + q - magnitude(p - q)),
    ]  # fmt: skip


def matching() -> list[Obligation]:
    """Two tokens that lose (a, b), one that gains c and one that gains the rest: can the plan w x / y z be changed?"""
    w, x, y, z, a, b, c = reals("w x y z a b c")
    inside = [w >= 0, x >= 0, y >= 0, z >= 0, a > 0, b > 0, c > 0]
    inside += [w + x == a, y + z == b, w + y == c]
    movable = either(both(w > 0, z > 0), both(x > 0, y > 0))
    return [
        Obligation("two that gain: it can", [*inside, a + b > c], movable),
        Obligation("one that gains: it takes all there is", [*inside, a + b == c], both(w == a, y == b, x + z == 0)),
    ]


def program(case: Case) -> Program:
    """max P(X = Y) over the joint laws of two marginals, as a minimum; columns (x, y) in row order."""
    vocab = case.vocab
    cost = [Fraction(-1 if x == y else 0) for x in range(vocab) for y in range(vocab)]
    rows = [{x * vocab + y: Fraction(1) for y in range(vocab)} for x in range(vocab)]
    rows += [{x * vocab + y: Fraction(1) for x in range(vocab)} for y in range(vocab)]
    return Program(cost, rows, [*case.old, *case.new])


def point(case: Case, coupling: Joint) -> Sequence[Fraction]:
    """The joint law that is claimed to be the optimum."""
    return list(coupling(case.old, case.new).reshape(-1))


def from_the_target(choose: Any, old: Array, new: Array, token: Array, position: Array, live: tuple) -> Any:
    """A refused token is replaced from the new law itself."""
    weights, live = maximal(choose, old, new, token, position, live)
    stay = np.take_along_axis(weights, token[..., None], axis=-1) / weights.sum(axis=-1, keepdims=True)
    return (np.arange(new.shape[-1]) == token[..., None]) * stay + (1 - stay) * new, live


T09 = Theorem(
    "T09",
    "The maximal coupling has P(X = Y) = 1 - TV, and none has more",
    "Doeblin 1938 (the coupling inequality); Leviathan et al. 2023 (arXiv 2211.17192) use it as the acceptance rate",
    parts=(
        Part(
            Statement("every joint law of X ~ q, Y ~ p has P(X = Y) <= 1 - TV(p, q)", JOINT, never_above, overlap),
            proof=Proof(EVERY, one_token),
        ),
        Part(
            Statement(
                "the maximal redraw of X ~ old has Y ~ new and P(X = Y) = 1 - TV(old, new)",
                Domain(CHANGE),
                attained,
                maximal_joint,
            ),
            proof=Proof(EVERY, lambda: [*diagonal(), *refilled(), *one_token()[2:]]),
            certificate=Certificate("max P(X = Y) for given laws", Domain(CHANGE), program, point, maximal_joint),
        ),
        Part(
            Statement(
                "P(X = Y) = 1 - TV iff no token is both left and taken up: pi(v, v) = min(p(v), q(v)) at every v",
                JOINT,
                exactly_when,
                one_way,
            ),
            proof=Proof(EVERY, one_token),
        ),
        Part(
            Statement(
                "two laws have one maximal coupling iff at most one token loses mass or at most one gains",
                Domain(CHANGE),
                unique,
                one_end_single,
            ),
            proof=Proof("V <= 4", matching),
        ),
        Part(
            Statement("two laws have one maximal coupling", Domain(CHANGE), unique, lambda case: True),
            stated=FAILS,
            claimed="folklore (\"the\" maximal coupling)",
        ),
    ),
    mutants=(
        Mutant("1 - the whole L1 distance", lambda p, q: 1 - 2 * total_variation(p, q)),
        Mutant("sum p q, as if X and Y were independent", lambda p, q: (p * q).sum()),
        Mutant("(1 - TV) / (1 + TV)", lambda p, q: overlap(p, q) / (1 + total_variation(p, q))),
        Mutant("a fresh token", independent_joint, 2),
        Mutant("replaced from the new law", lambda q, p: joint_law(from_the_target, Exact.token, q, p), 2),
        Mutant("old and new law exchanged", lambda q, p: maximal_joint(p, q), 2),
        Mutant("no two tokens turn into each other", no_swaps, 3),
        Mutant("one coupling as long as V <= 4", lambda case: case.vocab <= 4, 4),
        Mutant("one coupling iff the laws are equal", lambda case: bool((case.old == case.new).all()), 4),
    ),
    weakened=(
        Weakened(Statement("every joint law has P(X = Y) >= 1 - TV", JOINT,
                           lambda case, f: -never_above(case, f), overlap)),
        Weakened(Statement("every joint law has P(X = Y) < 1 - TV", JOINT,
                           lambda case, f: holds(never_above(case, f) > 0), overlap)),
        Weakened(Statement("P(X = Y) <= 1 - TV(old, new) whatever the laws of X and Y are", UNRELATED,
                           lambda case, f: f(case.old, case.new) - np.trace(case.joint), overlap)),
        Weakened(Statement("only joint laws with all mass on the diagonal are maximal", JOINT,
                           exactly_when, lambda joint: bool(np.trace(joint) == 1))),
    ),
)  # fmt: skip
