"""T05: expected accepted drafts and tokens per call of one block, and where the folk formula of them ends."""

from __future__ import annotations

from dataclasses import replace

from proofs_checks.smt import Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.blocks import accepted, kept_in_strict
from proofs_checks.theorems.t05_margins import (
    BLOCK,
    CONTEXT_FREE,
    COOLING,
    EQUAL,
    RELAXED,
    RUN,
    SLOT_FREE,
    SLOTS,
    added,
    block_of_equal_laws,
    counted,
    counts,
    cut_off,
    geometric,
    measured,
    not_above,
    nothing_wasted,
    of_means,
    of_the_first_token,
    powers,
    rate,
    reached_when,
    run_of_equal_laws,
)
from specsim import Strict
from specsim.testing.domains import MODELS
from specsim.testing.fields import OneOf
from specsim.testing.statements import Statement, equal, holds

T05 = Theorem(
    "T05",
    "E[accepted] of a block is the sum of the path masses; one token more is its tokens per call",
    "Leviathan et al. 2023 (arXiv 2211.17192), equation 1, for equal laws; path masses for any models",
    parts=(
        Part(
            Statement(
                "E[accepted] of a block of L drafts = sum_i sum_x A_i(x), A_i = prod q_j b_j", BLOCK, counted, accepted
            ),
            proof=Proof("every V, L <= 4", lambda: counts(0)),
        ),
        Part(
            Statement(
                "tokens of a call of L drafts = E[accepted] + 1", BLOCK, added, lambda slots: accepted(slots) + 1
            ),
            proof=Proof("every V, L <= 4", lambda: counts(1)),
        ),
        Part(
            Statement(
                f"{CONTEXT_FREE}: tokens of a call = (1 - alpha^(L+1))/(1 - alpha), alpha = E_q[b]; L + 1 at alpha = 1",
                EQUAL,
                block_of_equal_laws,
                geometric,
            ),
            proof=Proof("every V, L <= 4", powers),
        ),
        Part(
            Statement(
                f"{CONTEXT_FREE}: a whole run has N/E[calls] <= (1 - alpha^(L+1))/(1 - alpha)",
                RUN,
                not_above,
                geometric,
            )
        ),
        Part(
            Statement(
                f"{CONTEXT_FREE}: equality there iff alpha = 0, or alpha = 1 and L + 1 divides N",
                RUN,
                reached_when,
                nothing_wasted,
            )
        ),
        Part(
            Statement(
                "any models, strict: tokens of a call = (1 - alpha^(L+1))/(1 - alpha), alpha = kept / judged in it",
                SLOTS,
                measured,
                geometric,
            ),
            stated=FAILS,
            claimed="folklore; acceptance is taken for independent of the path",
        ),
        Part(
            Statement(
                f"{CONTEXT_FREE}: tokens of a call = (1 - alpha^(L+1))/(1 - alpha), alpha = 1 - TV(p, q)",
                replace(EQUAL, fields={**EQUAL.fields, "rule": OneOf(RELAXED)}),
                lambda case, closed: block_of_equal_laws(
                    case, closed, lambda case: kept_in_strict(case.draft, case.target)
                ),
                geometric,
            ),
            stated=FAILS,
            claimed="Leviathan et al. 2023, for the strict rule only; carried over to relaxed ones",
        ),
        Part(
            Statement(
                f"{CONTEXT_FREE}: a whole run has N/E[calls] = (1 - alpha^(L+1))/(1 - alpha)",
                RUN,
                lambda case, closed: equal(run_of_equal_laws(case), closed(rate(case), case.lookahead)),
                geometric,
            ),
            stated=FAILS,
            claimed="folklore; rounds at the end are cut off",
        ),
    ),
    mutants=(
        Mutant("the corrected token counted as accepted", lambda slots: accepted(slots) + 1, 1),
        Mutant("acceptances averaged over prefixes", of_means, 1),
        Mutant("only whole blocks counted", lambda slots: len(slots) * slots[-1].after.sum(), 1),
        Mutant("the bonus counted only when all drafts are kept", lambda s: accepted(s) + s[-1].after.sum(), 2),
        Mutant("L instead of L + 1", lambda alpha, lookahead: geometric(alpha, lookahead - 1), 3),
        Mutant("accepted drafts alone", lambda alpha, lookahead: geometric(alpha, lookahead) - 1, 4),
        Mutant("equality at alpha = 1 whatever N is", lambda case: rate(case) in (0, 1), 5),
    ),
    weakened=(
        Weakened(
            Statement("N = L, the last draft cut off: E[accepted] = sum_i sum_x A_i(x)", BLOCK, cut_off, accepted)
        ),
        Weakened(
            Statement(
                "equal context-free laws, any rule: tokens of a call = (1 - alpha^(L+1))/(1 - alpha), "
                "alpha of the first slot",
                replace(EQUAL, fields={**EQUAL.fields, "rule": OneOf((Strict(), COOLING))}),
                block_of_equal_laws,
                geometric,
            )
        ),
        Weakened(
            Statement(
                "any models: tokens of a call = (1 - alpha^(L+1))/(1 - alpha), alpha of the empty prefix",
                replace(SLOTS, fields={**MODELS, "rule": OneOf(SLOT_FREE)}),
                of_the_first_token,
                geometric,
            )
        ),
        Weakened(
            Statement(
                f"{CONTEXT_FREE}: a whole run has N/E[calls] < (1 - alpha^(L+1))/(1 - alpha)",
                RUN,
                lambda case, closed: holds(not_above(case, closed) > 0),
                geometric,
            )
        ),
    ),
)
