"""Speculative Jacobi decoding: the target drafts for itself, a window at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from specsim.arrays import Array, arange, namespace, place, point, slot
from specsim.couplings import COUPLINGS
from specsim.decoding import NOWHERE, Round, Rows, Task, first_if, require_slots, settle
from specsim.errors import require
from specsim.verification import Drafted, draw_stop

TAILS = {"uniform": lambda token, fresh: fresh, "onehot": point}
"""Stored law of a new window position, from its token [...] and the law [..., V] it was drawn from."""


class Window(NamedTuple):
    """tokens [B, N] and length [B] as in `Rows`; window [B, W + 1]: the drafts that follow; laws [B, W + 1, V]: what
    they were drawn from.  The last slot holds no draft."""

    tokens: Array
    length: Array
    window: Array
    laws: Array


class Judged(NamedTuple):
    """A window after its verdict: `Window`'s fields, the target's laws [B, W + 1, V], how many are kept [B], which
    slots survive and are redrawn [B, W + 1], and the law of the token after the kept ones [B, 1, V]."""

    tokens: Array
    length: Array
    window: Array
    laws: Array
    target: Array
    stop: Array
    redrawn: Array
    added: Array


@dataclass(frozen=True)
class Jacobi:
    """Each call verifies a window of drafts and redraws what was not committed, coupled to what was drafted before.

    continuation: "independent" = SJD, "maximal" = SCD-MC, "gumbel" = SCD-GS, "maximal_stale" = the released SCD code
    (biased).  tail: new positions get a uniform token with stored law "uniform", or "onehot" (the released default).
    All but the stale one are lossless with a lossless rule.  Sources: SJD (arXiv 2410.01699), SCD (arXiv 2510.24211).
    [so2025scd]
    """

    window: int = 16
    continuation: str = "independent"
    tail: str = "uniform"
    needs_draft: ClassVar[bool] = False
    takes_rule: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_slots("Jacobi", "window", self.window)
        names = f"one of {', '.join(COUPLINGS)}"
        require(self.continuation in COUPLINGS, "Jacobi", "continuation", self.continuation, names)
        require(self.tail in TAILS, "Jacobi", "tail", self.tail, f"one of {', '.join(TAILS)}")

    def size(self, task: Task) -> int:
        """W, or the whole sequence where that is shorter."""
        return min(self.window, task.length)

    def start(self, task: Task, rows: Rows, choose: Any) -> Window:
        """A wholly new window."""
        xp, size = namespace(rows.length), self.size(task)
        slots = arange(size + 1, rows.length)
        position = xp.where(slots < size, rows.length[:, None] + slots, NOWHERE)
        window, (tokens, length) = choose.token(spread(task.fresh, position), position, tuple(rows))
        return Window(tokens, length, window, TAILS[self.tail](window, spread(task.fresh, window)))

    def canonical(self, state: Window, task: Task) -> Window:
        """Drafts and laws of slots that hold none, or lie beyond the end, are one and the same."""
        size = self.size(task)
        slots = arange(size + 1, state.length)
        void = (slots == size) | (state.length[:, None] + slots >= task.length)
        window = namespace(void).where(void, 0, state.window)
        return state._replace(window=window, laws=first_if(void, state.laws))

    def step(self, state: Window, choose: Any, task: Task) -> tuple[Window, Round]:
        """One target call: verify the window, draw the token after the kept ones and the next window, commit."""
        size = self.size(task)
        known = place(state.tokens, state.length, state.window[:, :-1])
        target = task.target(known, state.length, size + 1)
        position = state.length[:, None] + arange(size + 1, state.length)
        real = (position < task.length) & (arange(size + 1, position) < size)
        drafted = Drafted(state.laws, target, state.window, real, position)
        block, live = task.verify(choose, drafted, (*state, target))
        stop, (*held, residual) = draw_stop(block, choose, (*live, block.residual))
        slots = arange(size + 1, stop)
        redrawn = (slots > stop[:, None]) & (slots < size)
        judged = Judged._make((*held, stop, redrawn, slot(residual, stop[:, None])))
        drawn, judged = self.draw(judged, choose, task)
        return self.close(judged, drawn, choose, task)

    def draw(self, judged: Judged, choose: Any, task: Task) -> tuple[Array, Judged]:
        """Draw W + 1 tokens at once -> [B, W + 1].

        W + 1 draws are needed and the block has W + 1 slots, so they form a ring: slot `stop` draws the token after
        the kept ones, the slots after it are redrawn, and the slots before it, settled already, draw the new tail.
        """
        size = self.size(task)
        coupling, xp = COUPLINGS[self.continuation], namespace(judged.stop)
        ring = arange(size + 1, judged.stop)
        asked = xp.where(judged.redrawn, judged.length[:, None] + ring, NOWHERE)
        kernel, live = coupling.redraw(choose, judged.laws, judged.target, judged.window, asked, judged)
        judged = Judged._make(live)
        stop = judged.stop[:, None]
        law = xp.where((ring == stop)[..., None], judged.added, task.fresh)
        law = xp.where(judged.redrawn[..., None], kernel, law)
        position = judged.length[:, None] + ring + xp.where(ring < stop, size + 1, 0 * stop)
        drawn, live = choose.token(law, position, judged)
        return drawn, Judged._make(live)

    def close(self, judged: Judged, drawn: Array, choose: Any, task: Task) -> tuple[Window, Round]:
        """Commit what is final and put the next window together from the ring."""
        xp, size = namespace(drawn), self.size(task)
        tokens, length, window, laws, target, stop, _, _ = judged
        ring, first = arange(size + 1, stop), stop[:, None] + 1
        values = xp.where(ring < stop[:, None], window, drawn)
        drafted = xp.clip(task.length - length, 0, size)
        rows, counts = settle(task, Rows(tokens, length), values, stop, drafted)
        order = (first + ring) % (size + 1)
        after = slot(drawn, order)
        kept_law = slot(COUPLINGS[self.continuation].stored(laws, target, window, drawn), order)
        survives = first + ring < size
        tail_law = TAILS[self.tail](after, task.fresh)
        choose.forget(rows.length + 1)
        return Window(*rows, after, xp.where(survives[..., None], kept_law, tail_law)), counts


def spread(law: Array, index: Array) -> Array:
    """law [V] -> the same law for every entry of index [...], [..., V]."""
    return namespace(law).broadcast_to(law, (*index.shape, law.shape[0]))
