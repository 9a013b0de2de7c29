"""The work behind `specsim frontier`: the limit of a pair of table models, and every rule against it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from proofs_checks.frontiers.convex import CLOSE, bend
from proofs_checks.frontiers.curves import Curve, Setting, curve
from proofs_checks.frontiers.limits import DIVERGENCES, KINDS, Limit, Point, limit
from proofs_checks.frontiers.pages import content_of, files
from proofs_checks.frontiers.table import ROUNDING, Goal, LimitAt, Row, breaks, breaks_curve, goals, rows_of
from specsim.comparing.command import the_tables
from specsim.comparing.frontier_picture import FILES
from specsim.decoders import Chain
from specsim.errors import SpecsimError, require, require_whole
from specsim.files import ready_directory, write_together
from specsim.law_command import LEAST_MEMORY, MOST_MEMORY
from specsim.rules import Annealed, Lenient, Strict
from specsim.rules.band import Band
from specsim.rules.block import BlockVerification
from specsim.rules.ledger import Ledger
from specsim.table_files import read_table

DEFAULTS: tuple[Any, ...] = (
    *(Strict(), Lenient(1.5), Annealed(2.0, 0.7), Ledger(1.5)),
    *(BlockVerification(), BlockVerification(Lenient(1.5)), Band(1.5)),
)
"""The rules drawn where none is named."""
FEWEST, MOST = 4, 1000
"""Points of a curve."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Frontier:
    """What `specsim frontier` found.

    limits: by kind, evenly spaced, in the order of cost; at_goals: by kind and cost of the table; problems: rules below
    their limit; ends: what strict verification costs, and keeping all that can be.
    """

    setting: Setting
    limits: dict[str, list[Point]]
    at_goals: dict[str, dict[Fraction, Point | None]]
    curves: list[Curve]
    goals: list[Goal]
    rows: list[Row]
    problems: list[str]
    ends: tuple[Fraction, Fraction]


def limit_of(setting: Setting, kind: str) -> Limit:
    """The limit of a kind, built."""
    memory = setting.budget / 2**30
    models = setting.target, setting.draft
    return limit(KINDS[kind], *models, setting.lookahead, setting.divergence, setting.length, memory)


class Limits:
    """The limits that a setting has, each built once; every cost solved once."""

    def __init__(self, setting: Setting) -> None:
        kinds = ("run", "joint-run", "free-run") if setting.run else ("block", "joint")
        self.by_kind: dict[str, Limit] = {kind: limit_of(setting, kind) for kind in kinds}
        self.points: dict[tuple[str, Fraction], Point] = {}

    @property
    def fastest(self) -> Fraction:
        """The cost where as much is kept as can be."""
        sign = -1 if "run" in self.by_kind else 1
        return max((end for some in self.by_kind.values() for end in some.range()), key=lambda end: sign * end)

    def at(self, kind: str, cost: Fraction) -> Point | None:
        """The limit at a cost, None where no verifier has that cost; a float's rounding beyond the end is forgiven."""
        low, high = (Fraction(end) for end in self.by_kind[kind].range())
        inside = min(max(cost, low), high)
        if abs(inside - cost) > ROUNDING:
            return None
        if (kind, cost) not in self.points:
            self.points[kind, cost] = self.by_kind[kind].at(inside)
        return self.points[kind, cost]


def require_points(points: int) -> None:
    """So many points of a curve."""
    require_whole("frontier", "points", points, FEWEST, MOST)


