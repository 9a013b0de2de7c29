"""Seconds of a call of every system at a published size, and what follows for an image from calls of real models."""

from __future__ import annotations

import statistics
import time
from functools import partial

import torch
from torch import Tensor

from benchmarks.gpu_parts.bench import Bench, Left, Record, attempt
from benchmarks.gpu_parts.calls import ratios
from benchmarks.gpu_parts.sizes import Size, shrunk, some_tokens
from benchmarks.gpu_parts.steps import LOOKAHEAD, PLACES, System, positions, prefill, series, systems
from benchmarks.gpu_parts.timing import Stopwatch, median_seconds, now
from gpu_eval.network import Memory, Network
from specsim import Autoregressive
from specsim.interpreters import Sampling
from specsim.sampling import sample

NOISE_POSITIONS = 64
"""Positions whose race noise is made on the host to time it; an image's takes as many times longer as it has more."""
WHOLE_SHARE = 1 / 6
"""Of the time left, what plain decoding of a whole image may take."""


def speed(size: Size, bench: Bench, record: Record, left: Left) -> None:
    """One image at a time; with guidance its network has two rows."""
    size = shrunk(size) if bench.small else size
    measure = Measure(size, bench)
    record |= {"window": size.window, "lookahead": LOOKAHEAD, "tokens": size.length, "draft": size.draft_name}
    record["weights"] = "random"
    found: dict[str, Record] = {}
    record["systems"] = found
    attempt(record, "forward_seconds", left, measure.forwards)
    for place, at in positions(size).items():
        measure.go_to(at)
        for system in systems(size.window):
            mine = found.setdefault(system.name, {})
            attempt(mine, place, left, partial(measure.at, system))
            summarise(mine)
            if "in_forwards" not in mine:
                attempt(mine, "in_forwards", left, partial(measure.split, system))
    attempt(record, "race_noise", left, measure.noise)
    attempt(record, "whole_image", left, partial(measure.whole, found["AR"], left))
    record["peak_bytes"] = torch.cuda.max_memory_allocated(bench.device) if bench.cuda else None


class Measure:
    """Target and draft of a size, with the keys and values of the position that is measured at."""

    def __init__(self, size: Size, bench: Bench) -> None:
        if bench.cuda:
            torch.cuda.reset_peak_memory_stats(bench.device)
        self.size, self.bench = size, bench
        target, draft = (Stopwatch(size.build(size, shape, bench.device)(1)) for shape in (size.target, size.draft))
        self.watches = target, draft
        self.tokens = some_tokens(size, 1, bench.device)
        self.go_to(0)

    def go_to(self, at: int) -> None:
        """New caches, filled up to the position."""
        target, draft = self.watches
        self.models = self.size.model(target, ahead=0), self.size.model(draft, ahead=1)
        for model in self.models:
            prefill(model, self.tokens, at)
        self.position = at

    def at(self, system: System) -> Record:
        """Whole steps, with no other wait for the device than the decoder's own."""
        steps = series(system, self.models, self.watches, self.tokens, self.position, self.bench).step
        return {"position": self.position, "calls": len(steps), "seconds_per_call": statistics.median(steps)}

    def split(self, system: System) -> Record:
        """The same with every forward waited for, so that they and the rest can be told apart.

        rest: guidance, top-k and softmax of both models' logits, caches, verification, draws, the transfer.
        """
        for watch in self.watches:
            watch.on = True
        try:
            found = series(system, self.models, self.watches, self.tokens, self.position, self.bench)
        finally:
            for watch in self.watches:
                watch.on = False
        step, target, draft = (statistics.median(part) for part in found)
        rest = step - target - draft
        parts = {"step": step, "target": target, "draft": draft, "rest": rest}
        return {"position": self.position, **parts, "rest_over_target": rest / target}

    def forwards(self) -> Record:
        """Of the target alone, by the number of slots."""
        return {str(slots): self.forward(slots) for slots in (1, LOOKAHEAD + 1, self.size.window + 1)}

    def forward(self, slots: int) -> float:
        network, at = self.watches[0].network, self.size.length // 2
        tokens = self.tokens.expand(network.rows, -1)[:, : self.size.length - 1].contiguous()
        where = torch.arange(at, at + slots, device=tokens.device).clamp(max=self.size.length - 1)
        memory = network.memory()
        return median_seconds(partial(forward, network, tokens, where.expand(network.rows, -1), memory), self.bench)

    def noise(self) -> Record:
        """Exponentials that a race, or SCD-GS, makes on the host before an image."""
        like: Tensor = self.models[0].uniform
        some = min(NOISE_POSITIONS, self.size.length)
        begin = time.perf_counter()
        Sampling(0, [0], some, like).exponentials(0)
        seconds = (time.perf_counter() - begin) * self.size.length / some
        return {"seconds_per_image": seconds, "extrapolated_from_positions": some}

    def whole(self, plain: Record, left: Left) -> Record:
        """Plain decoding of a whole image: a check of what is extrapolated."""
        expected = plain["seconds_per_call"] * self.size.length
        if expected > left() * WHOLE_SHARE:
            return {"skipped": f"would take {expected:.0f} s"}
        model = self.size.model(self.watches[0], ahead=0)
        begin = now(self.bench.device)
        sample(Autoregressive(), model)
        each = (now(self.bench.device) - begin) / self.size.length
        return {
            "calls": self.size.length,
            "seconds_per_call": each,
            "over_extrapolated": each / plain["seconds_per_call"],
        }


@torch.no_grad()
def forward(network: Network, tokens: Tensor, slots: Tensor, memory: Memory) -> Tensor:
    """Logits, without laws."""
    return network.logits(tokens, slots, memory)


def summarise(found: Record) -> None:
    """The mean over the positions reached so far; an image's seconds are this times its calls."""
    places = {name: part for name, part in found.items() if name in PLACES and "seconds_per_call" in part}
    if places:
        found["seconds_per_call"] = statistics.mean(part["seconds_per_call"] for part in places.values())
        found["extrapolated_from"] = list(places)


def products(sizes: tuple[Size, ...], results: Record, small: bool) -> list[Record]:
    """Speed over plain decoding = (seconds of its call / seconds of a call) x (its calls / calls): both factors shown.

    The first is measured at the size, the second is a real model's, named; the size's own weights are random.
    """
    rows = []
    for size in sizes:
        found = results.get(size.name, {}).get("systems", {})
        plain = found.get("AR", {}).get("seconds_per_call")
        length = (shrunk(size) if small else size).length
        for name in found:
            each = found[name].get("seconds_per_call")
            known = ratios(size.name, name, size.window, length, results.get("calls", {}))
            rows += [row(size.name, name, each, plain, ratio) for ratio in known if each and plain]
    return rows


def row(size: str, system: str, each: float, plain: float, ratio: tuple[float, float, str]) -> Record:
    """One line of the products."""
    calls, most, source = ratio
    cost, fewer = plain / each, most / calls
    return {
        "size": size,
        "system": system,
        "seconds_per_call": each,
        "plain_seconds_per_call": plain,
        "cost_factor": cost,
        "calls": calls,
        "plain_calls": most,
        "call_factor": fewer,
        "calls_from": source,
        "speed_up": cost * fewer,
        "seconds_per_image": each * calls,
        "extrapolated": True,
    }
