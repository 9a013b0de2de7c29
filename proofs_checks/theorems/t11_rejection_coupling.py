"""T11: modified rejection sampling is a maximal coupling: its joint law, in full, and what it needs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t09_joint_laws import CHANGE, Joint, joint_law, keeps_laws, laws_of, maximal_joint, overlap
from proofs_checks.theorems.t11_proofs import diagonal, in_full, refilled, whole
from specsim import Strict, optimal_residual
from specsim.arrays import Array, divide, positive_part
from specsim.couplings import maximal
from specsim.interpreters.exact import Exact
from specsim.testing.domains import Case, Domain
from specsim.testing.fields import LawField
from specsim.testing.statements import Statement, equal, holds
from specsim.verification import Verdict, capped_ratio

PAIRS = Domain(CHANGE)
STALE = Domain({**CHANGE, "drawn": LawField()})
TWICE = Domain({**CHANGE, "last": LawField()})


def kernel_of(rule: Any, old: Array, new: Array) -> Array:
    """A rule's verdict as a redraw: K(x, y) = b(x) 1[y = x] + (1 - b(x)) G(y)."""
    accept, residual = rule(old, new, np.array(0))
    return np.diag(accept) + (1 - accept)[:, None] * residual


def in_closed_form(old: Array, new: Array) -> Array:
    """pi(x, y) = min(q, p)(x) 1[x = y] + [q - p]+(x) [p - q]+(y) / TV, without the second term at TV = 0."""
    apart = np.outer(positive_part(old - new), positive_part(new - old))
    return np.diag(np.minimum(old, new)) + divide(apart, np.full(apart.shape, 1 - overlap(old, new)), Fraction(0))


def same_law(case: Case, coupling: Joint) -> Fraction:
    """The joint law is the closed form."""
    return equal(coupling(case.old, case.new), in_closed_form(case.old, case.new))


def keeps_both(case: Case, coupling: Joint) -> Fraction:
    """X ~ old, Y ~ new."""
    return keeps_laws(coupling(case.old, case.new), case)


def overlaps(case: Case, coupling: Joint) -> Fraction:
    """P(X = Y = v) = min(old, new)(v)."""
    return equal(np.diag(coupling(case.old, case.new)), np.minimum(case.old, case.new))


def as_redraw(case: Case, rule: Any) -> Fraction:
    """old(x) K(x, y) with the kernel of a rule's verdict is the joint law of the maximal redraw."""
    return equal(case.old[:, None] * kernel_of(rule, case.old, case.new), maximal_joint(case.old, case.new))


def drawn_elsewhere(case: Case, rule: Any) -> Fraction:
    """A token that was drawn from another law than the old one comes out with the new law."""
    return equal(case.drawn @ kernel_of(rule, case.old, case.new), case.new)


def conditional(joint: Array) -> Array:
    """P(Y = y | X = x); a row of zeros where X is never x."""
    return divide(joint, np.broadcast_to(laws_of(joint)[0][:, None], joint.shape), Fraction(0))


def redrawn_twice(case: Case, coupling: Joint) -> Fraction:
    """P(first = last) of a token redrawn twice, less 1 - TV(old, last)."""
    first = coupling(case.old, case.new)
    ends = first @ conditional(coupling(case.new, case.last))
    return equal(np.trace(ends), overlap(case.old, case.last))


def reversible(case: Case, coupling: Joint) -> Fraction:
    """Redrawing from new to old is the same joint law, read the other way."""
    return equal(coupling(case.old, case.new), coupling(case.new, case.old).T)


def redraw(accept: Callable[[Array, Array], Array], room: Callable[[Array, Array], Array]) -> Joint:
    """The joint law of: keep x with accept(old, new)[x], else draw from norm(room(old, new)), new where it is empty."""

    def coupling(old: Array, new: Array) -> Array:
        kept, weights = accept(old, new), room(old, new)
        residual = divide(weights, np.full(weights.shape, weights.sum()), new)
        return old[:, None] * (np.diag(kept) + (1 - kept)[:, None] * residual)

    return coupling


def unscaled(choose: Any, old: Array, new: Array, token: Array, position: Array, live: tuple) -> Any:
    """The weight of staying is b instead of b sum [new - old]+."""
    weights, live = maximal(choose, old, new, token, position, live)
    stay = np.arange(new.shape[-1]) == token[..., None]
    return np.where(stay, capped_ratio(new, old), weights), live


