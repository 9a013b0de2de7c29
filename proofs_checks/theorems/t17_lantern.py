"""T17: what delta and lambda bound in LANTERN and LANTERN++, with G* and with the released residuals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t02_optimal_residual import coordinate, room
from proofs_checks.theorems.t17_codes import DYNAMIC, STATIC, lanterns, smallest
from proofs_checks.theorems.t17_false import FALSE
from proofs_checks.theorems.t17_margins import (
    DELTA,
    LAM,
    all_borrowed,
    apart,
    below_multiple,
    doubled,
    fits,
    halves,
    inside,
    local,
    nearly,
    no_worse,
    out_of,
    released,
    short_of,
    stronger,
    tv_below,
)
from proofs_checks.theorems.t17_proofs import at_most_one, multiple, put_back, shifted
from specsim import Optimal, optimal_residual
from specsim.arrays import total_variation
from specsim.testing.domains import Domain
from specsim.testing.fields import NumberField, OneOf
from specsim.testing.statements import Statement

LAMS = NumberField(Fraction(1), Fraction(4))
NEAR = Domain({"part": NumberField(Fraction(0), Fraction(1)), "lam": LAMS}, (4,), where=fits, cost=5, highest={4: 3})
BEST = Proof(EVERY, lambda: [*coordinate(), *room()])

T17 = Theorem(
    "T17",
    "What delta and lambda bound in LANTERN and LANTERN++",
    "LANTERN (arXiv 2410.03355), LANTERN++ (arXiv 2502.06352), G* in COOL-SD (arXiv 2601.09212); the bounds are new",
    parts=(
        Part(
            Statement(
                "LANTERN: G* never gives a larger TV(out, p) than the released residuals",
                lanterns(DELTA),
                no_worse(DELTA),
                optimal_residual,
            ),
            proof=BEST,
        ),
        Part(
            Statement(
                "LANTERN++: G* never gives a larger TV(out, p) than the released residuals",
                lanterns(LAM),
                no_worse(LAM),
                optimal_residual,
            ),
            proof=BEST,
        ),
        Part(
            Statement(
                "LANTERN++ with G*: out(v) <= lam p(v) at every token",
                lanterns(LAM),
                below_multiple(lambda lam: lam),
                Optimal,
            ),
            proof=Proof(EVERY, multiple),
        ),
        Part(
            Statement(
                "LANTERN++ with G*: TV(out, p) <= 1 - 1/lam",
                lanterns(LAM),
                tv_below(LAM, lambda lam: 1 - 1 / lam),
                Optimal,
            ),
            proof=Proof(EVERY, at_most_one),
        ),
        Part(
            Statement(
                "TV(out, p) = 1 - 1/lam with G* at p = (1/lam, 1 - 1/lam), q = (1, 0): the constant is the best",
                Domain({"lam": LAMS}, (2,), cost=3, highest={2: 6}),
                all_borrowed,
                Optimal,
            )
        ),
        Part(
            Statement(
                "LANTERN++ with the released static residual: out(v) <= (lam + 1) p(v) at every token",
                lanterns(LAM, STATIC),
                below_multiple(lambda lam: lam + 1),
                released,
            ),
            proof=Proof(EVERY, put_back),
        ),
        Part(
            Statement(
                "and lam + 1 is the best constant for lam > 1: out/p = (lam + 1)(1 - 4s/3) at a token of any mass "
                "s <= min((lam - 1)/4, 3/(4 lam))",
                NEAR,
                lambda case, wrap: -abs(nearly(short_of)(case, wrap)),
                released,
            )
        ),
        Part(
            Statement(
                "LANTERN with G*: out(v) <= p(v) + delta, and TV(out, p) <= min(TV(p, q), delta #{v: q > p})",
                lanterns(DELTA),
                local,
                Optimal,
            ),
            proof=Proof(EVERY, shifted),
        ),
        Part(
            Statement(
                "with delta = 1/n there are 2n tokens at which LANTERN with G* has TV(out, p) = 1",
                Domain({"pairs": OneOf(tuple(range(1, 9)))}, (1,)),
                halves,
                Optimal,
            )
        ),
        *FALSE,
        Part(
            Statement(
                "at lam = 1 the constant lam + 1 = 2 is the best too: the released static residual has out/p = 2 - s "
                "at token 2 of p = (0, 0, s, 1 - s), q = (0, 1 - s, s, 0), 0 < s < 1",
                Domain({"small": NumberField(Fraction(0), Fraction(1))}, (4,), where=inside, highest={4: 8}),
                doubled,
                released,
            )
        ),
    ),
    mutants=(
        Mutant("LANTERN, replaced from the target", lambda draft, target, accept: target, 1),
        Mutant("LANTERN, norm[q b - p]+", lambda q, p, b: optimal_residual(p, q * b, np.ones_like(b)), 1),
        Mutant("LANTERN++, replaced from the target", lambda draft, target, accept: target, 2),
        Mutant("LANTERN++ with a budget of lam p", stronger, 3),
        Mutant("LANTERN++ with a budget of lam p, TV", stronger, 4),
        Mutant("LANTERN++ released with a budget of (lam + 1) p", lambda rule: replace(rule, lam=rule.lam + 2), 6),
        Mutant("LANTERN with a budget of 2 delta", stronger, 8),
        Mutant("LANTERN, the released residuals", released, 8),
        Mutant("G* in place of the released residual", Optimal, 17),
    ),
    weakened=(
        Weakened(
            Statement(
                "LANTERN++ with G*: out(v) <= (lam + 1)/2 p(v)",
                lanterns(LAM),
                below_multiple(lambda lam: (lam + 1) / 2),
                Optimal,
            )
        ),
        Weakened(
            Statement(
                "LANTERN++, released static: out(v) <= (lam + 2/3) p(v)",
                NEAR,
                nearly(lambda case: case.lam + Fraction(2, 3)),
                released,
            )
        ),
        Weakened(
            Statement(
                "LANTERN++, released dynamic: out(v) <= (lam + 1) p(v)",
                lanterns(LAM, DYNAMIC),
                below_multiple(lambda lam: lam + 1),
                released,
            )
        ),
        Weakened(
            Statement(
                "LANTERN with G*: TV(out, p) <= min(TV(p, q), delta)",
                smallest(DELTA, STATIC, (3,), apart),
                lambda case, wrap: (
                    min(case.delta, total_variation(case.draft, case.target))
                    - total_variation(out_of(case, DELTA, wrap), case.target)
                ),
                Optimal,
            )
        ),
    ),
)
