"""T07: where relaxation should be put in a block, by the sum of the local errors, and how far that is from the TV."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proofs_checks.certificates import Certificate
from proofs_checks.smt import Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.blocks import block_error, local_errors
from proofs_checks.theorems.schemes import bound, relax_first, relax_last, relax_worst
from proofs_checks.theorems.t07_margins import (
    AT_LENGTH,
    COOLING,
    EQUAL,
    MODELLED,
    MOVED,
    RATES,
    SORTED,
    UNEQUAL,
    beaten,
    best_first,
    cooling_is_least,
    far_apart,
    formula_holds,
    gain,
    in_order,
    in_rates,
    least,
    moving_forward,
    point,
    price_list,
    program,
    rising,
    same_positions,
)
from proofs_checks.theorems.t07_proofs import identity, prices, relax_first_is_least, second_is_better, two_slots
from specsim import Lenient, Strict
from specsim.testing.domains import PAIR, Domain
from specsim.testing.fields import OneOf
from specsim.testing.statements import Statement, holds

HYPOTHESES = "b >= min(1, p/q), optimal residual"
EXACT = "the exact TV(out, target)"

T07 = Theorem(
    "T07",
    "at given E[accepted] the sum of the local errors is least where relaxation is put first; the TV need not be",
    "COOL-SD (arXiv 2601.09212) for two slots; prices, any L and the limits are shown here",
    parts=(
        Part(
            Statement(
                f"{HYPOTHESES}, equal context-free laws, a = 1 - TV(p, q): the sum of the local errors "
                "= (1 - a) E - a + a P_L, E = E[accepted], P_L = P(all L kept)",
                EQUAL,
                formula_holds,
                lambda a, length, all_kept: (1 - a) * length - a + a * all_kept,
            ),
            proof=Proof("every V, L <= 4", identity),
        ),
        Part(
            Statement(
                f"{HYPOTHESES}, any models: the sum of the local errors = sum_i sum_x D_i, "
                "D_i = A_(i-1) (q b - min(p, q)), "
                "and E - E_strict = sum_i sum_x D_i T_i, T_L = 1, T_i = 1 + sum_v min(p, q)(v) T_(i+1)",
                MODELLED,
                gain,
                price_list,
            ),
            proof=Proof("every V, any models, L <= 4", prices),
        ),
        Part(
            Statement(
                f"{HYPOTHESES}, context-free positions: E = sum P_k and the sum of the local errors = sum P_(k-1) "
                "(alpha_k - a_k), P_k = alpha_1 .. alpha_k, alpha_k = E_q[b_k], a_k = 1 - TV(p_k, q_k)",
                UNEQUAL,
                in_rates,
                bound,
            )
        ),
        Part(
            Statement(
                "context-free positions with T_1 >= .. >= T_L, T_k = 1 + a_(k+1) T_(k+1) (so at equal positions, and "
                "at L = 2): at given E relaxing first, then one slot in between, then strict has the least sum",
                SORTED,
                least,
                relax_first,
            ),
            proof=Proof("every V, L <= 3", relax_first_is_least),
            certificate=Certificate("min of the sum at given E", AT_LENGTH, program, point, relax_first),
        ),
        Part(
            Statement(
                "L = 3, 0 < a_1 < 1 and T_1 < T_2, that is a_2 (1 + a_3) < a_3: at every E above strict that both "
                "reach, relaxing slot 2 alone has a smaller sum than relaxing slot 1 alone",
                replace(AT_LENGTH, lengths=(3,), where=rising),
                beaten,
                (1, 0, 2),
            ),
            proof=Proof("every V, L = 3", second_is_better),
        ),
        Part(
            Statement(
                f"{HYPOTHESES}, L = 2, any models: moving relaxation forward (b_1 up, b_2 down, E kept) never raises "
                "the sum of the local errors",
                MOVED,
                moving_forward,
                local_errors,
            ),
            proof=Proof("every V, L = 2", two_slots),
        ),
        Part(
            Statement(
                "the same where TV(p, q) > 2/5 after every prefix: COOL-SD's proof assumes TV <= 2/5, and need not",
                replace(MOVED, where=far_apart, cost=8),
                moving_forward,
                local_errors,
            ),
            proof=Proof("every V, L = 2", two_slots),
        ),
        Part(
            Statement(
                "p_i = (5, 15)/20, (1, 19)/20, (9, 11)/20, q_i reversed, the same E: relaxing slot 2 alone < one omega "
                "< annealed (nu = .7) < relaxing first, by the sum of the local errors",
                Domain({"E": OneOf((Fraction(1), Fraction(119, 100)))}, vocabs=(2,), lengths=(3,), cost=10),
                in_order,
                lambda spans: spans,
            )
        ),
        Part(
            Statement(
                "context-free positions that differ: at given E relaxing first has the least sum of the local errors",
                RATES,
                least,
                relax_first,
            ),
            stated=FAILS,
            claimed="COOL-SD (arXiv 2601.09212), read as a statement on any block",
        ),
        Part(
            Statement(
                f"equal context-free laws, L = 2: at given E relaxing first makes {EXACT} least",
                replace(UNEQUAL, lengths=(2,), where=same_positions),
                best_first,
                block_error,
            ),
            stated=FAILS,
            claimed="summaries of COOL-SD: annealing minimises the TV",
        ),
        Part(
            Statement(
                "equal context-free laws: at its E the exponential shape (delta 3.5, nu .7) has the least sum",
                replace(EQUAL, fields={**PAIR, "lookahead": OneOf((1, 2, 3))}),
                cooling_is_least,
                COOLING,
            ),
            stated=FAILS,
            claimed="COOL-SD (arXiv 2601.09212), where the shape is a choice",
        ),
    ),
    mutants=(
        Mutant("P_L without a", lambda a, length, all_kept: (1 - a) * length - a + all_kept, 1),
        Mutant("the last term forgotten", lambda a, length, all_kept: (1 - a) * length - a, 1),
        Mutant("TV E, as if every slot were reached", lambda a, length, all_kept: (1 - a) * length, 1),
        Mutant("every draft worth one", lambda slots: [slot.after * 0 + 1 for slot in slots], 2),
        Mutant("slots weighed with P_k", lambda strict, rates: bound(strict, rates) * rates[0], 3),
        Mutant("relaxing last", relax_last, 4),
        Mutant("relaxing where the laws differ most", relax_worst, 4),
        Mutant("relaxing slot 3 first", (2, 0, 1), 5),
        Mutant("the error of slot 1", lambda slots: local_errors(slots[:1]), 6),
        Mutant("the reverse order", lambda spans: spans[::-1], 8),
    ),
    weakened=(
        Weakened(
            Statement(
                "L = 3, 0 < a_1 < 1, any T: relaxing slot 2 alone has a smaller sum than slot 1 alone",
                replace(AT_LENGTH, lengths=(3,), where=lambda case: 0 < case.strict[0] < 1 and case.share > 0),
                beaten,
                (1, 0, 2),
            )
        ),
        Weakened(
            Statement(
                "any rule: the sum of the local errors = (1 - a) E - a + a P_L",
                replace(EQUAL, fields={**EQUAL.fields, "rule": OneOf((Strict(), Lenient(0.5)))}),
                formula_holds,
                lambda a, length, all_kept: (1 - a) * length - a + a * all_kept,
            )
        ),
        Weakened(
            Statement(
                "L = 2: moving relaxation forward always lowers the sum of the local errors",
                MOVED,
                lambda case, measure: holds(moving_forward(case, measure) > 0),
                local_errors,
            )
        ),
    ),
)
