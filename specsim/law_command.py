"""The work behind `specsim law`: files in, an exact law and its figures out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from specsim.decoding import Decoder
from specsim.errors import SpecsimError
from specsim.exact_laws import exact as exact_law
from specsim.law_report import law_json
from specsim.laws import Law, target_mass
from specsim.table_files import read_table

LEAST_MEMORY, MOST_MEMORY = 1e-6, 1e6
"""GiB: a kilobyte holds nothing, and no machine has more than the other."""


def law_of_files(
    target_file: Path,
    draft_file: Path | None,
    decoder: Decoder,
    rule: Any,
    length: int | None,
    eos: int | None,
    exact: bool,
    gibibytes: float,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[dict[str, Any], Law, Any]:
    """-> (JSON content, the law, the target's masses).  SpecsimError for bad files or parts that do not fit."""
    if not LEAST_MEMORY <= gibibytes <= MOST_MEMORY:
        raise SpecsimError(f"memory {gibibytes}: must be a number of GiB from {LEAST_MEMORY} to {MOST_MEMORY:g}")
    target = read_table(target_file)
    draft = None if draft_file is None or not decoder.needs_draft else read_table(draft_file)
    configuration = {
        "decoder": repr(decoder),
        "rule": repr(rule) if rule is not None else ("Strict()" if decoder.takes_rule else None),
        "target": str(target_file),
        "draft": None if draft is None else str(draft_file),
        "length": target.length if length is None else length,
        "eos": eos,
        "numbers": "Fractions" if exact else "float64",
        "renormalised_rows": target.renormalised + (0 if draft is None else draft.renormalised),
    }
    if not exact:
        target, draft = target.floats(), None if draft is None else draft.floats()
    law = exact_law(decoder, target, draft, rule, length, eos, int(gibibytes * 2**30), progress)
    return law_json(law, target, configuration, exact), law, target_mass(target, law.length, eos)
