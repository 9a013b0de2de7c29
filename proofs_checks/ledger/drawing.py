"""Counterexamples as pictures: bars of the laws, token by token, as SVG text."""

from __future__ import annotations

import io
from fractions import Fraction
from typing import Any

import matplotlib

from proofs_checks.results import Counterexample

MOST_BARS = 32
"""Numbers of a vector that are drawn; longer ones say less than their table."""
COLOURS = {"target": "#1b7f5c", "draft": "#5b6472", "accept": "#c2a83e", "residual": "#7a5195", "out": "#b3402a"}
OTHER = "#4c78a8"


def drawable(some: Counterexample) -> dict[str, list[float]]:
    """The vectors that can be drawn."""
    vectors = {name: [float(Fraction(value)) for value in values] for name, values in some.bars.items()}
    return {name: values for name, values in vectors.items() if 1 < len(values) <= MOST_BARS}


def bars(some: Counterexample) -> str:
    """One row of bars for each vector, "" when there is nothing to draw."""
    vectors = drawable(some)
    if not vectors:
        return ""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    # The salt and the missing date make the file the same every time.
    with matplotlib.rc_context({"svg.hashsalt": "specsim", "svg.fonttype": "none", "font.size": 8}):
        figure, panels = plt.subplots(len(vectors), 1, figsize=(3.6, 0.85 * len(vectors) + 0.3), squeeze=False)
        for axes, (name, values) in zip(panels.flat, vectors.items(), strict=True):
            panel(axes, name, values, some.bars[name])
        figure.tight_layout(h_pad=0.8)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None}, transparent=True)
        plt.close(figure)
    return text.getvalue().partition("<svg")[1] + text.getvalue().partition("<svg")[2]


def panel(axes: Any, name: str, values: list[float], labels: list[str]) -> None:
    """One vector, with its numbers above the bars where they fit."""
    drawn = axes.bar(range(len(values)), values, color=COLOURS.get(name, OTHER), width=0.7)
    if len(values) <= 9:
        axes.bar_label(
            drawn, [label if len(label) < 7 else f"{v:.3g}" for label, v in zip(labels, values, strict=True)]
        )
    axes.set_ylabel(name, rotation=0, ha="right", va="center")
    axes.set_xticks(range(len(values)) if len(values) <= 12 else [])
    axes.set_ylim(0, max(1.0, *values) * 1.5)
    axes.set_yticks([])
    axes.spines[["top", "right", "left"]].set_visible(False)
