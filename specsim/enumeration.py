"""The enumeration: a decoder run under the exact interpreter until every row is finished."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from specsim.arrays import Array, number
from specsim.decoding import Decoder, Round, Task, canonical, empty_rows
from specsim.interpreters.exact import Exact
from specsim.interpreters.merging import merge
from specsim.laws import Law
from specsim.tables import Table


@dataclass
class Tally:
    """Sums kept while rows finish: see the fields of `Law`."""

    mass: Array
    call_law: dict[int, Any] = field(default_factory=dict)
    accepted: Any = 0
    drafted: Any = 0
    kept: list = field(default_factory=list)
    reached: list = field(default_factory=list)

    def add_round(self, weight: Array, counted: Round) -> None:
        """Count one target call of every row."""
        self.accepted = self.accepted + (weight * counted.kept).sum()
        self.drafted = self.drafted + (weight * counted.drafted).sum()
        for counts, sums in ((counted.kept, self.kept), (counted.reached, self.reached)):
            sums.extend([0] * (int(counts.max(initial=0)) - len(sums)))
            for slot in range(len(sums)):
                sums[slot] = sums[slot] + weight[counts > slot].sum()

    def finish(self, calls: int, codes: Array, weight: Array) -> None:
        """Rows [R] whose sequence is complete after `calls` calls."""
        if len(weight):
            np.add.at(self.mass, codes, weight)
            self.call_law[calls] = weight.sum()


def enumerate_law(
    decoder: Decoder,
    task: Task,
    target: Table,
    budget: float,
    advice: Callable[[], str] = str,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Law, int]:
    """The enumeration itself -> law, and the most bytes that one fork took.  advice: what to add to a refusal."""
    choose = Exact(target.laws, task.length, budget, advice)
    state = decoder.start(task, empty_rows(1, task), choose)
    tally = Tally(np.zeros(target.vocab**task.length, dtype=target.laws.dtype) + number(0, target.laws))
    calls = 0
    while len(choose.weight):
        state = merged(canonical(decoder, state, task), choose)
        state, counts = decoder.step(state, choose, task)
        calls += 1
        tally.add_round(choose.weight, counts)
        state = retire(state, choose, tally, calls, target.vocab)
        if progress is not None:
            progress(calls, len(choose.weight))
    return as_law(tally, target, task.length, task.eos), choose.peak


def merged(state: Any, choose: Exact) -> Any:
    """One row for every distinct state."""
    (*fields, noise), weight = merge((*state, choose.noise), choose.weight)
    choose.restart(weight, noise)
    return type(state)(*fields)


def retire(state: Any, choose: Exact, tally: Tally, calls: int, vocab: int) -> Any:
    """Count the finished rows and go on with the others; noise of final positions is forgotten."""
    done = state.length >= choose.length
    powers = vocab ** np.arange(choose.length - 1, -1, -1, dtype=np.int64)
    tally.finish(calls, state.tokens[done] @ powers, choose.weight[done])
    left = type(state)(*(a[~done] for a in state))
    choose.restart(choose.weight[~done], choose.noise[~done])
    choose.forget(left.length)
    return left


def as_law(tally: Tally, target: Table, length: int, eos: int | None) -> Law:
    """The finished tally as a law."""
    tokens = length * tally.mass.sum() if eos is None else expected_tokens(tally.mass, target.vocab, length, eos)
    slots = max(len(tally.kept), len(tally.reached))
    kept, reached = (tuple(sums + [0] * (slots - len(sums))) for sums in (tally.kept, tally.reached))
    costs = (tally.call_law, tally.accepted, tally.drafted, kept, reached)
    return Law(tally.mass, target.vocab, length, *costs, tokens, eos)


def expected_tokens(mass: Array, vocab: int, length: int, eos: int) -> Any:
    """Expected number of tokens up to and including the first `eos`."""
    codes = np.arange(vocab**length)
    digits = codes[:, None] // vocab ** np.arange(length - 1, -1, -1) % vocab
    before = (np.cumsum(digits == eos, axis=1) == 0).sum(axis=1)
    return (mass * np.minimum(before + 1, length)).sum()
