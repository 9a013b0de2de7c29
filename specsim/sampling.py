"""Sampling: run a decoder under the sampling interpreter, a batch of independent rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from specsim.arrays import Array
from specsim.decoding import Decoder, Task, empty_rows
from specsim.errors import SpecsimError
from specsim.interpreters.sampling import Sampling
from specsim.tasks import make_task
from specsim.verification import Block, Drafted


@dataclass(frozen=True)
class Samples:
    """What came out.

    tokens: [B, N], in the namespace of the model.  Per target call (numpy, [calls, B]): start, the position a row was
    at; active, whether it was unfinished; kept, drafted tokens that became final; reached, drafted slots judged.
    """

    tokens: Array
    start: np.ndarray
    active: np.ndarray
    kept: np.ndarray
    reached: np.ndarray
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


def to_numpy(array: Array) -> np.ndarray:
    """A copy on the CPU, whatever the namespace."""
    return np.asarray(array.detach().cpu() if hasattr(array, "detach") else array)


def sample(
    decoder: Decoder,
    target: Any,
    draft: Any = None,
    rule: Any = None,
    length: int | None = None,
    rows: int | Sequence[int] = 1,
    seed: int = 0,
    eos: int | None = None,
    observe: Callable[[Drafted], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Samples:
    """Decode a batch.

    rows: how many, or the identities of the rows: a row's output depends on (seed, row identity), not on the batch.
    observe(drafted) sees every verified block; progress(finished tokens, all tokens) is called after each target call.
    """
    task = make_task(decoder, target, draft, rule, length, eos)
    names = list(range(rows)) if isinstance(rows, int) else list(rows)
    if not names or min(names) < 0 or seed < 0:
        raise SpecsimError(f"rows {rows!r} and seed {seed!r}: at least one row, and no negative number")
    choose = Sampling(seed, names, task.length, task.fresh)
    return run(decoder, task if observe is None else observed(task, observe), choose, len(names), progress)


def observed(task: Task, observe: Callable[[Drafted], None]) -> Task:
    """The task with a look at every block before it is verified."""

    def verify(choose: Any, drafted: Drafted, live: tuple) -> tuple[Block, tuple]:
        observe(drafted)
        return task.verify(choose, drafted, live)

    return task._replace(verify=verify)


def run(decoder: Decoder, task: Task, choose: Any, rows: int, progress: Callable[[int, int], None] | None) -> Samples:
    """Steps until every row is full; one look at the device per target call."""
    state = decoder.start(task, empty_rows(rows, task), choose)
    rounds: list[tuple[Array, Array, Array]] = []
    starts = [to_numpy(state.length)]
    while (starts[-1] < task.length).any():
        state, counts = decoder.step(state, choose, task)
        rounds.append(tuple(counts))
        starts.append(to_numpy(state.length))
        if progress is not None:
            progress(int(starts[-1].sum()), rows * task.length)
    start = np.stack(starts[:-1])
    kept, reached = (to_numpy(array_namespace(state.length).stack([r[i] for r in rounds])) for i in (0, 1))
    return Samples(state.tokens, start, start < task.length, kept, reached, task.eos)
