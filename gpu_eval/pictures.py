"""Pictures: grids of decoded images as PNG bytes."""

from __future__ import annotations

import io
import math

import matplotlib.image
import numpy as np

PIXEL = 3
"""Screen pixels per image pixel: 28 x 28 images are too small to judge at 1."""
LARGE = 128
"""Pixels a side from which on they are not."""
GAP = 2
"""White pixels between images."""


def grid(images: np.ndarray, columns: int | None = None) -> np.ndarray:
    """images [B, H, W] in [0, 1], or bytes [B, H, W, 3] in colour -> one picture, row by row.

    Grey images are of dark things on white paper, so they are turned round.
    """
    count, height, width, *colours = images.shape
    columns = min(count, columns or math.ceil(math.sqrt(count)))
    rows = -(-count // columns)
    sheet = np.ones((rows * (height + GAP) + GAP, columns * (width + GAP) + GAP, *colours))
    for i, image in enumerate(images):
        top, left = (i // columns) * (height + GAP) + GAP, (i % columns) * (width + GAP) + GAP
        sheet[top : top + height, left : left + width] = image / 255 if colours else 1 - image
    zoom = PIXEL if height < LARGE else 1
    return sheet.repeat(zoom, axis=0).repeat(zoom, axis=1)


def png(sheet: np.ndarray) -> bytes:
    """A picture [H, W], or [H, W, 3] in colour, in [0, 1] as PNG bytes."""
    buffer = io.BytesIO()
    matplotlib.image.imsave(buffer, np.clip(sheet, 0, 1), cmap="gray", vmin=0, vmax=1, format="png")
    return buffer.getvalue()
