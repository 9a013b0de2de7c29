"""Seconds of a decoder's steps at a position of the sequence: the decoders and the sampling loop are specsim's own."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor

from benchmarks.gpu_parts.bench import Bench
from benchmarks.gpu_parts.sizes import Size
from benchmarks.gpu_parts.timing import Stopwatch
from gpu_eval.cache import Cached
from specsim import Autoregressive, Chain, ContentAware, Jacobi, Ledger, Strict
from specsim.decoding import Decoder, Round, Rows, Task
from specsim.interpreters import Sampling
from specsim.sampling import run
from specsim.tasks import make_task

LOOKAHEAD = 4
PLACES = ("middle", "start", "end")
CHUNK = 256
"""Slots of a prefill's forwards: all logits of a long sequence at once would not fit."""


class System(NamedTuple):
    name: str
    decoder: Decoder
    rule: Any = None


def systems(window: int) -> tuple[System, ...]:
    """The published schemes, and this project's ledger."""
    return (
        System("AR", Autoregressive()),
        System("SD", Chain(LOOKAHEAD), Strict()),
        System("SJD", Jacobi(window), Strict()),
        System("SCD-MC", Jacobi(window, "maximal"), Strict()),
        System("SCD-GS", Jacobi(window, "gumbel"), Strict()),
        System("CSD", Jacobi(window), ContentAware()),
        System("ledger", Chain(LOOKAHEAD), Ledger()),
    )


@dataclass(frozen=True)
class From:
    """`decoder` with the first `at` tokens [B, N] already final."""

    decoder: Decoder
    tokens: Tensor
    at: int

    @property
    def needs_draft(self) -> bool:
        return self.decoder.needs_draft

    @property
    def takes_rule(self) -> bool:
        return self.decoder.takes_rule

    def start(self, task: Task, rows: Rows, choose: Any) -> Any:
        """The decoder's own start, from these rows."""
        return self.decoder.start(task, Rows(self.tokens, rows.length + self.at), choose)

    def step(self, state: Any, choose: Any, task: Task) -> tuple[Any, Round]:
        """The decoder's own."""
        return self.decoder.step(state, choose, task)


class Enough(Exception):
    """Enough calls were seen."""


def calls_from(
    system: System, models: tuple[Cached, Cached], tokens: Tensor, at: int, many: int, look: Callable[[], None]
) -> None:
    """Up to `many` target calls from position `at`, look() after each: everything given to the device is done then."""
    target, draft = models
    task = make_task(system.decoder, target, draft, system.rule, None, None)
    choose = Sampling(0, range(len(tokens)), task.length, target.uniform)
    if getattr(system.decoder, "continuation", None) == "gumbel":  # on the host it would take seconds; values are idle
        shape = (len(tokens), task.length, target.vocab)
        choose.shared = torch.empty(shape, device=tokens.device, dtype=task.fresh.dtype).exponential_()
    seen = 0

    def progress(done: int, whole: int) -> None:
        nonlocal seen
        look()
        seen += 1
        if seen == many:
            raise Enough

    with suppress(Enough):
        run(From(system.decoder, tokens, at), task, choose, len(tokens), progress=progress)


class Series(NamedTuple):
    """Seconds of calls: of the whole step, and of the forwards in it where stopwatches were on."""

    step: list[float]
    target: list[float]
    draft: list[float]


def series(
    system: System, models: tuple[Cached, Cached], watches: tuple[Stopwatch, Stopwatch], tokens: Tensor, at: int,
    bench: Bench,
) -> Series:  # fmt: skip
    """The calls after the first few; fewer where the sequence ends."""
    stamps: list[tuple[float, ...]] = []

    def look() -> None:
        stamps.append((time.perf_counter(), *(watch.seconds for watch in watches)))

    calls_from(system, models, tokens, at, bench.warm + bench.timed, look)
    found = [[after - before for before, after in zip(*pair, strict=True)] for pair in pairwise(stamps)]
    found = found[max(0, min(bench.warm - 1, len(found) - 1)) :]
    if not found:
        raise RuntimeError(f"{system.name}: the sequence ended before a call could be timed")
    return Series(*(list(column) for column in zip(*found, strict=True)))


def prefill(model: Cached, tokens: Tensor, until: int) -> None:
    """Keys and values of the slots before position `until`."""
    for first in range(0, until, CHUNK):
        start = torch.full((len(tokens),), first, device=tokens.device)
        model(tokens, start, min(CHUNK, until - first))


def positions(size: Size) -> dict[str, int]:
    """Where calls are timed; the last leaves room for a few windows."""
    end = max(0, size.length - 4 * (size.window + 1))
    return dict(zip(PLACES, (size.length // 2, 0, end), strict=True))
