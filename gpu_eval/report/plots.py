"""The report's plots, as PNG bytes."""

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

GOOD, BAD, QUIET = "#1b7f5c", "#b3402a", "#5b6472"
BESIDE: dict[str, Any] = {"fontsize": 8, "loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
"""Legends stand beside the picture, never on the data."""
MARKERS = "osv^D*PX<"
PALETTE = [plt.colormaps["tab20"](number) for number in range(20)]
MEANING = "green = exactly lossless on the table models, red = biased"
BESIDES = ((4, 3), (4, -9), (-10, 3), (-10, -9))
"""Where the number of a point stands, in turn, so that those of neighbours rarely meet."""
LINE = 0.145
"""Height of a line of a legend, inches."""
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


def colour(row: Any) -> str:
    """Green for what is exactly lossless on the table models, red for what is biased."""
    return GOOD if row.lossless else BAD


def exact_map(rows: list[Any]) -> bytes:
    """Exact bias against exact cost on each table model: left is faster, down is closer to the target."""
    names = list(rows[0].exact)
    tall = max(5.6, LINE * len(rows) + 1.2)  # the legend of a panel has a line for each system
    figure, panels = plt.subplots(len(names), 1, figsize=(7, tall * len(names)), squeeze=False)
    for axes, name in zip(panels.flat, names, strict=True):
        numbered(axes, rows, name)
        axes.set_title(f"Real laws of `{name}` in table form\n{MEANING}", loc="left", fontsize=9)
        axes.set_ylabel("TV(output, target), exact")
    panels[-1, 0].set_xlabel("expected target calls of a run, exact (plain decoding: one a token)")
    figure.subplots_adjust(hspace=0.3)
    return png_of(figure)


def numbered(axes: Any, rows: list[Any], name: str) -> None:
    """One panel of numbered points, with the names beside it; points on one spot share a number."""
    plain = max(row.exact[name].calls for row in rows)
    spots: dict[tuple, list[Any]] = {}
    for row in rows:
        if row.exact[name].calls < plain:
            spots.setdefault((row.exact[name].calls, row.exact[name].tv), []).append(row)
    for number, ((calls, tv), some) in enumerate(sorted(spots.items()), start=1):
        label = f"{number}  {float(calls):.3f}, {float(tv):.3f}  {', '.join(row.system.name for row in some)}"
        axes.plot(float(calls), float(tv), "o", color=colour(some[0]), markersize=6, label=shortened(label))
        axes.annotate(str(number), (float(calls), float(tv)), fontsize=7, color=colour(some[0]), **beside(number))
    axes.margins(x=0.08, y=0.12)
    axes.grid(alpha=0.3)
    axes.legend(title="calls, TV, system", handlelength=1, **(BESIDE | {"fontsize": 6.5}))


def shortened(label: str, most: int = 84) -> str:
    """A legend entry of bounded width."""
    return label if len(label) <= most else label[: most - 1] + "…"


def quality_map(rows: list[Any]) -> bytes:
    """Image quality against tokens per call, with intervals: distance to plain decoding, accuracy, likelihood."""
    figures = (
        ("frechet_pool", "Frechet distance to plain decoding"),
        ("frechet_real", "Frechet distance to real images"),
        ("label_accuracy", "label accuracy"),
        ("log_likelihood", "log-likelihood, nats a token"),
    )
    figure, panels = plt.subplots(len(figures), 1, figsize=(7, 3.6 * len(figures)), sharex=True)
    ordered = sorted(rows, key=lambda row: row.tokens_per_call["value"])
    for axes, (name, words) in zip(panels, figures, strict=True):
        for number, row in enumerate(ordered, start=1):
            with_bars(axes, row, getattr(row.quality, name), number)
        plain = getattr(rows[0].quality, name)
        if plain["value"] is not None:
            axes.axhline(plain["value"], color=QUIET, linewidth=0.8, linestyle=":")
        axes.set_ylabel(words, fontsize=8)
        axes.grid(alpha=0.3)
    key = [f"{n}  {row.system.name}" for n, row in enumerate(ordered, start=1)]
    panels[0].text(1.02, 1, "\n".join(key), transform=panels[0].transAxes, fontsize=6.5, va="top")
    panels[0].set_title(MEANING, loc="left", fontsize=9)
    panels[-1].set_xlabel("tokens per target call on `fashion` (AR = 1); dotted: plain decoding; bars: 95 % intervals")
    figure.subplots_adjust(hspace=0.08)
    return png_of(figure)


def with_bars(axes: Any, row: Any, figure: dict[str, Any], number: int) -> None:
    """One numbered point with its two intervals; nothing where there is no finite value."""
    x, y = row.tokens_per_call["value"], figure["value"]
    if y is None:
        return
    bars: dict[str, Any] = {"color": colour(row), "linewidth": 0.8, "alpha": 0.6}
    if row.tokens_per_call["interval"] is not None:
        axes.plot(row.tokens_per_call["interval"], [y, y], **bars)
    if figure["interval"] is not None:
        axes.plot([x, x], figure["interval"], **bars)
    axes.plot(x, y, "o", color=colour(row), markersize=4)
    axes.annotate(str(number), (x, y), fontsize=6, color=colour(row), **beside(number))


def beside(number: int) -> dict[str, Any]:
    """Where the number of a point stands."""
    return {"textcoords": "offset points", "xytext": BESIDES[number % len(BESIDES)]}


def tokens_per_call(rows: list[Any]) -> bytes:
    """Sampled tokens per target call on the image model, with intervals."""
    figure, axes = plt.subplots(figsize=(7, 0.3 * len(rows) + 1.2))
    heights = np.arange(len(rows))[::-1]
    values = [row.tokens_per_call["value"] for row in rows]
    axes.barh(heights, values, color=[colour(row) for row in rows], alpha=0.85)
    for height, row in zip(heights, rows, strict=True):
        if row.tokens_per_call["interval"] is not None:
            axes.plot(row.tokens_per_call["interval"], [height, height], color="black", linewidth=1.5)
    axes.axvline(1, color="grey", linewidth=1, linestyle=":")
    axes.set_yticks(heights, [row.system.name for row in rows], fontsize=8)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlabel("tokens per target call on `fashion` (95 % interval); AR = 1")
    axes.set_title(f"Image model: {MEANING}", loc="left", fontsize=10)
    return png_of(figure)


def slot_rates(rows: list[Any]) -> bytes:
    """P(kept | judged) by slot of the block, chains beside windows; a rate of too few drafts is left out."""
    shown = [row for row in rows if row.slots]
    chains = [row for row in shown if row.system.real.needs_draft]
    windows = [row for row in shown if not row.system.real.needs_draft]
    figure, panels = plt.subplots(2, 1, figsize=(7, 10))
    for axes, group, name in zip(panels, (chains, windows), ("chain, level of a tree", "window"), strict=True):
        for number, (kept, names) in enumerate(curves(group).items()):
            style: dict[str, Any] = {"marker": MARKERS[number % len(MARKERS)], "linewidth": 1, "markersize": 4}
            axes.plot(range(len(kept)), kept, label=shortened(names, 40), color=PALETTE[number % len(PALETTE)], **style)
        axes.set_ylabel("P(kept | judged)")
        axes.set_ylim(0, 1.02)
        axes.set_title(f"{name}: slots judged at least {FEWEST} times", loc="left", fontsize=10)
        axes.grid(alpha=0.3)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(**(BESIDE | {"fontsize": 7}))
    panels[-1].set_xlabel("slot of the block")
    figure.subplots_adjust(hspace=0.22)
    return png_of(figure)


def curves(rows: list[Any]) -> dict[tuple[float | None, ...], str]:
    """Acceptance by slot, without rates that say little -> the systems that share it."""
    found: dict[tuple[float | None, ...], list[str]] = {}
    for row in rows:
        kept = tuple(rate if n >= FEWEST else None for rate, n in zip(row.slots, row.judged, strict=True))
        found.setdefault(kept, []).append(row.system.name)
    return {kept: ", ".join(names) for kept, names in found.items()}


def contact_sheet(rows: list[Any]) -> bytes:
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
