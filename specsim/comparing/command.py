"""The work behind `specsim compare` on table models: files in, JSON content out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import specsim
from specsim.comparing.exact_side import Models, compare_tables, require_systems
from specsim.comparing.goals import Goal
from specsim.comparing.lineup import Progress
from specsim.comparing.show import markdown, picture, write
from specsim.decoding import Decoder
from specsim.errors import require
from specsim.files import ready_directory
from specsim.law_command import LEAST_MEMORY, MOST_MEMORY
from specsim.table_files import read_table

TOYS = Path(specsim.__file__).parent / "toys"
TARGET, DRAFT = TOYS / "fashion_target.json", TOYS / "fashion_draft.json"
"""The table models used where none is named: real laws, made by `specsim tabulate`."""


def compare_files(
    target_file: Path,
    draft_file: Path,
    decoders: Sequence[Decoder],
    rules: Sequence[Any],
    goal: Goal | None,
    length: int | None = None,
    exact: bool = False,
    gibibytes: float = 4.0,
    out: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Compare every rule with every decoder.  out: a directory for compare.json, .md and .png."""
    models, systems = models_of(target_file, draft_file, length, gibibytes), list(product(decoders, rules))
    require_systems(systems)
    if out is not None:
        ready_directory(out)
    content = compare_tables(models, systems, goal, exact, progress)
    content |= {"target": str(target_file), "draft": str(draft_file), "length": models.length}
    if out is not None:
        write(out, content, markdown(content), picture(content))
    return content


def models_of(target_file: Path, draft_file: Path, length: int | None, gibibytes: float = 4.0) -> Models:
    """The table models of two files; length: tokens of a sequence (default: all the target has)."""
    require(LEAST_MEMORY <= gibibytes <= MOST_MEMORY, "compare", "memory", gibibytes, "a number of GiB, e.g. 4")
    target, draft = read_table(target_file), read_table(draft_file)
    return Models(target, draft, target.length if length is None else length, int(gibibytes * 2**30))
