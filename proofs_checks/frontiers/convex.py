"""A limit is convex in its cost: what its points say of the curve between and beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from proofs_checks.frontiers.limits import Point

FLAT = 1e-3
"""A limit's curve whose chords err by less than this share of its height is drawn well enough."""
CLOSE = Fraction(1, 10**8)
"""Costs nearer than this are one: a line through two points of a curve must have a slope."""
FINEST = 10**6
"""Largest denominator of a cost that is chosen here."""


def floor(points: Sequence[Point], cost: float) -> float:
    """What is proved of the limit at a cost by its points, in the order of cost.

    A convex curve lies above the line through two of its points, drawn on: from a point's bound, with the slope that
    the other's value leaves.  It is drawn on by one gap, further on rounding would count.
    """
    lines = [0.0]
    for one, other in pairwise(points):
        low, high = float(one.cost), float(other.cost)
        if other.bound is not None and 0 <= cost - high <= high - low:
            lines.append(through((low, one.value), (high, float(other.bound)), cost))
        if one.bound is not None and 0 <= low - cost <= high - low:
            lines.append(through((low, float(one.bound)), (high, other.value), cost))
    return max(line for line in lines if math.isfinite(line))


def through(one: tuple[float, float], other: tuple[float, float], cost: float) -> float:
    """The line through two points, at a cost."""
    return one[1] + (other[1] - one[1]) * (cost - one[0]) / (other[0] - one[0])


def line(pair: Sequence[Point], cost: float) -> float:
    """The line through two points of a limit, at a cost."""
    one, other = ((float(point.cost), point.value) for point in pair)
    return through(one, other, cost)


def bend(points: Sequence[Point]) -> Fraction | None:
    """The cost at which a convex curve through these points may lie furthest below its chords; None: nowhere by much.

    Between two points it lies above the lines through the neighbours on each side; where these meet, a curve of
    straight pieces has its corner.
    """
    points = [point for point in points if math.isfinite(point.value)]
    if len(points) < 3:
        return None
    span = max(point.value for point in points) - min(point.value for point in points)
    room, cost = max(room_between(points, i) for i in range(len(points) - 1))
    found = Fraction(cost).limit_denominator(FINEST)
    new = all(abs(found - point.cost) > CLOSE for point in points)
    return found if new and room > FLAT * span else None


def room_between(points: Sequence[Point], i: int) -> tuple[float, float]:
    """(how far below the chord of gap i the curve may lie, at which cost)."""
    gap = points[i : i + 2]
    low, high = (float(point.cost) for point in gap)
    sides = [pair for pair in (points[i - 1 : i + 1], points[i + 1 : i + 3]) if len(pair) == 2]
    middle = (low + high) / 2
    corner = meeting(*sides) if len(sides) == 2 else middle
    best = corner if low < corner < high else middle
    return line(gap, best) - max(line(pair, best) for pair in sides), best


def meeting(one: Sequence[Point], other: Sequence[Point]) -> float:
    """Where two lines meet; infinite where they do not."""
    start = line(one, 0.0) - line(other, 0.0)
    fall = start - (line(one, 1.0) - line(other, 1.0))
    return start / fall if fall else math.inf
