"""How often a step waits for the device: once is what it takes to know which rows are done.

Sizes are tiny, since how often does not depend on them; the networks, guidance and forced ends of lines are the real
ones.  On CUDA every synchronising call is counted, named by the line that made it.  On a CPU only numbers that are read
from a tensor can be counted, and the one transfer of a step is none of these.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.gpu_parts.bench import Bench, Left, Record, attempt
from benchmarks.gpu_parts.sizes import SIZES, Size, shrunk, some_tokens
from benchmarks.gpu_parts.steps import System, calls_from, systems

WORDS = "called a synchronizing CUDA operation"
SEEN = 6
"""Calls of a system.  Uniforms are made on the host 64 draws at a time, so their transfers come less often."""


def waits(bench: Bench, record: Record, left: Left) -> None:
    """Every system on every kind of network."""
    for size in map(shrunk, SIZES[::2] if bench.small else SIZES):
        networks = [size.build(size, shape, bench.device)(1) for shape in (size.target, size.draft)]
        for system in systems(size.window):
            work = partial(waits_of, bench, size, networks, system)
            attempt(record, f"{size.name}, {system.name}", left, work)


def waits_of(bench: Bench, size: Size, networks: list[Any], system: System) -> Record:
    """Waits between one target call's end and the next one's, the first left out: what is made once is made then."""
    models = size.model(networks[0], ahead=0), size.model(networks[1], ahead=1)
    tokens, totals = some_tokens(size, 1, bench.device), []
    with counting(bench.device) as (total, where):
        calls_from(system, models, tokens, 0, SEEN, lambda: totals.append(total()))
        lines = where()
    each = [after - before for before, after in pairwise(totals)]
    expected = 1 if bench.cuda else 0
    found = {"calls": len(each), "most": max(each, default=None), "expected": expected, "lines": lines}
    return found | {"holds": bool(each) and max(each) <= expected}


@contextmanager
def counting(device: torch.device) -> Iterator[tuple[Callable[[], int], Callable[[], Record]]]:
    """(waits so far, waits by line)."""
    if device.type != "cuda":
        with Numbers() as numbers:
            yield lambda: numbers.count, dict
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = torch.cuda.get_sync_debug_mode()
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield lambda: sum(WORDS in str(one.message) for one in caught), lambda: by_line(caught)
        finally:
            torch.cuda.set_sync_debug_mode(before)


def by_line(caught: list[warnings.WarningMessage]) -> Record:
    """How often each line waited."""
    lines = (f"{Path(one.filename).name}:{one.lineno}" for one in caught if WORDS in str(one.message))
    return dict(Counter(lines))


class Numbers(TorchDispatchMode):
    """Counts numbers read from tensors, each of which would wait for another device."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **(kwargs or {}))
