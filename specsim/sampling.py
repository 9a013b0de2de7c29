"""Sampling: run a decoder under the sampling interpreter, a batch of independent rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import device

from specsim.arrays import Array, is_exact, namespace, to_numpy
from specsim.decoding import Decoder, Task, empty_rows
from specsim.errors import SpecsimError
from specsim.interpreters.sampling import Sampling
from specsim.tasks import make_task
from specsim.watching import Fault, Judged, Observe, Witness, guard, read_all

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Samples:
    """What came out.

    tokens: [B, N], in the namespace of the model.  Per target call (numpy, [calls, B]): start, the position a row was
    at; active, whether it was unfinished; kept, drafted tokens that became final; reached, drafted slots judged;
    drafted, slots that held a draft.  faults: of the rows that were given up, whose figures mean nothing.
    """

    tokens: Array
    start: np.ndarray
    active: np.ndarray
    kept: np.ndarray
    reached: np.ndarray
    drafted: np.ndarray
    eos: int | None = None
    faults: tuple[Fault, ...] = ()

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
    keep_going: bool = False,
) -> Samples:
    """Decode a batch.

    rows: how many, or the identities of the rows: a row's output depends on (seed, row identity), not on the batch.
    observe(drafted, round) sees every verified block and what became of it.
    progress(finished tokens, all tokens) is called after each target call.
    keep_going: a row that meets a wrong law is given up and named in `faults`; otherwise it is an error.
    """
    task = make_task(decoder, target, draft, rule, length, eos)
    if is_exact(task.fresh):
        raise SpecsimError("sample: this table holds Fractions, which are for exact laws; sample its .floats()")
    names = list(range(rows)) if isinstance(rows, int) else list(rows)
    if not names or min(names) < 0 or seed < 0:
        raise SpecsimError(f"rows {rows!r} and seed {seed!r}: at least one row, and no negative number")
    choose = Sampling(seed, names, task.length, task.fresh)
    return run(decoder, task, choose, len(names), observe, progress, keep_going)


def run(
    decoder: Decoder,
    task: Task,
    choose: Any,
    rows: int,
    observe: Observe | None = None,
    progress: Progress | None = None,
    keep_going: bool = False,
) -> Samples:
    """Steps until every row is full; one look at the device per target call."""
    witness = None if observe is None else Witness(observe)
    task, models = guard(task if witness is None else witness.watch(task))
    choose = Judged(choose)
    task = choose.watch(task)
    state = decoder.start(task, empty_rows(rows, task), choose)
    rounds: list[tuple[Array, Array, Array]] = []
    starts = [to_numpy(state.length)]
    given_up: dict[int, Fault] = {}
    while (starts[-1] < task.length).any():
        state, counts = decoder.step(state, choose, task)
        length, faults = read_all([*models, choose], state.length)
        faults = [fault for fault in faults if starts[-1][fault.row] < task.length]
        if faults and not keep_going:
            raise SpecsimError(faults[0].what)
        given_up = {fault.row: fault for fault in reversed(faults)} | given_up
        rounds.append(tuple(counts))
        if witness is not None:
            witness.report(counts)
        if faults:
            state, length = without(state, sorted(given_up), task, length)
        starts.append(length)
        if progress is not None:
            progress(int(length.sum()), rows * task.length)
    start = np.stack(starts[:-1])
    xp = namespace(state.length)
    kept, reached, drafted = (to_numpy(xp.stack(counts)) for counts in zip(*rounds, strict=True))
    faults = [given_up[row] for row in sorted(given_up)]
    return Samples(state.tokens, start, start < task.length, kept, reached, drafted, task.eos, tuple(faults))


def without(state: Any, rows: list[int], task: Task, length: np.ndarray) -> tuple[Any, np.ndarray]:
    """The state with these rows at the end of their sequences, and length [B] likewise."""
    length = length.copy()
    length[rows] = task.length
    ended = namespace(state.length).asarray(length, device=device(state.length))
    return state._replace(length=ended), length
