"""Listings of what can be named on the command line."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any

from rich.table import Table as Grid
from rich.text import Text

from specsim.specs import describe


def listing(known: Mapping[str, type]) -> list[dict[str, Any]]:
    """Name, parameters and description of every row, for JSON."""
    return [
        {"name": name, "signature": describe(cls), "parameters": parameters(cls), "about": inspect.getdoc(cls)}
        for name, cls in known.items()
    ]


def parameters(cls: type) -> dict[str, str]:
    """Fields with their default values, as a spec writes them."""
    return {f.name: repr(f.default) for f in dataclasses.fields(cls) if f.repr}


def view(kind: str, known: Mapping[str, type]) -> Grid:
    """The same for people: what to type, and what it is."""
    grid = Grid(title=f"{kind} (use them as written, with your own numbers)", title_justify="left", show_lines=True)
    grid.add_column("what to type", no_wrap=True)
    grid.add_column("what it is")
    for name, cls in known.items():
        fields = ",\n  ".join(f"{field}={default}" for field, default in parameters(cls).items())
        # As plain text: brackets in a formula are no markup.
        grid.add_row(Text(f"{name}(\n  {fields})" if fields else f"{name}()"), Text(inspect.getdoc(cls) or ""))
    return grid
