"""Which system wins at the same cost, by how much, and which are beaten outright."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from specsim.comparing.goals import Goal
from specsim.comparing.show import named, tv_text

TIE = 1e-5
"""Total variations closer than this tie: a cost may miss the goal by its slack, 1e-6, and TV moves by about that."""


def verdict(rows: Sequence[dict[str, Any]], goal: Goal | None, slack: float) -> dict[str, Any]:
    """rows sorted by TV -> {winner, tv, next, behind_by, text: sentences}, and who beats whom in TV and calls both.

    A system that costs more than the goal cannot win: its TV was bought.  One that costs less can.  Without a goal
    nothing wins: only what another system beats outright is named.
    """
    beaten = {named(row): named(by) for row in rows if (by := beats(rows, row)) is not None}
    if goal is None:
        front = [named(row) for row in rows if named(row) not in beaten]
        said = (
            f"not at one cost, so no winner (see --at-calls); beaten by none in both TV and calls: {'; '.join(front)}"
        )
        return {"winner": None, "beaten": beaten, "text": [said]}
    fit = [row for row in rows if goal.excess(row["cost"]) <= slack]
    return ranking(fit, goal) | {"beaten": beaten}


def ranking(fit: Sequence[dict[str, Any]], goal: Goal) -> dict[str, Any]:
    """The best of those that cost no more than the goal, and its lead."""
    if not fit:
        return {"winner": None, "text": [f"no winner: no system costs {goal} or less"]}
    best, second = fit[0], fit[1] if len(fit) > 1 else None
    said = {"winner": named(best), "tv": best["tv"], "next": None, "behind_by": None}
    if second is None:
        return said | {"text": [f"{named(best)} alone costs {goal} or less: TV {tv_text(best)}"]}
    lead = second["tv"] - best["tv"]
    said |= {"next": named(second), "behind_by": lead}
    if lead <= TIE:
        text = f"{named(best)} and {named(second)} tie at {goal}: TV {tv_text(best)}"
        return said | {"winner": None, "text": [text]}
    margin = f"{lead:.6g} ({lead / second['tv']:.1%}) below {named(second)}"
    return said | {"text": [f"{named(best)} wins at {goal}: TV {tv_text(best)}, {margin}"]}


def beats(rows: Sequence[dict[str, Any]], row: dict[str, Any]) -> dict[str, Any] | None:
    """The first system that has less TV and needs no more calls, or fewer calls and no more TV."""
    for other in rows:
        less = row["tv"] - other["tv"], row["expected_calls"] - other["expected_calls"]
        if min(less) >= -TIE and max(less) > TIE:
            return other
    return None
