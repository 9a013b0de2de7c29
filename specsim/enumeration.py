"""Exact laws: run a decoder under the exact interpreter until every row is finished."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from specsim.arrays import Array, number
from specsim.decoding import Decoder, Task, empty_rows
from specsim.errors import SpecsimError
from specsim.interpreters.exact import ROW_OVERHEAD, Exact
from specsim.interpreters.merging import merge
from specsim.laws import Law
from specsim.tables import Table
from specsim.tasks import make_task

BUDGET = 4 * 2**30
"""Bytes an enumeration may take by default: a fork beyond it is refused before it is made."""
SURELY_SMALL = 3000
"""Sequences up to which an enumeration is run without an estimate; the budget holds all the same."""
PROBE_BYTES = 2**22
"""An estimate tries longer and longer sequences until one fork takes this much, which costs well under a second."""
ESTIMATE_SLACK = 4
"""How far an estimate must lie above the budget to refuse at once: extrapolation errs by less than this factor."""


@dataclass
class Tally:
    """Sums kept while rows finish: see the fields of `Law`."""

    mass: Array
    call_law: dict[int, Any] = field(default_factory=dict)
    accepted: Any = 0
    kept: list = field(default_factory=list)
    reached: list = field(default_factory=list)

    def add_round(self, weight: Array, kept: Array, reached: Array) -> None:
        """Count one target call of every row."""
        self.accepted = self.accepted + (weight * kept).sum()
        for counts, sums in ((kept, self.kept), (reached, self.reached)):
            sums.extend([0] * (int(counts.max(initial=0)) - len(sums)))
            for slot in range(len(sums)):
                sums[slot] = sums[slot] + weight[counts > slot].sum()

    def finish(self, calls: int, codes: Array, weight: Array) -> None:
        """Rows [R] whose sequence is complete after `calls` calls."""
        if len(weight):
            np.add.at(self.mass, codes, weight)
            self.call_law[calls] = weight.sum()


def exact(
    decoder: Decoder,
    target: Table,
    draft: Table | None = None,
    rule: Any = None,
    length: int | None = None,
    eos: int | None = None,
    budget: int = BUDGET,
    progress: Callable[[int, int], None] | None = None,
) -> Law:
    """The law of `length` tokens decoded by `decoder`, enumerated: float64 or Fractions as the tables are.

    rule: a token-wise rule (default Strict()); draft: needed by decoders with a draft model.  budget: bytes.
    progress(calls, rows) is called after each step.  SpecsimError for what does not fit or does not go together.
    """
    task = make_task(decoder, target, draft, rule, length, eos)
    refuse_hopeless(target.vocab, task.length, budget)
    if target.vocab**task.length > SURELY_SMALL:
        refuse_too_large(decoder, task, target, draft, budget)
    law, _ = enumerate_law(decoder, task, target, budget, progress)
    return law


def enumerate_law(
    decoder: Decoder, task: Task, target: Table, budget: float, progress: Callable[[int, int], None] | None = None
) -> tuple[Law, int]:
    """The enumeration itself -> law, and the most bytes that one fork took."""
    advice = f"shorten --length {task.length}, or shrink the window or lookahead of {decoder!r}"
    choose = Exact(target.laws, task.length, budget, advice)
    state = decoder.start(task, empty_rows(1, task), choose)
    tally = Tally(np.zeros(target.vocab**task.length, dtype=target.laws.dtype) + number(0, target.laws))
    calls = 0
    while len(choose.weight):
        state = merged(state, choose)
        state, counts = decoder.step(state, choose, task)
        calls += 1
        tally.add_round(choose.weight, *counts)
        state = retire(state, choose, tally, calls, target.vocab)
        if progress is not None:
            progress(calls, len(choose.weight))
    return as_law(tally, target, task.length, task.eos), choose.peak


def refuse_hopeless(vocab: int, length: int, budget: int) -> None:
    """Every sequence is a row at some time, so vocab ** length rows are the least that is needed."""
    row = 8 * length + ROW_OVERHEAD
    if vocab**length * row > budget:
        fits = max((n for n in range(1, length) if vocab**n * row <= budget), default=0)
        raise SpecsimError(
            f"exact law: vocab {vocab} and length {length} have {vocab**length:.3g} sequences, at least "
            f"{vocab**length * row / 2**30:.3g} GiB, above the budget of {budget / 2**30:.3g} GiB; {fitting(fits)}"
        )


def refuse_too_large(decoder: Decoder, task: Task, target: Table, draft: Table | None, budget: int) -> None:
    """Estimate the memory from short sequences, enumerated in float64, and refuse what would not fit.

    Each token more costs about the same factor more; the factor is that of the last two lengths tried.
    """
    floats = task._replace(
        target=target.floats(), draft=None if draft is None else draft.floats(), fresh=target.floats().uniform
    )
    peaks = [1.0]
    while len(peaks) <= task.length and peaks[-1] < PROBE_BYTES:
        law = enumerate_law(decoder, floats._replace(length=len(peaks)), target.floats(), math.inf)
        peaks.append(float(law[1]))
    growth = max(1.0, peaks[-1] / peaks[-2])
    need = [*peaks, *(peaks[-1] * growth**n for n in range(1, task.length - len(peaks) + 2))]
    if need[task.length] > budget * ESTIMATE_SLACK:
        fits = max((n for n in range(1, task.length) if need[n] <= budget), default=0)
        raise SpecsimError(
            f"exact law: {decoder!r} at vocab {target.vocab} and length {task.length} needs about "
            f"{need[task.length] / 2**30:.3g} GiB, above the budget of {budget / 2**30:.3g} GiB; {fitting(fits)}"
        )


def fitting(length: int) -> str:
    """What would fit, in words."""
    return f"length {length} would fit" if length else "no length would fit: shrink the window or the lookahead"


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
    return Law(tally.mass, target.vocab, length, tally.call_law, tally.accepted, kept, reached, tokens, eos)


def expected_tokens(mass: Array, vocab: int, length: int, eos: int) -> Any:
    """Expected number of tokens up to and including the first `eos`."""
    codes = np.arange(vocab**length)
    digits = codes[:, None] // vocab ** np.arange(length - 1, -1, -1) % vocab
    before = (np.cumsum(digits == eos, axis=1) == 0).sum(axis=1)
    return (mass * np.minimum(before + 1, length)).sum()
