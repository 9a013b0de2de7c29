"""The report's pictures, as PNG bytes."""

from __future__ import annotations

import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from gpu_eval.pictures import grid, png
from gpu_eval.report.rows import Row

GOOD, BAD = "#1b7f5c", "#b3402a"
SHOWN = 10
"""Images per system in the contact sheet: one of each class."""


def png_of(figure: plt.Figure) -> bytes:
    """A figure as PNG bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight")
    plt.close(figure)
    return buffer.getvalue()


def exact_map(rows: list[Row]) -> bytes:
    """Exact bias against exact cost on the table model: left is faster, down is closer to the target."""
    figure, axes = plt.subplots(figsize=(7, 4.6))
    stacked: dict[tuple[float, float], list[Row]] = {}
    for row in rows:
        stacked.setdefault((float(row.calls), float(row.tv)), []).append(row)
    for (x, y), here in stacked.items():
        colour = GOOD if here[0].lossless else BAD
        axes.plot(x, y, "o", color=colour, markersize=7)
        label = "\n".join(row.system.name for row in here)
        axes.annotate(label, (x, y), textcoords="offset points", xytext=(6, 5), fontsize=8, color=colour)
    axes.set_xlabel("expected target calls for 4 tokens (exact)")
    axes.set_ylabel("TV(output, target) (exact)")
    axes.set_title("Table model: bias against calls")
    axes.margins(x=0.15, y=0.15)
    axes.grid(alpha=0.3)
    return png_of(figure)


def tokens_per_call(rows: list[Row]) -> bytes:
    """Sampled tokens per target call on the image model, with intervals."""
    figure, axes = plt.subplots(figsize=(7, 0.34 * len(rows) + 1.2))
    heights = np.arange(len(rows))[::-1]
    values = [row.tokens_per_call["value"] for row in rows]
    axes.barh(heights, values, color=[GOOD if row.lossless else BAD for row in rows], alpha=0.85)
    for height, row in zip(heights, rows, strict=True):
        if row.tokens_per_call["interval"] is not None:
            axes.plot(row.tokens_per_call["interval"], [height, height], color="black", linewidth=1.5)
    axes.axvline(1, color="grey", linewidth=1, linestyle=":")
    axes.set_yticks(heights, [row.system.name for row in rows])
    axes.set_xlabel("tokens per target call on `fashion` (95 % interval); AR = 1")
    axes.set_title("Image model: green = exactly lossless on the table model, red = biased")
    return png_of(figure)


def slot_rates(rows: list[Row]) -> bytes:
    """P(kept | judged) by slot of the block."""
    figure, axes = plt.subplots(figsize=(7, 4.2))
    for row in rows:
        kept = [np.nan if rate is None else rate for rate in row.slots]
        if kept:
            axes.plot(range(len(kept)), kept, marker=".", linewidth=1, label=row.system.name)
    axes.set_xlabel("slot of the block")
    axes.set_ylabel("P(kept | judged)")
    axes.set_ylim(0, 1)
    axes.set_title("Acceptance by slot on `fashion`")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, ncols=2, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return png_of(figure)


def strip(row: Row) -> bytes:
    """The first images of a system side by side."""
    shown = row.images[:SHOWN]
    return png(grid(shown, columns=len(shown)))


def contact_sheet(rows: list[Row]) -> bytes:
    """All systems below each other with their names: same seed, same classes, column by column."""
    figure, axes = plt.subplots(len(rows), 1, figsize=(7.6, 0.62 * len(rows)))
    for axis, row in zip(np.atleast_1d(axes), rows, strict=True):
        axis.imshow(grid(row.images[:SHOWN], columns=SHOWN), cmap="gray", vmin=0, vmax=1, aspect="equal")
        axis.set_ylabel(row.system.name, rotation=0, ha="right", va="center", fontsize=8)
        axis.set_xticks([])
        axis.set_yticks([])
        axis.spines[:].set_visible(False)
    figure.subplots_adjust(hspace=0.05)
    return png_of(figure)
