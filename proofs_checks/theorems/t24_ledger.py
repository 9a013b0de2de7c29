"""T24: the ledger: what it is at omega = 1, that its account is right, how near it comes to the limit of a block."""

from __future__ import annotations

from fractions import Fraction

from proofs_checks.certificates import Certificate
from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t24_limits import at_levels, compared, near, point, program, unbeaten
from proofs_checks.theorems.t24_margins import (
    BEYOND,
    BLOCKS,
    COOLER,
    LATER,
    LONGER,
    OFF,
    ONE,
    RUNS,
    SLOT,
    TWO,
    WIDER,
    excesses,
    lenient_slot,
    no_cooler,
    on_support,
    optimal_slot,
    priced,
    sound,
    strict_later,
    strict_run,
    strict_slot,
    within_local_errors,
)
from proofs_checks.theorems.t24_mutants import (
    Booking,
    all_wanted,
    everywhere,
    never_owed_less,
    plain_residual,
    shares_only,
    unscaled,
    unspent,
    whole_excess,
    with_part,
)
from proofs_checks.theorems.t24_proofs import balanced, lenient, support, valid
from specsim import Lenient
from specsim.rules.ledger import Ledger
from specsim.testing.statements import Statement


def paid(bought: Fraction, alive: Fraction, owed: Fraction) -> Fraction:
    """[E - [a - d]+]+"""
    return max(bought - max(alive - owed, Fraction(0)), Fraction(0))


ROUNDED = 1e-5, "TV over the limit in float64, the limit being certified to 1e-8"
UNRELAXED = "relaxed in the first slot only (omega_i = 1 after it)"
MEDIAN = "the median of TV/limit over 16 random models with V = L = 3 is at most 1.01"
KEEPING = "that decides slot by slot, never leaves the target's support and keeps as many drafts has a smaller TV"

