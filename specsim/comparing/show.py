"""A comparison for people: a table on the screen, the same as Markdown, and one picture."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

from specsim.comparing.goals import Goal, told_apart
from specsim.files import write_together
from specsim.terminal import jsonable

Row = dict[str, Any]


class Column(NamedTuple):
    """A column: its title and a row's cell."""

    title: str
    cell: Callable[[Row], str]


def number(key: str, digits: int = 6) -> Callable[[Row], str]:
    """A cell with a figure; "-" where there is none."""
    return lambda row: "-" if row.get(key) is None else f"{row[key] if abs(row[key]) > NOTHING else 0:.{digits}g}"


NOTHING = 1e-12
"""A total variation below this is the rounding of float64."""


def tv_text(row: Row) -> str:
    """Exactly 0, 0 up to rounding, or a figure."""
    if row.get("tv_exact") == "0":
        return "0, exactly"
    text = f"{row['tv']:.5f}"
    return "0" if row["tv"] < NOTHING else text if float(text) else f"{row['tv']:.1e}"


LABELS = 3
"""Columns of text; the others hold figures."""
EXACT_COLUMNS = (
    Column("rule", lambda row: row["rule"]),
    Column("decoder", lambda row: row["decoder"]),
    Column("strength", lambda row: row["how"]),
    Column("TV", tv_text),
    Column("KL", number("kl", 4)),
    Column("ratio", number("max_ratio", 4)),
    Column("local", number("local_errors", 4)),
    Column("one token", number("one_token_tv", 4)),
    Column("calls", number("expected_calls", 5)),
    Column("tokens/call", number("tokens_per_call", 4)),
)
READING = (
    "TV, KL and ratio (the greatest output / target) are of whole sequences; local: sum over positions of the next "
    "token's expected TV; one token: TV of one verified draft, averaged over the target's contexts and the slots."
)
"""What the columns of the exact side mean."""


def view(content: dict[str, Any], columns: Sequence[Column] = EXACT_COLUMNS, reading: str = READING) -> Group:
    """The figures by number, the systems that bear the numbers, what could not be compared, and the verdict."""
    rows, figures = content["systems"], columns[LABELS:]
    title = "\n".join([heading(content), *source(content)])
    grid = Grid(title=Text(title), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("no.", *(column.title for column in figures)):
        grid.add_column(name, justify="right", no_wrap=True)
    for i, row in enumerate(rows, start=1):
        grid.add_row(str(i), *(Text(column.cell(row)) for column in figures))
    names = [Text(f"{i:2} {named(row)} ({row['how']})") for i, row in enumerate(rows, start=1)]
    return Group(grid, *names, *map(Text, ["", *remarks(content), reading]))


def named(row: Row) -> str:
    """A system in words."""
    return row["decoder"] if row["rule"] is None else f"{row['rule']} with {row['decoder']}"


def heading(content: dict[str, Any]) -> str:
    """What was asked."""
    goal = content["goal"]
    if goal is None:
        return "as they are: the costs differ"
    return f"at {goal['name']} = {Goal(goal['name'], goal['value']).text}"


def source(content: dict[str, Any]) -> list[str]:
    """The models, one line each."""
    return [f"{name}: {content[name] or 'none'}" for name in ("target", "draft", "model") if name in content]


def remarks(content: dict[str, Any]) -> list[str]:
    """Everything that must be said beside the table."""
    absent = []
    for some in content["out_of_reach"]:
        _, least, greatest = told_apart(content["goal"]["value"], some["least"], some["greatest"])
        absent.append(f"out of reach: {some['rule']} with {some['decoder']} costs {least} to {greatest}")
    return [*absent, *content["notes"], *content["verdict"]["text"]]


def markdown(content: dict[str, Any], columns: Sequence[Column] = EXACT_COLUMNS, reading: str = READING) -> str:
    """The same as a page; the picture stands beside it as compare.png."""
    lines = [
        f"# Comparison {heading(content)}",
        "",
        *(f"- {line}" for line in source(content)),
        "",
        "| " + " | ".join(column.title for column in columns) + " |",
    ]
    lines += ["|" + "---|" * len(columns)]
    for row in content["systems"]:
        lines += ["| " + " | ".join(column.cell(row).replace("|", "\\|") for column in columns) + " |"]
    said = [f"- {line}" for line in remarks(content)]
    return "\n".join([*lines, "", *said, "", reading, "", "![bias against cost](compare.png)", ""])


class Axes(NamedTuple):
    """Two figures of a row, each with its name: a picture's axes."""

    across: Callable[[Row], float]
    up: Callable[[Row], float]
    names: tuple[str, str]


EXACT_AXES = Axes(
    lambda row: row["expected_calls"],
    lambda row: row["tv"],
    ("expected target calls (exact)", "TV(output, target) (exact)"),
)


AS_WRITTEN: Any = {"text.parse_math": False}
"""For matplotlib: a "$" in a rule's repr is a character, not the beginning of a formula."""
FILES = ("compare.json", "compare.md", "compare.png")
"""What `write` writes."""


def picture(content: dict[str, Any], axes: Axes = EXACT_AXES) -> bytes:
    """PNG: bias or quality against cost, one mark a system."""
    from matplotlib import rc_context

    with rc_context(AS_WRITTEN):
        return drawn(content, axes)


def drawn(content: dict[str, Any], axes: Axes) -> bytes:
    """The picture under the settings that hold now."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.8))
    FigureCanvasAgg(figure)
    plot = figure.add_subplot()
    for i, row in enumerate(content["systems"], start=1):  # numbered: matplotlib drops a name that begins with "_"
        plot.plot(axes.across(row), axes.up(row), "osv^D*PX<"[i % 9], label=f"{i} {named(row)}")
    plot.set_xlabel(axes.names[0])
    plot.set_ylabel(axes.names[1])
    plot.set_title(f"Rules compared {heading(content)}")
    plot.grid(alpha=0.3)
    plot.legend(fontsize=7, loc="upper left", bbox_to_anchor=(0, -0.15))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight")
    return buffer.getvalue()


def write(directory: str | Path, content: dict[str, Any], page: str, picture: bytes) -> None:
    """All files or none."""
    text = json.dumps(jsonable(content), indent=1, allow_nan=False) + "\n"
    write_together(Path(directory), dict(zip(FILES, (text.encode(), page.encode(), picture), strict=True)))
