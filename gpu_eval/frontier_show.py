"""The sampled frontier for people: a table on the screen, the same as a page, and a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

from specsim.comparing.frontier_picture import FILES, Line, Picture, images
from specsim.files import write_together
from specsim.terminal import jsonable

Content = dict[str, Any]
DIGITS = 4


def view(content: Content) -> Group:
    """Every rule at every strength, and what must be read beside them."""
    grid = Grid(title=Text(title(content)), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    header, *lines = table(content)
    for i, name in enumerate(header):
        grid.add_column(name, justify="right" if i else "left", overflow="fold")
    for line in lines:
        grid.add_row(*map(Text, line))
    wrong = [Text(line, style="bold red") for line in alarm(content)]
    return Group(grid, *map(Text, remarks(content)), *wrong)


def title(content: Content) -> str:
    """What was asked."""
    what = f"{content['divergence']['words']} against {content['cost']['words']}"
    return f"{what}\n{content['model']}, lookahead {content['lookahead']}, {content['images']} images"


def table(content: Content) -> list[list[str]]:
    """Cells, a header first."""
    known = bool(content["limits"])
    lines = [["rule", content["cost"]["name"], content["divergence"]["name"], *(["above the line"] if known else [])]]
    for rule in content["rules"]:
        for point in rule["points"]:
            figures = [figure(point["cost"]), figure(point["value"])]
            lines.append([point["rule"], *figures, *([figure(point["above_line"])] if known else [])])
    return lines


def figure(found: dict[str, Any]) -> str:
    """A value with half of its interval."""
    value = f"{found['value'] if abs(found['value']) > NOTHING else 0:.{DIGITS}g}"
    if found["interval"] is None:
        return value
    half = (found["interval"][1] - found["interval"][0]) / 2
    return f"{value} ±{half:.2g}" if half > NOTHING else value


NOTHING = 1e-9
"""What rounding leaves of 0."""


def remarks(content: Content) -> list[str]:
    """The line, the notes, and what an interval is."""
    lines = [f"{some['words']}: {line_words(some)}" for some in content["limits"]]
    return [*lines, *content["notes"], f"±: half of the interval ({content['interval']})"]


def line_words(some: dict[str, Any]) -> str:
    """The line as a formula."""
    return f"TV = accepted - {some['points'][0]['cost']:.{DIGITS}g}"


def alarm(content: Content) -> list[str]:
    """A rule below the line: no rule can be."""
    return [f"BELOW THE LIMIT, which no rule can be: {said}" for said in content["problems"]]


def markdown(content: Content) -> str:
    """The same as a page; the picture stands beside it."""
    lines = [[cell.replace("|", "\\|") for cell in line] for line in table(content)]
    rows = ["| " + " | ".join(line) + " |" for line in lines]
    rows.insert(1, "|---|" + "---:|" * (len(lines[0]) - 1))
    head, source = title(content).splitlines()
    said = [f"- {line}" for line in (source, *remarks(content), *alarm(content))]
    return "\n".join([f"# Frontier: {head}", "", *rows, "", *said, "", "![frontier](frontier.svg)", ""])


def picture(content: Content) -> Picture:
    """What is drawn: points with their intervals, in the order of cost, and the line where it is known."""
    limits = [limit_line(some) for some in content["limits"]]
    calls = content["cost"]["name"] == "calls"
    across = content["cost"]["words"] + (" (right: fewer, faster)" if calls else " (right: faster)")
    name = f"{content['model']}, lookahead {content['lookahead']}, {content['images']} images"
    lines = [rule_line(rule) for rule in content["rules"]]
    return Picture(limits, lines, name, across, content["divergence"]["words"], "no rule", 0.0, calls)


def limit_line(some: dict[str, Any]) -> Line:
    """The line, from end to end."""
    xs, ys = ([point[name] for point in some["points"]] for name in ("cost", "value"))
    return Line(some["words"], xs, ys)


def rule_line(rule: dict[str, Any]) -> Line:
    """A rule's points in the order of cost."""
    points = sorted(rule["points"], key=lambda point: point["cost"]["value"])
    xs, ys = ([point[name]["value"] for point in points] for name in ("cost", "value"))
    bars = [tuple(point["value"]["interval"] or (y, y)) for point, y in zip(points, ys, strict=True)]
    return Line(rule["name"], xs, ys, bars=bars)


def write(directory: str | Path, content: Content) -> None:
    """All four files or none."""
    text = json.dumps(jsonable(content), indent=1, allow_nan=False) + "\n"
    pages = {"frontier.json": text.encode(), "frontier.md": markdown(content).encode()}
    found = images(picture(content)) | pages
    write_together(Path(directory), {name: found[name] for name in FILES})
