"""The SMT obligations of T06: what a slot adds to one sequence, and sums of such terms."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from proofs_checks.smt import Obligation, both, either, magnitude, reals, total


def marginal() -> list[Obligation]:
    """One slot after one prefix: its terms sum to 0 over the token, as out_i and p_i are laws; so marginals stay."""
    out, target, before = reals("out p A")
    rest = before * (1 - out) - before * (1 - target)
    return [Obligation("two cells, token and not", [before >= 0], before * (out - target) + rest == 0)]


def scaled(lookahead: int) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """One sequence, every mass times the target's mass of what follows: a_i = A_i c_i, r_i = R_i c_i, so that

    A_(i-1) p_i c_i = A_(i-1) c_(i-1) = a_(i-1), as c_(i-1) = p_i c_i; the target's own mass is a_0; and the term of
    slot i, A_(i-1) (out_i - p_i) c_i, is a_i + r_i - a_(i-1).
    """
    alive = list(reals(" ".join(f"a{i}" for i in range(lookahead + 1))))
    put = list(reals(" ".join(f"r{i}" for i in range(1, lookahead + 1))))
    terms = [now + back - before for (before, now), back in zip(pairwise(alive), put, strict=True)]
    return alive, put, terms, [some >= 0 for some in (*alive, *put)]


def expansion() -> list[Obligation]:
    """out = sum_i R_i c_i + A_L is the target and the terms."""

    def of(lookahead: int) -> Obligation:
        alive, put, terms, assume = scaled(lookahead)
        return Obligation(f"out, L = {lookahead}", assume, total([*put, alive[-1]]) == alive[0] + total(terms))

    return [of(lookahead) for lookahead in (1, 2, 3)]


def triangle() -> list[Obligation]:
    """|out - target| <= sum of the |terms|, and these sum over the sequences to twice the local errors."""

    def of(lookahead: int) -> Obligation:
        alive, put, terms, assume = scaled(lookahead)
        goal = magnitude(total([*put, alive[-1]]) - alive[0]) <= total([magnitude(term) for term in terms])
        return Obligation(f"|out - target|, L = {lookahead}", assume, goal)

    step, first, second = reals("d p1 p2")
    shares = [first >= 0, second >= 0, first + second == 1]
    spread = magnitude(step * first) + magnitude(step * second) == magnitude(step)
    return [*(of(lookahead) for lookahead in (1, 2, 3)), Obligation("what follows sums to 1", shares, spread)]


def signs() -> list[Obligation]:
    """|sum d_i| = sum |d_i| iff no two have opposite signs."""

    def of(lookahead: int) -> list[Obligation]:
        steps = list(reals(" ".join(f"d{i}" for i in range(lookahead))))
        alike = either(both(*(d >= 0 for d in steps)), both(*(d <= 0 for d in steps)))
        same = magnitude(total(steps)) == total([magnitude(d) for d in steps])
        return [
            Obligation(f"L = {lookahead}, if", [alike], same),
            Obligation(f"L = {lookahead}, only if", [same], alike),
        ]

    return [some for lookahead in (1, 2, 3) for some in of(lookahead)]


def reverse_triangle() -> list[Obligation]:
    """t_i = TV of the first i tokens: t_(i-1) <= t_i, a marginal's; the local error D_i <= t_i + t_(i-1)."""

    def of(lookahead: int) -> Obligation:
        tv = list(reals(" ".join(f"t{i}" for i in range(lookahead + 1))))
        local = list(reals(" ".join(f"D{i}" for i in range(1, lookahead + 1))))
        assume = [tv[0] == 0, *(now >= before for before, now in pairwise(tv))]
        assume += [d <= now + before for d, (before, now) in zip(local, pairwise(tv), strict=True)]
        return Obligation(f"L = {lookahead}", assume, total(local) <= (2 * lookahead - 1) * tv[-1])

    return [of(lookahead) for lookahead in (1, 2, 3)]