def rate(old: Array, new: Array) -> Array:
    """min(1, p/q)"""
    return capped_ratio(new, old)


def missing(old: Array, new: Array) -> Array:
    """[p - q]+"""
    return positive_part(new - old)


def from_target(old: Array, new: Array, position: Array) -> Verdict:
    """A rule that replaces from p."""
    return Verdict(capped_ratio(new, old), new)


def half_as_often(old: Array, new: Array, position: Array) -> Verdict:
    """b halved, with the residual that keeps the law: lossless, but no maximal coupling."""
    kept = capped_ratio(new, old) / 2
    return Verdict(kept, optimal_residual(old, new, kept))


T11 = Theorem(
    "T11",
    "Modified rejection sampling is a maximal coupling",
    "Leviathan et al. 2023 (arXiv 2211.17192), Chen et al. 2023 (2302.01318); as a redraw: SCD-MC",
    parts=(
        Part(
            Statement("the maximal redraw of X ~ old has Y ~ new", PAIRS, keeps_both, maximal_joint),
            proof=Proof(f"{EVERY}; V = 2, 3 also whole", lambda: [*diagonal(), *refilled(), *whole(2), *whole(3)]),
        ),
        Part(
            Statement("P(X = Y = v) = min(old, new)(v) at every v", PAIRS, overlaps, maximal_joint),
            proof=Proof(EVERY, diagonal),
        ),
        Part(
            Statement(
                "its law is pi(x, y) = min(q, p)(x) 1[x = y] + [q - p]+(x) [p - q]+(y) / TV(q, p), 0/0 = 0",
                PAIRS,
                same_law,
                maximal_joint,
            ),
            proof=Proof(EVERY, in_full),
        ),
        Part(
            Statement(
                "the strict rule's verdict, read as q(x) K(x, y), is the same joint law",
                PAIRS,
                as_redraw,
                Strict(),
            ),
            proof=Proof(EVERY, in_full),
        ),
        Part(
            Statement("redrawing from new to old is the same joint law, transposed", PAIRS, reversible, maximal_joint),
            proof=Proof(EVERY, in_full),
        ),
        Part(
            Statement(
                "the redrawn token has the new law whatever law the token was drawn from",
                STALE,
                drawn_elsewhere,
                Strict(),
            ),
            stated=FAILS,
            claimed="the released SCD code, which stores an old law for tokens that did not change",
        ),
        Part(
            Statement(
                "two maximal redraws in a row, old to new to last, couple old and last maximally",
                TWICE,
                redrawn_twice,
                maximal_joint,
            ),
            stated=FAILS,
            claimed="folklore; each redraw is maximal for its own two laws only",
        ),
    ),
    mutants=(
        Mutant("replaced from the new law itself", redraw(rate, lambda q, p: p)),
        Mutant("kept with min(1, q/p)", redraw(lambda q, p: rate(p, q), missing)),
        Mutant("|p - q| without the positive part", redraw(rate, lambda q, p: abs(p - q))),
        Mutant("[q - p]+, the wrong side", redraw(rate, lambda q, p: positive_part(q - p))),
        Mutant("staying not scaled by sum [p - q]+", lambda q, p: joint_law(unscaled, Exact.token, q, p)),
        Mutant("kept with b/2 and the residual to match", lambda q, p: q[:, None] * kernel_of(half_as_often, q, p), 2),
        Mutant("replaced uniformly over the missing tokens", redraw(rate, lambda q, p: (p > q) * Fraction(1)), 3),
        Mutant("a rule that replaces from p", from_target, 4),
        Mutant("a rule that keeps half as often", half_as_often, 4),
    ),
    weakened=(
        Weakened(Statement("its joint law is symmetric", PAIRS,
                           lambda case, f: equal(f(case.old, case.new), f(case.old, case.new).T), maximal_joint)),
        Weakened(Statement("it stays the same when old and new are exchanged", PAIRS,
                           lambda case, f: equal(f(case.old, case.new), f(case.new, case.old)), maximal_joint)),
        Weakened(Statement("P(X = Y = v) < min(old, new)(v) somewhere", PAIRS,
                           lambda case, f: holds(overlaps(case, f) < 0), maximal_joint)),
        Weakened(Statement("P(X = Y = v) = max(old, new)(v) at every v", PAIRS,
                           lambda case, f: equal(np.diag(f(case.old, case.new)), np.maximum(case.old, case.new)),
                           maximal_joint)),
    ),
)  # fmt: skip
