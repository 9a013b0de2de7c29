"""How many images of LlamaGen-XL fit side by side, and what a call then takes: SJD, doubled until memory is full."""

from __future__ import annotations

import statistics
from functools import partial

import torch

from benchmarks.gpu_parts.bench import Bench, Left, Record, attempt, release
from benchmarks.gpu_parts.sizes import SIZES, Size, WithRows, shrunk, some_tokens
from benchmarks.gpu_parts.steps import System, series
from benchmarks.gpu_parts.timing import Stopwatch
from specsim import Jacobi, Strict

MOST_IMAGES = 4096


def batches(bench: Bench, record: Record, left: Left) -> None:
    """1, 2, 4, ... images from the first token on; stops at the first number that does not fit."""
    size = shrunk(SIZES[0]) if bench.small else SIZES[0]
    with_rows = size.build(size, size.target, bench.device)
    images, most = 1, 4 if bench.small else MOST_IMAGES
    while images <= most:
        attempt(record, str(images), left, partial(calls_of, bench, size, with_rows, images))
        if "seconds_per_call" not in record[str(images)]:
            break
        record["largest"] = images
        release(bench.device)
        images *= 2


def calls_of(bench: Bench, size: Size, with_rows: WithRows, images: int) -> Record:
    """Seconds of a call of all images; an image's share falls as long as the device has room."""
    if bench.cuda:
        torch.cuda.reset_peak_memory_stats(bench.device)
    watch = Stopwatch(with_rows(images))
    model = size.model(watch, 0)
    system = System("SJD", Jacobi(size.window), Strict())
    tokens = some_tokens(size, images, bench.device)
    seconds = statistics.median(series(system, (model, model), (watch, watch), tokens, 0, bench).step)
    peak = torch.cuda.max_memory_allocated(bench.device) if bench.cuda else None
    return {"seconds_per_call": seconds, "seconds_per_call_and_image": seconds / images, "peak_bytes": peak}
