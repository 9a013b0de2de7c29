"""T06: the TV of a block, and of a run, is at most the sum of the local errors, and no less than 1/(2L-1) of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proofs_checks.smt import Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.blocks import (
    block_error,
    errors,
    local_errors,
)
from proofs_checks.theorems.t06_margins import (
    BY_PATH,
    EQUAL,
    L3,
    RUN,
    SLOTS,
    attained,
    attained_when,
    bounded,
    equal_laws,
    excesses,
    expanded,
    far_from_it,
    kept_errors,
    kept_weights,
    nearly_three,
    over_rounds,
    rule_slots,
    run_bounded,
    same_signs,
)
from proofs_checks.theorems.t06_proofs import expansion, marginal, reverse_triangle, signs, triangle
from specsim.testing.domains import Domain
from specsim.testing.fields import NumberField
from specsim.testing.statements import Statement, holds

T06 = Theorem(
    "T06",
    "TV(out, target) <= sum of the local errors of the slots, weighed with the mass that reaches them",
    "after COOL-SD (arXiv 2601.09212), for any residual; the equality cases and the converse are shown here",
    parts=(
        Part(
            Statement(
                "one block, then the target; b and G any functions of the path: out = target + sum_i "
                "A_(i-1) (out_i - p_i) target(what follows) at every sequence",
                BY_PATH,
                expanded,
                errors,
            ),
            proof=Proof(L3, expansion),
        ),
        Part(
            Statement(
                "there TV(out, target) <= sum_i sum_(x<i) A_(i-1) TV(out_i, p_i)",
                BY_PATH,
                bounded,
                local_errors,
            ),
            proof=Proof(L3, lambda: [*expansion(), *triangle()]),
        ),
        Part(
            Statement("L = 1: equality", replace(SLOTS, lengths=(1,), cost=4), attained, local_errors),
        ),
        Part(
            Statement(
                "equality iff no sequence has terms A_(i-1) (out_i - p_i) target(what follows) of opposite signs",
                SLOTS,
                attained_when,
                same_signs,
            ),
            proof=Proof(L3, signs),
        ),
        Part(
            Statement(
                "conversely the sum of the local errors <= (2L - 1) TV(out, target)",
                SLOTS,
                far_from_it,
                lambda lookahead: 2 * lookahead - 1,
            ),
            proof=Proof("every V, L <= 3", lambda: [*marginal(), *reverse_triangle()]),
        ),
        Part(
            Statement(
                "no factor below 3 will do at L = 2: a family whose sum of local errors is (3 - s) TV, 0 < s < 1",
                Domain({"s": NumberField(Fraction(1, 12), Fraction(11, 12))}, vocabs=(2,), cost=2),
                nearly_three,
                lambda s: 3 - s,
            )
        ),
        Part(
            Statement(
                "a run of N tokens: TV(out, target) <= the local errors of all rounds, each in the mass that starts it",
                RUN,
                run_bounded,
                over_rounds,
            )
        ),
        Part(
            Statement("the bound is attained, whatever the models", SLOTS, attained, local_errors),
            stated=FAILS,
            claimed="folklore, where the bound is minimised and the bias is meant",
        ),
        Part(
            Statement(
                "with N_i = sum [q b - p]+ in the place of TV(out_i, p_i) it is a bound, whatever the residual",
                BY_PATH,
                bounded,
                excesses,
            ),
            stated=FAILS,
            claimed="folklore; it is one with an optimal residual",
        ),
        Part(
            Statement(
                "equal context-free laws, N tokens: TV(out, target) <= the local errors of one block",
                EQUAL,
                lambda case, _: equal_laws(case),
            ),
            stated=FAILS,
            claimed="folklore, where the bound of a block is quoted for whole images",
        ),
    ),
    mutants=(
        Mutant("A_i in the place of A_(i-1)", kept_errors, 1),
        Mutant("target - out", lambda slots: -errors(slots), 1),
        Mutant("A_i in the place of A_(i-1)", kept_weights, 2),
        Mutant("half of it", lambda slots: local_errors(slots) / 2, 3),
        Mutant("equality iff at most one slot errs", lambda slots: (errors(slots) != 0).any(axis=1).sum() <= 1, 4),
        Mutant("factor L", lambda lookahead: lookahead, 5),
        Mutant("a factor that does not depend on s", lambda s: Fraction(3), 6),
        Mutant("every round in half the mass", lambda case: over_rounds(case) / 2, 7),
    ),
    weakened=(
        Weakened(
            Statement(
                "TV(out, target) < the sum of the local errors",
                SLOTS,
                lambda case, bound: holds(bound(rule_slots(case)) > block_error(rule_slots(case))),
                local_errors,
            )
        ),
        Weakened(
            Statement(
                "TV(out, target) >= the sum of the local errors",
                SLOTS,
                lambda case, bound: block_error(rule_slots(case)) - bound(rule_slots(case)),
                local_errors,
            )
        ),
        Weakened(
            Statement(
                "the sum of the local errors <= (2L - 2) TV(out, target)", SLOTS, far_from_it, lambda size: 2 * size - 2
            )
        ),
    ),
)
