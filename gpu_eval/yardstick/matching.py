"""Tuning meets a level only roughly; what is left is taken out by interpolation along the scheme's own curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def to_levels(schemes: Sequence[str], levels: Sequence[float], costs: np.ndarray) -> np.ndarray:
    """Matrix [S, S] that brings figures of settings [S], tuned to levels [S] and attaining costs [S], to their levels.

    A scheme's figure at a level lies on the line through its two settings whose costs are on either side of the level,
    or nearest to it at the ends.  A scheme of a single setting, or cost, stays as it is.
    """
    matrix = np.eye(len(schemes))
    for scheme in dict.fromkeys(schemes):
        rows = np.array([i for i, name in enumerate(schemes) if name == scheme])
        rows = rows[np.argsort(costs[rows], kind="stable")]
        for row in rows if len(rows) > 1 else ():
            after = int(np.clip(np.searchsorted(costs[rows], levels[row]), 1, len(rows) - 1))
            low, high = rows[after - 1], rows[after]
            if costs[high] == costs[low]:
                continue
            share = (levels[row] - costs[low]) / (costs[high] - costs[low])
            matrix[row] = 0
            matrix[row, low], matrix[row, high] = 1 - share, share
    return matrix
