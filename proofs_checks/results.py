"""What a machine found about theorems: plain records of text and numbers, for the ledger and for JSON."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from proofs_checks.theorem import FAILS, HOLDS, INCONCLUSIVE

PROVED, CERTIFIED, TESTED, REFUTED, OPEN = "proved", "certified", "tested", "refuted", "open"
METHODS = (PROVED, CERTIFIED, TESTED)
"""Strongest first."""


@dataclass(frozen=True)
class Counterexample:
    """A case on which a statement fails.  case: as written down; margin: as text; minimal: whether every smaller size
    was tried; bars: vectors to draw, {name: numbers as text}; subject: its repr."""

    statement: str
    subject: str
    case: dict[str, Any]
    margin: str
    minimal: bool
    bars: dict[str, list[str]]


@dataclass(frozen=True)
class PartResult:
    """One row of the ledger.

    notes: what each method has to say; missing: declared proofs and certificates that came to nothing, and why;
    margin: the worst one, as text, None if nothing was tried; tried: cases.
    """

    id: str
    text: str
    claimed: str
    stated: str
    result: str
    method: str
    notes: tuple[str, ...]
    missing: tuple[str, ...]
    margin: str | None
    tried: int
    counterexample: Counterexample | None
    seconds: float

    @property
    def agrees(self) -> bool:
        """The machine found what the theorem states."""
        return self.result == self.stated


@dataclass(frozen=True)
class MutantResult:
    """Whether a wrong subject was caught, and how."""

    name: str
    part: str
    caught: bool
    how: str


@dataclass(frozen=True)
class WeakenedResult:
    """A weakened statement: refuted, equivalent (with the reason), or "survives", which breaks the theorem."""

    text: str
    status: str
    why: str
    counterexample: Counterexample | None

    @property
    def settled(self) -> bool:
        """It has a counterexample, or a reason to have none and none was found."""
        return self.status in (REFUTED, "equivalent")


@dataclass(frozen=True)
class TheoremResult:
    """Everything about one theorem."""

    id: str
    title: str
    source: str
    parts: tuple[PartResult, ...]
    mutants: tuple[MutantResult, ...]
    weakened: tuple[WeakenedResult, ...]
    seconds: float

    @property
    def result(self) -> str:
        """holds iff every part came out as stated."""
        if all(part.agrees for part in self.parts):
            return HOLDS
        wrong = any(part.result not in (part.stated, INCONCLUSIVE) for part in self.parts)
        return FAILS if wrong else INCONCLUSIVE

    @property
    def sharp(self) -> bool:
        """Its checks can fail: every mutant is caught, every weakened statement settled."""
        return all(some.caught for some in self.mutants) and all(some.settled for some in self.weakened)

    @property
    def method(self) -> str:
        """The weakest method of the parts that hold: what the theorem as a whole rests on."""
        used = [part.method for part in self.parts if part.stated == HOLDS]
        return max(used, key=lambda method: METHODS.index(method) if method in METHODS else len(METHODS), default=OPEN)


def as_json(result: TheoremResult) -> dict[str, Any]:
    """A record with its derived words."""
    return {
        **dataclasses.asdict(result),
        "result": result.result,
        "sharp": result.sharp,
        "method": result.method,
    }
