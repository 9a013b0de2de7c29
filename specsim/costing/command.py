"""The work behind `specsim cost`: table models or a run's result in, JSON content out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from specsim.comparing.command import models_of, names_of, the_tables
from specsim.costing.model import Prices
from specsim.costing.show import picture
from specsim.costing.sources import Progress, exact_steps, result_steps
from specsim.costing.sweep import SCHEMA, size_field, sizes, sweep
from specsim.decoding import Decoder
from specsim.errors import SpecsimError
from specsim.files import write_together


def cost_of_files(
    target_file: Path | None,
    draft_file: Path | None,
    decoders: Sequence[Decoder],
    rule: Any,
    price: Prices,
    largest: int | None = None,
    length: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Exact laws of table models (float64): every decoder at every size up to `largest` (default: the sequence)."""
    target_file, draft_file = the_tables("cost", target_file, draft_file, decoders)
    models = models_of(target_file, draft_file, length).floats()
    last = max(1, models.length - 1) if largest is None else largest
    for decoder in decoders:
        size_field(decoder)
    swept = []
    for i, decoder in enumerate(decoders):
        before, total = i * last, len(decoders) * last
        step = None if progress is None else (lambda done, _, b=before, t=total: progress(b + done, t))
        swept.append(sweep(decoder, rule, exact_steps(models, decoder, rule, last, step), price))
    source = {"kind": "exact laws", **names_of(target_file, draft_file), "length": models.length}
    return content_of(source, swept, price)


def cost_of_result(path: Path, price: Prices, largest: int | None = None) -> dict[str, Any]:
    """A measured chain at every lookahead up to the one that ran, under its acceptance by slot."""
    if largest is not None:
        sizes(largest)
    decoder, rule, steps, check = result_steps(path, largest, price)
    swept = sweep(decoder, None, steps, price) | {"rule": rule}
    return content_of({"kind": "rates by slot of a run", "result": str(path), **check}, [swept], price)


def content_of(source: dict[str, Any], swept: list[dict[str, Any]], price: Prices) -> dict[str, Any]:
    """The JSON content."""
    if not swept:
        raise SpecsimError("cost: no decoder given; give one such as Chain()")
    return {"schema": SCHEMA, "prices": price._asdict(), "source": source, "decoders": swept}


FILES = ("cost.json", "cost.png")
"""What `write` writes."""


def write(out: str | Path, content: dict[str, Any]) -> None:
    """Both files or none."""
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    write_together(Path(out), dict(zip(FILES, (text.encode(), picture(content)), strict=True)))