def frontier_files(
    target: Path | None, draft: Path | None, lookahead: int, length: int | None, divergence: str, gibibytes: float
) -> tuple[Setting, dict[str, str]]:
    """What was asked checked, as far as can be before a file is read -> (setting, names of the files)."""
    require(divergence in DIVERGENCES, "frontier", "divergence", divergence, f"one of {', '.join(DIVERGENCES)}")
    require(LEAST_MEMORY <= gibibytes <= MOST_MEMORY, "frontier", "memory", gibibytes, "a number of GiB, e.g. 4")
    Chain(lookahead)
    files = the_tables("frontier", target, draft, [Chain(lookahead)])
    models = [read_table(file) for file in files if file is not None]
    if models[0].vocab != models[1].vocab:
        raise SpecsimError(f"frontier: target vocab {models[0].vocab} and draft vocab {models[1].vocab} differ")
    tokens, what = (lookahead, "lookahead") if length is None else (length, "length")
    most = min(model.length for model in models)
    require_whole("frontier", what, tokens, 1, most)
    names = {"target": str(files[0]), "draft": str(files[1])}
    return Setting(models[0], models[1], lookahead, length, divergence, int(gibibytes * 2**30)), names


def make_frontier(
    setting: Setting, rules: Sequence[Any], points: int, exact: bool = False, progress: Progress | None = None
) -> Frontier:
    """The limits on up to `points` costs, every rule along its strength, and the table of what lies above the limit."""
    require_points(points)
    rules = list({repr(rule): rule for rule in (rules or DEFAULTS)}.values())
    limits, judged, steps = Limits(setting), setting if exact else setting.floats(), Steps(progress)
    ends = Fraction(setting.measure(Strict())[0]), limits.fastest
    steps.expect(len(limits.by_kind) * points + len(rules))
    curves = [steps.did(curve(judged, rule, points)) for rule in rules]

    def limit_at(kind: str, cost: Fraction) -> Point | None:
        return steps.did(limits.at(kind, cost))

    found = {kind: curve_of(limit_at, kind, ends, points) for kind in limits.by_kind}
    asked = goals(ends, curves)
    steps.expect(len(asked) * (len(found) + sum(not some.is_point for some in curves)))
    there = {kind: {goal.cost: limit_at(kind, goal.cost) for goal in asked} for kind in found}
    rows = [row for some in curves for row in rows_of(judged, some, asked, limit_at)]
    return Frontier(judged, found, there, curves, asked, rows, problems_of(rows, curves, found), ends)


def problems_of(rows: Sequence[Row], curves: Sequence[Curve], found: dict[str, list[Point]]) -> list[str]:
    """Rules below their limit, which none can be: the rule is no verifier, or something here is wrong."""
    said = [*map(breaks, rows), *(breaks_curve(some, found[some.kind]) for some in curves)]
    return list(dict.fromkeys(line for line in said if line is not None))


def curve_of(limit_at: LimitAt, kind: str, ends: tuple[Fraction, Fraction], points: int) -> list[Point]:
    """A limit between two costs: every further point goes where the curve may bend most.

    One point where the ends are one: strict verification keeps all that can be kept.
    """
    low, high = sorted(ends)
    first = range(FEWEST if high - low > CLOSE else 1)
    known = [limit_at(kind, low + (high - low) * i / (FEWEST - 1)) for i in first]
    found = [point for point in known if point is not None]
    while len(found) < points and (cost := bend(found)) is not None:
        if (point := limit_at(kind, cost)) is None:
            break
        found = sorted([*found, point], key=lambda some: some.cost)
    return found


class Steps:
    """How far the work is: each piece of it is reported when it is done."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress, self.done, self.all = progress, 0, 0

    def expect(self, steps: int) -> None:
        """So many more."""
        self.all += steps

    def did(self, result: Any) -> Any:
        """One more is done; its result is handed back."""
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, max(self.done, self.all))
        return result


def frontier_command(
    setting: Setting,
    names: dict[str, str],
    rules: Sequence[Any],
    points: int,
    exact: bool,
    out: str | Path | None,
    progress: Progress | None = None,
) -> tuple[dict[str, Any], Frontier]:
    """Everything of the command but reading files and printing; with `out`, the four files are written together."""
    directory = None if out is None else ready_directory(out, FILES)
    found = make_frontier(setting, rules, points, exact, progress)
    content = content_of(found, names)
    if directory is not None:
        write_together(directory, files(found, content))
    return content, found
