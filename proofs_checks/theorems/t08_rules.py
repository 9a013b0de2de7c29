"""Lenience with a residual that is not its own, and a rule that errs late in a round and makes it good later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from specsim import Lenient, Strict
from specsim.arrays import Array
from specsim.verification import Verdict, capped_ratio, optimal_residual, standard_residual


@dataclass(frozen=True)
class Vanilla:
    """b = min(1, omega p/q) with norm[p - q]+."""

    omega: Any

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V] -> accept, residual [..., V]."""
        return Verdict(Lenient(self.omega)(draft, target, position).accept, standard_residual(draft, target))


@dataclass(frozen=True)
class Emptied:
    """A mistake: tokens with q > p are always refused, the residual is that of min(1, omega p/q)."""

    omega: Any

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V] -> accept, residual [..., V]."""
        accept = capped_ratio(self.omega * target, draft)
        return Verdict(np.where(draft > target, 0 * accept, accept), optimal_residual(draft, target, accept))


@dataclass(frozen=True)
class MakingGood:
    """Strict but at one pair of laws: there the second slot of a round is verified against `later`, the first against
    `first`.  Where the two arrive with masses w and 1 - w, w later + (1 - w) first = p has the target's law."""

    draft: Array
    target: Array
    later: Array
    first: Array

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept, residual [..., V]."""
        here = (draft == self.draft).all(axis=-1) & (target == self.target).all(axis=-1)
        for slot, law in enumerate((self.first, self.later)):
            target = np.where((here & (np.asarray(position) == slot))[..., None], law, target)
        return Strict()(draft, target, position)
