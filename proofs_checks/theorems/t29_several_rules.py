"""T29: rules that verify several drafts of one position, against the limit of T28 and against each other."""

from __future__ import annotations

from fractions import Fraction

from proofs_checks.several.races import list_bound, listed, matched, relaxed_bound
from proofs_checks.several.rules import recursive
from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems import t29_margins as rule
from proofs_checks.theorems import t29_races as race
from proofs_checks.theorems.t29_margins import ROUNDED, SEQUENCES, SIBLINGS, WORST
from proofs_checks.theorems.t29_proofs import against_the_residual, guarantee, lists, one_refused, relaxed
from specsim.testing.statements import Statement, holds

INDEPENDENT, DISTINCT = recursive("independent"), recursive("distinct")
KEPT_OF_TWO = Fraction(23, 27)
KEPT_BY_K_SEQ = Fraction(8, 9)
KEPT_OF_DISTINCT = Fraction(3, 4)

T29 = Theorem(
    "T29",
    "Rules for several drafts: the recursive residual, k-SEQ and races against the limit",
    "the tree decoder (SpecInfer, arXiv 2305.09781; EAGLE, 2401.15077), k-SEQ (SpecTr, 2310.15141), list sampling "
    "(Rowan, Phan and Khisti 2025, 2506.05632); that k-SEQ keeps no less than the recursive residual: new",
    parts=(
        Part(
            Statement(
                "the tree decoder with Strict puts out the target's law and keeps no more than the limit, siblings "
                "independent or distinct",
                *(rule.RUNS, rule.sound, recursive),
            )
        ),
        Part(
            Statement("k-SEQ with its root as factor is lossless", SEQUENCES, rule.lossless, rule.root),
        ),
        Part(
            Statement(
                "k-SEQ keeps no less than the recursive residual with independent siblings",
                *(SIBLINGS, rule.no_less, (rule.best, INDEPENDENT), *ROUNDED),
            ),
            proof=Proof(
                "that acceptances fall: every V; that a constant one is better: k = 2", against_the_residual, step=True
            ),
        ),
        Part(
            Statement(
                "k-SEQ keeps at least 1 - (1 - 1/k)^k of the limit", SEQUENCES, rule.guaranteed, rule.best, *ROUNDED
            ),
            proof=Proof("k = 2 and 3, every V", guarantee, step=True),
        ),
        Part(
            Statement(
                "two independent drafts: k-SEQ keeps at least 8/9 of the limit",
                *(WORST, rule.share_kept, ("independent", rule.best, KEPT_BY_K_SEQ), *ROUNDED),
            )
        ),
        Part(
            Statement(
                "two independent drafts: the recursive residual keeps at least 23/27 of the limit",
                *(WORST, rule.share_kept, ("independent", INDEPENDENT, KEPT_OF_TWO)),
            )
        ),
        Part(
            Statement(
                "two distinct drafts: the recursive residual keeps at least 3/4 of the limit",
                *(WORST, rule.share_kept, ("distinct", DISTINCT, KEPT_OF_DISTINCT)),
            )
        ),
        Part(
            Statement(
                "the recursive residual keeps no less of distinct siblings than of independent ones",
                *(SIBLINGS, rule.no_less, (DISTINCT, INDEPENDENT)),
            ),
            proof=Proof("k = 2, every V", one_refused, step=True),
        ),
        Part(
            Statement(
                "match verification of distinct siblings is lossless, keeps P(the winner under p is among the first k "
                "under q), and no more than the limit",
                *(race.RACED, race.sound_race, matched),
            )
        ),
        Part(
            Statement(
                "match verification of independent siblings keeps what one draft keeps: they are one token",
                *(race.RACED, race.one_winner, matched),
            )
        ),
        Part(
            Statement(
                "k = V - 1 distinct drafts: match verification keeps no less than the recursive residual",
                *(race.MOST, race.all_but_one, matched),
            )
        ),
        Part(
            Statement(
                "K lists: P(Y is one of the drafts) is at least sum_j K/(sum_i max(p_i/p_j, q_i/q_j) + (K - 1)/p_j), "
                "and at most the limit of independent drafts",
                *(race.LISTS, race.bounded, list_bound),
            ),
            proof=Proof("the event, every V", lists, step=True),
        ),
        Part(
            Statement(
                "the bound is met by one list, by equal laws and by a draft that is certain",
                *(race.MET, race.reached, list_bound),
            )
        ),
        Part(
            Statement(
                "it is at least sum_j p_j/(1 + p_j/(K q_j)), so K lists come to p(q > 0)",
                *(race.LISTS, race.looser, relaxed_bound),
            ),
            proof=Proof(EVERY, relaxed),
        ),
        Part(
            Statement(
                "the recursive residual reaches the limit, independent siblings",
                *(rule.PAIRS_OF_TWO, rule.at_limit, "independent"),
            ),
            stated=FAILS,
            claimed="folklore",
        ),
        Part(
            Statement(
                "the recursive residual reaches the limit, distinct siblings",
                *(rule.PAIRS_OF_TWO, rule.at_limit, "distinct"),
            ),
            stated=FAILS,
            claimed="folklore: true at V = 2",
        ),
        Part(
            Statement(
                "two distinct siblings by the recursive residual keep no less than two independent ones by k-SEQ",
                *(rule.PAIRS_OF_TWO, rule.no_less, (DISTINCT, rule.best), *ROUNDED),
            ),
            stated=FAILS,
            claimed="folklore: without replacement is better",
        ),
        Part(
            Statement(
                "match verification of two distinct siblings keeps no more than the recursive residual",
                *(race.TWO_OF_FOUR, race.more_kept, (race.residual("distinct"), matched)),
            ),
            stated=FAILS,
            claimed="folklore: true of one draft (T10)",
        ),
        Part(
            Statement(
                "match verification of two distinct siblings keeps at least 1 - TV",
                *(race.TWO_OF_FOUR, race.more_kept, (matched, race.strict)),
            ),
            stated=FAILS,
            claimed="folklore: true at V <= 3 as far as looked",
        ),
        Part(
            Statement("two lists keep at least 1 - TV", race.TWO_IN_LISTS, race.more_kept, (listed, race.strict)),
            stated=FAILS,
            claimed="folklore: true at V = 2 as far as looked",
        ),
        Part(
            Statement(
                "two lists keep no more than k-SEQ",
                *(race.TWO_IN_LISTS, race.more_kept, (lambda p, q, k: rule.best(p, q, k).kept, listed), *ROUNDED),
            ),
            stated=FAILS,
            claimed="folklore: the price of drafter invariance",
        ),
    ),
    mutants=(
        Mutant("the law is not updated after a refusal", rule.by_rule(rule.NeverUpdated()), 1),
        Mutant("half of the residual is the target", rule.by_rule(rule.NotDivided()), 1),
        Mutant("distinct siblings measured as independent ones", rule.as_drawn_otherwise, 1),
        Mutant("the factor 1", rule.smallest, 2),
        Mutant("halfway to the root", rule.halfway, 2),
        Mutant("the factor k", (rule.with_factor(rule.largest), INDEPENDENT), 3),
        Mutant("one draft only", (rule.one_draft, INDEPENDENT), 3),
        Mutant("the factor 2k", rule.with_factor(lambda p, q, k: 2 * rule.largest(p, q, k)), 4),
        Mutant("the factor k, 8/9", ("independent", rule.with_factor(rule.largest), KEPT_BY_K_SEQ), 5),
        Mutant("more than 8/9", ("independent", rule.best, KEPT_BY_K_SEQ + Fraction(1, 1000)), 5),
        Mutant("more than 23/27", ("independent", INDEPENDENT, KEPT_OF_TWO + Fraction(1, 1000)), 6),
        Mutant("more than 3/4 by a hundredth", ("distinct", DISTINCT, KEPT_OF_DISTINCT + Fraction(1, 100)), 7),
        Mutant("one draft only, distinct", ("distinct", rule.one_draft, KEPT_OF_DISTINCT), 7),
        Mutant("exchanged", (INDEPENDENT, DISTINCT), 8),
        Mutant("what one draft keeps", race.one_race, 9),
        Mutant("p and q exchanged", race.exchanged, 9),
        Mutant("1 - (1 - agreement)^k", race.product_of_lists, 9),
        Mutant("1 - TV", race.strict, 10),
        Mutant("one draft fewer", race.one_fewer, 11),
        Mutant("(K - 1)/q_j", race.with_draft_below, 12),
        Mutant("K times one list", race.nothing_below, 12),
        Mutant("min for max", race.with_least, 12),
        Mutant("the relaxed bound is met", relaxed_bound, 13),
        Mutant("1 - TV for the relaxed bound", race.strict, 14),
    ),
    weakened=(
        Weakened(
            Statement(
                "k-SEQ keeps more than the recursive residual",
                *(SIBLINGS, lambda case, two: holds(rule.no_less(case, two) > 0), (rule.best, INDEPENDENT)),
            )
        ),
        Weakened(
            Statement("the list bound is met by any laws", race.LISTS, race.reached, list_bound),
        ),
        Weakened(
            Statement("k-SEQ with the factor k is lossless", SEQUENCES, rule.lossless, rule.largest),
            equivalent="any factor from the root on is; a larger one keeps less",
        ),
    ),
)
