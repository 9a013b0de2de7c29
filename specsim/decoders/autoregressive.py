"""Plain autoregressive decoding: one token a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from specsim.decoding import Round, Rows, Task, commit


@dataclass(frozen=True)
class Autoregressive:
    """Each target call draws one token from the target's law.  The yardstick: N calls, lossless by definition."""

    needs_draft: ClassVar[bool] = False
    takes_rule: ClassVar[bool] = False

    def start(self, task: Task, rows: Rows, choose: Any) -> Rows:
        """Nothing to prepare."""
        return rows

    def step(self, state: Rows, choose: Any, task: Task) -> tuple[Rows, Round]:
        """One call, one token."""
        law = task.target(state.tokens, state.length, 1)[:, 0, :]
        token, (tokens, length) = choose.token(law, state.length, tuple(state))
        rows, _ = commit(task, Rows(tokens, length), token[:, None], 0 * length + 1)
        return rows, Round(0 * length, 0 * length, 0 * length)
