"""specsim check-model: load, look, and say what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from gpu_eval.check_model.check import Report, check
from gpu_eval.check_model.loading import file_of, load, users_code
from gpu_eval.check_model.looks import FAILS, HOLDS, INCONCLUSIVE, NOT_APPLICABLE, Item, Look, name_of, rounding_limit
from gpu_eval.check_model.subject import subject_of
from gpu_eval.race_ties import ROUNDING
from specsim.errors import require_whole

SCHEMA = "specsim.check-model/1"
MOST_ROWS = 64
STYLES = {HOLDS: "green", FAILS: "bold red", INCONCLUSIVE: "yellow", NOT_APPLICABLE: "dim"}


def check_model(spec: str, weights: Path | None, rows: int, seed: int, progress: Callable[[int, int], None]) -> Report:
    """Check the model that `FILE.py:function` returns; rows: prompts side by side; SpecsimError for bad input."""
    require_whole("check-model", "rows", rows, 2, MOST_ROWS)
    require_whole("check-model", "seed", seed, 0, 2**32 - 1)
    loaded = load(spec, weights)
    with users_code(file_of(spec), "while making a network"):
        subject = subject_of(loaded, rows, seed)
    return check(subject, file_of(spec), progress)


def as_json(report: Report, spec: str) -> dict[str, Any]:
    """Everything, for machines."""
    subject = report.subject
    limit = rounding_limit(subject.number)
    return {
        "schema": SCHEMA,
        "model": spec,
        "name": str(subject.loaded.name),
        "verdict": FAILS if report.failed else HOLDS,
        "failed": list(report.failed),
        "numbers": name_of(subject.number),
        "rounding_limit": limit,
        "rounding_eps": None if limit is None else ROUNDING,
        "vocab": subject.vocab,
        "length": subject.length,
        "rows": subject.rows,
        "seed": subject.seed,
        "items": [item_json(item) for item in report.items],
    }


def item_json(item: Item) -> dict[str, Any]:
    """One item with its looks."""
    return {"item": item.name, "verdict": item.verdict, "looks": [asdict(look) for look in item.looks]}


def view(report: Report) -> RenderableType:
    """A row for each item, then a line for every look that does not hold."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for name in ("item", "verdict", "measured", "limit", "looked at"):
        table.add_column(name, overflow="fold")
    for item in report.items:
        table.add_row(*row_of(item))
    return Group(headline(report), "", table, *lines(report), "", last_line(report))


def headline(report: Report) -> Text:
    """Which model, and in which numbers."""
    subject, limit = report.subject, rounding_limit(report.subject.number)
    sizes = f"{subject.length} tokens of {subject.vocab}, {subject.rows} rows, seed {subject.seed}"
    number = name_of(subject.number)
    named = f"limit of |log p - log p'|: {ROUNDING} eps = {limit:.2g}" if limit else "agreement reported, not required"
    return Text(f"{subject.loaded.name}: {sizes}; {number}, {named}")


def row_of(item: Item) -> tuple[str | Text, ...]:
    """Name, verdict, the decisive look's figure, its limit, and how much was looked at."""
    look = item.decisive
    tests = f"{len(item.looks)} tests; {look.what}: {look.looked}" if len(item.looks) > 1 else look.looked
    return item.name, Text(item.verdict, STYLES[item.verdict]), figure(look.measured), figure(look.limit), Text(tests)


def figure(value: float | None) -> str:
    """A number in a cell."""
    return "-" if value is None else f"{value:.3g}"


def lines(report: Report) -> list[Text]:
    """What is wrong or undecided, and what a look that holds has to say."""
    found = [(item, look) for item in report.items for look in item.looks if look.note]
    return ([Text("")] if found else []) + [line(item, look) for item, look in found]


def line(item: Item, look: Look) -> Text:
    """item, look: verdict, figure, note."""
    measured = "" if look.measured is None else f" {figure(look.measured)}"
    limit = "" if look.limit is None or look.verdict == HOLDS else f" (limit {figure(look.limit)})"
    verdict = Text(look.verdict, STYLES[look.verdict])
    return Text.assemble(f"{item.name}, {look.what}: ", verdict, f"{measured}{limit}; {look.note}")


def last_line(report: Report) -> Text:
    """What may be concluded."""
    if report.failed:
        return Text(f"fails: {', '.join(report.failed)}; mend the first one first, later ones may follow from it")
    open_ones = [item.name for item in report.items if item.verdict == INCONCLUSIVE]
    undecided = f"; inconclusive: {', '.join(open_ones)}" if open_ones else ""
    return Text(f"nothing failed in what was looked at{undecided}")
