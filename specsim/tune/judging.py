"""What a search found, judged on sequences that it never saw: figures at the goal, and differences in pairs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from specsim.comparing.tuning import between
from specsim.divergences.estimates import Estimate
from specsim.strength import Strength, strength_of
from specsim.tune.search import Found, Row
from specsim.tune.turning import SLACK, Meter, Point, share_of

APART = 2.0
"""Standard errors of a paired difference from which two rules count as told apart."""
NUDGE = 0.005
"""By how much a strength is turned to see what more accepted drafts cost, as a share of its range."""


class Judged(NamedTuple):
    """A rule on the judging sequences.

    accepted: as it is.  divergence: brought to the goal along the rule's strength, to first order.  above: how much
    more that is than the best rule's, the same sequences in pairs.  unseen, off: what lies off the target's support.
    """

    row: Row
    accepted: Estimate
    divergence: Estimate
    above: Estimate
    off: Estimate
    unseen: Estimate

    @property
    def apart(self) -> bool:
        """Whether the difference from the best is more than chance makes, and more than the tuning's slack."""
        return abs(self.above.value) > max(APART * self.above.error, SLACK)


class Measured(NamedTuple):
    """A rule's values on the judging sequences, each [B, M]."""

    row: Row
    accepted: np.ndarray
    divergence: np.ndarray
    off: np.ndarray
    unseen: np.ndarray


def judge(found: Found, tuning: Meter, judging: Meter, goal: float) -> list[Judged]:
    """The best, the published shape and the grid's rows that accept what is asked, the best first."""
    rows = [found.best, found.published, *found.rows]
    reached = {row.values: row for row in rows if math.isfinite(row.divergence)}
    best, *others = (measured(row, tuning, judging, goal) for row in reached.values())
    return [judged(some, best, judging) for some in (best, *others)]


def measured(row: Row, tuning: Meter, judging: Meter, goal: float) -> Measured:
    """d - slope (a - goal): unbiased to first order, and the variance that both share through a is gone."""
    assert row.turned.point is not None
    point = row.turned.point
    blocks = judging.blocks(point.rule)
    accepted, values, off, unseen = (
        np.asarray(some, dtype=np.float64)
        for some in (blocks.accepted, judging.divergence.values(blocks), blocks.off, blocks.unseen)
    )
    if judging.sequences.sampled and judging.divergence.averaged:
        values = values - slope(tuning, point) * (accepted - goal)
    return Measured(row, accepted, values, off, unseen)


def judged(some: Measured, best: Measured, judging: Meter) -> Judged:
    """Estimates from the values."""
    mean = judging.sequences.mean
    figures = mean(some.accepted), mean(some.divergence), mean(some.divergence - best.divergence)
    return Judged(some.row, *figures, mean(some.off), mean(some.unseen))


def slope(meter: Meter, point: Point) -> float:
    """The divergence that one more accepted draft costs along the strength, where the rule is tuned."""
    strength = strength_of(point.rule)
    if strength.whole:
        return 0.0
    beside = meter.at(point.rule, nudged(strength, point.strength))
    more = beside.accepted - point.accepted
    return 0.0 if abs(more) <= SLACK else (beside.divergence - point.divergence) / more


def nudged(strength: Strength, value: float) -> float:
    """A strength near by."""
    share = share_of(strength, value)
    return between(strength, share + NUDGE if share + NUDGE <= 1 else share - NUDGE)
