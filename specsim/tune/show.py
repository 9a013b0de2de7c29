"""A tuning for people: the best parameters, the shapes that were tried, and what can be told apart."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

Row = dict[str, Any]
NOTHING = 1e-12
"""Mass below this is the rounding of float64."""
SAMPLED = (
    "Tuned on a random half of the sequences, judged on the other, which the search never saw. There every rule's "
    "figure is brought to the asked accepted drafts along its strength, to first order. ±: one standard error, of "
    "whole sequences."
)
EXACT = "All blocks of the tables, weighed by the target: no figure has an error."


def view(content: dict[str, Any]) -> Group:
    """Heading, the table of the search, the best rule, and every remark."""
    sampled = content["laws"]["kind"] == "sample"
    lines = [*remarks(content), "", SAMPLED if sampled else EXACT]
    best = Text(f"best: {content['best']['rule']}", style="bold")
    return Group(table(content, sampled), best, *map(Text, lines))


def table(content: dict[str, Any], sampled: bool) -> Grid:
    """The grid's shapes with the rule's own and the best.  Cells break between words where it is narrow: no figure is
    ever cut."""
    grid = Grid(title=Text(heading(content)), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    figures = ("tuned", "held out", "above the best") if sampled else (content["divergence"], "above the best")
    lines = [cells(mark, row, sampled) for mark, row in lines_of(content)]
    for i, name in enumerate(("shape", "strength", "accepted", *figures)):
        longest = max(len(word) for text in (name, *(line[i] for line in lines)) for word in text.split())
        grid.add_column(name, justify="right" if i else "left", min_width=longest)
    for line in lines:
        grid.add_row(*map(Text, line))
    return grid


def lines_of(content: dict[str, Any]) -> list[tuple[str, Row]]:
    """The rows in the order of their shapes, each once, with their marks."""
    best, own = content["best"], content["published"]
    every = {tuple(row["shape"].values()): row for row in (*content["table"], own, best)}
    marks = {tuple(own["shape"].values()): "as given", tuple(best["shape"].values()): "best"}
    return [(marks.get(values, ""), row) for values, row in sorted(every.items())]


def cells(mark: str, row: Row, sampled: bool) -> list[str]:
    """One line of the table."""
    name = f"{shape_text(row)}  {mark}".strip()
    if "rule" not in row:
        least, greatest = row["reach"]
        return [name, "-", f"{least:.4f} to {greatest:.4f}", *["-"] * (3 if sampled else 2)]
    figures = [f"{row['divergence']:.4g}"]
    if sampled:
        figures.append(with_error(row["held_out"]["divergence"]["value"], row["held_out"]["divergence"]["error"]))
    return [name, f"{row['strength']:.5g}", f"{row['accepted']:.4f}", *figures, above(row)]


def above(row: Row) -> str:
    """How much more than the best."""
    return with_error(row["above_best"], row.get("above_best_error"))


def with_error(value: float | None, error: float | None) -> str:
    """A figure and its standard error, where there is one."""
    if value is None:
        return "-"
    return f"{value:.4g}" + (f" ±{error:.2g}" if error else "")


def shape_text(row: Row) -> str:
    """nu=0.7, or that there is none."""
    return ", ".join(f"{field}={value:g}" for field, value in row["shape"].items()) or "no shape"


def heading(content: dict[str, Any]) -> str:
    """What was asked, of what."""
    laws = content["laws"]
    return (
        f"least {content['divergence']} at {content['accepted']:g} accepted drafts, blocks of {content['lookahead']}\n"
        f"{content['figure']}\n{laws['name']}: {laws['sequences']} sequences"
        + (f", {laws['tuned_on']} to tune on and {laws['judged_on']} to judge by" if laws["kind"] == "sample" else "")
    )


def remarks(content: dict[str, Any]) -> list[str]:
    """The best on the held-out half, its own shape and the runner-up against it, and what is not known."""
    best, said = content["best"], []
    if "held_out" in best:
        held = best["held_out"]
        accepted = with_error(held["accepted"]["value"], held["accepted"]["error"])
        said.append(f"on the held-out sequences this very rule accepts {accepted} drafts")
    if not best["shape"]:
        said.append("the rule declares no shape: its strength alone was tuned")
    said += compared("the shape as given", content["published"], content)
    if (second := runner_up(content)) is not None:
        said += compared("the runner-up of the grid", second, content)
    return [*said, *limits(content)]


def runner_up(content: dict[str, Any]) -> Row | None:
    """The best row of the grid that is neither the best nor the rule's own."""
    named = (content["best"]["shape"], content["published"]["shape"])
    others = [row for row in content["table"] if "rule" in row and row["shape"] not in named]
    return min(others, key=lambda row: row["divergence"], default=None)


def compared(name: str, row: Row, content: dict[str, Any]) -> list[str]:
    """A rule against the best, plainly where they cannot be told apart."""
    what, divergence = f"{name}, {shape_text(row)},", content["divergence"]
    if row["shape"] == content["best"]["shape"]:
        return [f"{what} is the best that was found"] if row["shape"] else []
    if "rule" not in row:
        return [f"{what} cannot accept {content['accepted']:g}: {row['reach'][0]:.4f} to {row['reach'][1]:.4f}"]
    if row["above_best"] is None or not (row.get("above_best_error") or "held_out" not in row):
        return [f"{what} cannot be compared with an error: {divergence} is a largest value here, or infinite"]
    side = "more" if row["above_best"] > 0 else "less"
    amount = with_error(abs(row["above_best"]), row.get("above_best_error"))
    if not row["apart"]:
        return [f"{what} has {amount} {side} {divergence}: no difference is shown"]
    against = "" if side == "more" else ", so what was found does not hold up"
    return [f"{what} has {amount} {side} {divergence}: a difference{against}"]


def limits(content: dict[str, Any]) -> list[str]:
    """A best value at the end of a range, and what the target's sequences do not show."""
    best, said = content["best"], []
    for field, value in best["shape"].items():
        values = [row["shape"][field] for row in content["table"]]
        if value in (min(values), max(values)):
            said.append(f"{field} = {value:g} is an end of the range that was searched")
    if best["off_support"] > NOTHING:
        said.append(
            f"{best['off_support']:.3g} of the blocks leave the target's support, and nothing is seen behind: accepted "
            f"and local may be up to {best['accepted_unseen']:.3g} larger; tv is right all the same"
        )
    return said
