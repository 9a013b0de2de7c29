"""T28: the largest probability that an output of the target's law is one of several drafts of one position."""

from __future__ import annotations

from proofs_checks.certificates import Certificate
from proofs_checks.several.drafts import distinct, greedy, independent, top
from proofs_checks.several.limits import by_ratio, optimal
from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems import t28_mutants as wrong
from proofs_checks.theorems.t28_limits import (
    COUPLED,
    DRAWINGS,
    LIMITS,
    MANY,
    MORE,
    SETS_CHOSEN,
    and_one_more,
    any_drawing,
    as_it_is,
    best_coupling,
    better,
    between,
    enough,
    inside_at_most,
    its_point,
    its_program,
    new_tries,
    of_distinct,
    of_greedy,
    of_independent,
    of_one,
    of_the_set,
    of_top,
    other_ties,
    overlap,
    power,
    support,
    without_replacement,
)
from proofs_checks.theorems.t28_proofs import dual, exchange, fewer_left, one_draft
from specsim.testing.domains import PAIR, Domain
from specsim.testing.statements import Statement, holds

BOUND = "every V and k, however drafted: that no coupling keeps more"
SORTED = "independent drafts, k = 2 and 3, every V"

T28 = Theorem(
    "T28",
    "What several drafts of one position can give at most: 1 + min over sets H of p(H) - P(every draft in H)",
    "Sun et al. 2023 (SpecTr, arXiv 2310.15141) and Hu et al. 2025 (arXiv 2502.18779); at k = 2 also Khisti et al. "
    "2024 (arXiv 2410.18234)",
    parts=(
        Part(
            Statement("k independent drafts: the most is 1 + min_H p(H) - q(H)^k", LIMITS, of_independent, power),
            proof=Proof(BOUND, dual, step=True),
        ),
        Part(
            Statement(
                "without replacement: the most is 1 + min_H p(H) - P(every draft in H)",
                *(LIMITS, of_distinct, without_replacement),
            ),
            proof=Proof(BOUND, dual, step=True),
        ),
        Part(
            Statement(
                "a largest flow from drafted sets to their tokens is a coupling that keeps as much, however drafted",
                *(COUPLED, best_coupling, optimal),
            ),
            proof=Proof(BOUND, dual, step=True),
            certificate=Certificate("max P(Y in D) for given laws", COUPLED, its_program, its_point, optimal),
        ),
        Part(
            Statement(
                "independent or without replacement: sets H of the first few tokens in the order of p/q suffice",
                *(DRAWINGS, enough, by_ratio),
            ),
            proof=Proof(SORTED, exchange, step=True),
        ),
        Part(Statement("the k likeliest tokens as drafts: the most is p of them", LIMITS, of_top, of_the_set)),
        Part(
            Statement(
                "the k - 1 likeliest and one drawn from the rest: p of those + sum min(p, q) over the rest, q "
                "renormalised",
                *(LIMITS, of_greedy, and_one_more),
            )
        ),
        Part(
            Statement("k = 1: the most is 1 - TV", Domain(dict(PAIR)), of_one, overlap),
            proof=Proof(EVERY, one_draft),
        ),
        Part(Statement("one more draft never lowers it, however drafted", COUPLED, any_drawing, as_it_is)),
        Part(
            Statement(
                "min(p(q > 0), 1 - (1 - least q)^k) <= the most of k independent drafts <= p(q > 0), its limit in k",
                *(MANY, between, support),
            )
        ),
        Part(
            Statement(
                "without replacement no less than independent: P(every draft in H) <= q(H)^k",
                *(LIMITS, inside_at_most, lambda share, count: share**count),
            ),
            proof=Proof("one draft more, every V", fewer_left, step=True),
        ),
        Part(
            Statement("k drafts give at least 1 - TV^k, each being a new try", LIMITS, new_tries, wrong.new_try),
            stated=FAILS,
            claimed="folklore",
        ),
        Part(
            Statement("the order of p/q suffices for the likeliest tokens too", SETS_CHOSEN, enough, by_ratio),
            stated=FAILS,
            claimed="natural reading of the order of p/q (Hu et al. have it for the two ways of drawing)",
        ),
        Part(
            Statement(
                "the k - 1 likeliest and one drawn give no less than drafts without replacement",
                *(LIMITS, better, (greedy, distinct)),
            ),
            stated=FAILS,
            claimed="natural reading of 'greedy' drafts; Hu et al. claim it in some cases",
        ),
        Part(
            Statement("the k likeliest give no less than k independent drafts", MORE, better, (top, independent)),
            stated=FAILS,
            claimed="folklore",
        ),
    ),
    mutants=(
        Mutant("H only single tokens", wrong.single_tokens, 1),
        Mutant("1 - (1 - q(H))^k for q(H)^k: a dual that is not feasible", wrong.some_inside, 1),
        Mutant("the one H that is best for one draft", wrong.one_set, 1),
        Mutant("without replacement, put to independent drafts", without_replacement, 1),
        Mutant("1 - TV^k", wrong.new_try, 1),
        Mutant("independent, put to drafts without replacement", power, 2),
        Mutant("sets fill their tokens in turn", wrong.in_turn, 3),
        Mutant("drafts and output independent", wrong.apart, 3),
        Mutant("a draft always", wrong.wasteful, 3),
        Mutant("in the order of p - q", wrong.by_difference, 4),
        Mutant("in the order of p", wrong.by_target, 4),
        Mutant("in the order of q", wrong.by_draft, 4),
        Mutant("q of the likeliest", wrong.drafted_mass, 5),
        Mutant("the last draft's law not renormalised", wrong.not_renormalised, 6),
        Mutant("the k likeliest", of_the_set, 6),
        Mutant("sum p q", lambda p, q, k: (p * q).sum(), 7),
        Mutant("only the last of the k likeliest", wrong.last_only, 8),
        Mutant("its limit is 1", wrong.all_of_it, 9),
        Mutant("no more than 1 - TV", wrong.first_only, 9),
        Mutant("q(H)^(k + 1)", lambda share, count: share ** (count + 1), 10),
    ),
    weakened=(
        Weakened(
            Statement("the order of p/q with ties the other way round", DRAWINGS, enough, other_ties),
            equivalent="where p/q is equal a set that is best stays so without those tokens",
        ),
        Weakened(
            Statement(
                "without replacement more than independent",
                *(LIMITS, lambda case, two: holds(better(case, two) > 0), (distinct, independent)),
            )
        ),
        Weakened(
            Statement("independent drafts no less than without replacement", LIMITS, better, (independent, distinct))
        ),
    ),
)
