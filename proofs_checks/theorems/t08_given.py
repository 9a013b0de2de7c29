"""What T08 looks at: laws, factors below and above 1, slots of COOL-SD, runs of a chain."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from specsim import Chain, output_law
from specsim.arrays import Array, positive_part, total_variation
from specsim.testing.domains import MODELS, PAIR, Case, Domain
from specsim.testing.fields import NumberField, OneOf

BELOW = NumberField(Fraction(1, 4), Fraction(1))
HIGHEST = {1: 4, 2: 4, 3: 3, 4: 2}
STRENGTHS = Domain({**PAIR, "omega": BELOW}, cost=2, highest=HIGHEST)
EITHER_SIDE = Domain({**PAIR, "omega": NumberField(Fraction(1, 4), Fraction(2))}, cost=2, highest=HIGHEST)
COOLING = Domain(
    {
        **PAIR,
        "delta": NumberField(Fraction(1, 2), Fraction(2)),
        "nu": NumberField(Fraction(0), Fraction(2)),
        "mu": NumberField(Fraction(0), Fraction(1)),
        "slot": OneOf((0, 1, 3)),
    },
    cost=3,
)
RUNS = Domain(
    {**MODELS, "omega": OneOf((Fraction(1, 2), Fraction(9, 10))), "decoder": OneOf((Chain(1), Chain(2)))},
    vocabs=(2,),
    lengths=(2, 3, 4),
    cost=5,
)
SLOTS = Domain({**PAIR, "slot": OneOf((0, 1, 2, 3))})


def single(rule: Any, case: Case, position: int = 0) -> tuple[Array, Array]:
    """(b, out) of a rule at a slot."""
    where = np.array(position)
    return rule(case.draft, case.target, where).accept, output_law(rule, case.draft, case.target, where)


def strict_kept(case: Case) -> Array:
    """min(p, q), what the strict rule keeps."""
    return np.minimum(case.target, case.draft)


def off_line(case: Case, accept: Array, out: Array) -> Fraction:
    """P(reject) + TV(out, p) - TV(p, q)."""
    refused = 1 - (case.draft * accept).sum()
    return refused + total_variation(out, case.target) - total_variation(case.target, case.draft)


def shortfall(case: Case, omega: Any) -> Fraction:
    """sum [min(p, q) - omega p]+"""
    return positive_part(strict_kept(case) - omega * case.target).sum()
