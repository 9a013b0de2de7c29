"""What to tabulate, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpu_eval.processing import Processing
from specsim.errors import require
from specsim.tables import Table

Progress = Callable[[int, int], None] | None
"""progress(laws done, all)"""


@dataclass(frozen=True)
class TablePlan:
    """A table of `length` tokens over `vocab`, from a row of `gpu_eval.tabulate.sources.SOURCES`.

    start: position in the picture of the table's first token.  label: class of the picture.  denominator: of the
    table's laws.  None of these is given: the source's own choice stands in.  seed and processing: for sources that
    decode.
    """

    model: str
    vocab: int
    length: int
    start: int | None = None
    label: int | None = None
    seed: int = 0
    denominator: int | None = None
    processing: Processing = Processing()

    def __post_init__(self) -> None:
        require(0 <= self.seed < 2**64, "tabulate", "seed", self.seed, "from 0 to 2**64 - 1")

    @property
    def laws(self) -> int:
        """Laws of each table: 1 + V + .. + V**(N-1)."""
        return sum(self.vocab**n for n in range(self.length))


@dataclass(frozen=True)
class Tabulated:
    """Target and draft as tables of Fractions; about: everything that decided them, fit for JSON."""

    target: Table
    draft: Table
    about: dict[str, Any]
