"""What T08 looks at: laws, factors below and above 1, slots of COOL-SD, runs of a chain."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.theorems.slot_fields import ContextFreeField
from proofs_checks.theorems.t08_rules import MakingGood
from specsim import Chain, exact, output_law
from specsim.arrays import Array, positive_part, total_variation
from specsim.testing.domains import MODELS, PAIR, Case, Domain
from specsim.testing.fields import LawField, NumberField, OneOf

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


def share_of_second(case: Case) -> Fraction | None:
    """w = min(p, q)/p of the first token, which strict verification keeps: position 2 is then the second slot of its
    round, else the first of a fresh one.  None where w depends on the token, or is 0 or 1."""
    target, draft = case.target.at_length(0)[0], case.draft.at_length(0)[0]
    shares = {min(p, q) / p for p, q in zip(target, draft, strict=True) if p > 0}
    return shares.pop() if len(shares) == 1 and not shares & {0, 1} else None


def making_good(case: Case) -> MakingGood | None:
    """The rule that verifies position 2 against `later` in the second slot of a round; None where nothing makes that
    good, or where the law is the target's own."""
    share, target = share_of_second(case), case.target.at_length(1)[0]
    if share is None or (case.later == target).all():
        return None
    first = (target - share * case.later) / (1 - share)
    return MakingGood(case.draft.at_length(1)[0], target, case.later, first) if (first >= 0).all() else None


def lossless_run(case: Case) -> bool:
    """The run has the target's law; the last position is never drafted, so one pair of laws there will do."""
    last = (case.target.at_length(case.length - 1)[0], case.draft.at_length(case.length - 1)[0])
    rule = making_good(case) if all(law[-1] == 1 for law in last) else None
    return rule is not None and exact(MADE_GOOD, case.target, case.draft, rule).tv(case.target) == 0


MADE_GOOD = Chain(2)
COMPENSATED = Domain(
    {"target": ContextFreeField(), "draft": ContextFreeField(), "later": LawField()},
    vocabs=(1, 2),
    lengths=(3, 4),
    where=lossless_run,
    cost=12,
    highest={1: 1, 2: 2},
)
"""Context-free models and a rule whose run is lossless though its slots are not."""
