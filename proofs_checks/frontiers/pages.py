"""The frontier as JSON and as files."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from proofs_checks.frontiers.curves import Curve, Setting, Spot
from proofs_checks.frontiers.limits import DIVERGENCES, Point
from proofs_checks.frontiers.table import Row
from specsim.comparing.frontier_picture import FILES, Line, Picture, images, short
from specsim.comparing.lineup import has_strength
from specsim.strength import strength_of
from specsim.terminal import jsonable

if TYPE_CHECKING:
    from proofs_checks.frontiers.command import Frontier

SCHEMA = "specsim.frontier/1"
LIMITS = {
    "block": "limit, token by token",
    "joint": "limit, whole blocks seen",
    "run": "limit of a run, token by token",
    "joint-run": "the same, whole blocks seen",
    "free-run": "token by token, bonus free",
}
"""Every kind of limit in words."""


def content_of(found: Frontier, names: dict[str, str]) -> dict[str, Any]:
    """Every figure for machines; what is named `.._exact` is a fraction as text."""
    setting = found.setting
    return {
        "schema": SCHEMA,
        **names,
        "lookahead": setting.lookahead,
        "length": setting.length,
        "divergence": {"name": setting.divergence, "words": DIVERGENCES[setting.divergence].words},
        "cost": cost_json(setting),
        "numbers": "Fractions" if isinstance(found.curves[0].given.cost, Fraction) else "float64",
        **exactly("strict", found.ends[0]),
        **exactly("keep_all", found.ends[1]),
        "limits": [
            {"kind": kind, "words": LIMITS[kind], "points": [point_json(point) for point in points]}
            for kind, points in found.limits.items()
        ],
        "rules": [curve_json(some) for some in found.curves],
        "goals": [{"cost": float(goal.cost), "words": goal.words} for goal in found.goals],
        "table": [row_json(row) for row in found.rows],
        "problems": found.problems,
    }


def cost_json(setting: Setting) -> dict[str, str]:
    """What the cost is, and which way is cheaper."""
    if setting.run:
        return {"name": "calls", "words": f"expected target calls of {setting.length} tokens", "better": "fewer"}
    return {"name": "accepted", "words": f"expected drafts kept of {setting.lookahead}", "better": "more"}


def exactly(name: str, value: Any) -> dict[str, Any]:
    """A figure, and as a fraction where it is one."""
    return {name: float(value)} | ({f"{name}_exact": str(value)} if isinstance(value, Fraction) else {})


def point_json(point: Point) -> dict[str, Any]:
    """A point of a limit; bound: certified, in Fractions, unless the note says otherwise."""
    return {
        **exactly("cost", point.cost),
        "value": point.value,
        **({} if point.bound is None else exactly("bound", point.bound)),
        "note": point.note,
    }


def spot_json(spot: Spot) -> dict[str, Any]:
    """A rule at one strength."""
    return {"rule": repr(spot.rule), "strength": spot.strength} | exactly("cost", spot.cost) | value_json(spot.value)


def value_json(value: Any) -> dict[str, Any]:
    """A divergence, which may be infinite."""
    return exactly("value", value) if math.isfinite(value) else {"value": math.inf}


def curve_json(some: Curve) -> dict[str, Any]:
    """A rule: as given, and along its strength."""
    return {
        "rule": repr(some.rule),
        "strength": strength_of(some.rule).field if has_strength(some.rule) else None,
        "limit": some.kind,
        "given": spot_json(some.given),
        "points": [spot_json(spot) for spot in some.spots],
    }


def row_json(row: Row) -> dict[str, Any]:
    """A rule against the limit at its own cost."""
    return {
        "rule": repr(row.rule),
        "goal": None if row.goal is None else float(row.goal),
        "spot": spot_json(row.spot),
        "limit": None if row.limit is None else {"kind": row.kind, **point_json(row.limit)},
        "difference": row.difference,
        "above": row.above,
    }


def files(found: Frontier, content: dict[str, Any]) -> dict[str, bytes]:
    """Names and contents of everything that is written."""
    from proofs_checks.frontiers.show import markdown

    text = json.dumps(jsonable(content), indent=1, allow_nan=False) + "\n"
    pictures = images(picture_of(found))
    made = {**pictures, "frontier.json": text.encode(), "frontier.md": markdown(found, content).encode()}
    return {name: made[name] for name in FILES}


def picture_of(found: Frontier) -> Picture:
    """What is drawn."""
    setting = found.setting
    limits = [limit_line(kind, points) for kind, points in found.limits.items()]
    words = cost_json(setting)["words"] + (" (right: fewer, faster)" if setting.run else " (right: faster)")
    title = f"vocabulary {setting.target.vocab}, lookahead {setting.lookahead}" + (
        f", runs of {setting.length} tokens" if setting.run else ", one block"
    )
    up = DIVERGENCES[setting.divergence].words
    least = float(DIVERGENCES[setting.divergence].least)
    return Picture(
        limits, [rule_line(some) for some in found.curves], title, words, up, "no verifier", least, setting.run
    )


def limit_line(kind: str, points: list[Point]) -> Line:
    """A limit's curve, as far as it is finite."""
    finite = [point for point in points if math.isfinite(point.value)]
    return Line(LIMITS[kind], [float(point.cost) for point in finite], [point.value for point in finite], kind=kind)


def rule_line(some: Curve) -> Line:
    """A rule's curve, marked where it is as given."""
    given = (float(some.given.cost), float(some.given.value))
    spots = [given] if some.is_point else [(float(spot.cost), float(spot.value)) for spot in some.spots]
    xs, ys = zip(*spots, strict=True)
    return Line(short(some.rule), xs, ys, given, some.kind)