T24 = Theorem(
    "T24",
    "the ledger: strict at omega = 1, an account that is right on every path, and near the limit of a block, not on it",
    "new; the rule was found with the linear program of the limit",
    parts=(
        Part(
            Statement(
                "a slot with omega = 1 that is reached with a = d (a + c = 1) is strict, and leaves a = d",
                *(SLOT, strict_slot, Ledger),
            ),
            proof=Proof(EVERY, balanced),
        ),
        Part(
            Statement("so omega = 1 at every slot is Strict: the law of a run and its calls", RUNS, strict_run, Ledger),
            proof=Proof("every V, one slot of the induction", balanced, step=True),
        ),
        Part(
            Statement(
                "for any rational models b is in [0, 1] and 0 where p = 0, the residual is a law, and the account has "
                "a = A/T, d = 1 - C/T",
                *(BLOCKS, sound, Ledger),
            ),
            proof=Proof("every V, one slot of the induction", valid, step=True),
        ),
        Part(
            Statement("no run has a sequence that the target never has", OFF, on_support, Ledger),
            proof=Proof("every V, one slot", support, step=True),
        ),
        Part(
            Statement("a block of one draft is Lenient(w), so it is on the Pareto line", ONE, lenient_slot, Ledger),
            proof=Proof(EVERY, lenient),
        ),
        Part(
            Statement(
                f"V <= 2, L <= 2, {UNRELAXED}: no verifier {KEEPING}",
                *(TWO, lambda case, ledgers: unbeaten(case, True), Ledger),
            ),
            certificate=Certificate("min TV at what it keeps, on the support", TWO, program, point, Ledger),
        ),
        Part(
            Statement(
                "the TV of a block is the sum over live paths of T [E - [a - d]+]+, E = sum [min(a q, w_i p d) - p d]+",
                *(BLOCKS, priced, paid),
            )
        ),
        Part(
            Statement(
                "so the TV of a block is at most sum_i sum_x A_(i-1) sum [q b - p]+, and T06's bound holds",
                *(BLOCKS, within_local_errors, excesses),
            )
        ),
        Part(
            Statement(
                f"{MEDIAN} at 4/5 and 9/10 of the way from strict to everything",
                at_levels("4/5", "9/10"),
                near,
                Ledger,
                *ROUNDED,
            )
        ),
        Part(
            Statement(
                "at 1/10, 2/5, 4/5 of the way its median excess over the limit is at most 1/20 of COOL-SD's (nu .7)",
                *(at_levels("1/10", "2/5", "4/5"), compared, Ledger, *ROUNDED),
            )
        ),
        Part(
            Statement(f"{MEDIAN} at 1/10 and 1/5 of the way", at_levels("1/10", "1/5"), near, Ledger, *ROUNDED),
            stated=FAILS,
            claimed="an earlier measurement, with smaller models among them",
        ),
        Part(
            Statement(
                "a slot with omega_i = 1 judges as Strict does, whatever slots before it do",
                LATER,
                strict_later,
                Ledger,
            ),
            stated=FAILS,
            claimed="natural reading of omega = 1",
        ),
        Part(
            Statement(
                f"V = 2, L = 2, {UNRELAXED}: no verifier that decides slot by slot and keeps as many drafts has a "
                "smaller TV",
                *(BEYOND, lambda case, ledgers: unbeaten(case, False), Ledger),
            ),
            stated=FAILS,
            claimed="natural reading of the limit; beyond the support a path that is over-produced can go on for free",
        ),
        Part(
            Statement(
                f"V = 3, L = 2, {UNRELAXED}: no verifier {KEEPING}",
                *(WIDER, lambda case, ledgers: unbeaten(case, True), Ledger),
            ),
            stated=FAILS,
            claimed="folklore; all tokens of a slot share one omega, and what a draft kept buys depends on the token",
        ),
        Part(
            Statement(
                f"V = 2, L = 3, {UNRELAXED}: no verifier {KEEPING}",
                *(LONGER, lambda case, ledgers: unbeaten(case, True), Ledger),
            ),
            stated=FAILS,
            claimed="folklore; what was bought is spent as soon as it can be",
        ),
        Part(
            Statement(
                "COOL-SD with nu .7 never keeps as many drafts of a block at a smaller TV (V = 2, L = 2 or 3)",
                *(COOLER, no_cooler, Ledger),
            ),
            stated=FAILS,
            claimed="folklore; it is true of almost all random models",
        ),
        Part(
            Statement(
                "its residual is optimal at every slot: TV(out_i, p_i) = sum [q b - p]+ where a path is alive",
                *(BLOCKS, optimal_slot, Ledger),
            ),
            stated=FAILS,
            claimed="natural reading of its residual; it is optimal for the block",
        ),
    ),
    mutants=(
        Mutant("the residual [p - keep]+", with_part(residual=plain_residual), 1),
        Mutant("an excess of one too many", with_part(excess=whole_excess), 1),
        Mutant("base p, not p d", with_part(base=all_wanted), 1),
        Mutant("a' = keep/(a p)", with_part(carry=shares_only), 1),
        Mutant("the excess of one too many, runs", with_part(excess=whole_excess), 2),
        Mutant("w itself, not at least 1", Lenient, 2),
        Mutant("corrections are not entered", with_part(carry=never_owed_less), 3),
        Mutant("d' = d - r G", with_part(carry=unscaled), 3),
        Mutant("a' = keep/(a p), any account", with_part(carry=shares_only), 3),
        Mutant("the excess is spent off the support", with_part(where=everywhere), 3),
        Mutant("the excess is spent off the support, runs", with_part(where=everywhere), 4),
        Mutant("base p d + the excess of one", with_part(excess=whole_excess), 5),
        Mutant("the excess is never spent", with_part(excess=unspent), 6),
        Mutant("base p whatever was put there", with_part(base=all_wanted), 6),
        Mutant("what was paid before is paid again", lambda bought, alive, owed: bought, 7),
        Mutant("all that is alive too much", lambda bought, alive, owed: max(bought, alive - owed), 7),
        Mutant("half the excesses", lambda slots: excesses(slots) / 2, 8),
        Mutant("lenience with one omega", Lenient, 9),
        Mutant("lenience with one omega, against COOL-SD", Lenient, 10),
    ),
    weakened=(
        Weakened(
            Statement("the rule that the mutants are made from has the same account", BLOCKS, sound, Booking),
            equivalent="it is written from the same formulas; mutants then differ from it in the part they name alone",
        ),
        Weakened(
            Statement(
                "omega = 1 after the first slot is Strict in later slots, w = 1 included", LATER, strict_later, Ledger
            )
        ),
    ),
)
