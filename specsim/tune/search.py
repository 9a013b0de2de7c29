"""The shape of a rule with the least divergence, each shape brought to the same E[accepted] by its strength."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

from scipy.optimize import minimize, minimize_scalar

from specsim.errors import SpecsimError
from specsim.strength import Shape, shape_value, shapes_of, with_shape
from specsim.tune.turning import Meter, Turned, turn

Values = tuple[float, ...]
"""One value for each shape of a rule."""
Progress = Callable[[int, int], None]
GRID = {1: 9, 2: 5}
"""Values of a shape in the coarse grid, by the number of shapes; 3 for more of them."""
FINER = 0.02
"""How closely a single shape is searched, as a share of the grid's step."""
STEPS = 14
"""Shapes tried between the neighbours of the best one of the grid."""
DESCENT = 60
"""Rules tried from the best one seen, where there are several shapes."""


class Row(NamedTuple):
    """One shape tried."""

    values: Values
    turned: Turned

    @property
    def divergence(self) -> float:
        """inf where the shape cannot accept what is asked."""
        return math.inf if self.turned.point is None else self.turned.point.divergence


class Found(NamedTuple):
    """best: the least divergence; published: the rule's own shape; rows: the coarse grid; tried: shapes in all."""

    shapes: tuple[Shape, ...]
    best: Row
    published: Row
    rows: list[Row]
    tried: int


class Searcher:
    """Shapes of a rule, each turned once."""

    def __init__(self, meter: Meter, rule: Any, goal: float, progress: Progress | None = None) -> None:
        self.meter, self.rule, self.goal, self.progress = meter, rule, goal, progress
        self.shapes, self.seen = shapes_of(rule), dict[Values, Row]()
        self.expected = 1 + len(self.grid()) + {0: 0, 1: STEPS}.get(len(self.shapes), DESCENT)

    def row(self, values: Sequence[float]) -> Row:
        """The rule of a shape, brought to the goal."""
        chosen = tuple(near(shape, value) for shape, value in zip(self.shapes, values, strict=True))
        if chosen not in self.seen:
            shaped = self.rule
            for shape, value in zip(self.shapes, chosen, strict=True):
                shaped = with_shape(shaped, shape.field, value)
            self.seen[chosen] = Row(chosen, turn(self.meter, shaped, self.goal, self.likely(chosen)))
            if self.progress is not None:
                self.progress(len(self.seen), max(self.expected, len(self.seen)))
        return self.seen[chosen]

    def likely(self, values: Values) -> float | None:
        """The strength of the nearest shape that was brought to the goal."""
        solved = [row for row in self.seen.values() if row.turned.point is not None]
        nearest = min(solved, key=lambda row: math.dist(row.values, values), default=None)
        return None if nearest is None or nearest.turned.point is None else nearest.turned.point.strength

    def published(self) -> Row:
        """The rule's own shape, not rounded to the search's digits."""
        values = tuple(shape_value(self.rule, shape.field) for shape in self.shapes)
        self.seen.setdefault(values, Row(values, turn(self.meter, self.rule, self.goal)))
        return self.seen[values]

    def grid(self) -> list[Values]:
        """The coarse grid over all shapes."""
        count = GRID.get(len(self.shapes), 3)
        return list(product(*(ladder(shape, count) for shape in self.shapes)))

    def search(self) -> Found:
        """Own shape, grid, then between the neighbours of the best."""
        published = self.published()
        rows = [self.row(values) for values in self.grid()] if self.shapes else [published]
        if not any(math.isfinite(row.divergence) for row in self.seen.values()):
            raise SpecsimError(why_none(self, rows))
        if self.shapes:
            self.refine(min(rows, key=lambda row: row.divergence))
        best = min(self.seen.values(), key=lambda row: row.divergence)
        return Found(self.shapes, best, published, rows, len(self.seen))

    def refine(self, start: Row) -> None:
        """A bounded scalar search, or for several shapes Nelder and Mead's."""
        if not math.isfinite(start.divergence):
            return  # no shape of the grid can do it, only the rule's own
        height = 2 * max(row.divergence for row in self.seen.values() if math.isfinite(row.divergence)) + 1

        def objective(values: Sequence[float]) -> float:
            return min(self.row(values).divergence, height)  # these searches take no infinities

        if len(self.shapes) > 1:
            bounds = [shape[1:] for shape in self.shapes]
            first = min(self.seen.values(), key=lambda row: row.divergence)
            inside = [near(shape, value) for shape, value in zip(self.shapes, first.values, strict=True)]
            minimize(objective, inside, method="Nelder-Mead", bounds=bounds, options={"maxfev": DESCENT})
            return
        shape, values = self.shapes[0], sorted(row[0] for row in self.grid())
        place = values.index(start.values[0])
        low, high = values[max(0, place - 1)], values[min(len(values) - 1, place + 1)]
        if shape.whole:
            for value in whole_between(low, high):
                self.row((value,))
            return
        options = {"xatol": FINER * (high - low), "maxiter": STEPS}
        minimize_scalar(lambda value: objective((value,)), bounds=(low, high), method="bounded", options=options)


def near(shape: Shape, value: float) -> float:
    """The value in the digits of the search, within the shape's range."""
    held = min(max(float(value), shape.low), shape.high)
    return round(held) if shape.whole else float(f"{held:.4g}")


def ladder(shape: Shape, count: int) -> list[float]:
    """Evenly spaced values; growing by a factor for whole numbers, which mean counts."""
    shares = [i / (count - 1) for i in range(count)]
    if not shape.whole:
        return [near(shape, shape.low + share * (shape.high - shape.low)) for share in shares]
    span = math.log1p(shape.high - shape.low)
    return sorted({near(shape, shape.low + math.expm1(share * span)) for share in shares})


def whole_between(low: float, high: float) -> list[int]:
    """At most STEPS whole numbers from low to high."""
    step = max(1, math.ceil((high - low) / STEPS))
    return list(range(int(low), int(high) + 1, step))


def why_none(searcher: Searcher, rows: list[Row]) -> str:
    """What to say where no shape has a finite divergence at the goal."""
    goal, rule, every = searcher.goal, searcher.rule, list(searcher.seen.values())
    if any(row.turned.point for row in every):
        return (
            f"tune: {rule!r} has an infinite divergence at {goal:g} accepted drafts, whatever its shape: it keeps "
            "tokens that the target never gives; ask for tv or local"
        )
    beside = next((row.turned.beside for row in every if row.turned.beside), ())
    if beside:
        jump = " and ".join(f"{point.accepted:.6g} with {point.rule!r}" for point in beside)
        return f"tune: {rule!r} cannot accept {goal:g} drafts: its figure jumps between {jump}; ask for one of them"
    least, greatest = (end([row.turned.reach[i] for row in every]) for i, end in enumerate((min, max)))
    blocks = f"blocks of {searcher.meter.lookahead} here"
    return f"tune: {rule!r} reaches {least:.6g} to {greatest:.6g} accepted drafts with {blocks}, not {goal:g}"
