"""The frontier as a picture: the limit in black, nothing below it, every rule a curve or a point."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import cycle
from typing import Any, NamedTuple

from specsim.comparing.lineup import has_strength
from specsim.comparing.show import AS_WRITTEN
from specsim.strength import strength_of

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#8c6d31")
"""Told apart by readers who do not see red or green (Okabe and Ito), and two more."""
FILES = ("frontier.svg", "frontier.png", "frontier.json", "frontier.md")
"""What `specsim frontier` writes."""
MARKERS = "o^DvsPX*"
DASHES = {"joint": (0, (5, 2)), "joint-run": (0, (5, 2)), "free-run": (0, (1, 1))}
"""What looks at whole blocks is dashed, limits and rules alike; a limit whose bonus tokens are free is dotted."""
EMPTY = "#ececec"
BELOW = 0.02
"""What is shown below 0, as a share of the height: a limit of 0 is a line, not the frame."""
SETTINGS: Any = AS_WRITTEN | {"svg.hashsalt": "specsim", "svg.fonttype": "none", "font.size": 9}
"""The salt, and no date in the file, make the same picture the same file."""


class Line(NamedTuple):
    """What is drawn of a limit or a rule.

    xs, ys: the curve, or one point; mark: where a rule is as given; kind: "joint" where whole blocks are looked at;
    bars: intervals of the ys, all of whose spots are then marked.
    """

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    mark: tuple[float, float] | None = None
    kind: str = ""
    bars: Sequence[tuple[float, float]] = ()


class Picture(NamedTuple):
    """title, across, up, empty: texts, of the axes and of the area under the limits; least: where nothing is lost;
    reverse: the smaller cost stands right, where decoding is faster."""

    limits: Sequence[Line]
    rules: Sequence[Line]
    title: str
    across: str
    up: str
    empty: str
    least: float
    reverse: bool


def images(picture: Picture) -> dict[str, bytes]:
    """The picture as frontier.svg and frontier.png."""
    from matplotlib import rc_context

    with rc_context(SETTINGS):
        figure = drawn(picture)
        return {f"frontier.{kind}": saved(figure, kind) for kind in ("svg", "png")}


def saved(figure: Any, kind: str) -> bytes:
    """A figure as the bytes of a file."""
    buffer = io.BytesIO()
    extra: dict[str, Any] = {"metadata": {"Date": None}} if kind == "svg" else {"dpi": 150}
    figure.savefig(buffer, format=kind, bbox_inches="tight", **extra)
    return buffer.getvalue()


def drawn(picture: Picture) -> Any:
    """The figure under the settings that hold now."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.6))
    FigureCanvasAgg(figure)
    plot = figure.add_subplot()
    for line in picture.limits:
        plot.plot(line.xs, line.ys, color="black", linewidth=2, label=line.name, linestyle=DASHES.get(line.kind, "-"))
    for line, colour, marker in zip(picture.rules, cycle(COLOURS), cycle(MARKERS), strict=False):
        draw_rule(plot, line, colour, marker)
    frame(plot, picture)
    shade(plot, picture)
    name_lines(figure, plot)
    return figure


def name_lines(figure: Any, plot: Any) -> None:
    """The legend in the upper left, where hardly a curve is: divergence rises with speed.  If one is, beside it all."""
    legend = plot.legend(loc="upper left", fontsize=8)
    figure.draw_without_rendering()
    box = legend.get_window_extent().padded(4)
    paths = (line.get_transform().transform_path(line.get_path()) for line in plot.get_lines())
    if any(path.intersects_bbox(box, filled=False) for path in paths):
        plot.legend(loc="upper left", fontsize=8, bbox_to_anchor=(1.01, 1))


def draw_rule(plot: Any, line: Line, colour: str, marker: str) -> None:
    """A curve with a mark where the rule is as given, or a single mark; the whole mark shows at the picture's edge."""
    style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 7, "markeredgecolor": "white"}
    finite = [(x, y) for x, y in zip(line.xs, line.ys, strict=True) if math.isfinite(y)]
    if not finite:
        return
    style["linestyle"] = "none" if len(finite) == 1 else DASHES.get(line.kind, "-")
    at = [i for i, spot in enumerate(finite) if line.bars or spot == line.mark]
    plot.plot(
        *zip(*finite, strict=True), markevery=at, linewidth=1.4, label=line.name, zorder=3, clip_on=False, **style
    )
    for x, (low, high) in zip(line.xs, line.bars, strict=False):
        plot.plot([x, x], [low, high], color=colour, linewidth=0.8, alpha=0.6)


def frame(plot: Any, picture: Picture) -> None:
    """Axes with their units; costs increase in speed to the right."""
    plot.set_xlabel(picture.across)
    plot.set_ylabel(picture.up)
    plot.set_title(picture.title, loc="left", fontsize=9)
    plot.margins(x=0.03)
    height = max((y for _, y in everything(picture)), default=0) - picture.least
    height = height if height > 0 else 1
    plot.set_ylim(picture.least - BELOW * height, picture.least + 1.06 * height)
    plot.grid(alpha=0.25)
    plot.spines[["top", "right"]].set_visible(False)
    if picture.reverse:
        plot.xaxis.set_inverted(True)


def everything(picture: Picture) -> Iterator[tuple[float, float]]:
    """Every finite spot, and the upper ends of the intervals."""
    for line in (*picture.limits, *picture.rules):
        spots = [*zip(line.xs, line.ys, strict=True), *zip(line.xs, (high for _, high in line.bars), strict=False)]
        yield from ((x, y) for x, y in spots if math.isfinite(y))


def shade(plot: Any, picture: Picture) -> None:
    """The area under the lowest limit, where no verifier can be."""
    if not picture.limits:
        return
    lowest = picture.limits[-1]  # the larger class of verifiers comes last
    plot.fill_between(lowest.xs, lowest.ys, plot.get_ylim()[0], color=EMPTY, zorder=0)
    style: dict[str, Any] = {"fontsize": 9, "color": "#555555", "style": "italic"}
    plot.text(0.955, 0.06, picture.empty, ha="right", transform=plot.transAxes, **style)


def short(rule: Any) -> str:
    """A rule without the fields that have their default, but always with its strength: it is read as the same rule."""
    if not is_dataclass(rule) or isinstance(rule, type):
        return repr(rule)
    field = strength_of(rule).field if has_strength(rule) else None
    values = [(some, getattr(rule, some.name)) for some in fields(rule)]
    told = [(some.name, value) for some, value in values if value != some.default or some.name == field]
    return f"{type(rule).__name__}({', '.join(f'{name}={shorter(value)}' for name, value in told)})"


def shorter(value: Any) -> str:
    """A field of a rule, which may be a rule."""
    return short(value) if is_dataclass(value) else repr(value)
