"""Sums with rational coefficients, rounded to one side: what turns a solver's floats into a bound that is proved.

Numbers are Python integers in units of 2**-BITS, in numpy arrays of objects.  Every rounding is down, so what comes out
never lies above the exact sum, whose denominator would have hundreds of digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sparse

from specsim.arrays import Array

BITS = 64
UNIT = 1 << BITS
FINE = 96
"""Bits of the logarithm's own sums, so that its roundings stay far below one unit."""
TERMS = 40
"""Terms of the series of a logarithm, whose argument is at most 1/3: what is cut off is below 9**-40 < 2**-FINE."""
LOST = 8 * TERMS
"""Fine units that the roundings and the cut of one series lose together, at most 5 a term."""


@dataclass(frozen=True)
class Sparse:
    """A sparse matrix of Fractions: entry (row[k], column[k]) = top[k] / bottom[k], with bottom > 0."""

    shape: tuple[int, int]
    row: Array
    column: Array
    top: Array
    bottom: Array

    def floats(self) -> Any:
        """The matrix in float64, each entry rounded once."""
        values = (self.top / self.bottom).astype(np.float64)
        return sparse.csr_matrix((values, (self.row, self.column)), shape=self.shape)

    def weighed(self, weights: Array) -> Array:
        """sum_i weights_i entry_ij, rounded down term by term: [rows] -> [columns]."""
        total = np.zeros(self.shape[1], dtype=object)
        np.add.at(total, self.column, self.top * weights[self.row] // self.bottom)
        return total


def sparse_of(rows: Sequence[Mapping[int, Fraction]], width: int) -> Sparse:
    """Rows {column: coefficient} as a matrix of `width` columns."""
    entries = [(i, j, value.numerator, value.denominator) for i, row in enumerate(rows) for j, value in row.items()]
    row, column, top, bottom = zip(*entries, strict=True) if entries else ((), (), (), ())
    places = np.array([row, column], dtype=np.int64)
    return Sparse((len(rows), width), places[0], places[1], integers(top), integers(bottom))


def integers(values: Iterable[Any]) -> Array:
    """Python integers of any size as an array of objects."""
    found = list(values)
    array = np.empty(len(found), dtype=object)
    array[:] = found
    return array


def units(values: Array) -> Array:
    """Floats as whole units, rounded to the nearest, nan to 0: proposals, so it matters to no proof."""
    return integers(round(Fraction(float(value)) * UNIT) for value in np.nan_to_num(values))


def products(weights: Array, values: Sequence[Fraction]) -> int:
    """sum weights x values, rounded down term by term."""
    return sum(weight * value.numerator // value.denominator for weight, value in zip(weights, values, strict=True))


def log_below(top: int, bottom: int) -> int:
    """A lower bound of log(top / bottom) in units, less than two units below it.

    top / bottom = 2**k m with 1 <= m < 2, log m = 2 atanh((m - 1) / (m + 1)), and log 2 = 2 atanh(1/3).
    """
    k = top.bit_length() - bottom.bit_length()
    top, bottom = (top, bottom << k) if k >= 0 else (top << -k, bottom)
    if top < bottom:
        k, top = k - 1, 2 * top
    two = atanh_below(1, 3)
    whole = k * two if k >= 0 else k * (two + LOST)
    return (whole + atanh_below(top - bottom, top + bottom)) >> (FINE - BITS)


def atanh_below(top: int, bottom: int) -> int:
    """2 atanh z for 0 <= z = top / bottom <= 1/3 in fine units, from below by less than LOST."""
    power = (top << FINE) // bottom
    square, total = power * power >> FINE, 0
    for k in range(TERMS):
        total += power // (2 * k + 1)
        power = power * square >> FINE
    return 2 * total
