"""A rule's strength turned until it accepts what is asked."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from specsim.comparing.tuning import Effort, between, tune
from specsim.strength import Strength, strength_of, with_strength
from specsim.tune.blocks import Blocks
from specsim.tune.divergences import Divergence
from specsim.tune.sequences import Sequences

SLACK = 1e-5
"""How far E[accepted] may lie from what is asked: a thousandth of its standard error from a hundred images."""
EFFORT = Effort(SLACK, grid=5, resolution=1e-6)
"""For strengths that are whole numbers, and where the accepted drafts jump."""
FINEST = 1e-9
"""Where a search for a root ends, as a share of the range of strengths (`tuning.between`)."""
BESIDE = 1.5
"""Where a neighbouring shape's strength is looked beside, as a factor of its share."""
DIGITS = 7
"""Of a strength: enough for the slack, few enough to be read."""


class Point(NamedTuple):
    """A rule, its strength and its figures on all sequences."""

    rule: Any
    strength: float
    accepted: float
    divergence: float


class Turned(NamedTuple):
    """point: the rule that accepts what is asked, None where none does.  beside: the two next to a jump over it.

    reach: the least and the greatest E[accepted] that was seen.
    """

    point: Point | None
    reach: tuple[float, float]
    beside: tuple[Point, ...] = ()


class Meter(NamedTuple):
    """Figures of rules on the same blocks: the same rule always has the same, so a search is deterministic."""

    sequences: Sequences
    lookahead: int
    divergence: Divergence

    def blocks(self, rule: Any) -> Blocks:
        """The rule's blocks."""
        return self.sequences.blocks(rule, self.lookahead)

    def accepted(self, rule: Any) -> float:
        """E[accepted drafts] of a block."""
        return self.sequences.mean(self.blocks(rule).accepted.astype(np.float64)).value

    def at(self, rule: Any, strength: float) -> Point:
        """The rule at a strength."""
        turned = with_strength(rule, strength)
        blocks = self.blocks(turned)
        values = (np.asarray(some, dtype=np.float64) for some in (blocks.accepted, self.divergence.values(blocks)))
        return Point(turned, strength, *(self.sequences.mean(some).value for some in values))


def turn(meter: Meter, rule: Any, goal: float, near: float | None = None) -> Turned:
    """The strength at which E[accepted] is `goal` within SLACK; near: where to look first.

    Mostly it passes the goal, and a root is found in a few steps; where it jumps or turns back, `tuning.tune` looks.
    """
    strength = strength_of(rule)
    if not strength.whole:
        point, reach = root(meter, rule, strength, goal, near)
        if point is not None and abs(point.accepted - goal) <= SLACK:
            return Turned(point, reach)
    found = tune(meter.accepted, rule, goal, EFFORT)
    points = tuple(meter.at(rule, point.value) for point in found.points)
    return Turned(points[0] if found.met else None, found.reach, () if found.met else points)


def root(
    meter: Meter, rule: Any, strength: Strength, goal: float, near: float | None
) -> tuple[Point | None, tuple[float, float]]:
    """Where E[accepted] passes the goal, None where both ends of the range lie on one side of it; and its reach."""
    seen = dict[float, Point]()

    def excess(share: float) -> float:
        if share not in seen:
            seen[share] = meter.at(rule, float(f"{between(strength, share):.{DIGITS}g}"))
        over = seen[share].accepted - goal
        return 0.0 if abs(over) <= SLACK else over  # 0 is where the search may stop

    ends = next((ends for ends in brackets(strength, near) if excess(ends[0]) * excess(ends[1]) <= 0), None)
    share = None if ends is None else brentq(excess, *ends, xtol=FINEST)
    costs = [point.accepted for point in seen.values()]
    return None if share is None else seen[share], (min(costs), max(costs))


def brackets(strength: Strength, near: float | None) -> list[tuple[float, float]]:
    """Shares of the range to look between: around a strength that is likely, else anywhere."""
    if near is None:
        return [(0.0, 1.0)]
    share = share_of(strength, near)
    return [(share / BESIDE, min(1.0, share * BESIDE)), (0.0, 1.0)]


def share_of(strength: Strength, value: float) -> float:
    """The share that `tuning.between` gives this strength for."""
    span = abs(strength.strongest - strength.weakest)
    return math.log1p(abs(value - strength.weakest)) / math.log1p(span)
