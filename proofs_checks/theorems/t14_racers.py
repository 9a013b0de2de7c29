"""Ways to let a decoder race that are not quite `Race`: parts of it exchanged, rightly or wrongly.  For T14."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from specsim import Race, Strict
from specsim.arrays import Array, namespace
from specsim.decoders.race import Racing, match
from specsim.decoding import Decoder, Round, Rows, Task
from specsim.verification import Block, Drafted, verifier

Tamper = Callable[[Any, Task, int], tuple[Any, Task]]
"""choose, task, step -> what the decoder is handed instead.  Steps count from 0, `start` is step -1."""


@dataclass(frozen=True)
class Altered:
    """A decoder that is handed another interpreter or another verifier."""

    decoder: Decoder
    tamper: Tamper
    takes_rule: bool = False
    count: list[int] = field(default_factory=lambda: [-1])

    @property
    def needs_draft(self) -> bool:
        """As the decoder inside."""
        return self.decoder.needs_draft

    def start(self, task: Task, rows: Rows, choose: Any) -> Any:
        """The inner start."""
        self.count[0] = -1
        choose, task = self.tamper(choose, task, -1)
        return self.decoder.start(task, rows, choose)

    def step(self, state: Any, choose: Any, task: Task) -> tuple[Any, Round]:
        """The inner step."""
        self.count[0] += 1
        choose, task = self.tamper(choose, task, self.count[0])
        return self.decoder.step(state, choose, task)


class OneNoise:
    """`choose` whose races take the noise of one position, whichever they ask for."""

    def __init__(self, inner: Any, used: int, length: int) -> None:
        self.inner, self.used, self.length = inner, min(max(used, 0), length - 1), length

    def __call__(self, law: Array, live: tuple) -> tuple[Array, tuple]:
        """As inside."""
        return self.inner(law, live)

    def race(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """The noise of `used`; beyond the end there is none."""
        there = namespace(position).where(position < self.length, self.used, position)
        return self.inner.race(law, there, live)


class Partly:
    """`choose` whose tokens are race winners only before the verdict, or only after it."""

    def __init__(self, inner: Any, before: bool) -> None:
        self.inner, self.racing = inner, before

    def __call__(self, law: Array, live: tuple) -> tuple[Array, tuple]:
        """As inside."""
        return self.inner(law, live)

    def token(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """A race winner or a plain draw."""
        return (self.inner.race if self.racing else self.inner.token)(law, position, live)

    def forget(self, position: Array) -> None:
        """As in a race."""

    def verify(self, choose: Any, drafted: Drafted, live: tuple) -> tuple[Block, tuple]:
        """Match, and from now on the other way."""
        self.racing = not self.racing
        return match(self.inner, drafted, live)


def noise_by_step(inner: Decoder) -> Altered:
    """The noise is indexed by the number of the step, not by the position."""
    return Altered(Race(inner), lambda choose, task, step: (OneNoise(choose, step, task.length), task))


def one_noise(inner: Decoder) -> Altered:
    """The noise is drawn once and used everywhere."""
    return Altered(Race(inner), lambda choose, task, step: (OneNoise(choose, 0, task.length), task))


def kept_by_a_coin(inner: Decoder) -> Altered:
    """A draft is kept with min(1, p/q) though it is not the winner; its replacement races under norm[p - q]+."""
    strict = verifier(Strict())
    return Altered(inner, lambda choose, task, step: (Racing(choose), task._replace(verify=strict)))


def matched_to_the_draft(choose: Any, drafted: Drafted, live: tuple) -> tuple[Block, tuple]:
    """A draft is kept iff it is the winner under its own law."""
    block, (target, *rest) = match(choose, drafted._replace(target=drafted.draft), (drafted.target, *live))
    return Block(block.stop, target), tuple(rest)


def judged_by_the_draft(inner: Decoder) -> Altered:
    """The verdict races under the draft's law."""
    return Altered(inner, lambda choose, task, step: (Racing(choose), task._replace(verify=matched_to_the_draft)))


def partly(inner: Decoder, before: bool) -> Altered:
    """Racing before the verdict only, or after it only."""

    def tamper(choose: Any, task: Task, step: int) -> tuple[Any, Task]:
        half = Partly(choose, before)
        return half, task._replace(verify=half.verify)

    return Altered(inner, tamper)


def fresh_corrections(inner: Decoder) -> Altered:
    """Corrected and bonus tokens are drawn from p, not raced."""
    return partly(inner, before=True)


def fresh_drafts(inner: Decoder) -> Altered:
    """Drafts are drawn without the noise; corrected and bonus tokens race."""
    return partly(inner, before=False)


def not_racing(inner: Decoder) -> Decoder:
    """The decoder with its own rule and coupling."""
    return inner
