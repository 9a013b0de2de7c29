"""What a theorem is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from proofs_checks.certificates import Certificate
from proofs_checks.smt import Proof
from specsim.testing.statements import Statement

HOLDS, FAILS, INCONCLUSIVE = "holds", "fails", "inconclusive"


@dataclass(frozen=True)
class Part:
    """One statement of a theorem.  stated: "holds", or "fails" for a sentence that the literature or common sense would
    have and that is not true; what a machine finds must agree.  claimed: who says it, where that is not the source."""

    statement: Statement
    stated: str = HOLDS
    proof: Proof | None = None
    certificate: Certificate | None = None
    claimed: str = ""


@dataclass(frozen=True)
class Mutant:
    """A wrong subject that the theorem must catch.  part: the number (from 1) of the part that it is put to."""

    name: str
    subject: Any
    part: int = 1


@dataclass(frozen=True)
class Weakened:
    """A part with a hypothesis dropped or an inequality turned, as a statement of its own: it needs a counterexample.

    equivalent: why it holds all the same; then none may be found.
    """

    statement: Statement
    equivalent: str = ""


@dataclass(frozen=True)
class Theorem:
    """id: T01 ..; title: a sentence; source: who showed it."""

    id: str
    title: str
    source: str
    parts: tuple[Part, ...]
    mutants: tuple[Mutant, ...] = ()
    weakened: tuple[Weakened, ...] = ()

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError(f"{self.id} has no statement")
        for mutant in self.mutants:
            if not 1 <= mutant.part <= len(self.parts) or self.parts[mutant.part - 1].stated != HOLDS:
                raise ValueError(f"{self.id}: mutant {mutant.name!r} is put to part {mutant.part}, which must hold")
