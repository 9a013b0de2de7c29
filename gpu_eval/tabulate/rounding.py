"""Float laws as multiples of 1/denominator that sum to exactly 1."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def apportion(law: np.ndarray, denominator: int) -> np.ndarray:
    """law [V] of floats -> whole numbers [V] that sum to `denominator`, near law * denominator.

    Largest remainders: everything is rounded down and the missing units go to those that lost most, lower ids first
    among equals.  But what is positive stays positive, at least one unit: a zero is a statement about support, which
    rounding must not make.  Units given for that are taken back where least was lost.  denominator >= V.
    """
    wanted = law / law.sum() * denominator
    units = np.maximum(np.floor(wanted), wanted > 0)
    while (missing := denominator - units.sum()) != 0:
        lost = wanted - units
        if missing > 0:
            units[np.argmax(np.where(wanted > 0, lost, -np.inf))] += 1
        else:
            units[np.argmin(np.where(units > 1, lost, np.inf))] -= 1
    return units.astype(np.int64)


def rounded(laws: np.ndarray, denominator: int) -> tuple[list[list[Fraction]], float]:
    """laws [R, V] of floats -> (the same as Fractions, the largest TV by which one was moved)."""
    units = np.stack([apportion(law, denominator) for law in laws])
    moved = abs(units / denominator - laws / laws.sum(axis=1, keepdims=True)).sum(axis=1) / 2
    return [[Fraction(unit, denominator) for unit in row] for row in units.tolist()], float(moved.max())


def enough(vocab: int) -> int:
    """The least power of ten that is at least 300 V: rounding then moves no law by more than V/denominator <= 1/300."""
    return 10 ** len(str(300 * vocab - 1))
