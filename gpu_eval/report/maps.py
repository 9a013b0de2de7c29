"""Where on the image drafts are accepted: per position, averaged over images and for one image."""

from __future__ import annotations

from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from gpu_eval.report.plots import QUIET, png_of
from specsim.sampling import Samples

PANELS = 8
"""Panels across the picture: two for a system, so that a phone can still show them."""
BELOW: dict[str, Any] = {"fontsize": 6.5, "color": QUIET}
LEGEND = (
    "left of each pair: share of images in which the token was an accepted draft; right: the first image, such tokens "
    "tinted green\n(a chain leaves the last token to the target, so its last cell is 0)"
)
OVERLAY = (0.10, 0.62, 0.40)
"""Colour of accepted tokens over an image."""


def accepted(samples: Samples) -> np.ndarray:
    """Which output tokens were drafts that were kept, bool [B, N]; the others are corrections and bonus tokens."""
    position = np.arange(samples.tokens.shape[1])
    first, last = samples.start[..., None], (samples.start + samples.kept)[..., None]
    return ((position >= first) & (position < last) & samples.active[..., None]).any(axis=0)


def shown(rows: list[Any]) -> list[Any]:
    """Rows that have drafts at all."""
    return [row for row in rows if row.accepted.any()]


def acceptance_maps(rows: list[Any]) -> bytes:
    """For every system: how often each position was an accepted draft, and the first image with those tokens marked."""
    some = shown(rows)
    lines = -(-2 * len(some) // PANELS)
    figure, axes = plt.subplots(lines, PANELS, figsize=(1.2 * PANELS, 1.42 * lines), squeeze=False)
    for panel in axes.flat:
        panel.axis("off")
    for number, row in enumerate(some):
        line, column = divmod(2 * number, PANELS)
        side = round(row.accepted.shape[1] ** 0.5)
        heat = row.accepted.mean(axis=0).reshape(side, side)
        drawn = axes[line, column].imshow(heat, vmin=0, vmax=1, cmap="viridis")
        axes[line, column].set_title(row.system.name, fontsize=6.5, loc="left")
        axes[line, column + 1].imshow(marked(row.images[0], row.accepted[0].reshape(side, side)))
        mean = f"mean {heat.mean():.2f}"
        axes[line, column].text(0, -0.02, mean, transform=axes[line, column].transAxes, va="top", **BELOW)
    figure.colorbar(drawn, ax=axes, orientation="horizontal", fraction=0.03, pad=0.02, label=LEGEND)
    return png_of(figure)


def marked(image: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """An image [H, W] in dark on white, RGB, the patches of kept tokens tinted."""
    patch = image.shape[0] // kept.shape[0]
    tint = np.kron(kept, np.ones((patch, patch)))[..., None]
    grey = np.repeat(1 - np.clip(image, 0, 1)[..., None], 3, axis=-1)
    return grey * (1 - 0.45 * tint) + 0.45 * tint * np.array(OVERLAY)
