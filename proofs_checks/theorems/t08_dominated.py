"""T08: a factor omega < 1 buys nothing: lossless with G*, never keeping more than strict, biased without G*."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t08_given import (
    COMPENSATED,
    COOLING,
    EITHER_SIDE,
    MADE_GOOD,
    RUNS,
    SLOTS,
    STRENGTHS,
    making_good,
    off_line,
    shortfall,
    single,
    strict_kept,
)
from proofs_checks.theorems.t08_proofs import bias, distance, fewer, lossless, never_refused, slot
from proofs_checks.theorems.t08_rules import Emptied, Vanilla
from specsim import Annealed, Lenient, Strict, exact
from specsim.arrays import total_variation
from specsim.rules.annealed import mean_mu
from specsim.testing.domains import Case
from specsim.testing.statements import Statement, equal, holds, implies
from specsim.verification import capped_ratio

Rules = Callable[[Any], Any]


def out_is_target(case: Case, rules: Rules) -> Fraction:
    """out = p."""
    return equal(single(rules(case.omega), case)[1], case.target)


def no_token_more(case: Case, rules: Rules) -> Fraction:
    """b <= min(1, p/q) at every token."""
    return (capped_ratio(case.target, case.draft) - single(rules(case.omega), case)[0]).min()


def fewer_kept(case: Case, rules: Rules) -> Fraction:
    """P(accept) below that of strict."""
    return holds((case.draft * single(rules(case.omega), case)[0]).sum() < strict_kept(case).sum())


def exact_distance(case: Case, formula: Callable[[Case, Any], Fraction]) -> Fraction:
    """The distance from the line is the formula."""
    return equal(off_line(case, *single(Lenient(case.omega), case)), formula(case, case.omega))


def covered(case: Case) -> bool:
    """q <= omega p wherever p > 0."""
    return bool(((case.target == 0) | (case.draft <= case.omega * case.target)).all())


def spared(case: Case) -> bool:
    """The same, or omega = 1."""
    return case.omega == 1 or covered(case)


def on_line_iff(case: Case, condition: Callable[[Case], bool]) -> Fraction:
    """Distance 0 iff the condition."""
    return holds((off_line(case, *single(Lenient(case.omega), case)) == 0) == condition(case))


def cooled(case: Case, rules: Callable[..., Any]) -> Fraction:
    """One slot: out = p, no token kept more often than by strict, the distance as for lenience."""
    rule = rules(case.delta, case.nu, case.mu, clamp=False)
    omega = Annealed(case.delta, case.nu, case.mu, clamp=False).omega(np.array(case.slot), case.target)
    accept, out = single(rule, case, case.slot)
    margins = (
        equal(out, case.target),
        (capped_ratio(case.target, case.draft) - accept).min(),
        equal(off_line(case, accept, out), shortfall(case, omega)),
    )
    return min(margins)


def cooled_below(case: Case, rules: Callable[..., Any]) -> Fraction:
    """Where omega_i <= 1."""
    omega = Annealed(case.delta, case.nu, case.mu, clamp=False).omega(np.array(case.slot), case.target)
    return implies(omega <= 1, cooled(case, rules))


def fewer_calls(case: Case, rules: Rules) -> Fraction:
    """E[target calls] of a whole run, less those of the strict rule."""
    other, strict = (exact(case.decoder, case.target, case.draft, rule) for rule in (rules(case.omega), Strict()))
    return other.calls - strict.calls


def no_fewer_calls(case: Case, rule: Callable[[Case], Any]) -> Fraction:
    """E[target calls] of a run with a rule of the case's own, less those of the strict rule."""
    other, strict = (exact(MADE_GOOD, case.target, case.draft, some) for some in (rule(case), Strict()))
    return other.calls - strict.calls


def undershoot(case: Case) -> Fraction:
    """(1 - omega) times the target mass of the tokens with p <= q."""
    return (1 - case.omega) * case.target[case.target <= case.draft].sum()


def biased_by(case: Case, formula: Callable[[Case], Fraction]) -> Fraction:
    """TV(out, p) with norm[p - q]+ is at least the formula."""
    return total_variation(single(Vanilla(case.omega), case)[1], case.target) - formula(case)


def biased_apart(case: Case, formula: Callable[[Case], Fraction]) -> Fraction:
    """For p != q."""
    return implies(bool((case.target != case.draft).any()), biased_by(case, formula))


def keeps_strict(case: Case, rule: Any) -> Fraction:
    """b >= min(1, p/q) wherever q > 0, at a slot."""
    accept, _ = single(rule, case, case.slot)
    return (case.draft * accept - strict_kept(case)).min()


