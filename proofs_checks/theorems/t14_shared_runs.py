"""Two decoders under one noise: their outputs side by side, for all noise at once.  For T14."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from proofs_checks.theorems.t09_joint_laws import BYTES
from specsim import Autoregressive, Race, Table
from specsim.arrays import Array
from specsim.decoding import Decoder, Task, empty_rows
from specsim.interpreters.exact import Exact
from specsim.noise_regions import WHOLE
from specsim.tasks import make_task


class Carrying:
    """`choose` that keeps an array of its own beside the decoder's, and forgets no noise.

    Rows fork, and what belongs to a row must fork with it: here the output of a decoder that ran before.
    """

    def __init__(self, inner: Exact, kept: Array) -> None:
        self.inner, self.kept = inner, kept

    def __call__(self, law: Array, live: tuple) -> tuple[Array, tuple]:
        """A draw of the inner interpreter."""
        return self.took(self.inner(law, (self.kept, *live)))

    def token(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """A token of the inner interpreter."""
        return self.took(self.inner.token(law, position, (self.kept, *live)))

    def race(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """A race of the inner interpreter."""
        return self.took(self.inner.race(law, position, (self.kept, *live)))

    def took(self, answer: tuple) -> tuple[Array, tuple]:
        """The answer without the array that was kept."""
        index, (self.kept, *live) = answer
        return index, tuple(live)

    def forget(self, position: Array) -> None:
        """The second decoder asks the noise again."""


def same_noise(inner: Exact) -> None:
    """What the rows know of the noise stays known."""


def new_noise(inner: Exact) -> None:
    """Nothing is known of the noise."""
    inner.restart(inner.weight, np.full(inner.noise.shape, WHOLE))


Between = Callable[[Exact], None]
"""What happens to the noise between two runs."""


def outputs(first: Decoder, second: Decoder, task: Task, between: Between) -> tuple[Array, Array, Array]:
    """Both decoders on every branch of the noise and of their own draws -> tokens [R, N], tokens [R, N], weight [R]."""
    inner = Exact(task.fresh, task.length, BYTES)
    before = finish(first, task, Carrying(inner, np.zeros((1, 0), dtype=np.int64)), 1)
    between(inner)
    choose = Carrying(inner, before)
    after = finish(second, task, choose, len(before))
    return choose.kept, after, inner.weight


def finish(decoder: Decoder, task: Task, choose: Carrying, rows: int) -> Array:
    """The final tokens of a decoder."""
    state = decoder.start(task, empty_rows(rows, task), choose)
    while (state.length < task.length).any():
        state, _ = decoder.step(state, choose, task)
    return state.tokens


def agreement(first: Decoder, target: Table, draft: Table, eos: int | None, between: Between) -> Any:
    """P(`first` and then plain race decoding have the same output), a Fraction."""
    task = make_task(first, target, draft, None, None, eos)
    one, other, weight = outputs(first, Race(Autoregressive()), task, between)
    return (weight * (one == other).all(axis=1)).sum()
