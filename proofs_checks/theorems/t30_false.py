"""T30, what is false: bounds of one draft put to siblings, and readings of the optimal residual inside LANTERN++."""

from __future__ import annotations

from fractions import Fraction

from proofs_checks.theorem import FAILS, Part
from proofs_checks.theorems import t30_margins as bound
from proofs_checks.theorems import t30_residuals as best
from proofs_checks.theorems.t30_rules import AGAIN, APART, TWO, as_it_is, released
from specsim import Optimal
from specsim.rules import Additive, LanternPlus, LanternPlusDynamic
from specsim.testing.domains import Domain
from specsim.testing.fields import OneOf
from specsim.testing.statements import Statement

TENTH, HALF = Fraction(1, 10), Fraction(1, 2)
BUDGET = Domain({**TWO, "delta": OneOf((HALF,))}, (1, 2, 3))
MULTIPLES = Domain({**TWO, "lam": OneOf((Fraction(1),))}, highest={1: 1, 2: 4, 3: 3, 4: 3}, cost=4)
ADDED = Domain({**APART, "epsilon": OneOf((TENTH,))}, (1, 2, 3), highest={1: 1, 2: 5, 3: 5})
CONTENT = Domain(
    {**APART, "lam": OneOf((HALF,)), "delta": OneOf((Fraction(35, 100),))}, (1, 2, 3), highest={1: 1, 2: 4, 3: 4}
)
APART_LAWS = Domain(dict(AGAIN), (2, 3), where=bound.disjoint)
PLAIN = Domain({**APART, "rule": OneOf((LanternPlus(1, 2.0),))}, highest={1: 1, 2: 4, 3: 3, 4: 3}, cost=4)

BOUNDS = (
    Part(
        Statement(
            "LANTERN with G*, delta = 1/2, two siblings: out(v) <= p(v) + delta",
            *(BUDGET, bound.shifted, (Optimal, bound.of_a_draft)),
        ),
        stated=FAILS,
        claimed="the bound of one draft (T17), read of a tree",
    ),
    Part(
        Statement(
            "LANTERN++ as released, lam = 1, two siblings: out(v) <= (lam + 1) p(v)",
            *(MULTIPLES, bound.multiple, (released, bound.as_of_one)),
        ),
        stated=FAILS,
        claimed="the bound of one draft (T17), read of a tree",
    ),
    Part(
        Statement(
            "Addition with epsilon = 1/10, two distinct siblings: TV(out, p) <= epsilon",
            *(ADDED, bound.added, (Additive, bound.of_a_draft)),
        ),
        stated=FAILS,
        claimed="the bound of one draft, read of a tree",
    ),
    Part(
        Statement(
            "CSD with lam = 1/2, delta = .35, two distinct siblings: TV(out, p) <= lam H(p) q(q > p)",
            *(CONTENT, bound.within_entropy, Fraction(1)),
        ),
        stated=FAILS,
        claimed="the bound of one draft (T16), read of a tree",
    ),
    Part(
        Statement(
            "LANTERN++ on the released dynamic path keeps nothing off the target's support, two independent siblings",
            *(APART_LAWS, bound.kept_off_support, LanternPlusDynamic(1, 2.0)),
        ),
        stated=FAILS,
        claimed="true of one draft (T21), read of a tree",
    ),
    Part(
        Statement(
            "LANTERN++ as released, lam = 2, k = 1, keeps no fewer of two distinct siblings than Strict",
            *(PLAIN, bound.no_fewer, as_it_is),
        ),
        stated=FAILS,
        claimed="folklore: what is relaxed keeps more",
    ),
)
INSIDE = (
    Part(
        Statement(
            "LANTERN++ with G*, lam = 2, k = 1, keeps as many of two distinct siblings as with the released residual",
            *(best.THREE, best.against_released(best.as_many), Optimal),
        ),
        stated=FAILS,
        claimed="COOL-SD's ablation (arXiv 2601.09212), read of LANTERN++'s static tree",
    ),
    Part(
        Statement(
            "LANTERN++ with G*, lam = 2, k = 1, two distinct siblings: kept - TV(out, p) is no less than as released",
            *(best.THREE, best.against_released(best.no_farther), Optimal),
        ),
        stated=FAILS,
        claimed="optimal, read of a tree",
    ),
    Part(
        Statement(
            "V = 4: LANTERN++ with G*, lam = 5, k = 1, two distinct siblings, has no more TV than as released",
            *(best.FOUR_FIFTHS, best.against_released(best.no_more_bias), Optimal),
        ),
        stated=FAILS,
        claimed="COOL-SD's ablation (arXiv 2601.09212), read of LANTERN++'s static tree",
    ),
    Part(
        Statement(
            "V = 4: LANTERN++ with G*, lam = 2, k = 1, keeps no more of two distinct siblings than as released",
            *(best.FOUR, best.against_released(best.no_more_kept), Optimal),
        ),
        stated=FAILS,
        claimed="folklore: less bias is paid with drafts",
    ),
)
