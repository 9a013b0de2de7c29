"""How fast decoding was, in calls and in seconds: the definitions of docs/theory.md, T23, on sampled runs.

| figure | definition |
|---|---|
| nfe | E[calls]: target calls for an image |
| accepted_length | E[accepted] / E[calls]: drafts that became final, a call |
| tokens_per_call | E[tokens] / E[calls]; many papers call this the accepted length |
| step_compression | N / E[calls]: plain decoding's calls over these |
| mean_compression | E[N / calls], an average over images, never below step compression |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from gpu_eval.figures import METHOD, mean_interval, ratio_interval
from gpu_eval.provenance import provenance
from gpu_eval.timing import now
from specsim.errors import require, require_whole
from specsim.sampling import Samples

MOST_REPEATS = 1_000_000


def speed_of(batches: list[Samples], plain: list[Samples] | None = None) -> dict[str, Any]:
    """The figures of the table, each {"value", "interval"} over images, and the interval's "method".

    plain: plain decoding of as many images with the same seed, paired by row. Needed with an end of sequence, where N
    is not what plain decoding calls; without one it calls exactly N times.
    """
    faults = [fault for batch in (*batches, *(plain or [])) for fault in batch.faults]
    require(not faults, "speed", "faults", faults[:1], "none: the figures of a row that was given up mean nothing")
    calls, accepted, lengths = (joined(batches, name) for name in ("calls", "accepted", "lengths"))
    base = plain_calls(batches) if plain is None else joined(plain, "calls")
    require(len(base) == len(calls), "speed", "images of plain decoding", len(base), f"{len(calls)}, as in the set")
    return {
        "nfe": mean_interval(calls),
        "accepted_length": ratio_interval(accepted, calls),
        "tokens_per_call": ratio_interval(lengths, calls),
        "step_compression": ratio_interval(base, calls),
        "mean_compression": mean_interval(base / calls),
        "method": METHOD,
    }


def joined(batches: list[Samples], name: str) -> np.ndarray:
    """One number an image, over all batches [n]."""
    return np.concatenate([getattr(batch, name) for batch in batches])


def plain_calls(batches: list[Samples]) -> np.ndarray:
    """N for every image [n]; error with an end of sequence."""
    ends = [batch.eos for batch in batches if batch.eos is not None]
    require(not ends, "speed", "eos", ends[:1], "None, or give the samples of plain decoding too")
    return np.concatenate([np.full(batch.tokens.shape[0], batch.tokens.shape[1]) for batch in batches])


@dataclass(frozen=True)
class Latency:
    """Seconds of each repeat, in order, on the machine that `hardware` describes."""

    seconds: tuple[float, ...]
    warmup: int
    hardware: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Median and quartiles: a mean would follow the few repeats that something else on the machine slowed down."""
        low, median, high = np.quantile(self.seconds, [0.25, 0.5, 0.75]).tolist()
        figures = {"median_seconds": median, "quartiles_seconds": [low, high], "repeats": len(self.seconds)}
        return figures | {"warmup": self.warmup} | self.hardware


def measure(work: Callable[[], Any], device: torch.device, warmup: int = 3, repeats: int = 20) -> Latency:
    """Time `work()`, `repeats` times after `warmup` runs that do not count; before and after each the device finishes.

    What it returns is dropped. Time one batch at the batch size that the figure is about.
    """
    require_whole("latency", "warmup", warmup, 0, MOST_REPEATS)
    require_whole("latency", "repeats", repeats, 1, MOST_REPEATS)
    for _ in range(warmup):
        work()
    seconds = []
    for _ in range(repeats):
        begin = now(device)
        work()
        seconds.append(now(device) - begin)
    return Latency(tuple(seconds), warmup, provenance(device))
