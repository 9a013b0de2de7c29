"""Speculative Jacobi decoding: the target drafts for itself, a window at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from array_api_compat import array_namespace

from specsim.arrays import Array, arange, place, point, slot
from specsim.couplings import COUPLINGS
from specsim.decoding import Round, Rows, Task, first_if, settle
from specsim.errors import require
from specsim.verification import Drafted, draw_stop

TAILS = {"uniform": lambda token, fresh: fresh, "onehot": point}
"""Stored law of a new window position, from its token [...] and the law [..., V] it was drawn from."""


class Window(NamedTuple):
    """tokens, length as in `Rows`; window: [B, W] the drafts that follow; laws: [B, W, V] what they were drawn from."""

    tokens: Array
    length: Array
    window: Array
    laws: Array


class Judged(NamedTuple):
    """A window after its verdict: `Window`'s fields, the target's laws [B, W+1, V], how many are kept [B], and the law
    [B, 1, V] of the token after them."""

    tokens: Array
    length: Array
    window: Array
    laws: Array
    target: Array
    stop: Array
    added: Array


@dataclass(frozen=True)
class Jacobi:
    """Each call verifies a window of drafts and redraws what was not committed, coupled to what was drafted before.

    continuation: "independent" = SJD, "maximal" = SCD-MC, "gumbel" = SCD-GS, "maximal_stale" = the released SCD code
    (biased).  tail: new positions get a uniform token with stored law "uniform", or "onehot" (the released default).
    All but the stale one are lossless with a lossless rule.  Sources: SJD (arXiv 2410.01699), SCD on Jacobi decoding.
    """

    window: int = 16
    continuation: str = "independent"
    tail: str = "uniform"
    needs_draft: ClassVar[bool] = False
    takes_rule: ClassVar[bool] = True

    def __post_init__(self) -> None:
        wanted = "a whole number of at least 1"
        require(type(self.window) is int and self.window >= 1, "Jacobi", "window", self.window, wanted)
        names = f"one of {', '.join(COUPLINGS)}"
        require(self.continuation in COUPLINGS, "Jacobi", "continuation", self.continuation, names)
        require(self.tail in TAILS, "Jacobi", "tail", self.tail, f"one of {', '.join(TAILS)}")

    def start(self, task: Task, rows: Rows, choose: Any) -> Window:
        """A wholly new window."""
        position = positions(rows.length, self.window)
        void = position >= task.length
        law = first_if(void, spread(task.fresh, position))
        window, (tokens, length, void, law) = choose.token(law, position, (*rows, void, law))
        stored = TAILS[self.tail](window, spread(task.fresh, window))
        return Window(tokens, length, window, first_if(void, stored))

    def step(self, state: Window, choose: Any, task: Task) -> tuple[Window, Round]:
        """One target call: verify the window, draw the token after the kept ones and the next window, commit."""
        target = task.target(place(*state[:3]), state.length, self.window + 1)
        block, live = task.verify(choose, self.drafted(state, target, task), (*state, target))
        stop, (*held, residual) = draw_stop(block, choose, (*live, block.residual))
        judged = Judged._make((*held, stop, slot(residual, stop[:, None])))
        drawn, judged = self.draw(judged, choose, task)
        return self.close(judged, drawn, choose, task)

    def drafted(self, state: Window, target: Array, task: Task) -> Drafted:
        """The window as a block of W + 1 slots, the last one empty."""
        position = positions(state.length, self.window + 1)
        real = (position < task.length) & (arange(self.window + 1, position) < self.window)
        return Drafted(extend(state.laws, target), target, extend(state.window, position), real, position)

    def draw(self, judged: Judged, choose: Any, task: Task) -> tuple[Array, Judged]:
        """Draw W + 1 tokens at once -> [B, W+1].

        W + 1 draws are needed and the block has W + 1 slots, so they form a ring: slot `stop` draws the token after
        the kept ones, the slots after it are redrawn, and the slots before it, settled already, draw the new tail.
        """
        coupling, xp = COUPLINGS[self.continuation], array_namespace(judged.stop)
        position = positions(judged.length, self.window)
        asked = xp.where(position > (judged.length + judged.stop)[:, None], position, task.length)
        laws = (judged.laws, judged.target[:, :-1, :])
        kernel, live = coupling.redraw(choose, *laws, judged.window, asked, judged)
        judged = Judged(*live)
        ring, stop = arange(self.window + 1, judged.stop), judged.stop[:, None]
        law = xp.where(self.is_tail(stop)[..., None], task.fresh, extend(kernel, judged.added))
        law = xp.where((ring == stop)[..., None], judged.added, law)
        position = judged.length[:, None] + ring + xp.where(ring < stop, 0 * stop + self.window + 1, 0 * stop)
        drawn, live = choose.token(first_if(position >= task.length, law), position, judged)
        return drawn, Judged(*live)

    def is_tail(self, stop: Array) -> Array:
        """Ring slots that hold a new tail position, bool [B, W+1], for stop [B, 1]; slot `stop` may say either."""
        ring = arange(self.window + 1, stop)
        return (ring < stop) | (ring == self.window)

    def close(self, judged: Judged, drawn: Array, choose: Any, task: Task) -> tuple[Window, Round]:
        """Commit what is final and put the next window together from the ring."""
        xp = array_namespace(drawn)
        tokens, length, window, laws, target, stop, _ = judged
        ring, old = arange(self.window + 1, stop), extend(window, stop)
        values = xp.where(ring < stop[:, None], old, drawn)
        rows, counts = settle(task, Rows(tokens, length), values, stop, task.length - length)
        kept_law = COUPLINGS[self.continuation].stored(extend(laws, target), target, old == drawn)
        tail_law = TAILS[self.tail](drawn, spread(task.fresh, drawn))
        stored = xp.where(self.is_tail(stop[:, None])[..., None], tail_law, kept_law)
        order = (stop[:, None] + 1 + arange(self.window, stop)) % (self.window + 1)
        void = positions(length + stop + 1, self.window) >= task.length
        choose.forget(rows.length + 1)
        return Window(*rows, slot(drawn, order), first_if(void, slot(stored, order))), counts


def positions(length: Array, count: int) -> Array:
    """Absolute positions length .. length + count - 1, [B, count]."""
    return length[:, None] + arange(count, length)


def spread(law: Array, index: Array) -> Array:
    """law [V] -> the same law for every entry of index [...], [..., V]."""
    return array_namespace(law).broadcast_to(law, (*index.shape, law.shape[0]))


def extend(window: Array, filler: Array) -> Array:
    """window [B, W] or [B, W, V] -> one more slot, for which anything will do (taken from `filler`, last slot)."""
    xp = array_namespace(window)
    last = 0 * window[:, :1] if window.ndim == 2 else filler[:, -1:, :]
    return xp.concat([window, last], axis=1)