T08 = Theorem(
    "T08",
    "omega < 1 is dominated: with G* it is lossless and refuses more than the strict rule, without G* it is biased",
    "stated for lenience and COOL-SD (arXiv 2601.09212), whose late slots can have omega_i < 1; shown here",
    parts=(
        Part(
            Statement("b = min(1, omega p/q), omega <= 1, with G* has out = p", STRENGTHS, out_is_target, Lenient),
            proof=Proof(EVERY, lossless),
        ),
        Part(
            Statement("for omega <= 1 no token is kept more often than by strict", STRENGTHS, no_token_more, Lenient),
            proof=Proof(EVERY, fewer),
        ),
        Part(
            Statement(
                "for every omega > 0 P(reject) + TV(out, p) - TV(p, q) = sum [min(p, q) - omega p]+",
                *(EITHER_SIDE, exact_distance, shortfall),
            ),
            proof=Proof(EVERY, distance),
        ),
        Part(
            Statement(
                "for omega < 1 that is 0 iff q <= omega p wherever p > 0: iff the rule is strict itself",
                *(STRENGTHS, on_line_iff, spared),
            ),
            proof=Proof(EVERY, never_refused),
        ),
        Part(
            Statement(
                "COOL-SD without its clamp, a slot with omega_i <= 1: out = p, b <= min(1, p/q), the same distance",
                *(COOLING, cooled_below, Annealed),
            ),
            proof=Proof(EVERY, lambda: [*fewer(), *distance()]),
        ),
        Part(
            Statement(
                "a run of Chain with Lenient(omega <= 1) takes no fewer expected target calls than with Strict",
                *(RUNS, fewer_calls, Lenient),
            ),
            proof=Proof("one slot of the induction, every V", slot, step=True),
        ),
        Part(
            Statement(
                "for omega <= 1, p != q, norm[p - q]+ in place of G* gives TV(out, p) >= (1 - omega) P(p <= q)",
                *(STRENGTHS, biased_apart, undershoot),
            ),
            proof=Proof(EVERY, bias),
        ),
        Part(
            Statement("for omega <= 1 norm[p - q]+ in place of G* has out = p", STRENGTHS, out_is_target, Vanilla),
            stated=FAILS,
            claimed="folklore; the residual of the strict rule under a stricter acceptance",
        ),
        Part(
            Statement(
                "COOL-SD with delta 1.1, nu .7 and mu the log-mean of its decay keeps at least min(1, p/q) in 4 slots",
                *(SLOTS, keeps_strict, Annealed(1.1, 0.7, mean_mu(0.7, 4), clamp=False)),
            ),
            stated=FAILS,
            claimed="natural reading of COOL-SD as a relaxation: the factors are normalised to mean 1 there",
        ),
        Part(
            Statement(
                "among rules whose runs are lossless, strict verification takes the fewest expected target calls",
                *(COMPENSATED, no_fewer_calls, making_good),
            ),
            stated=FAILS,
            claimed="folklore; it does among rules that are lossless at every slot, out = p after every history",
        ),
    ),
    mutants=(
        Mutant("norm[p - q]+", Vanilla, 1),
        Mutant("tokens with q > p always refused", Emptied, 1),
        Mutant("1/omega for omega", lambda omega: Lenient(1 / omega), 2),
        Mutant("1/omega for omega, out", lambda omega: Lenient(1 / omega), 1),
        Mutant("sum [min(p, q) - omega q]+", lambda case, w: shortfall(case, 0) - w * strict_kept(case).sum(), 3),
        Mutant("(1 - omega) (1 - TV(p, q))", lambda case, w: (1 - w) * strict_kept(case).sum(), 3),
        Mutant("q <= omega p everywhere", lambda case: bool((case.draft <= case.omega * case.target).all()), 4),
        Mutant("the clamp left on", lambda delta, nu, mu, clamp: Annealed(delta, nu, mu), 5),
        Mutant("omega_i = delta at every slot", lambda delta, nu, mu, clamp: Lenient(delta), 5),
        Mutant("1/omega, fewer calls", lambda omega: Lenient(1 / omega), 6),
        Mutant("P(p <= q) without 1 - omega", lambda case: case.target[case.target <= case.draft].sum(), 7),
        Mutant("(1 - omega) of everything", lambda case: 1 - case.omega, 7),
    ),
    weakened=(
        Weakened(Statement("COOL-SD without its clamp, any omega_i", COOLING, cooled, Annealed)),
        Weakened(Statement("norm[p - q]+, p = q included", STRENGTHS, biased_by, undershoot)),
        Weakened(Statement("omega = 1 included: iff q <= omega p where p > 0", STRENGTHS, on_line_iff, covered)),
        Weakened(Statement("out = p for omega up to 2", EITHER_SIDE, out_is_target, Lenient)),
        Weakened(Statement("no token more for omega up to 2", EITHER_SIDE, no_token_more, Lenient)),
        Weakened(
            Statement("on the line for every omega > 0", EITHER_SIDE, exact_distance, lambda case, w: Fraction(0))
        ),
        Weakened(Statement("strictly fewer tokens kept for omega <= 1", STRENGTHS, fewer_kept, Lenient)),
        Weakened(Statement("strictly more calls", RUNS, lambda case, f: holds(fewer_calls(case, f) > 0), Lenient)),
    ),
)
