"""Pictures: grids of decoded images as PNG bytes."""

from __future__ import annotations

import io
import math

import matplotlib.image
import numpy as np

PIXEL = 3
"""Screen pixels per image pixel: 28 x 28 images are too small to judge at 1."""
GAP = 2
"""White pixels between images."""


def grid(images: np.ndarray, columns: int | None = None) -> np.ndarray:
    """images [B, 28, 28] in [0, 1] -> one picture, row by row, white between and around them."""
    count, height, width = images.shape
    columns = min(count, columns or math.ceil(math.sqrt(count)))
    rows = -(-count // columns)
    sheet = np.ones((rows * (height + GAP) + GAP, columns * (width + GAP) + GAP))
    for i, image in enumerate(images):
        top, left = (i // columns) * (height + GAP) + GAP, (i % columns) * (width + GAP) + GAP
        sheet[top : top + height, left : left + width] = 1 - image
    return np.kron(sheet, np.ones((PIXEL, PIXEL)))


def png(sheet: np.ndarray) -> bytes:
    """A grey picture [H, W] in [0, 1] as PNG bytes."""
    buffer = io.BytesIO()
    matplotlib.image.imsave(buffer, np.clip(sheet, 0, 1), cmap="gray", vmin=0, vmax=1, format="png")
    return buffer.getvalue()
