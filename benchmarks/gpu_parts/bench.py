"""A benchmark of many parts within a time: each has a share, and what fails or comes too late is recorded as such."""

from __future__ import annotations

import gc
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import torch

Record = dict[str, Any]
Left = Callable[[], float]
"""Seconds that the part has left."""

NO_TIME = "no time left"


@dataclass(frozen=True)
class Bench:
    """Where and how much is measured.

    small: tiny shapes and few calls, to see that everything runs; its times mean nothing.
    results: the records of all parts so far, for parts that build on others.
    """

    device: torch.device
    small: bool
    results: Record

    @property
    def cuda(self) -> bool:
        return self.device.type == "cuda"

    @property
    def warm(self) -> int:
        """Calls before time is taken: kernels are loaded, workspaces made."""
        return 1 if self.small else 3

    @property
    def timed(self) -> int:
        """Calls that time is taken of."""
        return 2 if self.small else 12


class Part(NamedTuple):
    """name; share of the whole time; work(bench, record, left): fills the record item by item."""

    name: str
    share: float
    work: Callable[[Bench, Record, Left], None]


class TimeUp(Exception):
    """The part's time is used up."""


def run_parts(parts: tuple[Part, ...], bench: Bench, until: Callable[[float], float], save: Callable[[], None]) -> None:
    """Run the parts in turn, saving after each.

    until(f): seconds left before the fraction f of the whole time is over; what a part leaves goes to the later ones.
    """
    passed = 0.0
    for part in parts:
        passed += part.share
        bench.results[part.name] = run_part(part, bench, partial(until, passed))
        save()


def run_part(part: Part, bench: Bench, left: Left) -> Record:
    """The part's record; one that fails or is stopped keeps what it had."""
    record: Record = {}
    if left() <= 0:
        return {"skipped": NO_TIME}
    begin = time.perf_counter()
    try:
        with stopped_after(left()):
            part.work(bench, record, left)
    except TimeUp:
        record["stopped"] = NO_TIME
    except Exception as error:  # whatever it is, the other parts are still worth having
        record["error"] = words(error)
    release(bench.device)
    return record | {"seconds": time.perf_counter() - begin}


def attempt(record: Record, name: str, left: Left, work: Callable[[], Any]) -> None:
    """Put what work() gives into the record, or why there is nothing."""
    if left() <= 0:
        record[name] = {"skipped": NO_TIME}
        return
    try:
        record[name] = work()
    except TimeUp:
        record[name] = {"skipped": NO_TIME}
        raise
    except Exception as error:
        record[name] = {"error": words(error)}


def words(error: Exception) -> str:
    """One line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """TimeUp inside once the seconds are over; where there is no such alarm only the checks between items stop it."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def release(device: torch.device) -> None:
    """Give the memory of what is no longer used back to the device."""
    if device.type == "cuda":
        gc.collect()
        torch.cuda.empty_cache()


def write(path: Path, content: Record) -> None:
    """Whole or not at all."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    draft.write_text(json.dumps(content, indent=1) + "\n")
    os.replace(draft, path)
