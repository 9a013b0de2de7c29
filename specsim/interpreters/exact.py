"""The exact interpreter: `choose` forks every branch with its weight, in float64 or in Fractions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specsim.arrays import Array, is_exact
from specsim.errors import SpecsimError
from specsim.noise_cells import Cells

UNDRAWN = -1
ROW_OVERHEAD = 64
"""Bytes of bookkeeping per row beside the decoder's own arrays (weight, parent, key, order)."""
COPIES = 3
"""How many copies of a decoder's arrays are alive at the worst moment of a step (before, after, and while computing)."""


class Exact:
    """`choose` for exact laws.

    weight: [R] probability of each row, float64 or Fractions.  cells: [R, N] which noise cell of each position a row
    has drawn (UNDRAWN = none yet).  budget: bytes that one fork may take; advice: what to do when it does not fit.
    """

    def __init__(self, weight: Array, length: int, noise: Cells, budget: int, advice: str = "use a smaller case"):
        self.weight, self.cells, self.budget, self.advice = weight, noise, budget, advice
        self.length = length
        self.drawn = np.full((len(weight), length), UNDRAWN, dtype=np.int32)

    def __call__(self, law: Array, live: tuple) -> tuple[Array, tuple]:
        """Fork on weights [R, K] or [R, S, K] -> index, live, both with a row for every branch of positive weight."""
        slots = law[:, None, :] if law.ndim == 2 else law
        parent, picks = np.arange(len(law)), []
        for s in range(slots.shape[1]):
            branches = shares(slots[parent, s])
            up, index = np.nonzero(branches > 0)
            self.refuse_beyond(len(up), live)
            weight = branches[up, index] if len(up) > len(parent) else 1
            self.branch(up, weight)
            parent, picks = parent[up], [*(pick[up] for pick in picks), index]
        return (picks[0] if law.ndim == 2 else np.stack(picks, axis=1)), tuple(a[parent] for a in live)

    def branch(self, parent: Array, weight: Any) -> None:
        """Go on with rows that come from `parent`, each with its share `weight` of the parent's."""
        self.weight, self.drawn = self.weight[parent] * weight, self.drawn[parent]

    def refuse_beyond(self, rows: int, live: tuple) -> None:
        """Refuse a fork to so many rows if it would not fit the budget."""
        row = ROW_OVERHEAD + 4 * self.length + COPIES * 8 * sum(math.prod(a.shape[1:]) for a in live)
        if rows * row > self.budget:
            raise SpecsimError(
                f"exact law: this needs {rows:,} rows at once ({rows * row / 2**30:.1f} GiB), more than the budget "
                f"of {self.budget / 2**30:.1f} GiB; {self.advice}"
            )

    def token(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """A token is forked on like anything else."""
        return self(law, live)

    def noise(self, position: Array, live: tuple) -> tuple[Array, tuple]:
        """Fork on the noise cells of positions [R] or [R, S] not drawn before -> a point inside each cell, [.., V]."""
        where = np.minimum(position.reshape(len(position), -1), self.length)
        parent = np.arange(len(where))
        for s in range(where.shape[1]):
            parent = parent[self.draw_cell(where[parent, s], live)]
        where = where[parent]
        cells = np.take_along_axis(np.pad(self.drawn, ((0, 0), (0, 1))), where, axis=1)
        points = self.cells.points[where, cells]
        return (points[:, 0] if position.ndim == 1 else points), tuple(a[parent] for a in live)

    def draw_cell(self, where: Array, live: tuple) -> Array:
        """Fork rows [R] whose position `where` (N = none) has no cell yet, one row per cell -> parent of each row."""
        new = (where < self.length) & (np.pad(self.drawn, ((0, 0), (0, 1)))[np.arange(len(where)), where] == UNDRAWN)
        counts = np.where(new, self.cells.counts[where], 1)
        self.refuse_beyond(int(counts.sum()), live)
        parent = np.repeat(np.arange(len(where)), counts)
        cell = np.arange(len(parent)) - np.repeat(np.cumsum(counts) - counts, counts)
        fresh = np.flatnonzero(new[parent])
        share = np.full(len(parent), self.cells.one, dtype=self.weight.dtype)
        share[fresh] = self.cells.volumes[where[parent[fresh]], cell[fresh]]
        self.branch(parent, share)
        self.drawn[fresh, where[parent[fresh]]] = cell[fresh]
        return parent

    def forget(self, position: Array) -> None:
        """Noise before `position` [R] is not asked again: rows that differ only in it are the same state."""
        self.drawn = np.where(np.arange(self.length) < position[:, None], UNDRAWN, self.drawn)

    def restart(self, weight: Array, drawn: Array) -> None:
        """Go on with merged rows."""
        self.weight, self.drawn = weight, drawn


def shares(weights: Array) -> Array:
    """weights [R, K] -> laws [R, K]; a row of negative, missing or zero weights is an error, never a silent branch."""
    if is_exact(weights) and (kinds := sorted({type(w).__name__ for w in weights.reshape(-1).tolist()} - {"Fraction"})):
        raise SpecsimError(f"exact law: a law holds {', '.join(kinds)} where only Fractions are exact")
    total = weights.sum(axis=-1, keepdims=True)
    if not bool(((weights >= 0).all() and (total > 0).all())):
        bad = weights[~((weights >= 0).all(axis=-1) & (total[:, 0] > 0))][0]
        raise SpecsimError(f"exact law: {[str(w) for w in bad]} is not a law (weights >= 0 with a positive sum)")
    return weights if bool((total == 1).all()) else weights / total


def start_weight(like: Any) -> Array:
    """The weight of the one row an enumeration starts from, in the number type of `like`."""
    return np.array([0 * like.reshape(-1)[0] + 1], dtype=like.dtype)
