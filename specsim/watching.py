"""What is looked at while a decoder samples: the laws of the models, the verdicts of the rule, and whoever observes.

Looks stay on the device of the models until the end of a step, where one transfer brings all of them (`together`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from specsim.arrays import Array, namespace, slot, to_numpy
from specsim.decoding import Round, Task
from specsim.errors import SpecsimError
from specsim.tasks import SUM_SLACK, require_numbers
from specsim.verification import Block, Drafted

Observe = Callable[[Drafted, Round], None]


class Fault(NamedTuple):
    """Why a row cannot go on.  position: of the token whose law is wrong, None where a verdict is."""

    row: int
    position: int | None
    what: str


def together(arrays: list[Array]) -> list[np.ndarray]:
    """Arrays in numpy; from another device in one transfer, which waits for it once.

    On the way whole numbers and conditions are float64: positions are exact there.
    """
    if not arrays or str(getattr(arrays[0], "device", "cpu")) == "cpu":
        return [to_numpy(array) for array in arrays]
    xp = namespace(arrays[0])
    flat = xp.concat([xp.reshape(xp.astype(array, xp.float64), (-1,)) for array in arrays])
    ends = np.cumsum([int(np.prod(array.shape)) for array in arrays])[:-1]
    return [part.reshape(array.shape) for part, array in zip(np.split(to_numpy(flat), ends), arrays, strict=True)]


class Witness:
    """A look at every verified block: keeps the last one until the round is counted, then passes both on."""

    def __init__(self, observe: Observe) -> None:
        self.observe = observe
        self.drafted: Drafted | None = None

    def watch(self, task: Task) -> Task:
        """The task, whose blocks pass by here before they are verified."""

        def verify(choose: Any, drafted: Drafted, live: tuple) -> tuple[Block, tuple]:
            self.drafted = drafted
            return task.verify(choose, drafted, live)

        return task._replace(verify=verify)

    def report(self, counts: Round) -> None:
        """Pass on the block of the round just counted; decoders without blocks have none."""
        if self.drafted is not None:
            self.observe(self.drafted, counts)


class Guarded:
    """A model whose laws are looked at: a NaN or an empty law must not silently become token 0.

    A model that says `checked = True` stops at such laws by itself and is not looked at again.  One that keeps a memory
    may have `broken` [B]: rows whose laws it could not know, being asked in another order than it was promised.
    """

    def __init__(self, model: Any, name: str, looks: list[Array] | None = None) -> None:
        self.model, self.name = model, name
        self.looks: list[Array] = [] if looks is None else looks
        if hasattr(model, "tree"):
            self.tree = self.look_at_tree
        if hasattr(model, "since"):
            self.since = self.look_since

    def __call__(self, tokens: Array, start: Array, count: int) -> Array:
        return self.looked_at(self.model(tokens, start, count), start)

    def look_at_tree(self, tokens: Array, start: Array, nodes: Array, branches: Any) -> Array:
        """The same of a model that reads trees: positions are counted as if its nodes stood in a row."""
        return self.looked_at(self.model.tree(tokens, start, nodes, branches), start)

    def look_since(self, length: Array) -> Guarded:
        """The same of a model that knows which tokens are final."""
        return Guarded(self.model.since(length), self.name, self.looks)

    def looked_at(self, laws: Array, start: Array) -> Array:
        """Laws [B, S, V], noted."""
        require_numbers(self.name, laws)
        if not getattr(self.model, "checked", False):
            xp = namespace(laws)
            broken = getattr(self.model, "broken", 0 * start)
            self.looks += [start, xp.sum(laws, axis=-1), xp.min(laws, axis=-1), xp.max(laws, axis=-1), broken]
        return laws

    def read(self, looks: list[np.ndarray]) -> list[Fault]:
        """Rows with a law that does not sum to 1 or has a negative entry: the first such law of each.

        A chain asks its draft model once for every drafted token, and every answer of the step is looked at.
        """
        return [fault for look in zip(*(looks[i::5] for i in range(5)), strict=True) for fault in self.faults(*look)]

    def faults(
        self, start: np.ndarray, totals: np.ndarray, least: np.ndarray, most: np.ndarray, broken: np.ndarray
    ) -> list[Fault]:
        """Of one answer: sums, least and largest entries of its laws [B, S]."""
        if broken.any():
            late = f"row {np.argmax(broken)} changed more tokens than its cache was told to expect"
            raise SpecsimError(f"{self.name} model: {late}")
        bad, found = ~((abs(totals - 1) <= SUM_SLACK) & (least >= 0)), []
        for row in np.flatnonzero(bad.any(axis=1)) if bad.any() else ():
            offset = int(np.argmax(bad[row]))
            at, low, total = int(start[row]) + offset, least[row, offset], totals[row, offset]
            fault = f"holds {low}, below 0" if low < 0 else f"sums to {total}, not to 1"
            what = f"the law of row {row}, position {at} {fault} (entries from {low} to {most[row, offset]})"
            found.append(Fault(int(row), at, f"{self.name} model: {what}"))
        return found


class Judged:
    """`choose` beside a rule whose verdicts are looked at: no invalid one must silently decide a token.

    Of a verified block it holds the law of the stop [B, S], and sum, least entry and slot of the residual that is drawn
    from.
    """

    def __init__(self, choose: Any) -> None:
        self.choose = choose
        self.block: Block | None = None
        self.looks: list[Array] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.choose, name)

    def watch(self, task: Task) -> Task:
        """The task, whose blocks are noted."""

        def verify(choose: Any, drafted: Drafted, live: tuple) -> tuple[Block, tuple]:
            self.block, live = task.verify(choose, drafted, live)
            return self.block, live

        return task._replace(verify=verify)

    def __call__(self, law: Array, live: tuple) -> tuple[Array, tuple]:
        """A draw; the first one after a verdict is that of the stop, from all kept down (see `draw_stop`)."""
        index, live = self.choose(law, live)
        if self.block is not None:
            (stop, residual), self.block, xp = self.block, None, namespace(law)
            where = (stop.shape[-1] - 1 - index)[:, None]
            drawn = slot(residual, where)[:, 0, :]
            sums = (xp.sum(drawn, axis=-1)[:, None], xp.min(drawn, axis=-1)[:, None], xp.astype(where, drawn.dtype))
            self.looks.append(xp.concat([stop, *sums], axis=-1))
        return index, live

    def read(self, looks: list[np.ndarray]) -> list[Fault]:
        """Rows with an acceptance that is no probability, or a residual that is no law."""
        return [fault for look in looks for fault in (*unlikely(look[:, :-3]), *no_law(look[:, -3:]))]

    def stop_if_bad(self) -> None:
        """SpecsimError naming row and slot of the first wrong verdict."""
        looks, self.looks = self.looks, []
        for fault in self.read(together(looks)):
            raise SpecsimError(fault.what)


def unlikely(stop: np.ndarray) -> list[Fault]:
    """Rows of stop [B, S] that are no law, up to what rounding explains."""
    passed = np.cumsum(stop, axis=-1)
    bad, faults = ~((stop >= -SUM_SLACK) & (passed <= 1 + SUM_SLACK)), []
    for row in np.flatnonzero(bad.any(axis=1)) if bad.any() else ():
        at = int(np.argmax(bad[row]))
        what = f"stops at slot {at} with probability {stop[row, at]:.6g}, {passed[row, at]:.6g} up to there"
        faults.append(Fault(int(row), None, f"rule: row {row} {what}; an acceptance must be from 0 to 1"))
    return faults


def no_law(residual: np.ndarray) -> list[Fault]:
    """Rows of (sum, least entry, slot) [B, 3] whose residual is no law."""
    total, least, where = residual.T
    bad, faults = ~((abs(total - 1) <= SUM_SLACK) & (least >= 0)), []
    for row in np.flatnonzero(bad):
        fault = f"holds {least[row]}, below 0" if least[row] < 0 else f"sums to {total[row]}, not to 1"
        what = f"rule: the residual of row {row}, slot {int(where[row])} {fault}; it must be a law"
        faults.append(Fault(int(row), None, what))
    return faults


def guard(task: Task) -> tuple[Task, list[Guarded]]:
    """The task with its models under guard."""
    models = [Guarded(model, name) for model, name in ((task.target, "target"), (task.draft, "draft")) if model]
    return task._replace(target=models[0], draft=models[1] if len(models) > 1 else None), models


def read_all(watchers: list[Any], length: Array) -> tuple[np.ndarray, list[Fault]]:
    """length [B] in numpy and the faults of the step, from one transfer of everything that was looked at."""
    counts = [len(some.looks) for some in watchers]
    length, *looks = together([length, *(look for some in watchers for look in some.looks)])
    faults: list[Fault] = []
    for some, count in zip(watchers, counts, strict=True):
        mine, looks, some.looks = looks[:count], looks[count:], []
        faults += some.read(mine)
    return length.astype(np.int64), faults
