"""T25: block verification against the law of a relaxed rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from proofs_checks.smt import Obligation, Proof, both, least, positive, reals
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t15_mutants import (
    Judging,
    first_failure,
    one_uniform,
    strict_residual,
    unclipped,
    with_part,
)
from proofs_checks.theorems.t25_margins import (
    BLOCKS,
    COOLING,
    FIVE,
    FOUR,
    LATER_ON,
    ON_LINE,
    RUNS,
    SHORT,
    THREE,
    errs_no_less,
    errs_no_more,
    fewer_calls,
    fewer_later,
    kept_more,
    relaxed_throughout,
    same_error,
    same_run,
    slot_is_relaxed,
)
from specsim import RelaxedBonus
from specsim.flows import token_flow
from specsim.rules.block import BlockVerification
from specsim.testing.domains import Case
from specsim.testing.statements import Statement, holds
from specsim.verification import Block, Drafted, slots


@dataclass(frozen=True)
class Around:
    """Block verification of the law p' of a rule, with a part wrong.

    late: how many slots later the rule is asked about; bonus: the bonus has the law p' as well.
    """

    rule: Any
    judging: Judging
    late: int = 0
    bonus: bool = False

    def block(self, drafted: Drafted) -> Block:
        """p' in the target's place."""
        position = np.broadcast_to(slots(drafted)[None, :] + self.late, drafted.tokens.shape)
        law = token_flow(self.rule, drafted.draft, drafted.target, position).law
        real = drafted.real[..., None] | self.bonus
        return self.judging.block(drafted._replace(target=np.where(real, law, drafted.target)))


def around(late: int = 0, bonus: bool = False, **part: Any) -> Any:
    """A wrapper with one part wrong."""
    return lambda rule: Around(rule, with_part(**part), late, bonus)


def bare(rule: Any) -> Any:
    """A mistake: the rule itself."""
    return rule


def plain(rule: Any) -> Any:
    """A mistake: the target's law."""
    return BlockVerification()


def relaxed_slot() -> list[Obligation]:
    """T15's slot with p', and what a token-wise rule keeps: a = q b <= p' as p' = a + R."""
    p, q, w, s, a, r = reals("p q w s a R")
    mass = [p >= 0, q >= 0, s >= 0, s <= w, w <= 1]
    return [
        Obligation("min(q, w p') + [w p' - q]+ = w p'", mass, least(q, w * p) + positive(w * p - q) == w * p),
        Obligation("q b <= min(q, p')", [a >= 0, a <= q, r >= 0, p == a + r], both(a <= q, a <= p)),
        Obligation("s q b <= min(q, w p')", [*mass, a >= 0, a <= q, a <= p], s * a <= least(q, w * p)),
    ]


def fewer_with_relaxed_bonus(case: Case, wrapper: Any) -> Any:
    """E[calls] where the bonus is a relaxed draft too."""
    return fewer_calls(case, wrapper, RelaxedBonus)


def same_with_relaxed_bonus(case: Case, wrapper: Any) -> Any:
    """The law of a run where the bonus is a relaxed draft too."""
    return same_run(case, wrapper, RelaxedBonus)


STEP = Proof("every V, one slot of the induction", relaxed_slot, step=True)
ALIKE = "for rules that judge slots alike"

