"""Sampling: run a decoder under the sampling interpreter, a batch of independent rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from specsim.arrays import Array, is_exact, namespace, slot, to_numpy
from specsim.decoding import Decoder, Round, Task, empty_rows
from specsim.errors import SpecsimError
from specsim.interpreters.sampling import Sampling
from specsim.tasks import SUM_SLACK, make_task, require_numbers
from specsim.verification import Block, Drafted

Observe = Callable[[Drafted, Round], None]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Samples:
    """What came out.

    tokens: [B, N], in the namespace of the model.  Per target call (numpy, [calls, B]): start, the position a row was
    at; active, whether it was unfinished; kept, drafted tokens that became final; reached, drafted slots judged;
    drafted, slots that held a draft.
    """

    tokens: Array
    start: np.ndarray
    active: np.ndarray
    kept: np.ndarray
    reached: np.ndarray
    drafted: np.ndarray
    eos: int | None = None

    @property
    def calls(self) -> np.ndarray:
        """Target calls of each row, [B]: a finished row's idle rounds are not counted."""
        return self.active.sum(axis=0)

    @property
    def accepted(self) -> np.ndarray:
        """Drafted tokens that became final, per row [B]."""
        return self.kept.sum(axis=0)

    @property
    def lengths(self) -> np.ndarray:
        """Output tokens of each row [B], up to and including the first end of sequence."""
        tokens = to_numpy(self.tokens)
        if self.eos is None:
            return np.full(len(tokens), tokens.shape[1])
        return np.minimum((np.cumsum(tokens == self.eos, axis=1) == 0).sum(axis=1) + 1, tokens.shape[1])

    @property
    def acceptance_by_slot(self) -> list[float | None]:
        """Share of judged drafts kept, per slot of the block; None for a slot never judged."""
        slots = range(int(self.reached.max(initial=0)))
        return [float((self.kept > s).sum() / n) if (n := (self.reached > s).sum()) else None for s in slots]


def sample(
    decoder: Decoder,
    target: Any,
    draft: Any = None,
    rule: Any = None,
    length: int | None = None,
    rows: int | Sequence[int] = 1,
    seed: int = 0,
    eos: int | None = None,
    observe: Observe | None = None,
    progress: Progress | None = None,
) -> Samples:
    """Decode a batch.

    rows: how many, or the identities of the rows: a row's output depends on (seed, row identity), not on the batch.
    observe(drafted, round) sees every verified block and what became of it.
    progress(finished tokens, all tokens) is called after each target call.
    """
    task = make_task(decoder, target, draft, rule, length, eos)
    if is_exact(task.fresh):
        raise SpecsimError("sample: this table holds Fractions, which are for exact laws; sample its .floats()")
    names = list(range(rows)) if isinstance(rows, int) else list(rows)
    if not names or min(names) < 0 or seed < 0:
        raise SpecsimError(f"rows {rows!r} and seed {seed!r}: at least one row, and no negative number")
    choose = Sampling(seed, names, task.length, task.fresh)
    return run(decoder, task, choose, len(names), observe, progress)


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

    A model that says `checked = True` stops at such laws by itself and is not looked at again.
    The looks stay on the device; `stop_if_bad` reads them once a step, where the loop waits for the device anyway.
    """

    def __init__(self, model: Any, name: str) -> None:
        self.model, self.name = model, name
        self.looks: list[tuple[Array, Array, Array]] = []

    def __call__(self, tokens: Array, start: Array, count: int) -> Array:
        laws = self.model(tokens, start, count)
        require_numbers(self.name, laws)
        if not getattr(self.model, "checked", False):
            xp = namespace(laws)
            self.looks.append((start, xp.sum(laws, axis=-1), xp.min(laws, axis=-1)))
        return laws

    def stop_if_bad(self) -> None:
        """SpecsimError naming row and position of the first law that does not sum to 1, or has a negative entry.

        A chain asks its draft model once for every drafted token, and every answer of the step is looked at.
        """
        for look in self.looks:
            start, totals, least = (to_numpy(array) for array in look)
            bad = ~((abs(totals - 1) <= SUM_SLACK) & (least >= 0))
            if bad.any():
                row, offset = np.argwhere(bad)[0]
                negative, total = least[row, offset] < 0, totals[row, offset]
                fault = f"holds {least[row, offset]}, below 0" if negative else f"sums to {total}, not to 1"
                raise SpecsimError(f"{self.name} model: the law of row {row}, position {start[row] + offset} {fault}")
        self.looks.clear()


class Judged:
    """`choose` beside a rule whose verdicts are looked at: no invalid one must silently decide a token.

    Of a verified block it holds the law of the stop [B, S], and sum, least entry and slot of the residual that is drawn
    from; the looks stay on the device until `stop_if_bad` reads them, once a step.
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

    def stop_if_bad(self) -> None:
        """SpecsimError naming row and slot of an acceptance that is no probability, or of a residual that is no law."""
        for look in map(to_numpy, self.looks):
            stop, (total, least, where) = look[:, :-3], look[:, -3:].T
            passed = np.cumsum(stop, axis=-1)
            bad = np.argwhere(~((stop >= -SUM_SLACK) & (passed <= 1 + SUM_SLACK)))
            if len(bad):
                row, at = bad[0]
                what = f"stops at slot {at} with probability {stop[row, at]:.6g}, {passed[row, at]:.6g} up to there"
                raise SpecsimError(f"rule: row {row} {what}; an acceptance must be from 0 to 1")
            wrong = ~((abs(total - 1) <= SUM_SLACK) & (least >= 0))
            if wrong.any():
                row = int(np.argmax(wrong))
                fault = f"holds {least[row]}, below 0" if least[row] < 0 else f"sums to {total[row]}, not to 1"
                raise SpecsimError(f"rule: the residual of row {row}, slot {int(where[row])} {fault}; it must be a law")
        self.looks.clear()


def guard(task: Task) -> tuple[Task, list[Guarded]]:
    """The task with its models under guard."""
    models = [Guarded(model, name) for model, name in ((task.target, "target"), (task.draft, "draft")) if model]
    return task._replace(target=models[0], draft=models[1] if len(models) > 1 else None), models


def run(
    decoder: Decoder,
    task: Task,
    choose: Any,
    rows: int,
    observe: Observe | None = None,
    progress: Progress | None = None,
) -> Samples:
    """Steps until every row is full; one look at the device per target call."""
    witness = None if observe is None else Witness(observe)
    task, models = guard(task if witness is None else witness.watch(task))
    choose = Judged(choose)
    task = choose.watch(task)
    state = decoder.start(task, empty_rows(rows, task), choose)
    rounds: list[tuple[Array, Array, Array]] = []
    starts = [to_numpy(state.length)]
    while (starts[-1] < task.length).any():
        state, counts = decoder.step(state, choose, task)
        for looked_at in (*models, choose):
            looked_at.stop_if_bad()
        rounds.append(tuple(counts))
        if witness is not None:
            witness.report(counts)
        starts.append(to_numpy(state.length))
        if progress is not None:
            progress(int(starts[-1].sum()), rows * task.length)
    start = np.stack(starts[:-1])
    xp = namespace(state.length)
    kept, reached, drafted = (to_numpy(xp.stack(counts)) for counts in zip(*rounds, strict=True))
    return Samples(state.tokens, start, start < task.length, kept, reached, drafted, task.eos)
