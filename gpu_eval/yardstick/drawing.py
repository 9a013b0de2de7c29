"""Quality against each divergence, small multiples: one row a measure of quality, one column a divergence."""

from __future__ import annotations

import io
import textwrap
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from gpu_eval.yardstick.analysis import TOGETHER
from gpu_eval.yardstick.distances import CANDIDATES
from gpu_eval.yardstick.measures import MEASURES, PRIMARY

MARKERS = "osv^D*PX<>hdp1"
COLUMNS = 5
"""Divergences shown: those that follow quality best, best first."""


def picture(content: dict[str, Any]) -> bytes:
    """PNG bytes.  Colour is the level of tokens per call, the marker the scheme: a yardstick orders one colour."""
    found = content["correlations"][TOGETHER]
    names = sorted(found, key=lambda name: -found[name]["spearman"]["value"])[:COLUMNS]
    rows = [row for row in content["settings"] if row["level"] is not None]
    schemes, levels = (list(dict.fromkeys(row[key] for row in rows)) for key in ("scheme", "level"))
    shades = dict(zip(sorted(levels), plt.colormaps["viridis"](np.linspace(0, 0.85, len(levels))), strict=True))
    marks = {name: MARKERS[i % len(MARKERS)] for i, name in enumerate(schemes)}
    figure, panels = plt.subplots(
        len(PRIMARY), len(names), figsize=(2.5 * len(names), 2.6 * len(PRIMARY)), squeeze=False
    )
    for line, what in zip(panels, PRIMARY, strict=True):
        for axes, name in zip(line, names, strict=True):
            points(axes, rows, what, name, shades, marks)
            value = content["correlations"][what][name]["spearman"]["value"]
            axes.set_title(f"within levels: {value:.2f}", fontsize=9)
        line[0].set_ylabel(textwrap.fill(MEASURES[what], 26), fontsize=9)
    for axes, name in zip(panels[-1], names, strict=True):
        axes.set_xlabel(CANDIDATES[name], fontsize=9)
    figure.tight_layout(rect=(0, 0, 0.87, 1))
    legend(figure, shades, marks)
    return png_of(figure)


def points(axes: Any, rows: list[dict[str, Any]], what: str, name: str, shades: Any, marks: Any) -> None:
    """One panel."""
    for row in rows:
        far, bad = row["divergences"][name], row["quality"][what]
        if far["error"] is not None:
            axes.errorbar(far["value"], bad["value"], yerr=bad["error"], color=shades[row["level"]], lw=0.6)
            axes.plot(far["value"], bad["value"], marks[row["scheme"]], color=shades[row["level"]], ms=5)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0) if narrow(rows, name) else (1.0,), numticks=8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=8)


def narrow(rows: list[dict[str, Any]], name: str) -> bool:
    """Whether a divergence spans less than two decades."""
    values = [row["divergences"][name]["value"] for row in rows if row["divergences"][name]["error"] is not None]
    return bool(values) and max(values) < 100 * min(values)


def legend(figure: plt.Figure, shades: Any, marks: Any) -> None:
    """Levels and schemes, to the right of the panels."""
    handles = [plt.Line2D([], [], color=shade, lw=4, label=f"{level:g} tokens/call") for level, shade in shades.items()]
    handles += [plt.Line2D([], [], marker=mark, color="grey", lw=0, label=name) for name, mark in marks.items()]
    figure.legend(handles=handles, loc="center right", fontsize=9, frameon=False)


def png_of(figure: plt.Figure) -> bytes:
    """A figure as PNG bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100)
    plt.close(figure)
    return buffer.getvalue()
