"""Everything that is measured on a GPU, in one go and in under 8 minutes:  python benchmarks/gpu.py --out gpu.json

Parts: tokens as on the CPU, and of races; calls of a real model; seconds per call of every scheme at four published
sizes with random weights; how often a step waits for the device; what verification adds; compiled and captured
forwards; the images that fit.  Each has a share of the time, what it leaves goes to the later ones; a part that fails
or finds no time left says so in the result, which is written after every part.  Without a CUDA device nothing is
measured; --small runs everything with tiny shapes, on a CPU too.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # as a script: the checkout is not on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from benchmarks.gpu_parts import batches, calls, forward, parity, speed, verification, waits
from benchmarks.gpu_parts.bench import Bench, Part, Record, run_parts, write
from benchmarks.gpu_parts.sizes import SIZES
from benchmarks.gpu_parts.table import lines
from gpu_eval.provenance import provenance

SCHEMA = "specsim.gpu/1"
NOTHING = "no CUDA device here: nothing was measured; --small runs it on the CPU"
BUDGET = 440.0
"""Seconds in which all parts end, so that 8 minutes hold with loading and saving."""
DRIVER = ("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")

PARTS = (
    Part("parity", 0.07, parity.parity),
    Part("race", 0.04, parity.race),
    Part("waits", 0.05, waits.waits),
    Part("calls", 0.06, calls.calls),
    *(Part(size.name, 0.14, partial(speed.speed, size)) for size in SIZES),
    Part("verification", 0.11, verification.verification),
    Part("forward", 0.07, forward.forward),
    Part("batches", 0.04, batches.batches),
)
"""In this order; the shares add up to 1."""


def main(words: list[str] | None = None) -> int:
    """The exit status; 0 as well where parts failed: they are in the table."""
    begin = time.monotonic()
    given = arguments(words)
    device = torch.device(given.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if (device.type != "cuda" and not given.small) or (device.type == "cuda" and not torch.cuda.is_available()):
        print(NOTHING)
        return 0
    if device.type == "cpu":
        torch.set_num_threads(1)  # tensors are tiny: threads that wait for each other cost more than they save
    measure(Bench(device, given.small, {}), begin, given.budget, given.out)
    return 0


def arguments(words: list[str] | None) -> argparse.Namespace:
    """Of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", help="cuda, cuda:1, cpu; default: cuda if there is one")
    parser.add_argument("--small", action="store_true", help="tiny shapes and few calls: does everything run?")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds in which all parts end (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("gpu.json"), help="the result (%(default)s)")
    return parser.parse_args(words)


def measure(bench: Bench, begin: float, budget: float, out: Path, parts: tuple[Part, ...] = PARTS) -> None:
    """All parts; the table is printed last."""
    content: Record = {"schema": SCHEMA, "small": bench.small, "budget_seconds": budget, **hardware(bench.device)}

    def left(share: float) -> float:
        return begin + budget * share - time.monotonic()

    def save() -> None:
        content.update(parts=bench.results, products=speed.products(SIZES, bench.results, bench.small))
        write(out, content | {"seconds": time.monotonic() - begin})

    save()
    run_parts(parts, bench, left, save)
    print("\n".join(lines(content)))
    print(f"{time.monotonic() - begin:.0f} s of {budget:.0f}; everything is in {out}")


def hardware(device: torch.device) -> dict[str, Any]:
    """Versions, commit and device, and what CUDA says of itself."""
    found = provenance(device)
    if device.type != "cuda":
        return found
    about = torch.cuda.get_device_properties(device)
    return found | {
        "memory_bytes": about.total_memory,
        "capability": [about.major, about.minor],
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "driver": driver(),
    }


def driver() -> str | None:
    """Its version, None where nvidia-smi does not tell."""
    try:
        done = subprocess.run(DRIVER, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.splitlines()[0].strip() if done.stdout.strip() else None


if __name__ == "__main__":
    sys.exit(main())
