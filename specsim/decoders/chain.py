"""Speculative decoding with a draft model: a chain of drafted tokens, then one target call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from specsim.arrays import Array, arange, hits, namespace, place, slot
from specsim.decoding import MOST_SLOTS, NOWHERE, Round, Rows, Task, settle
from specsim.errors import require
from specsim.verification import Drafted, draw_stop


@dataclass(frozen=True)
class Chain:
    """Draft min(lookahead, N - n - 1) tokens from the draft model, verify them in one target call, add one token.

    The added token is the correction of the first rejected slot, or the bonus token when all were kept.
    Lossless with a lossless rule.  Source: Leviathan et al. 2023 (arXiv 2211.17192), Chen et al. 2023 (2302.01318).
    """

    lookahead: int = 4
    needs_draft: ClassVar[bool] = True
    takes_rule: ClassVar[bool] = True

    def __post_init__(self) -> None:
        wanted = f"a whole number from 1 to {MOST_SLOTS}"
        require(
            type(self.lookahead) is int and 1 <= self.lookahead <= MOST_SLOTS,
            "Chain",
            "lookahead",
            self.lookahead,
            wanted,
        )

    def start(self, task: Task, rows: Rows, choose: Any) -> Rows:
        """Nothing to prepare."""
        return rows

    def size(self, task: Task) -> int:
        """Slots for drafts: never more than could be real."""
        return max(1, min(self.lookahead, task.length - 1))

    def step(self, state: Rows, choose: Any, task: Task) -> tuple[Rows, Round]:
        """One round: lookahead draft calls, one target call."""
        xp, size = namespace(state.tokens), self.size(task)
        (tokens, length, drafts), laws = self.draft(state, choose, task)
        target = task.target(place(tokens, length, drafts), length, size + 1)
        draft = xp.concat([xp.stack(laws, axis=1), target[:, -1:, :]], axis=1)
        position = length[:, None] + arange(size + 1, length)
        real = (arange(size + 1, length) < size) & (position < task.length - 1)
        padded = xp.concat([drafts, 0 * drafts[:, :1]], axis=1)
        drafted = Drafted(draft, target, padded, real, position)
        block, live = task.verify(choose, drafted, (tokens, length, padded))
        stop, (tokens, length, padded, residual) = draw_stop(block, choose, (*live, block.residual))
        added = slot(residual, stop[:, None])[:, 0, :]
        extra, (tokens, length, padded, stop) = choose.token(added, length + stop, (tokens, length, padded, stop))
        values = xp.where(hits(stop, padded.shape[1]), extra[:, None], padded)
        return settle(task, Rows(tokens, length), values, stop, task.length - 1 - length)

    def draft(self, state: Rows, choose: Any, task: Task) -> tuple[tuple[Array, Array, Array], list[Array]]:
        """Draw the chain -> ((tokens, length, drafts [B, L]), draft laws, L of [B, V])."""
        xp, size = namespace(state.tokens), self.size(task)
        assert task.draft is not None
        tokens, length = state
        drafts = xp.broadcast_to(0 * length[:, None], (length.shape[0], size))
        laws: list[Array] = []
        for i in range(size):
            law = task.draft(place(tokens, length, drafts[:, :i]) if i else tokens, length + i, 1)[:, 0, :]
            position = xp.where(length + i < task.length - 1, length + i, NOWHERE)
            token, (tokens, length, drafts, *laws) = choose.token(law, position, (tokens, length, drafts, *laws, law))
            drafts = xp.where(arange(size, drafts) == i, token[:, None], drafts)
        return (tokens, length, drafts), laws
