"""The frontier for people: what lies above the limit by how much, on the screen and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

from proofs_checks.frontiers.convex import CLOSE
from proofs_checks.frontiers.limits import DIVERGENCES
from proofs_checks.frontiers.pages import LIMITS, cost_json
from proofs_checks.frontiers.table import NOTHING, Goal, Row
from specsim.comparing.frontier_picture import short
from specsim.comparing.show import source

if TYPE_CHECKING:
    from proofs_checks.frontiers.command import Frontier

READING = (
    "Above the limit, at equal cost: rules retuned to each cost, the limit computed at the very cost a rule then has. "
    "Costs: 25, 50 and 75 % of the way from strict verification to keeping all, and that of each rule as given. "
    "*: the limit is 0 there, and the difference is shown. -: no strength costs that."
)


def view(found: Frontier, content: dict[str, Any]) -> Group:
    """Title, table, rules with what they are held against, and what breaks the limit."""
    said = [Text(line) for line in (*key(found), "", *remarks(found))]
    wrong = [Text(line, style="bold red") for line in alarm(found)]
    if not found.goals:
        return Group(Text(title(content)), Text(""), Text(nothing_between(found)), Text(""), *said, *wrong)
    grid = Grid(title=Text(title(content)), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    header, *lines = matrix(found)
    for name in header:
        grid.add_column(name, justify="left" if name == header[0] else "right", no_wrap=True)
    for line in lines:
        grid.add_row(*map(Text, line))
    return Group(grid, *said, *wrong)


def nothing_between(found: Frontier) -> str:
    """Why there is no cost to compare at: a block that keeps all its drafts, or a run of full blocks, is strict
    verification's already; or all that is cheaper has an infinite divergence."""
    setting = found.setting
    most = setting.lookahead if setting.length is None else -(-setting.length // (setting.lookahead + 1))
    if abs(found.ends[0] - most) <= CLOSE or not DIVERGENCES[setting.divergence].support:
        return "strict verification keeps all that can be kept here"
    words = "no finite limit between these costs: whatever keeps more than strict verification has an infinite"
    return f"{words} {setting.divergence}"


def title(content: dict[str, Any]) -> str:
    """What was asked."""
    divergence, cost = content["divergence"]["words"], content["cost"]["words"]
    return "\n".join([f"{divergence} against {cost}", *source(content)])


def matrix(found: Frontier) -> list[list[str]]:
    """Cells: a header with the costs, the limits there, and every rule that can be retuned."""
    cost = "calls" if found.setting.run else "kept"
    lines = [[cost, *(f"{float(goal.cost):.4g}" for goal in found.goals)]]
    for kind in found.limits:
        lines.append([LIMITS[kind], *(limit_cell(found, kind, goal) for goal in found.goals)])
    for i, some in enumerate(found.curves, start=1):
        own = {row.goal: row for row in found.rows if row.rule is some.rule}
        if None not in own:
            lines.append([f"{i} {type_of(some.rule)}", *(cell(own.get(goal.cost)) for goal in found.goals)])
    return lines


def type_of(rule: Any) -> str:
    """The name of a rule, with that of the rule inside it."""
    inner = getattr(rule, "rule", None)
    return type(rule).__name__ if inner is None else f"{type(rule).__name__}({type_of(inner)})"


def limit_cell(found: Frontier, kind: str, goal: Goal) -> str:
    """The limit at a cost of the table."""
    point = found.at_goals[kind][goal.cost]
    return "-" if point is None else figure(point.value)


def figure(value: float) -> str:
    """A divergence; what solvers leave of 0 is 0."""
    return "0" if abs(value) <= NOTHING else f"{value:.4g}"


def cell(row: Row | None) -> str:
    """How far above the limit."""
    if row is None:
        return "-"
    if row.difference is None or math.isinf(row.difference):
        return "inf"
    if row.above is None:
        return f"{figure(row.difference)}*"
    return f"{row.above:+.1%}".replace("-0.0%", "+0.0%")


def key(found: Frontier) -> Iterator[str]:
    """Every rule: its divergence and cost as given, and what it is held against."""
    name = cost_json(found.setting)["name"]
    for i, some in enumerate(found.curves, start=1):
        value = some.given.value
        exact = ", exactly," if isinstance(value, Fraction) and value == 0 else ""
        alone = next((row for row in found.rows if row.rule is some.rule and row.goal is None), None)
        said = "" if alone is None else f", {apart(alone)}"
        spot = f"{found.setting.divergence} {figure(float(value))}{exact} at {name} {float(some.given.cost):.5g}"
        yield f"{i} {short(some.rule)}: {spot}; {LIMITS[some.kind]}{said}"


def apart(row: Row) -> str:
    """A point against its limit, in words."""
    if row.above is None:
        return f"which is 0 there, difference {cell(row)}"
    return f"{cell(row)[1:]} above it"


def remarks(found: Frontier) -> list[str]:
    """What must be read beside the table."""
    notes = {point.note for points in found.limits.values() for point in points if point.note}
    return [READING, *(f"points of the limit: {note}" for note in sorted(notes))]


def alarm(found: Frontier) -> list[str]:
    """A rule below its limit: the rule is no verifier, or the limit is wrong."""
    if not found.problems:
        return []
    return [f"BELOW THE LIMIT, which no verifier can be: {said}" for said in found.problems]


def markdown(found: Frontier, content: dict[str, Any]) -> str:
    """The same as a page, and the table's figures one by one; the picture stands beside it."""
    head, *models = title(content).splitlines()
    said = [f"- {line}" for line in (*models, *key(found), *alarm(found))]
    table = grid(matrix(found)) if found.goals else [nothing_between(found)]
    parts = [f"# Frontier: {head}", "", *table, "", *said, "", *remarks(found), "", *grid(details(found))]
    return "\n".join([*parts, "", "![frontier](frontier.svg)", ""])


def grid(lines: list[list[str]]) -> list[str]:
    """A Markdown table; the first line is its header."""
    rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return [rows[0], "|---|" + "---:|" * (len(lines[0]) - 1), *rows[1:]]


def details(found: Frontier) -> list[list[str]]:
    """Every rule at every cost, with its own strength and the limit at its own cost."""
    lines = [["rule", cost_json(found.setting)["name"], found.setting.divergence, "limit", "above"]]
    for row in found.rows:
        limit = "-" if row.limit is None else f"{figure(row.limit.value)} ({LIMITS[row.kind]})"
        spot = row.spot
        lines.append([short(spot.rule), f"{float(spot.cost):.6g}", figure(float(spot.value)), limit, cell(row)])
    return lines
