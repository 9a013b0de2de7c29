"""The exact interpreter: `choose` forks every branch with its weight, in float64 or in Fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from specsim.arrays import Array, is_exact
from specsim.decoding import first_if
from specsim.errors import SpecsimError, TooLarge
from specsim.interpreters.merging import as_words
from specsim.noise_regions import WHOLE, Regions

ROW_OVERHEAD = 64
"""Bytes of bookkeeping per row beside the decoder's own arrays (weight, parent, key, order)."""
COPIES = 3
"""Copies of a decoder's arrays that are alive at the worst moment of a step: before, after, and while computing."""


class Exact:
    """`choose` for exact laws.

    weight: [R] probability of each row, float64 or Fractions.  noise: [R, N] id of what a row knows of each position's
    noise (see `noise_regions`).  budget: bytes that one fork may take; advice: asked what to do when it does not fit.
    """

    def __init__(self, like: Array, length: int, budget: float, advice: Callable[[], str] = str):
        self.regions, self.length, self.budget, self.advice = Regions(like.shape[-1]), length, budget, advice
        self.peak = 0
        self.one = 0 * like.reshape(-1)[0] + 1
        self.restart(np.array([self.one], dtype=like.dtype), np.full((1, length), WHOLE))

    def restart(self, weight: Array, noise: Array) -> None:
        """Go on with these rows."""
        self.weight, self.noise = weight, noise

    def __call__(self, law: Array, live: tuple) -> tuple[Array, tuple]:
        """Fork on weights [R, K] or [R, S, K] -> index, live, both with a row for every branch of positive weight."""
        slots = law[:, None, :] if law.ndim == 2 else law
        parent = np.arange(len(law))
        picks: list[Array] = []
        for s in range(slots.shape[1]):
            branches = shares(slots[parent, s])
            up, index = np.nonzero(branches > 0)
            self.refuse_beyond(len(up), live)
            # As many branches as rows: one each, so each has the whole weight of its row.
            self.branch(up, branches[up, index] if len(up) > len(parent) else 1)
            parent, picks = parent[up], [*(pick[up] for pick in picks), index]
        return (picks[0] if law.ndim == 2 else np.stack(picks, axis=1)), tuple(a[parent] for a in live)

    def branch(self, parent: Array, weight: Any) -> None:
        """Go on with rows that come from `parent`, each with its share `weight` of the parent's."""
        self.restart(self.weight[parent] * weight, self.noise[parent])

    def refuse_beyond(self, rows: int, live: tuple) -> None:
        """Refuse a fork to so many rows if it would not fit the budget."""
        row = ROW_OVERHEAD + 4 * self.length + COPIES * 8 * sum(math.prod(a.shape[1:]) for a in live)
        self.peak = max(self.peak, rows * row)
        if rows * row > self.budget:
            raise TooLarge(
                f"exact law: this needs {rows:,} rows at once ({rows * row / 2**30:.3g} GiB), more than the budget "
                f"of {self.budget / 2**30:.3g} GiB; {self.advice()}"
            )

    def token(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """A token is forked on like anything else; at or beyond the end it cannot matter, and is 0."""
        return self(first_if(position >= self.length, law), live)

    def race(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """Fork on the winner of the race under law [R, V] or [R, S, V] with the noise of position [R] or [R, S]."""
        slots, where = law.reshape(len(law), -1, law.shape[-1]), position.reshape(len(law), -1)
        parent = np.arange(len(law))
        picks: list[Array] = []
        for s in range(slots.shape[1]):
            up, winner = self.race_one(slots[parent, s], where[parent, s], live)
            parent, picks = parent[up], [*(pick[up] for pick in picks), winner]
        return (picks[0] if law.ndim == 2 else np.stack(picks, axis=1)), tuple(a[parent] for a in live)

    def race_one(self, law: Array, where: Array, live: tuple) -> tuple[Array, Array]:
        """One race for each row: law [R, V], where [R] -> parent and winner of each branch.

        A position at or beyond the end has no noise, and its winner cannot matter: it is 0.
        """
        raced = np.flatnonzero(where < self.length)
        known = self.noise[raced, where[raced]]
        first, counts, branches = self.branches(shares(law[raced]), known)
        number = np.ones(len(law), dtype=np.int64)
        number[raced] = counts
        self.refuse_beyond(int(number.sum()), live)
        parent = np.repeat(np.arange(len(law)), number)
        winner, share = np.zeros_like(parent), np.full(len(parent), self.one)
        hit = np.flatnonzero((where < self.length)[parent])
        branch = np.repeat(first, counts) + np.arange(len(hit)) - np.repeat(np.cumsum(counts) - counts, counts)
        winner[hit], share[hit] = branches[0][branch], branches[2][branch]
        self.branch(parent, share)
        self.noise[hit, where[parent[hit]]] = branches[1][branch]
        return parent, winner

    def branches(self, law: Array, region: Array) -> tuple[Array, Array, list[Array]]:
        """Splits of regions [R] by laws [R, V] -> first branch and number of branches of each row, and all branches.

        Each different (region, law) is split once; branches are three arrays: winner, region after, share.
        """
        words = np.concatenate([as_words(law), region[:, None]], axis=1)
        _, row, which = np.unique(words, axis=0, return_index=True, return_inverse=True)
        splits = [self.regions.split(int(region[r]), tuple(Fraction(p) for p in law[r])) for r in row]
        counts = np.array([len(split) for split in splits], dtype=np.int64)
        columns = zip(*(branch for split in splits for branch in split), strict=True) if splits else ((), (), ())
        winner, after, share = (list(column) for column in columns)
        numbers = np.array(share, dtype=object) if is_exact(law) else np.array(share, dtype=np.float64)
        which = which.reshape(-1)
        tables = [np.array(winner, dtype=np.int64), np.array(after, dtype=np.int64), numbers]
        return (np.cumsum(counts) - counts)[which], counts[which], tables

    def forget(self, position: Array) -> None:
        """Noise before `position` [R] is not asked again: rows that differ only in it are the same state."""
        self.noise = np.where(np.arange(self.length) < position[:, None], WHOLE, self.noise)


def shares(weights: Array) -> Array:
    """weights [R, K] -> laws [R, K]; a row of negative, missing or zero weights is an error, never a silent branch."""
    if is_exact(weights) and (kinds := sorted({type(w).__name__ for w in weights.reshape(-1).tolist()} - {"Fraction"})):
        raise SpecsimError(f"exact law: a law holds {', '.join(kinds)} where only Fractions are exact")
    total = weights.sum(axis=-1, keepdims=True)
    if not bool((weights >= 0).all() and (total > 0).all()):
        bad = weights[~((weights >= 0).all(axis=-1) & (total[:, 0] > 0))][0]
        raise SpecsimError(f"exact law: {[str(w) for w in bad]} is not a law (weights >= 0 with a positive sum)")
    return weights if bool((total == 1).all()) else weights / total