T25 = Theorem(
    "T25",
    "block verification against the law p' that a token-wise rule gives its tokens keeps that law and more drafts",
    "new; the lossless case is block verification (arXiv 2403.10444), T15",
    parts=(
        Part(
            Statement(
                "slot by slot, on the drafts kept so far, the token has the rule's law p'_i, for any token-wise rule",
                *(BLOCKS, slot_is_relaxed, BlockVerification),
            ),
            proof=STEP,
        ),
        Part(
            Statement(
                "no prefix is kept less often than by the rule alone, for any token-wise rule",
                *(BLOCKS, kept_more, BlockVerification),
            ),
            proof=STEP,
        ),
        Part(
            Statement(
                f"where the bonus is a relaxed draft too, runs have the law p' at every position, {ALIKE}",
                *(RUNS, relaxed_throughout, BlockVerification),
            )
        ),
        Part(
            Statement(
                f"there they take no more expected calls than the rule alone, {ALIKE}",
                *(RUNS, fewer_with_relaxed_bonus, BlockVerification),
            )
        ),
        Part(
            Statement(
                f"runs of N <= L + 1 tokens have the law that the rule alone gives them, {ALIKE}",
                *(SHORT, same_run, BlockVerification),
            )
        ),
        Part(
            Statement(
                "a block of L <= 3 drafts followed by the target has no smaller TV than with the rule alone, rules on "
                "the Pareto line",
                *(ON_LINE, errs_no_less, BlockVerification),
            )
        ),
        Part(
            Statement(
                "a block followed by the target has the same TV as with the rule alone (three drafts, V = 2, no law "
                "depending on the prefix, Ensemble(.5))",
                *(THREE, same_error, BlockVerification),
            ),
            stated=FAILS,
            claimed="natural reading of 'the same law slot by slot'",
        ),
        Part(
            Statement(
                "runs have the same law as with the rule alone (L = 2, N = 4, V = 2, no law depending on the prefix, "
                "Ensemble(.5))",
                *(FOUR, same_run, BlockVerification),
            ),
            stated=FAILS,
            claimed="natural reading; the bonus, of law p, falls at other positions",
        ),
        Part(
            Statement(
                "runs have no larger TV than with the rule alone (L = 2, N = 5, V = 2, Ensemble(.5))",
                *(FIVE, errs_no_more, BlockVerification),
            ),
            stated=FAILS,
            claimed="folklore; more drafts are kept, so more bonus tokens of law p are drawn",
        ),
        Part(
            Statement(
                "runs take no more expected calls than with the rule alone (six tokens: two alike, a third that is "
                "drafted 0, p = (1/4, 3/4); the models agree after a third 0 and never after a third 1)",
                *(LATER_ON, fewer_later, BlockVerification),
            ),
            stated=FAILS,
            claimed="folklore; more drafts are kept in every block",
        ),
        Part(
            Statement(
                "where the bonus is a relaxed draft too, runs have the same law as with the rule alone, COOL-SD with "
                "delta 2, nu .7 (L = 2, N = 3, V = 2)",
                *(COOLING, same_with_relaxed_bonus, BlockVerification),
            ),
            stated=FAILS,
            claimed="natural reading; its law depends on the slot at which a token is judged",
        ),
    ),
    mutants=(
        Mutant("the target's law in the place of p'", plain, 1),
        Mutant("the residual of p' without the weight", around(residual=strict_residual), 1),
        Mutant("the rule of the next slot", around(late=1), 1),
        Mutant("one uniform for all prefixes", around(stop=one_uniform), 1),
        Mutant("stops at the first prefix that fails", around(stop=first_failure), 2),
        Mutant("block verification of the target", plain, 2),
        Mutant("w not clipped at 1", around(weights=unclipped), 3),
        Mutant("the target's law in the place of p', runs", plain, 3),
        Mutant("stops at the first prefix that fails, calls", around(stop=first_failure), 4),
        Mutant("the bonus has the law p' too", around(bonus=True), 5),
        Mutant("block verification of the target, TV", plain, 6),
    ),
    weakened=(
        Weakened(
            Statement(
                "every prefix is kept more often than by the rule alone",
                *(BLOCKS, lambda case, wrapper: holds(kept_more(case, wrapper) > 0), BlockVerification),
            )
        ),
        Weakened(
            Statement(
                "the wrapper that the mutants are made from is block verification of p'",
                *(BLOCKS, slot_is_relaxed, around()),
            ),
            equivalent="it is written from the same formulas; mutants then differ from it in the part they name alone",
        ),
    ),
)
