"""How many target calls an image takes with a real model: of the shipped `fashion`, counted here, and as published."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import torch

from benchmarks.gpu_parts.bench import Bench, Left, Record, attempt
from benchmarks.gpu_parts.sizes import SIZES
from benchmarks.gpu_parts.steps import System, systems
from gpu_eval.fashion import Fashion, load_fashion
from gpu_eval.processing import Processing
from specsim.sampling import sample


class Published(NamedTuple):
    """Calls of an image, and of plain decoding in the same table.  Calls for forced tokens are among both."""

    size: str
    system: str
    calls: float
    plain: float
    source: str


SCD, CSD = "SCD (arXiv 2510.24211)", "CSD (arXiv 2606.27829)"
LUMINA, JANUS, COSMOS = "Lumina-mGPT 7B", "Janus-Pro 7B", "Cosmos-1-AR 4B"
PUBLISHED = (
    Published(LUMINA, "SJD", 1035.9, 2390, f"{SCD}, W 64"),
    Published(LUMINA, "SCD-MC", 567.7, 2390, SCD),
    Published(LUMINA, "SCD-GS", 568.0, 2390, SCD),
    Published(LUMINA, "SJD", 1061.9, 2379, CSD),
    Published(LUMINA, "CSD", 922.8, 2379, f"{CSD}, lam .5, delta .35"),
    Published(JANUS, "SJD", 298.8, 576, CSD),
    Published(JANUS, "CSD", 166.1, 576, f"{CSD}, delta .65"),
    Published(COSMOS, "SJD", 1789.9, 7680, SCD),
    Published(COSMOS, "SCD-GS", 564.4, 7680, f"{SCD}, W 128"),
)


def calls(bench: Bench, record: Record, left: Left) -> None:
    """Of `fashion` in float32, with guidance 1.5, for every window of a size; a window may hold all of its tokens."""
    model = load_fashion(bench.device)
    rows = 2 if bench.small else 32
    for window in sorted({fitting(size.window) for size in SIZES})[: 1 if bench.small else None]:
        for system in systems(window):
            name = label(system.name, window)
            if name not in record:
                attempt(record, name, left, partial(counted, model, system, rows))


def counted(model: Fashion, system: System, rows: int) -> Record:
    """Mean target calls of an image."""
    labels, processing = torch.arange(rows) % 10, Processing(guidance=1.5)
    draft = model.draft(labels, processing) if system.decoder.needs_draft else None
    found = sample(system.decoder, model.target(labels, processing), draft, system.rule, rows=rows, seed=1)
    return {"images": rows, "calls": float(found.calls.mean()), "tokens": model.length}


def fitting(window: int) -> int:
    """The window on `fashion`'s 49 tokens."""
    return min(window, 49)


def label(system: str, window: int) -> str:
    """Chains and plain decoding have no window."""
    return system if system in ("AR", "SD", "ledger") else f"{system} W{fitting(window)}"


class Ratio(NamedTuple):
    """Calls of an image; plain: of the same image by plain decoding."""

    calls: float
    plain: float
    source: str


def ratios(size: str, system: str, window: int, length: int, counted: Record) -> list[Ratio]:
    """What is known of a system at a size: `fashion`'s tokens per call at its length, and what is published."""
    if system == "AR":
        return [Ratio(length, length, "a call for every token")]
    name = label(system, window)
    mine = counted.get(name, {})
    found = [Ratio(p.calls, p.plain, p.source) for p in PUBLISHED if (p.size, p.system) == (size, system)]
    if "calls" in mine:
        own = f"fashion, {mine['calls']:.2f} calls for {mine['tokens']} tokens, counted here ({name})"
        found.insert(0, Ratio(length * mine["calls"] / mine["tokens"], length, own))
    return found
