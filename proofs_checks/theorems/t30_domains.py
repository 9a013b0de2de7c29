"""What the parts of T30 are searched over."""

from __future__ import annotations

from fractions import Fraction

from proofs_checks.theorems import t30_margins as bound
from proofs_checks.theorems import t30_rules as rule
from proofs_checks.theorems.t30_rules import FEW, SHARE
from specsim.testing.domains import PAIR, Domain
from specsim.testing.fields import OneOf

TREES = (((0,), (1,), (0, 0), (1, 0)), ((0,), (1,), (0, 0), (0, 1)))
RUN = {
    **PAIR,
    "omega": OneOf((Fraction(3, 2), Fraction(2))),
    "paths": OneOf(TREES),
    "siblings": OneOf(("distinct", "independent")),
}

ZERO, THIRD, HALF, ONE, TWO = (Fraction(n, 6) for n in (0, 2, 3, 6, 12))
SHARES, FACTORS_KNOWN = (ZERO, THIRD, HALF), (ONE, TWO)
FORMS, LAMS = tuple(bound.FORMS), (HALF, 3 * ONE)
CSD = {**FEW, "form": OneOf(FORMS), "lam": OneOf(LAMS), "delta": SHARE}
INDEPENDENT = {**FEW, "siblings": OneOf(("independent",)), "epsilon": SHARE}
FILTERS = rule.hard(form=FORMS, lam=LAMS, delta=SHARES)
SMALL = (2, 3)
"""Of one token all bounds are trivial."""

DECODED = Domain({**FEW, "rule": OneOf(rule.ANY)}, (1, 2, 3), cost=8)
LINE = Domain({**FEW, "rule": OneOf(rule.ANY)}, SMALL, known=rule.hard(rule=rule.ANY))
FREE = Domain({**FEW, "rule": OneOf(rule.NO_STRICTER)}, SMALL, known=rule.hard(rule=rule.NO_STRICTER))
FILTERED = Domain(CSD, SMALL, known=FILTERS)
FACTORS = Domain(
    {**FEW, "kind": OneOf(tuple(rule.KINDS)), "factor": rule.FACTOR},
    SMALL,
    known=rule.hard(kind=tuple(rule.KINDS), factor=FACTORS_KNOWN),
)
RUNS = Domain(RUN, (1, 2), (2, 3, 4), cost=10, highest={1: 1, 2: 3})
SUPPORT = Domain({**FEW, "rule": OneOf(rule.MASKED)}, SMALL, known=rule.hard(rule=rule.MASKED))
BUDGETS = Domain({**FEW, "delta": SHARE}, SMALL, known=rule.hard(delta=SHARES))
BEST_BUDGET = Domain({"share": SHARE, "count": OneOf((1, 2, 3))}, (3,), highest={3: 6})
MULTIPLES = Domain({**FEW, "lam": rule.FACTOR}, SMALL, known=rule.hard(lam=FACTORS_KNOWN))
NEARED = Domain({"part": SHARE, "lam": rule.FACTOR}, (5,), where=bound.can_lend, highest={5: 4})
ADDED = Domain({**FEW, "epsilon": SHARE}, SMALL, known=rule.hard(epsilon=SHARES))
AGAIN = Domain(INDEPENDENT, SMALL)
STRICT_LEFT = Domain({**FEW, "rule": OneOf(rule.ON_LINE)}, SMALL, known=rule.hard(rule=rule.ON_LINE))
