"""`specsim models`: what can be decoded and what it needs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.table import Table as Grid
from rich.text import Text

from gpu_eval.models.families import FAMILIES

SCHEMA = "specsim.models/1"
SHIPPED = {
    "tokens": "49 of 512 codes",
    "reads": "label",
    "needs": "nothing: it ships with this package, target and draft",
    "memory": "less than .1 GB",
    "status": "measured, see the model card beside its weights",
}
HEADED = SHIPPED | {"needs": "nothing: the same target, for which a trained head drafts (EAGLE-1)"}
OWN = {
    "tokens": "any",
    "reads": "label or text",
    "needs": "a function that returns a Loaded: examples/own_model.py, specsim check-model",
    "memory": "its own",
    "status": "what check-model says",
}


def rows() -> dict[str, dict[str, str]]:
    """Every model by name."""
    families = {name: {k: v for k, v in asdict(row).items() if k != "load"} for name, row in FAMILIES.items()}
    return {"fashion": SHIPPED, "fashion-eagle": HEADED} | families | {"FILE.py:function": OWN}


def models_json() -> dict[str, Any]:
    """For machines."""
    return {"schema": SCHEMA, "models": rows()}


def models_view() -> Grid:
    """For people."""
    table = Grid(title=Text("image models for: specsim run --model NAME --weights DIR"), title_justify="left")
    table.add_column("model", no_wrap=True)
    table.add_column("what it is")
    for name, row in rows().items():
        lines = (
            f"{row['reads']} to {row['tokens']}",
            f"needs {row['needs']}",
            f"weights in memory: {row['memory']}",
            row["status"],
        )
        table.add_row(name, Text("\n".join(lines)), end_section=True)
    return table
