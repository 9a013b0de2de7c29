"""T17, what is false: readings of delta and lambda as bounds, each with its smallest counterexample."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proofs_checks.theorem import FAILS, Part
from proofs_checks.theorems.t17_codes import DYNAMIC, STATIC, smallest
from proofs_checks.theorems.t17_margins import DELTA, LAM, apart, below_multiple, differ, released, tv_below, two_above
from specsim import Optimal
from specsim.testing.fields import OneOf
from specsim.testing.statements import Statement

LINED = "(codes half apart on a line, k = 1)"
TWICE = replace(smallest(LAM, STATIC, (1, 2, 3), two_above, OneOf((Fraction(2),))), highest={2: 4, 3: 5})
STRICT_DELTA = smallest(DELTA, STATIC, (1, 2, 3, 4), differ, OneOf((Fraction(0),)), cost=2)
STRICT_LAM = smallest(LAM, STATIC, (1, 2, 3, 4), differ, OneOf((Fraction(1),)), cost=2)
FALSE = (
    Part(
        Statement(
            f"LANTERN with G*: TV(out, p) <= delta {LINED}",
            smallest(DELTA, STATIC, (1, 2, 3), apart),
            tv_below(DELTA, lambda d: d),
            Optimal,
        ),
        stated=FAILS,
        claimed="the reading of delta as a bound on the divergence (LANTERN)",
    ),
    Part(
        Statement(
            f"LANTERN with the released static residual: TV(out, p) <= delta {LINED}",
            smallest(DELTA, STATIC, (1, 2, 3)),
            tv_below(DELTA, lambda d: d),
            released,
        ),
        stated=FAILS,
        claimed="the reading of delta as a bound on the divergence (LANTERN)",
    ),
    Part(
        Statement(
            f"LANTERN with the released dynamic residual: TV(out, p) <= delta {LINED}",
            smallest(DELTA, DYNAMIC, (1, 2, 3), cost=3),
            tv_below(DELTA, lambda d: d),
            released,
        ),
        stated=FAILS,
        claimed="the reading of delta as a bound on the divergence (LANTERN)",
    ),
    Part(
        Statement(
            f"LANTERN++ with the released static residual: out(v) <= lam p(v), at lam = 2 {LINED}",
            TWICE,
            below_multiple(lambda lam: lam),
            released,
        ),
        stated=FAILS,
        claimed="the reading of lambda as a bound on out/p (LANTERN++)",
    ),
    Part(
        Statement(
            f"LANTERN++ with the released dynamic residual: out(v) <= lam p(v) {LINED}",
            smallest(LAM, DYNAMIC, (1, 2, 3), cost=3),
            below_multiple(lambda lam: lam),
            released,
        ),
        stated=FAILS,
        claimed="the reading of lambda as a bound on out/p (LANTERN++)",
    ),
    Part(
        Statement(
            f"LANTERN at delta = 0 with the released static residual is the strict rule: TV(out, p) = 0 {LINED}",
            STRICT_DELTA,
            tv_below(DELTA, lambda d: d),
            released,
        ),
        stated=FAILS,
        claimed="folklore: without a budget nothing is relaxed",
    ),
    Part(
        Statement(
            f"LANTERN++ at lam = 1 with the released static residual is the strict rule: out(v) <= p(v) {LINED}",
            STRICT_LAM,
            below_multiple(lambda lam: lam),
            released,
        ),
        stated=FAILS,
        claimed="folklore: without a budget nothing is relaxed",
    ),
)
