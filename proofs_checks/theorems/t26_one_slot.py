"""T26: the limit of one slot for every f-divergence, and how near lenience comes to it."""

from __future__ import annotations

from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t26_levels import (
    ALL,
    ANY,
    CAPPED,
    SOME,
    TWICE,
    between,
    half_price,
    least_chi2,
    least_kl,
    least_reverse,
    lenient,
    one_token,
    reached,
    spread,
    strict,
)
from specsim.testing.domains import Domain
from specsim.testing.statements import Statement

ROUNDING = 1e-12
WHY = "logarithms of a few numbers of ordinary size, in float64"

T26 = Theorem(
    "T26",
    "The least divergence of one verified token at a given share of the draft kept",
    "new; for TV it is the Pareto line of T03",
    parts=(
        Part(
            Statement(
                "out = max(low p, min(q, high p)) has the least chi2(out, p) - price sum min(q, out) of all laws on "
                "p > 0, price = 2 (high - low)",
                ANY,
                least_chi2,
                between,
            ),
            proof=Proof(EVERY, one_token),
        ),
        Part(
            Statement(
                "the same law has the least KL(out || p) - price sum min(q, out), price = log(high/low)",
                SOME,
                least_kl,
                between,
                slack=ROUNDING,
                why_slack=WHY,
            )
        ),
        Part(
            Statement(
                "the same law has the least KL(p || out) - price sum min(q, out), price = 1/low - 1/high",
                ALL,
                least_reverse,
                between,
                slack=ROUNDING,
                why_slack=WHY,
            )
        ),
        Part(
            Statement(
                "two tokens: Lenient(high) has this law",
                Domain(CAPPED, (1, 2), cost=2),
                reached,
                lenient,
            )
        ),
        Part(
            Statement(
                "three tokens: Lenient(2), which keeps as much with the replacement that is best for TV, has this law",
                Domain(TWICE, (2, 3), highest={2: 4, 3: 4}),
                reached,
                lenient,
            ),
            stated=FAILS,
            claimed="the reading of an optimal residual that is optimal for every divergence (COOL-SD)",
        ),
    ),
    mutants=(
        Mutant("the residual that is best for TV", lenient, 1),
        Mutant("the rest put back along p", spread, 1),
        Mutant("no relaxation", strict, 1),
        Mutant("the residual that is best for TV, KL", lenient, 2),
        Mutant("the residual that is best for TV, reverse KL", lenient, 3),
        Mutant("the rest put back along p, reverse KL", spread, 3),
        Mutant("the rest put back along p, two tokens", spread, 4),
    ),
    weakened=(Weakened(Statement("the same at half of the price", ANY, half_price, between)),),
)
