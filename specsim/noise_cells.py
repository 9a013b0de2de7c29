"""Exact laws of shared continuous noise: the simplex of race noise cut into finitely many cells.

The winner of the race argmin_v E_v / p(v), E_v ~ Exp(1), depends only on E / sum E, which is uniform on the simplex.
Each law p cuts the simplex into convex cells, one per winner, of volume p(v).  The laws that a position can meet are
finitely many, so together they cut it into finitely many cells: a cell drawn with its exact volume, and one point
inside it, stand for the noise, and the decoder's own code runs unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from specsim.arrays import Array
from specsim.errors import SpecsimError

Point = tuple[Fraction, ...]
Polygon = list[Point]
MOST_CELLS = 4000
"""Cells of one position beyond which the enumeration is refused: each is a branch of every later fork."""


class Cells(NamedTuple):
    """Noise cells of every position.  volumes [N + 1, K], points [N + 1, K, V], counts [N + 1] how many are used.

    The last position stands for "no position": one cell.  one: the number 1 in the type of the volumes.
    """

    volumes: Array
    points: Array
    counts: Array
    one: object


def cut(polygon: Polygon, winner: int, other: int, law: Point) -> Polygon:
    """The part of a convex polygon where E_winner / p(winner) <= E_other / p(other)."""

    def lead(e: Point) -> Fraction:
        return e[winner] * law[other] - e[other] * law[winner]

    kept: Polygon = []
    for here, there in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        a, b = lead(here), lead(there)
        if a <= 0:
            kept.append(here)
        if a * b < 0:
            kept.append(tuple(x + (y - x) * a / (a - b) for x, y in zip(here, there, strict=True)))
    return kept


def area(polygon: Polygon) -> Fraction:
    """Area relative to the whole triangle, from barycentric coordinates."""
    double = Fraction(0)
    for here, there in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        double += here[0] * there[1] - there[0] * here[1]
    return abs(double)


def centre(corners: Sequence[Point]) -> Point:
    """A point inside: the mean of the corners."""
    return tuple(sum(axis, Fraction(0)) / len(corners) for axis in zip(*corners, strict=True))


def cells_of_line(laws: Iterable[Point]) -> list[tuple[Fraction, Point]]:
    """V = 2: token 0 wins iff E_0 <= p(0) on the segment E_0 + E_1 = 1, so each law is one cut."""
    cuts = sorted({Fraction(0), Fraction(1), *(law[0] for law in laws)})
    return [(b - a, ((a + b) / 2, 1 - (a + b) / 2)) for a, b in zip(cuts, cuts[1:], strict=False)]


def cells_of_triangle(laws: Iterable[Point]) -> list[tuple[Fraction, Point]]:
    """V = 3: every law splits every polygon by winner; M laws give at most (M + 1)(M + 2) / 2 cells."""
    one, zero = Fraction(1), Fraction(0)
    parts: list[Polygon] = [[(one, zero, zero), (zero, one, zero), (zero, zero, one)]]
    for law in laws:
        parts = [piece for part in parts for piece in split(part, law)]
        if len(parts) > MOST_CELLS:
            raise SpecsimError(f"exact noise: more than {MOST_CELLS} noise cells at one position; use a shorter length")
    return [(area(part), centre(part)) for part in parts]


def split(polygon: Polygon, law: Point) -> list[Polygon]:
    """A polygon cut into the parts where each token wins."""
    pieces = []
    for winner in (v for v in range(3) if law[v] > 0):
        piece = polygon
        for other in (v for v in range(3) if v != winner and law[v] > 0):
            piece = cut(piece, winner, other, law) if len(piece) > 2 else []
        if len(piece) > 2 and area(piece) > 0:
            pieces.append(piece)
    return pieces


def cells_of(laws: Iterable[Point], vocab: int) -> list[tuple[Fraction, Point]]:
    """(volume, inner point) of every cell that the laws make."""
    if vocab == 1:
        return [(Fraction(1), (Fraction(1),))]
    if vocab == 2:
        return cells_of_line(laws)
    if vocab == 3:
        return cells_of_triangle(laws)
    raise SpecsimError(f"exact noise: gumbel and race laws are exact for vocab 1, 2 and 3, not {vocab}; sample instead")


def build_cells(laws: Sequence[Iterable[Point]], vocab: int, one: object) -> Cells:
    """Cells for each position's set of laws; numbers as `one` (1.0 or a Fraction)."""
    cells = [cells_of(dict.fromkeys(some), vocab) for some in laws]
    cells.append([(Fraction(1), (Fraction(1),) * vocab)])
    most = max(len(some) for some in cells)
    convert = float if isinstance(one, float) else Fraction
    volumes = np.full((len(cells), most), 0 * one, dtype=np.array([one]).dtype)  # type: ignore[operator]
    points = np.full((len(cells), most, vocab), one, dtype=volumes.dtype)
    for n, some in enumerate(cells):
        for k, (volume, point) in enumerate(some):
            volumes[n, k] = convert(volume)
            points[n, k] = [convert(x) for x in point]
    return Cells(volumes, points, np.array([len(some) for some in cells]), one)
