"""Jacobi windows that break one hypothesis of T12 each."""

from __future__ import annotations

from typing import Any

import numpy as np

from proofs_checks.theorems.t01_mutants import Choosing
from specsim import Strict, Verdict
from specsim.arrays import Array, arange, at, indicator, normalise, number, point, positive_part
from specsim.verification import capped_ratio


class ReusedNoise(Choosing):
    """The correction is a race with the noise that may have drawn the refused draft, and may draw no more."""

    def token(self, law: Array, position: Array, live: Any) -> tuple[Array, Any]:
        """Slot `stop` races under the residual; the other slots draw as they did."""
        slots = arange(law.shape[1], live.stop)
        at_stop = slots == live.stop[:, None]
        asked = np.where(at_stop, position, self.inner.length)
        won, (law, position, at_stop, *rest) = self.inner.race(law, asked, (law, position, at_stop, *live))
        law = np.where(at_stop[..., None], point(won, law), law)
        return self.inner.token(law, position, type(live)(*rest))

    def forget(self, position: Array) -> None:
        """The noise of the next position is asked again."""


class OneNoise(Choosing):
    """All positions share the noise of the last one."""

    def race(self, law: Array, position: Array, live: Any) -> tuple[Array, Any]:
        """The same noise at every position of the sequence."""
        last = self.inner.length - 1
        return self.inner.race(law, np.where(position < last, last, position), live)


class Squared:
    """Strict verification against the target's law at half the temperature."""

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept, residual [..., V]."""
        return Strict()(draft, normalise(target * target, target), position)


def redrawing(keep: Any, missing: Any) -> Any:
    """A redraw with its own probability to stay, [W], and its own weights elsewhere, [W, V]."""

    def redraw(choose: Any, old: Array, new: Array, token: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        stay = keep(at(old, token), at(new, token))
        moved = (1 - stay)[..., None] * normalise(missing(old, new), new)
        return moved + stay[..., None] * point(token, new), live

    return redraw


def lacking(old: Array, new: Array) -> Array:
    """[new - old]+"""
    return positive_part(new - old)


def ratio_kept(old: Array, new: Array) -> Array:
    """min(1, new / old)"""
    return capped_ratio(new, old)


REDRAWS = {
    "a refused window token is redrawn from the new law": redrawing(ratio_kept, lambda old, new: new),
    "kept iff the new law has not less, no coin": redrawing(lambda old, new: indicator(new >= old, new), lacking),
    "min(1, old/new) in place of min(1, new/old)": redrawing(lambda old, new: capped_ratio(old, new), lacking),
    "every token stays": redrawing(lambda old, new: 0 * new + number(1, new), lacking),
}
