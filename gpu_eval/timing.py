"""Seconds, on a device that works on after it was asked."""

from __future__ import annotations

import time
from typing import Any

import torch


class Clock:
    """Seconds of calls: those that are known, and pairs of events in the queue of a GPU."""

    def __init__(self) -> None:
        self.done = 0.0
        self.events: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []

    @property
    def seconds(self) -> float:
        """Of all calls so far; waits for the device."""
        if self.events:
            torch.cuda.synchronize()
        return self.done + sum(begin.elapsed_time(end) for begin, end in self.events) / 1000


class Timed:
    """A model whose calls are timed, in whatever way it is asked.  On a GPU by events in its own queue, so that nothing
    waits for it."""

    def __init__(self, model: Any, clock: Clock | None = None) -> None:
        self.model = model
        self.clock = Clock() if clock is None else clock
        if hasattr(model, "tree"):
            self.tree = lambda *asked: self.timed(model.tree, *asked)
        if hasattr(model, "since"):
            self.since = lambda length: Timed(model.since(length), self.clock)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def __call__(self, tokens: Any, start: Any, count: int) -> Any:
        return self.timed(self.model, tokens, start, count)

    def timed(self, call: Any, *asked: Any) -> Any:
        """A call, and the time it took."""
        if self.model.uniform.device.type == "cuda":
            return self.queued(call, *asked)
        begin = time.perf_counter()
        laws = call(*asked)
        self.clock.done += time.perf_counter() - begin
        return laws

    def queued(self, call: Any, *asked: Any) -> Any:
        """A call between two events."""
        pair = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        pair[0].record()
        laws = call(*asked)
        pair[1].record()
        self.clock.events.append(pair)
        return laws

    @property
    def seconds(self) -> float:
        """Of all calls so far; waits for the device."""
        return self.clock.seconds


def now(device: torch.device) -> float:
    """Seconds, after the device has finished what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()
