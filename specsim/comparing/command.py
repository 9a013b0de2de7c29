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
from specsim.comparing.show import FILES, markdown, picture, write
from specsim.decoding import Decoder
from specsim.errors import SpecsimError, require
from specsim.files import ready_directory
from specsim.law_command import LEAST_MEMORY, MOST_MEMORY
from specsim.table_files import read_table

TOYS = Path(specsim.__file__).parent / "toys"
TARGET, DRAFT = TOYS / "fashion_target.json", TOYS / "fashion_draft.json"
"""The table models used where none is named: real laws, made by `specsim tabulate`."""


def compare_files(
    target_file: Path | None,
    draft_file: Path | None,
    decoders: Sequence[Decoder],
    rules: Sequence[Any],
    goal: Goal | None,
    length: int | None = None,
    exact: bool = False,
    gibibytes: float = 4.0,
    out: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Compare every rule with every decoder, on the shipped tables where none is named.

    out: a directory for compare.json, .md and .png.
    """
    target_file, draft_file = the_tables("compare", target_file, draft_file, decoders)
    models, systems = models_of(target_file, draft_file, length, gibibytes), list(product(decoders, rules))
    require_systems(systems)
    if out is not None:
        ready_directory(out, FILES)
    content = compare_tables(models, systems, goal, exact, progress)
    content |= names_of(target_file, draft_file) | {"length": models.length}
    if out is not None:
        write(out, content, markdown(content), picture(content))
    return content


def the_tables(
    command: str, target: Path | None, draft: Path | None, decoders: Sequence[Decoder]
) -> tuple[Path, Path | None]:
    """The files that are meant; SpecsimError for a target without its draft, or a draft alone.

    The shipped draft of another target would be a comparison nobody asked for.
    """
    if target is None and draft is None:
        return TARGET, DRAFT
    if target is None:
        raise SpecsimError(f"{command}: --draft {draft} without --target; give both, or none for the shipped tables")
    if draft is None and (needy := [decoder for decoder in decoders if decoder.needs_draft]):
        raise SpecsimError(f"{command}: {needy[0]!r} needs a draft: give --draft too, or leave --target out")
    return target, draft


def names_of(target: Path, draft: Path | None) -> dict[str, str | None]:
    """The files, for machines."""
    return {"target": str(target), "draft": None if draft is None else str(draft)}


def models_of(target_file: Path, draft_file: Path | None, length: int | None, gibibytes: float = 4.0) -> Models:
    """The table models of two files; length: tokens of a sequence (default: all the target has)."""
    require(LEAST_MEMORY <= gibibytes <= MOST_MEMORY, "compare", "memory", gibibytes, "a number of GiB, e.g. 4")
    target, draft = read_table(target_file), None if draft_file is None else read_table(draft_file)
    return Models(target, draft, target.length if length is None else length, int(gibibytes * 2**30))
