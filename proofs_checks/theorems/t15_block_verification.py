"""T15: block verification is lossless, keeps the most that a lossless verifier of a block can, and needs its drafts
to be independent of what it kept."""

from __future__ import annotations

from fractions import Fraction

from proofs_checks.certificates import Certificate
from proofs_checks.smt import Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t08_given import MADE_GOOD, making_good
from proofs_checks.theorems.t12_jacobi import over, run_off, running, windows
from proofs_checks.theorems.t15_margins import (
    BLOCKS,
    CANCELLING,
    CUT,
    MARKOV,
    MAXIMAL,
    PROGRAMS,
    RUNS,
    TWO,
    as_point,
    chain_off,
    coupled_off,
    fewer_calls,
    is_most,
    kept_is_weight,
    lossless_block,
    markov_off,
    more_kept,
    same_when_cut,
    slot_is_target,
    window_calls,
)
from proofs_checks.theorems.t15_mutants import (
    Judging,
    clipped_once,
    first_failure,
    forgetful,
    one_uniform,
    plain_weight,
    strict_residual,
    surely_last,
    token_by_token,
    unclipped,
    undrawn,
    with_one,
    with_part,
)
from proofs_checks.theorems.t15_proofs import cheaper, lossless, marginal, more, most
from specsim import Strict, exact
from specsim.rules.block import BlockVerification
from specsim.testing.domains import Case
from specsim.testing.statements import Statement, holds

BLOCK = BlockVerification()


def no_fewer_than_block(case: Case, rule: object) -> Fraction:
    """E[calls] of a lossless run with a rule of the case's own, less that of block verification."""
    other, mine = (exact(MADE_GOOD, case.target, case.draft, some) for some in (making_good(case), rule))
    return other.calls - mine.calls


INDEPENDENT = over(windows("independent"), cost=30)
STEP = "every V, one slot of the induction"
MOST = (
    "no verifier of a block whose law is the target's keeps more up to any prefix: P(x drafted, i kept or more) = A_i, "
    "A_i(x v) = min(q(x v), A_(i-1)(x) p(v))"
)

T15 = Theorem(
    "T15",
    "block verification is lossless and keeps, up to every prefix, the most that a lossless verifier of a block can",
    "block verification (arXiv 2403.10444); maximal at every prefix, runs, and what breaks it are shown here",
    parts=(
        Part(
            Statement(
                "P(i drafts or more are kept, x_1..x_i drafted) = q(x_1..x_i) w_i, over the drafts not looked at",
                *(BLOCKS, kept_is_weight, BLOCK),
            ),
            proof=Proof(STEP, marginal, step=True),
        ),
        Part(
            Statement(
                "so a slot is lossless: kept + corrected mass = mass of the prefix times p",
                BLOCKS,
                slot_is_target,
                BLOCK,
            ),
            proof=Proof(STEP, lossless, step=True),
        ),
        Part(Statement("runs of a chain have the target's law, TV = 0", RUNS, chain_off, BLOCK)),
        Part(
            Statement("so have windows with independent redraws, both tails", INDEPENDENT, run_off, running(rule=BLOCK))
        ),
        Part(
            Statement("no prefix is kept less often than by Strict", BLOCKS, more_kept, BLOCK),
            proof=Proof(STEP, more, step=True),
        ),
        Part(
            Statement(MOST, BLOCKS, is_most, BLOCK),
            proof=Proof(STEP, most, step=True),
            certificate=Certificate(
                "max E[accepted] over all lossless verifiers of a block", PROGRAMS, lossless_block, as_point, BLOCK
            ),
        ),
        Part(
            Statement("a run of a chain takes no more expected calls than with Strict", RUNS, fewer_calls, BLOCK),
            proof=Proof(STEP, cheaper, step=True),
        ),
        Part(
            Statement(
                "nor does a window with independent redraws",
                *(over(windows("independent", (2, 3)), cost=40), window_calls, BLOCK),
            )
        ),
        Part(
            Statement(
                "a block that is cut off after l < L drafts is judged as a block of l: h_l = w_l",
                *(CUT, same_when_cut, BLOCK),
            )
        ),
        Part(
            Statement(
                "lossless in a window redrawn by the maximal coupling, uniform tail (W, N <= 2)",
                TWO,
                coupled_off,
                BLOCK,
            ),
            stated=FAILS,
            claimed="natural reading: strict verification is lossless there, and block verification replaces it",
        ),
        Part(
            Statement(
                "lossless in a window redrawn by the maximal coupling, one-hot tail (W = 3; three tokens, each law "
                "depending on the token before it)",
                *(MAXIMAL, markov_off, BLOCK),
            ),
            stated=FAILS,
            claimed="the same; independent tokens do not show it",
        ),
        Part(
            Statement(
                "lossless in a window redrawn with shared noise (W = 3; three tokens, each law depending on the token "
                "before it)",
                *(MARKOV, markov_off, BLOCK),
            ),
            stated=FAILS,
            claimed="the same; independent tokens do not show it",
        ),
        Part(
            Statement(
                "among rules whose runs are lossless, block verification takes the fewest expected target calls",
                *(CANCELLING, no_fewer_than_block, BLOCK),
            ),
            stated=FAILS,
            claimed="folklore; it does for the first block, not over a run",
        ),
    ),
    mutants=(
        Mutant("h_L = 1", with_part(passes=surely_last), 1),
        Mutant("one uniform for all prefixes", with_part(stop=one_uniform), 1),
        Mutant("h = w at every slot", with_part(passes=plain_weight), 1),
        Mutant("the residual of Strict", with_part(residual=strict_residual), 2),
        Mutant("stops at the first prefix that fails", with_part(stop=first_failure), 3),
        Mutant("w not clipped at 1", with_part(weights=unclipped), 1),
        Mutant("w clipped once, after the product", with_part(weights=clipped_once), 3),
        Mutant("w of the last token alone", with_part(weights=forgetful), 3),
        Mutant("1 in place of 1 - w_i", with_part(passes=with_one), 3),
        Mutant("a cut block judged as the start of a whole one", with_part(drafts=undrawn), 3),
        Mutant("one uniform for all prefixes, windows", running(rule=with_part(stop=one_uniform)), 4),
        Mutant("w of the last token alone, windows", running(rule=with_part(weights=forgetful)), 4),
        Mutant("stops at the first prefix that fails, kept", with_part(stop=first_failure), 5),
        Mutant("strict verification", Strict(), 6),
        Mutant("weights of strict verification", with_part(weights=token_by_token), 6),
        Mutant("stops at the first prefix that fails, calls", with_part(stop=first_failure), 7),
        Mutant("1 in place of 1 - w_i, calls of a window", with_part(passes=with_one), 8),
        Mutant("a cut block judged as the start of a whole one", with_part(drafts=undrawn), 9),
    ),
    weakened=(
        Weakened(
            Statement(
                "every prefix is kept more often than by Strict",
                *(BLOCKS, lambda case, rule: holds(more_kept(case, rule) > 0), BLOCK),
            )
        ),
        Weakened(
            Statement(
                "the rule that the mutants are made from is block verification",
                *(BLOCKS, kept_is_weight, Judging()),
            ),
            equivalent="it is written from the same formulas; mutants then differ from it in the part they name alone",
        ),
        Weakened(
            Statement(
                "no more calls than with Strict, and not as many",
                RUNS,
                lambda case, rule: holds(fewer_calls(case, rule) > 0),
                BLOCK,
            )
        ),
    ),
)
