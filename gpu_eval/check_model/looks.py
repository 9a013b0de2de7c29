"""What was looked at, what was measured, and the verdict on it.

Laws are compared by |log p - log p'|, entries below the smallest normal number of their type taken as that number: in
the tail below it nothing is precise, and nothing there is ever drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from gpu_eval.race_ties import ROUNDING

HOLDS, FAILS, INCONCLUSIVE, NOT_APPLICABLE = "holds", "fails", "inconclusive", "not applicable"
WORST_FIRST = (FAILS, INCONCLUSIVE, HOLDS, NOT_APPLICABLE)

FLOAT32_LIMIT = ROUNDING * torch.finfo(torch.float32).eps
DEEP = 16
"""Beyond the limit by less than this factor is no verdict: networks far deeper than those measured may round as much,
while faults are larger by far."""
DOUBTFUL = {
    torch.float32: (DEEP * FLOAT32_LIMIT, "a very deep network may round as much: check it in float64"),
    torch.float64: (FLOAT32_LIMIT, "as of float32: norms and rotations of the transformers library are in float32"),
}
"""Of each type: up to where a difference beyond the limit is inconclusive, and why."""


@dataclass(frozen=True)
class Look:
    """One test.  looked: at how much; limit: what `measured` must not exceed, None where there is no such number."""

    what: str
    verdict: str
    looked: str
    measured: float | None = None
    limit: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Item:
    """One guarantee and the looks at it."""

    name: str
    looks: tuple[Look, ...]

    @property
    def verdict(self) -> str:
        """The worst of the looks; not applicable only when none was."""
        return next(verdict for verdict in WORST_FIRST if any(look.verdict == verdict for look in self.looks))

    @property
    def decisive(self) -> Look:
        """A look with the item's verdict; of several that with a limit and the largest figure."""
        same = [look for look in self.looks if look.verdict == self.verdict]
        return max(same, key=lambda look: (look.limit is not None, -1.0 if look.measured is None else look.measured))


class Pair(NamedTuple):
    """Laws [n, V] that must be equal, and the row and position [n] that they are of."""

    found: Tensor
    expected: Tensor
    row: Tensor
    position: Tensor


def pair(found: Tensor, expected: Tensor, start: Tensor, which: Tensor | None = None) -> Pair:
    """Laws [B, K, V] of two calls from `start` [B] on; which, bool [B, K]: those that must be equal (default: all)."""
    which = torch.ones(found.shape[:2], dtype=torch.bool, device=found.device) if which is None else which
    row, offset = which.nonzero(as_tuple=True)
    return Pair(found[which], expected[which], row, start[row] + offset)


def rounding_limit(number: torch.dtype) -> float | None:
    """Largest |log p - log p'| that rounding explains: that of `race_ties`; None in half precision, where none does."""
    return ROUNDING * torch.finfo(number).eps if number in (torch.float32, torch.float64) else None


def differences(found: Tensor, expected: Tensor) -> Tensor:
    """Largest |log p - log p'| of each of the laws [n, V], in [n]; inf where a law holds NaN."""
    least = max(torch.finfo(laws.dtype).tiny for laws in (found, expected))
    logs = [laws.double().clamp(min=least).log() for laws in (found, expected)]
    return (logs[0] - logs[1]).abs().amax(-1).nan_to_num(nan=torch.inf, posinf=torch.inf)


def compare(what: str, pairs: Iterable[Pair], number: torch.dtype, note: str = "") -> Look:
    """The laws of every pair are equal up to rounding of `number`; each pair comes from one call.

    In half precision agreement is reported, not required: equal bits hold, anything else is inconclusive.  So is what
    is DOUBTFUL.
    """
    limit, calls, laws, worst, where = rounding_limit(number), 0, 0, 0.0, ""
    for some in pairs:
        calls, laws = calls + 1, laws + len(some.found)
        gaps = differences(some.found, some.expected)
        if len(gaps) and float(gaps.max()) > worst:
            at = int(gaps.argmax())
            worst, where = float(gaps[at]), f"row {int(some.row[at])}, position {int(some.position[at])}"
    looked = f"{counted(calls, 'call')}, {counted(laws, 'law')}"
    if not laws:
        return Look(what, INCONCLUSIVE, looked, note="nothing to compare")
    if worst <= (limit or 0.0):
        return Look(what, HOLDS, looked, worst, limit)
    if limit is None:
        reason = f"{name_of(number)}: reported, not required; check it in float32"
        return Look(what, INCONCLUSIVE, looked, worst, None, f"{reason}; worst at {where}")
    farthest, why = DOUBTFUL[number]
    if worst <= farthest:
        return Look(what, INCONCLUSIVE, looked, worst, limit, f"{why}; worst at {where}")
    return Look(what, FAILS, looked, worst, limit, f"worst at {where}" + (f"; {note}" if note else ""))


def require_that(what: str, holds: bool, looked: str, note: str) -> Look:
    """A yes or no; `note` says what is wrong."""
    return Look(what, HOLDS if holds else FAILS, looked, note="" if holds else note)


def counted(number: int, thing: str) -> str:
    """1 call, 2 calls."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def name_of(number: torch.dtype) -> str:
    """float32 rather than torch.float32."""
    return str(number).removeprefix("torch.")
