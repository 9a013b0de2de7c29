"""The report's pictures, as PNG bytes."""

from __future__ import annotations

import io
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from gpu_eval.fashion import NAMES
from gpu_eval.pictures import grid
from gpu_eval.report.rows import Row

GOOD, BAD = "#1b7f5c", "#b3402a"
BESIDE: dict[str, Any] = {"fontsize": 8, "loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
"""Legends stand beside the picture, never on the data."""
MARKERS = "osv^D*PX<"
FEWEST = 50
"""Drafts a slot must have judged before its rate is drawn: fewer say little (a rate of 50 is known within .14)."""
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
    figure, axes = plt.subplots(figsize=(7, 4.8))
    plain = max(row.calls for row in rows)
    ordered = sorted((row for row in rows if row.calls < plain), key=lambda row: (row.calls, row.tv))
    for number, row in enumerate(ordered, start=1):
        colour = GOOD if row.lossless else BAD
        label = f"{number} {row.system.name}: {float(row.calls):.3f}, {float(row.tv):.3f}"
        axes.plot(float(row.calls), float(row.tv), "o", color=colour, markersize=7, label=label)
        up = 6 + 9 * sum(r.calls == row.calls and r.tv == row.tv for r in ordered[: number - 1])
        at: dict[str, Any] = {"textcoords": "offset points", "xytext": (0, up), "ha": "center"}
        axes.annotate(str(number), (float(row.calls), float(row.tv)), fontsize=8, color=colour, **at)
    axes.set_xlabel("expected target calls for 4 tokens (exact; plain decoding: 4)")
    axes.set_ylabel("TV(output, target) (exact)")
    axes.set_title("Table model: bias against calls")
    axes.margins(x=0.08, y=0.12)
    axes.grid(alpha=0.3)
    axes.legend(title="system: calls, TV", handlelength=1, **BESIDE)
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
    """P(kept | judged) by slot of the block, chains beside windows; a rate of too few drafts is left out."""
    shown = [row for row in rows if row.slots]
    chains = [row for row in shown if row.system.real.needs_draft]
    figure, panels = plt.subplots(2, 1, figsize=(7, 7.4))
    for axes, group, name in zip(
        panels, (chains, [r for r in shown if r not in chains]), ("chain", "window"), strict=True
    ):
        for number, row in enumerate(group):
            kept = [
                rate if n >= FEWEST and rate is not None else np.nan
                for rate, n in zip(row.slots, row.judged, strict=True)
            ]
            style: dict[str, Any] = {"marker": MARKERS[number % len(MARKERS)], "linewidth": 1, "markersize": 4}
            axes.plot(range(len(kept)), kept, label=row.system.name, **style)
        axes.set_ylabel("P(kept | judged)")
        axes.set_ylim(0, 1)
        axes.set_title(f"Acceptance by slot of the {name} (slots judged at least {FEWEST} times)")
        axes.grid(alpha=0.3)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(**BESIDE)
    panels[-1].set_xlabel("slot of the block")
    figure.subplots_adjust(hspace=0.3)
    return png_of(figure)


def contact_sheet(rows: list[Row]) -> bytes:
    """All systems below each other with their names: same seed, same classes, column by column."""
    figure, axes = plt.subplots(len(rows), 1, figsize=(7.6, 0.62 * len(rows)))
    for axis, row in zip(np.atleast_1d(axes), rows, strict=True):
        axis.imshow(grid(row.images[:SHOWN], columns=SHOWN), cmap="gray", vmin=0, vmax=1, aspect="equal")
        axis.set_ylabel(row.system.name, rotation=0, ha="right", va="center", fontsize=8)
        axis.set_xticks([])
        axis.set_yticks([])
        axis.spines[:].set_visible(False)
    shown = len(rows[0].images[:SHOWN])
    top = np.atleast_1d(axes)[0]
    width = grid(rows[0].images[:SHOWN], columns=SHOWN).shape[1]
    top.xaxis.tick_top()
    top.set_xticks((np.arange(shown) + 0.5) * width / shown, NAMES[:shown], fontsize=7)
    top.tick_params(length=0)
    figure.subplots_adjust(hspace=0.05)
    return png_of(figure)
