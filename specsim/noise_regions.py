"""Exact laws of shared continuous noise: what a row knows of the noise of a position is a region of the simplex.

The winner of the race argmin_v E_v / p(v), E_v ~ Exp(1), depends only on E / sum E, which is uniform on the simplex.
A law p cuts the simplex into convex parts, one per winner, of volume p(v).  So a row starts with the whole simplex,
each race cuts its region by winner, and the winner's share is the share of the region's volume: no law has to be known
before it is raced, and rows that know the same are the same.  Regions are segments (V = 2) or polygons (V = 3).
"""

from __future__ import annotations

from fractions import Fraction

from specsim.errors import SpecsimError

Point = tuple[Fraction, ...]
Region = tuple[Point, ...]
Branch = tuple[int, int, Fraction]
WHOLE = 0
"""Id of the whole simplex: nothing is known yet."""


def cut(region: Region, winner: int, other: int, law: Point) -> Region:
    """The part of a convex region (corners in order) where E_winner / p(winner) <= E_other / p(other)."""

    def lead(e: Point) -> Fraction:
        return e[winner] * law[other] - e[other] * law[winner]

    kept: list[Point] = []
    for here, there in zip(region, region[1:] + region[:1], strict=True):
        a, b = lead(here), lead(there)
        if a <= 0 and here not in kept:
            kept.append(here)
        if a * b < 0:
            corner = tuple(x + (y - x) * a / (a - b) for x, y in zip(here, there, strict=True))
            if corner not in kept:
                kept.append(corner)
    return tuple(kept)


def volume(region: Region) -> Fraction:
    """Volume relative to the whole simplex: a length for V = 2, an area for V = 3, 1 for V = 1."""
    if not region or len(region) < len(region[0]):
        return Fraction(0)
    dimension = len(region[0])
    if dimension < 3:
        return abs(region[0][0] - region[-1][0]) if dimension == 2 else Fraction(1)
    edges = zip(region, region[1:] + region[:1], strict=True)
    return abs(sum((a[0] * b[1] - b[0] * a[1] for a, b in edges), Fraction(0)))


def canonical(region: Region) -> Region:
    """The same region with its corners listed from the smallest one on."""
    first = region.index(min(region))
    return region[first:] + region[:first]


class Regions:
    """Regions by id, and how laws split them; every split is computed once."""

    def __init__(self, vocab: int) -> None:
        corners = tuple(tuple(Fraction(i == j) for j in range(vocab)) for i in range(vocab))
        self.vocab, self.regions, self.ids = vocab, [corners], {canonical(corners): WHOLE}
        self.known: dict[tuple[int, Point], list[Branch]] = {}

    def split(self, region: int, law: Point) -> list[Branch]:
        """(winner, id of what is then known, share of the region) for every token that can win under `law`."""
        if self.vocab > 3:
            raise SpecsimError(
                f"exact noise: gumbel and race laws are exact for vocab 1, 2 and 3, not {self.vocab}; sample instead"
            )
        if (region, law) not in self.known:
            whole = volume(self.regions[region])
            parts = [(v, self.part(region, v, law)) for v in range(self.vocab) if law[v] > 0]
            sizes = [(v, part, volume(part)) for v, part in parts]
            self.known[region, law] = [(v, self.number(part), size / whole) for v, part, size in sizes if size > 0]
        return self.known[region, law]

    def part(self, region: int, winner: int, law: Point) -> Region:
        """The part of a region where `winner` wins under `law`."""
        part = self.regions[region]
        for other in (v for v in range(self.vocab) if v != winner and law[v] > 0):
            part = cut(part, winner, other, law)
        return part

    def number(self, region: Region) -> int:
        """The id of a region, a new one if it was not met before."""
        key = canonical(region)
        if key not in self.ids:
            self.ids[key] = len(self.regions)
            self.regions.append(region)
        return self.ids[key]
