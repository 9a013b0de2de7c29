"""Table models as JSON files: {"vocab": V, "laws": [...]}, optionally "codebook": V vectors and "about": anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from specsim.errors import SpecsimError
from specsim.files import read_json
from specsim.tables import Table, table


def read_table(path: str | Path) -> Table:
    """A table of Fractions from a JSON file.

    laws[i] is nested (V,)*i + (V,), entries numbers (decimals are read as written, 0.1 is 1/10) or text "a/b".
    Any other key, such as "about", is for people and is not read.
    SpecsimError names the file and what is wrong in it.
    """
    content = read_json(path, exact=True)
    if not isinstance(content, dict) or "laws" not in content:
        raise SpecsimError(f'{path}: not a table model; give {{"vocab": V, "laws": [...]}}')
    try:
        return checked(content)
    except SpecsimError as error:
        raise SpecsimError(f"{path}: {error}") from None


def checked(content: dict[str, Any]) -> Table:
    """The table of a parsed file."""
    vocab, laws = content.get("vocab"), content["laws"]
    if not isinstance(vocab, int) or isinstance(vocab, bool) or vocab < 1:
        raise SpecsimError(f"vocab = {vocab!r} must be a whole number of at least 1")
    if not isinstance(laws, list) or not laws:
        raise SpecsimError("laws must be a list of levels, laws[i] holding the laws after i tokens")
    return table(laws, codebook(content.get("codebook"), vocab), vocab)


def codebook(vectors: Any, vocab: int) -> list[list[float]] | None:
    """The codebook [V][d] as floats, or None where the file has none."""
    if vectors is None:
        return None
    if not isinstance(vectors, list) or len(vectors) != vocab or not all(isinstance(v, list) for v in vectors):
        raise SpecsimError(f"codebook must be a list of {vocab} vectors")
    try:
        values = [[float(x) for x in vector] for vector in vectors]
    except (TypeError, ValueError, OverflowError):
        raise SpecsimError("codebook holds something that is not a number of ordinary size") from None
    if len({len(vector) for vector in values}) != 1 or not values[0]:
        raise SpecsimError("codebook: all vectors must have the same length, at least 1")
    return values


def table_json(model: Table) -> dict[str, Any]:
    """A table as the content of a file, entries as fraction texts."""
    exact = model.fractions()
    levels = [
        nest([[str(x) for x in law] for law in exact.at_length(n).tolist()], n, model.vocab)
        for n in range(model.length)
    ]
    content: dict[str, Any] = {"vocab": model.vocab, "laws": levels}
    if model.codebook is not None:
        content["codebook"] = [[float(x) for x in vector] for vector in model.codebook]
    return content


def table_text(model: Table, about: dict[str, Any]) -> str:
    """The text of a table file that says where its laws come from: one line for each key, `about` first."""
    lines = (
        f" {json.dumps(key)}: {json.dumps(value)}" for key, value in ({"about": about} | table_json(model)).items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def nest(rows: list, depth: int, vocab: int) -> Any:
    """V**depth rows as a list nested `depth` deep."""
    for _ in range(depth):
        rows = [rows[i : i + vocab] for i in range(0, len(rows), vocab)]
    return rows[0]
