"""Speculative decoding with a draft model: a chain of drafted tokens, then one target call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from specsim.arrays import Array, arange, hits, namespace, place, slot
from specsim.decoding import NOWHERE, Round, Rows, Task, drafting, require_slots, settle
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
        require_slots("Chain", "lookahead", self.lookahead)

    def start(self, task: Task, rows: Rows, choose: Any) -> Rows:
        """Nothing to prepare."""
        return rows

    def step(self, state: Rows, choose: Any, task: Task) -> tuple[Rows, Round]:
        """One round: lookahead draft calls, one target call."""
        size = max(1, min(self.lookahead, task.length - 1))
        return chain_round(state, choose, task, size, task.length - 1, size + 1)


def chain_round(state: Rows, choose: Any, task: Task, size: int, end: int, most: int) -> tuple[Rows, Round]:
    """Draft `size` tokens, none at or beyond position `end`; verify them with `most` laws of the target; add one token.

    most: also the tokens a round may add.  size + 1 leaves room for a bonus token after the drafts, size does not.
    """
    xp = namespace(state.tokens)
    (tokens, length, drafts), laws = draft_chain(state, choose, task, size, end)
    target = task.target(place(tokens, length, drafts[:, : most - 1]), length, most)
    # The slot after the drafts is empty; where its law was not asked for, any will do: no token is added there.
    target = target if most > size else xp.concat([target, target[:, -1:, :]], axis=1)
    draft = xp.concat([xp.stack(laws, axis=1), target[:, -1:, :]], axis=1)
    position = length[:, None] + arange(size + 1, length)
    real = (arange(size + 1, length) < size) & (position < end)
    padded = xp.concat([drafts, 0 * drafts[:, :1]], axis=1)
    drafted = Drafted(draft, target, padded, real, position)
    block, live = task.verify(choose, drafted, (tokens, length, padded))
    stop, (tokens, length, padded, residual) = draw_stop(block, choose, (*live, block.residual))
    added = slot(residual, stop[:, None])[:, 0, :]
    where = xp.where(stop < most, length + stop, NOWHERE)
    extra, (tokens, length, padded, stop) = choose.token(added, where, (tokens, length, padded, stop))
    values = xp.where(hits(stop, size + 1), extra[:, None], padded)[:, :most]
    return settle(task, Rows(tokens, length), values, stop, xp.clip(end - length, 0, size))


def draft_chain(
    state: Rows, choose: Any, task: Task, size: int, end: int
) -> tuple[tuple[Array, Array, Array], list[Array]]:
    """Draw a chain of drafts -> ((tokens, length, drafts [B, L]), draft laws, L of [B, V])."""
    xp = namespace(state.tokens)
    tokens, length = state
    drafts = xp.broadcast_to(0 * length[:, None], (length.shape[0], size))
    laws: list[Array] = []
    for i in range(size):
        law = drafting(task, length)(place(tokens, length, drafts[:, :i]), length + i, 1)[:, 0, :]
        position = xp.where(length + i < end, length + i, NOWHERE)
        token, (tokens, length, drafts, *laws) = choose.token(law, position, (tokens, length, drafts, *laws, law))
        drafts = xp.where(arange(size, drafts) == i, token[:, None], drafts)
    return (tokens, length, drafts), laws
