"""T19: how far lenience lets a token, and a whole run, exceed the target."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t19_proofs import attained, excess, largest, logarithms, pointwise, squares, step
from proofs_checks.theorems.t19_runs import (
    REACHED,
    REPEATED,
    RUNS,
    at_least_one,
    kept_at_most,
    pick,
    run_by_token,
    run_divergence,
    run_divergence_by_token,
    run_ratio,
    run_reaches,
)
from specsim import Ensemble, Lenient, output_law
from specsim.arrays import Array, positive_part, total_variation
from specsim.laws import kl_divergence
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import NumberField
from specsim.testing.statements import Statement, equal, holds

HIGHEST = {1: 4, 2: 4, 3: 3, 4: 2}
STRENGTHS = Domain({**PAIR, "omega": NumberField(Fraction(1, 4), Fraction(4))}, cost=4, highest=HIGHEST)
LOGARITHMS = "sums of logarithms in float64; a few terms of order 1 round to below 1e-15 each"
SAME_LAWS = "(the same two laws at every position, omega = 3/2 or 2, L = 1 or 2, V <= 2, N <= 3)"
Rules = Callable[[Any], Any]


def single(case: Case, rules: Rules) -> Array:
    """out, [V]."""
    return output_law(rules(case.omega), case.draft, case.target, np.array(0))


def ratios(first: Array, second: Array) -> list[Fraction]:
    """first/second where second > 0."""
    return [a / b for a, b in zip(first, second, strict=True) if b > 0]


def capped_largest(omega: Fraction, largest_ratio: Fraction) -> Fraction:
    """max(1, min(omega, max q/p))"""
    return at_least_one(min(omega, largest_ratio))


def largest_ratio(case: Case, formula: Callable[[Fraction, Fraction], Fraction]) -> Fraction:
    """max over p > 0 of out/p is the formula of omega and max over p > 0 of q/p."""
    found = max(ratios(single(case, Lenient), case.target))
    return equal(found, formula(case.omega, max(ratios(case.draft, case.target))))


def bounded(case: Case, rules: Rules) -> Fraction:
    """out <= max(1, omega) p at every token."""
    return (at_least_one(case.omega) * case.target - single(case, rules)).min()


def bounded_by_omega(case: Case, rules: Rules) -> Fraction:
    """out <= omega p at every token."""
    return (case.omega * case.target - single(case, rules)).min()


def mean_ratio(first: Array, second: Array) -> Fraction:
    """sum a^2/b = 1 + chi-square(a || b)."""
    return sum((a * a / b for a, b in zip(first, second, strict=True) if b > 0), Fraction(0))


def mean_bounded(case: Case, rules: Rules) -> Fraction:
    """sum out^2/p <= max(1, omega)."""
    return at_least_one(case.omega) - mean_ratio(single(case, rules), case.target)


def divergence(case: Case, rules: Rules) -> float:
    """KL(out || p) <= log sum out^2/p <= log max(1, omega)."""
    out = single(case, rules)
    kl, mean = kl_divergence(out, case.target), math.log(mean_ratio(out, case.target))
    return min(mean - kl, math.log(at_least_one(case.omega)) - mean)


def divergence_by_omega(case: Case, rules: Rules) -> float:
    """KL(out || p) <= log omega."""
    return math.log(case.omega) - kl_divergence(single(case, rules), case.target)


def kept_excess(draft: Array, target: Array, omega: Fraction) -> Fraction:
    """sum [min(q, omega p) - p]+"""
    return positive_part(np.minimum(draft, omega * target) - target).sum()


def exact_tv(case: Case, formula: Callable[[Array, Array, Fraction], Fraction]) -> Fraction:
    """TV(out, p) is the formula."""
    tv = total_variation(single(case, Lenient), case.target)
    return equal(tv, formula(case.draft, case.target, case.omega))


def shows(case: Case, subject: Any) -> dict[str, Array]:
    """p, q, and what lenience makes of them."""
    return {"target": case.target, "draft": case.draft, "out": single(case, Lenient)}


T19 = Theorem(
    "T19",
    "lenience: max out/p = max(1, min(omega, max q/p)), KL(out || p) <= log omega, and their like for runs",
    "lenience of Leviathan et al. 2023 (arXiv 2211.17192), appendix A.5; the exact figures are shown here",
    parts=(
        Part(
            Statement(
                "for every omega > 0 max over p > 0 of out/p = max(1, min(omega, max over p > 0 of q/p))",
                *(STRENGTHS, largest_ratio, capped_largest),
            ),
            proof=Proof(EVERY, largest),
        ),
        Part(
            Statement("for every omega > 0 out <= max(1, omega) p at every token", STRENGTHS, bounded, Lenient),
            proof=Proof(EVERY, pointwise),
        ),
        Part(
            Statement("for every omega > 0 sum out^2/p <= max(1, omega)", STRENGTHS, mean_bounded, Lenient),
            proof=Proof(EVERY, squares),
        ),
        Part(
            Statement(
                "for every omega > 0 KL(out || p) <= log sum out^2/p <= log max(1, omega)",
                *(STRENGTHS, divergence, Lenient, 1e-12, LOGARITHMS),
            ),
            proof=Proof(f"{EVERY}, for KL <= log max(1, omega), log being monotone", logarithms),
        ),
        Part(
            Statement("for every omega > 0 TV(out, p) = sum [min(q, omega p) - p]+", STRENGTHS, exact_tv, kept_excess),
            proof=Proof(EVERY, excess),
        ),
        Part(
            Statement(
                "a run of N tokens, Chain(L): out <= max(1, omega)^k target for every sequence, k = N - ceil(N/(L+1))",
                *(RUNS, run_ratio, kept_at_most),
            ),
            proof=Proof("one slot of the induction, every V", step, step=True),
        ),
        Part(
            Statement(
                "omega > 1, a token with q >= omega p > 0 everywhere: N of it in a run have out = omega^k target",
                *(REACHED, run_reaches, kept_at_most),
            ),
            proof=Proof("one slot, every V", attained, step=True),
        ),
        Part(
            Statement(
                "a run of N tokens, Chain(L): KL(out || target) <= k log max(1, omega), k = N - ceil(N/(L+1))",
                *(RUNS, run_divergence, kept_at_most, 1e-12, LOGARITHMS),
            ),
            proof=Proof(
                "one slot of the induction, every V, log being monotone", lambda: [*step(), *logarithms()], step=True
            ),
        ),
        Part(
            Statement("out <= omega p for every omega > 0", STRENGTHS, bounded_by_omega, Lenient, shows=shows),
            stated=FAILS,
            claimed="folklore; omega >= 1 dropped",
        ),
        Part(
            Statement(
                "KL(out || p) <= log omega for every omega > 0",
                *(STRENGTHS, divergence_by_omega, Lenient, 1e-12, LOGARITHMS),
            ),
            stated=FAILS,
            claimed="folklore; omega >= 1 dropped",
        ),
        Part(
            Statement(f"for omega > 1 a whole run has out <= omega target {SAME_LAWS}", REPEATED, run_by_token, pick),
            stated=FAILS,
            claimed="folklore; the bound of one token said of a sequence",
        ),
        Part(
            Statement(
                f"for omega > 1 a whole run has KL(out || target) <= log omega {SAME_LAWS}",
                *(REPEATED, run_divergence_by_token, pick, 1e-12, LOGARITHMS),
            ),
            stated=FAILS,
            claimed="folklore; the bound of one token said of a sequence",
        ),
    ),
    mutants=(
        Mutant("min(omega, max q/p)", min, 1),
        Mutant("max(1, omega)", lambda omega, ratio: at_least_one(omega), 1),
        Mutant("max(1, max q/p)", lambda omega, ratio: at_least_one(ratio), 1),
        Mutant("omega squared", lambda omega: Lenient(omega * omega), 2),
        Mutant("omega + 1", lambda omega: Lenient(omega + 1), 2),
        Mutant("everything kept", lambda omega: Ensemble(0), 3),
        Mutant("everything kept, KL", lambda omega: Ensemble(0.5), 4),
        Mutant("sum [omega p - p]+ over q > p", lambda q, p, w: positive_part(w * p - p)[q > p].sum(), 5),
        Mutant("half of it", lambda q, p, w: kept_excess(q, p, w) / 2, 5),
        Mutant("a draft fewer", lambda length, lookahead: kept_at_most(length, lookahead) - 1, 6),
        Mutant("every other token", lambda length, lookahead: length // 2, 7),
        Mutant("all but the last token", lambda length, lookahead: length - 1, 7),
        Mutant("N - floor(N/(L+1))", lambda length, lookahead: length - length // (lookahead + 1), 7),
        Mutant("a draft fewer, KL", lambda length, lookahead: kept_at_most(length, lookahead) - 1, 8),
    ),
    weakened=(
        Weakened(Statement("any token repeated reaches the bound", REPEATED, run_reaches, kept_at_most)),
        Weakened(Statement("out < max(1, omega) p", STRENGTHS, lambda case, f: holds(bounded(case, f) > 0), Lenient)),
        Weakened(
            Statement("sum out^2/p < max(1, omega)", STRENGTHS, lambda c, f: holds(mean_bounded(c, f) > 0), Lenient)
        ),
        Weakened(
            Statement("run: every sequence below", RUNS, lambda c, f: holds(run_ratio(c, f) > 0), kept_at_most),
        ),
        Weakened(
            Statement("some token has out >= omega p", STRENGTHS, lambda case, f: -bounded_by_omega(case, f), Lenient)
        ),
    ),
)
