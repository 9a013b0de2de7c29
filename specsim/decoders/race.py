"""Race decoding: every token is the winner of one race, so the output equals plain decoding with the same noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from specsim.arrays import Array
from specsim.decoders.autoregressive import Autoregressive
from specsim.decoding import NOWHERE, Decoder, Round, Rows, Task, canonical
from specsim.errors import require
from specsim.verification import Block


class Racing(NamedTuple):
    """An interpreter whose tokens are race winners under the noise of their absolute position."""

    inner: Any

    def __call__(self, law: Array, live: tuple) -> tuple[Array, tuple]:
        """Draws that are not tokens stay as they are."""
        return self.inner(law, live)

    def token(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """The winner under `law` [..., V] at absolute `position` [...]."""
        return self.inner.race(law, position, live)

    def race(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """The same noise."""
        return self.inner.race(law, position, live)

    def forget(self, position: Array) -> None:
        """A race reads the noise of a position until its token is final."""


def match(choose: Any, drafted: Any, live: tuple) -> tuple[Block, tuple]:
    """Keep a drafted token iff it is the race winner under the target's law; replacements race under that law too."""
    arrays = drafted.arrays()
    winner, held = choose.race(drafted.target, drafted.compared(NOWHERE), (*arrays, *live))
    drafted = drafted.having(tuple(held[: len(arrays)]))
    return drafted.matched(winner), tuple(held[len(arrays) :])


@dataclass(frozen=True)
class Race:
    """Any decoder with match verification in place of a rule.  Lossless, and equal to plain decoding token for token.

    Given the noise nothing is random: drafts, corrections and bonus tokens are winners under their own laws with the
    noise of their absolute position, and a draft is kept iff it is the winner under the target's law.  A window that is
    redrawn by another coupling is refused: racing its mixture of old token and new law is no race under the new law.
    """

    decoder: Decoder = Autoregressive()
    takes_rule: ClassVar[bool] = False

    def __post_init__(self) -> None:
        inner = self.decoder
        decodes = hasattr(inner, "start") and hasattr(inner, "step") and not isinstance(inner, Race)
        require(decodes, "Race", "decoder", inner, "a decoder that does not race yet, e.g. Chain(lookahead=4)")
        plain = getattr(inner, "continuation", "independent") == "independent"
        require(plain, "Race", "decoder", inner, "without a continuation of its own: the race redraws the window")

    @property
    def needs_draft(self) -> bool:
        """As the decoder inside."""
        return self.decoder.needs_draft

    def start(self, task: Task, rows: Rows, choose: Any) -> Any:
        """The inner decoder's start, racing."""
        return self.decoder.start(task, rows, Racing(choose))

    def canonical(self, state: Any, task: Task) -> Any:
        """As the decoder inside."""
        return canonical(self.decoder, state, task)

    def step(self, state: Any, choose: Any, task: Task) -> tuple[Any, Round]:
        """The inner decoder's step, racing, with match verification."""
        return self.decoder.step(state, Racing(choose), task._replace(verify=match))
