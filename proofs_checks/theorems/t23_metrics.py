"""T23: what acceptance rate, accepted length, tokens per call and step compression are, and which identities they obey.

Of a run: acceptance rate of slot i = kept_i / reached_i; accepted length = E[accepted] / E[calls]; tokens per call =
E[tokens] / E[calls]; NFE = E[calls]; step compression = N / E[calls]; mean compression = E[N / calls].
"""

from __future__ import annotations

from fractions import Fraction

from proofs_checks.smt import Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.blocks import kept_in_strict
from proofs_checks.theorems.t23_margins import (
    BLOCK,
    CHAIN,
    COUNTS,
    EQUAL,
    ONE_LAW,
    REACHED,
    RUN,
    WINDOWS,
    agreed,
    as_compression,
    at_most_one_short,
    averaged,
    by_draft,
    by_slots,
    by_target,
    compressions,
    ends_kept,
    jensen,
    judged,
    law_of,
    mean_accept,
    mean_compression,
    one_added,
    one_added_before_eos,
    one_rate,
    rates,
    refused,
    second_slot,
    strictly_more,
    tangent,
    three_kinds,
    where_judged,
    without_bonus,
)
from specsim import (
    Chain,
    RelaxedBonus,
)
from specsim.testing.statements import Statement, equal

T23 = Theorem(
    "T23",
    "acceptance rate, accepted length, tokens per call and step compression: one definition each, and their identities",
    "folklore; definitions as in Leviathan et al. 2023 (rate), COOL-SD (accepted length), SCD and CSD (steps)",
    parts=(
        Part(
            Statement(
                "chain, any rule, no end of sequence, rounds at the end cut off or not: E[tokens] = E[accepted] + "
                "E[calls], so tokens per call = accepted length + 1",
                CHAIN,
                one_added,
                Chain,
            )
        ),
        Part(
            Statement(
                "chain, any rule, no end of sequence: N = E[accepted] + sum_i (reached_i - kept_i) + E[calls that "
                "refuse nothing]",
                CHAIN,
                three_kinds,
                refused,
            )
        ),
        Part(
            Statement(
                "any decoder: E[accepted] = sum_i kept_i, reached_(i+1) <= kept_i <= reached_i, "
                "sum_i reached_i <= drafted",
                RUN,
                by_slots,
                lambda law: sum(law.kept),
            )
        ),
        Part(
            Statement(
                "Jacobi, any rule, no end of sequence: 0 <= E[accepted] + E[calls] - N <= 1",
                WINDOWS,
                at_most_one_short,
                1,
            ),
        ),
        Part(
            Statement(
                "Jacobi, strict, no end of sequence, the same law at every position: E[accepted] + E[calls] - N = P("
                "the last call keeps its whole window: it has no room for a bonus)",
                ONE_LAW,
                without_bonus,
                ends_kept,
            )
        ),
        Part(
            Statement(
                "no end of sequence: tokens per call = step compression N/E[calls]",
                RUN,
                as_compression,
                lambda law: law.tokens_per_call,
            )
        ),
        Part(
            Statement(
                "mean compression E[N/calls] >= step compression N/E[calls]; equality iff all runs take as many calls",
                COUNTS,
                jensen,
                mean_compression,
            ),
            proof=Proof("every law of the number of calls, term by term", tangent),
        ),
        Part(
            Statement(
                "chain, equal context-free laws, a rule that judges slots alike: every slot has acceptance rate E_q[b]",
                EQUAL,
                one_rate,
                mean_accept,
            )
        ),
        Part(
            Statement(
                "chain, any rule, any models: the acceptance rate of slot i is the mean of E_q[b_i] in the masses "
                "W_n A_(i-1) with which prefixes reach it",
                REACHED,
                rates,
                where_judged,
            )
        ),
        Part(
            Statement(
                "strict, a block of two: the acceptance rate of slot 2 is the mean of 1 - TV(p_2, q_2) in the "
                "weights min(p_1, q_1)",
                BLOCK,
                second_slot,
                agreed,
            )
        ),
        Part(
            Statement(
                "strict, a block of two: the acceptance rate of slot 2 is the target's mean of 1 - TV(p_2, q_2)",
                BLOCK,
                second_slot,
                by_target,
            ),
            stated=FAILS,
            claimed="folklore; the prefixes that are judged are those on which draft and target agreed",
        ),
        Part(
            Statement(
                "strict, a block of two: the acceptance rate of slot 2 is the draft's mean of 1 - TV(p_2, q_2)",
                BLOCK,
                second_slot,
                by_draft,
            ),
            stated=FAILS,
            claimed="folklore",
        ),
        Part(
            Statement("Jacobi, no end of sequence: E[tokens] = E[accepted] + E[calls]", WINDOWS, at_most_one_short, 0),
            stated=FAILS,
            claimed="folklore, true of chains: accepted length + 1 for tokens per call",
        ),
        Part(
            Statement(
                "chain with an end of sequence: E[tokens] = E[accepted] + E[calls]", CHAIN, one_added_before_eos, Chain
            ),
            stated=FAILS,
            claimed="folklore",
        ),
        Part(
            Statement(
                "the mean of N/calls over runs is N/E[calls] (strict, the same laws at every position; L, W = 1, 2, or "
                "a relaxed bonus)",
                COUNTS,
                averaged,
                mean_compression,
            ),
            stated=FAILS,
            claimed="folklore, where speed-ups are averaged over images",
        ),
    ),
    mutants=(
        Mutant("a relaxed bonus, which is a draft", RelaxedBonus, 1),
        Mutant("judged drafts for refused ones", lambda law: sum(law.reached), 2),
        Mutant("judged drafts for kept ones", lambda law: sum(law.reached), 3),
        Mutant("slots counted from 1", lambda law: sum(law.kept[1:]), 3),
        Mutant("never without a bonus", lambda *_: Fraction(0), 5),
        Mutant("one token too many", lambda law: (law.tokens + 1) / law.calls, 6),
        Mutant("accepted length for tokens per call", lambda law: law.accepted / law.calls + 1, 6),
        Mutant("the slowest run's", lambda law: Fraction(law.length, max(law.call_law)), 7),
        Mutant("1 - TV, whatever the rule", lambda case: kept_in_strict(case.draft, case.target), 8),
        Mutant("first rounds only", lambda case: judged(case, 1, lambda slot: slot.before), 9),
    ),
    weakened=(
        Weakened(Statement("Jacobi, any rule: 0 < E[accepted] + E[calls] - N", WINDOWS, strictly_more, 0)),
        Weakened(
            Statement(
                "with an end of sequence: tokens per call = N/E[calls]",
                CHAIN,
                lambda case, _: equal(*compressions(law_of(case, Chain(case.lookahead), eos=0))),
            )
        ),
        Weakened(
            Statement(
                "chain, any models: every slot has the acceptance rate of the empty prefix",
                REACHED,
                rates,
                lambda case: [judged(case, 1, lambda slot: slot.before)[0]] * len(where_judged(case)),
            )
        ),
    ),
)
