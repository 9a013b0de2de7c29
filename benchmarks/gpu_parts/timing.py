"""Seconds of what a device does."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from benchmarks.gpu_parts.bench import Bench
from gpu_eval.network import Memory, Network


def now(device: torch.device) -> float:
    """Seconds, after the device has finished what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def median_seconds(work: Callable[[], Any], bench: Bench) -> float:
    """Of one work(), the first few left out."""
    for _ in range(bench.warm):
        work()
    found = []
    for _ in range(bench.timed):
        begin = now(bench.device)
        work()
        found.append(now(bench.device) - begin)
    return statistics.median(found)


@dataclass
class Stopwatch:
    """A network whose forwards are timed while it is `on`; each then waits for the device, before and after."""

    network: Network
    on: bool = False
    seconds: float = 0.0

    @property
    def rows(self) -> int:
        return self.network.rows

    @property
    def vocab(self) -> int:
        return self.network.vocab

    @property
    def length(self) -> int:
        return self.network.length

    @property
    def like(self) -> Tensor:
        return self.network.like

    def memory(self) -> Memory:
        """As the network's."""
        return self.network.memory()

    def logits(self, tokens: Tensor, slots: Tensor, memory: Memory | None = None) -> Tensor:
        """tokens [R, length - 1], slots [R, K] -> [R, K, V]."""
        if not self.on:
            return self.network.logits(tokens, slots, memory)
        begin = now(self.like.device)
        logits = self.network.logits(tokens, slots, memory)
        self.seconds += now(self.like.device) - begin
        return logits
