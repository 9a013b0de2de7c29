"""Speculative decoding whose bonus token is judged by the rule like every other draft."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from specsim.decoders.chain import chain_round
from specsim.decoding import Round, Rows, Task, require_slots


@dataclass(frozen=True)
class RelaxedBonus:
    """`Chain` with a relaxed bonus: the token after L kept drafts is drafted too, and the rule decides on it.

    Its law is then out = q b + r G of the rule instead of p: a call can hold no more tokens, one more draft call is
    made, and a relaxed rule is biased there as well.  Lossless with a lossless rule.  In the papers bonus tokens come
    from p, as in `Chain`.  Drafts min(L + 1, N - n) tokens; a call still verifies prefix + L.
    """

    lookahead: int = 4
    needs_draft: ClassVar[bool] = True
    takes_rule: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_slots("RelaxedBonus", "lookahead", self.lookahead)

    def start(self, task: Task, rows: Rows, choose: Any) -> Rows:
        """Nothing to prepare."""
        return rows

    def step(self, state: Rows, choose: Any, task: Task) -> tuple[Rows, Round]:
        """One round: lookahead + 1 draft calls, one target call."""
        size = min(self.lookahead + 1, task.length)
        return chain_round(state, choose, task, size, task.length, size)
