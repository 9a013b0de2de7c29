"""The cost that rules are brought to."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from specsim.errors import SpecsimError, require


class Run(Protocol):
    """What decoding costs, per sequence: expected (a `Law`) or averaged over samples."""

    @property
    def calls(self) -> Any: ...

    @property
    def accepted(self) -> Any: ...

    @property
    def tokens(self) -> Any: ...


class Measure(NamedTuple):
    """A way to count cost.  of(run): the figure; sign: +1 where a dearer run has the larger figure, else -1."""

    words: str
    of: Callable[[Any], Any]
    sign: int


MEASURES: dict[str, Measure] = {
    "calls": Measure("target calls a sequence", lambda run: run.calls, 1),
    "accepted": Measure("drafted tokens kept a call", lambda run: run.accepted / run.calls, -1),
    "tokens-per-call": Measure("tokens a call", lambda run: run.tokens / run.calls, -1),
}
"""One row for each `--at-..` option."""


class Goal(NamedTuple):
    """A cost to be met: the value of a measure."""

    name: str
    value: float

    @property
    def measure(self) -> Measure:
        """How it is counted."""
        return MEASURES[self.name]

    def cost(self, run: Run) -> float:
        """What a run costs, in the goal's measure."""
        return float(self.measure.of(run))

    def excess(self, cost: float) -> float:
        """How much dearer than the goal a cost is; negative: cheaper."""
        return (cost - self.value) * self.measure.sign

    def __str__(self) -> str:
        return f"{self.text} {self.measure.words}"

    @property
    def text(self) -> str:
        """The value as it was given."""
        return repr(self.value).removesuffix(".0")


def told_apart(*numbers: float) -> list[str]:
    """Numbers as text: six digits, or as many more as tell those that differ apart."""
    texts = [[f"{x:.{digits}g}" for x in numbers] for digits in range(6, 18)]
    return next((some for some in texts if len(set(some)) == len(set(numbers))), texts[-1])


def the_goal(**asked: float | None) -> Goal | None:
    """The one goal among the options, None where none is given: the_goal(calls=2.0, accepted=None).

    SpecsimError for two of them, or a value that is no cost.
    """
    given = [Goal(name.replace("_", "-"), value) for name, value in asked.items() if value is not None]
    if len(given) > 1:
        raise SpecsimError(f"compare: --at-{given[0].name} and --at-{given[1].name} exclude each other; give one")
    for goal in given:
        allowed = math.isfinite(goal.value) and goal.value > 0
        require(allowed, "compare", f"at-{goal.name}", goal.value, "a number above 0")
    return given[0] if given else None
