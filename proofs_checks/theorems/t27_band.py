"""T27: the band: what it is, that its account is right, and how near the limit of KL it comes."""

from __future__ import annotations

from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t27_limits import LEVELS, better, near, relaxed
from proofs_checks.theorems.t27_margins import (
    AGAINST,
    BLOCKS,
    NARROW,
    ONE_DRAFT,
    RELAXED,
    RUNS,
    STEPPED,
    block_of_one,
    clamped,
    found,
    lossless,
    no_better,
    no_more,
    right_account,
    same_run,
    sound,
    within,
)
from proofs_checks.theorems.t27_mutants import (
    Banding,
    at_once,
    by_target,
    everywhere,
    first_failure,
    never_lighter,
    nothing_put,
    rest_by_target,
    with_part,
)
from proofs_checks.theorems.t27_proofs import marginal, one, valid
from proofs_checks.theorems.t27_proofs import within as inside
from specsim.rules.band import Band
from specsim.testing.statements import Statement

STEP = "every V, one slot of the induction"
ROUNDED = 1e-7, "KL in float64, to a limit that is certified to about 1e-8"
LOGS = 1e-12, "logarithms of a few numbers of ordinary size, in float64"
SEEDED = "at 1/10, 2/5 and 4/5 of the way from lossless block verification to everything, six random models, V = L = 3"

T27 = Theorem(
    "T27",
    "the band: a valid block verifier at any level, block verification at omega = 1, never above omega, near the limit "
    "of KL",
    "new; the rule was found with the program of the limit of KL",
    parts=(
        Part(
            Statement(
                "for any rational models the stop and the residuals are laws, and nothing is kept or put where p = 0",
                *(BLOCKS, sound, Band),
            ),
            proof=Proof(STEP, valid, step=True),
        ),
        Part(
            Statement(
                "its account is right: P(i drafts or more are kept | x_1..x_i drafted) = w, and c is what corrections "
                "put on the prefix, relative to what is kept of it",
                *(BLOCKS, right_account, Band),
            ),
            proof=Proof(STEP, marginal, step=True),
        ),
        Part(
            Statement("omega = 1 is block verification: every kept and corrected mass", NARROW, block_of_one, Band),
            proof=Proof(STEP, one, step=True),
        ),
        Part(Statement("so are runs, in law and in calls", RUNS, same_run, Band)),
        Part(
            Statement(
                "a drafted slot puts out at most omega p(v) given its prefix, whatever the level", BLOCKS, within, Band
            ),
            proof=Proof(EVERY, inside),
        ),
        Part(
            Statement(
                "one draft, where the steps find the level: out = max(low p, min(q, omega low p)), omega low = 1 + up",
                *(ONE_DRAFT, clamped, Band),
            )
        ),
        Part(
            Statement(
                f"its KL is at most 1.2 times the limit of a block, {SEEDED}",
                *(LEVELS, near, Band, *ROUNDED),
            )
        ),
        Part(
            Statement(
                f"it keeps no fewer drafts than relaxed block verification (Lenient) at a smaller KL, {SEEDED}",
                *(LEVELS, better, Band, *ROUNDED),
            )
        ),
        Part(
            Statement("lossless for omega = 3/2", RELAXED, lossless, Band),
            stated=FAILS,
            claimed="natural reading of block verification",
        ),
        Part(
            Statement("three steps find the level of one draft", STEPPED, found, Band),
            stated=FAILS,
            claimed="natural reading of the rule; whatever is missed is made up for",
        ),
        Part(
            Statement(
                "relaxed block verification (Lenient) that keeps as many drafts never has a smaller KL (V = 2, L <= 2)",
                *(AGAINST, no_better, Band, *LOGS),
            ),
            stated=FAILS,
            claimed="folklore; it is true of random models",
        ),
    ),
    mutants=(
        Mutant("put back along the draft too", with_part(slot=everywhere), 1),
        Mutant("earlier corrections are forgotten", with_part(path=nothing_put), 2),
        Mutant("the weight is not carried", with_part(path=never_lighter), 2),
        Mutant("stops at the first prefix that fails", with_part(stop=first_failure), 2),
        Mutant("the weight is not carried, omega = 1", with_part(path=never_lighter), 3),
        Mutant("the rest put back along p, omega = 1", with_part(slot=by_target), 3),
        Mutant("stops at the first prefix that fails, runs", with_part(stop=first_failure), 4),
        Mutant("the rest put back along p", with_part(slot=by_target), 5),
        Mutant("the residual norm[p - q]+", with_part(slot=rest_by_target), 6),
        Mutant("low = 1, the level is not solved for", with_part(slot=at_once), 6),
        Mutant("relaxed block verification", relaxed, 7),
        Mutant("low = 1, compared", with_part(slot=at_once), 8),
    ),
    weakened=(
        Weakened(Statement("at most p(v) given its prefix", BLOCKS, no_more, Band)),
        Weakened(
            Statement("the rule that the mutants are made from has the same account", BLOCKS, right_account, Banding),
            equivalent="it is made of the same parts; mutants then differ from it in the part they name alone",
        ),
    ),
)
