"""Table models: every conditional law of a small vocabulary written down."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from specsim.arrays import Array, arange, is_exact, namespace
from specsim.errors import SpecsimError

SUM_SLACK = Fraction(1, 10**9)
"""How far a row of written decimals may be from summing to 1; within it the row is renormalised, beyond it refused."""
WRITTEN = re.compile(r"\s*[+-]?\d{0,400}(\.\d{0,400})?([eE][+-]?\d{1,3})?(/\d{1,400})?\s*")
"""Numbers as text: up to 400 digits and exponents of three, since "1e-99999999" would be a hundred million digits."""
ROW_LIMIT = 5_000_000
"""Rows beyond which a table is refused before any memory is taken."""


@dataclass(frozen=True)
class Table:
    """A model given by its laws.

    laws: [1 + V + .. + V**(N-1), V], the law after each prefix, shorter prefixes first, in base-V order; an array of
    any namespace, floats or Fractions.  codebook: optional [V][d] vectors of the tokens.  renormalised: how many rows
    of the source did not sum to exactly 1.
    """

    laws: Array
    length: int
    codebook: Any = None
    renormalised: int = 0

    @property
    def vocab(self) -> int:
        """Number of tokens."""
        return self.laws.shape[-1]

    @property
    def uniform(self) -> Array:
        """The uniform law [V], in the number type of the table."""
        return 0 * self.laws[0, :] + (Fraction(1, self.vocab) if is_exact(self.laws) else 1 / self.vocab)

    def __call__(self, tokens: Array, start: Array, count: int) -> Array:
        """tokens [B, T], start [B] -> laws [B, count, V] of positions start .. start + count - 1."""
        xp = namespace(tokens)
        position = xp.clip(start[:, None] + arange(count, start), 0, self.length - 1)
        index = xp.take_along_axis(self.rows(tokens), position, axis=1)
        return xp.reshape(xp.take(self.laws, xp.reshape(index, (-1,)), axis=0), (*index.shape, self.vocab))

    def rows(self, tokens: Array) -> Array:
        """Row of `laws` for every prefix of tokens [B, T] -> [B, N]."""
        xp = namespace(tokens)
        code, offset = tokens[:, 0] * 0, 0
        columns = []
        for n in range(self.length):
            columns.append(code + offset)
            offset += self.vocab**n
            code = code * self.vocab + (tokens[:, n] if n < tokens.shape[1] else 0)
        return xp.stack(columns, axis=1)

    def at_length(self, position: int) -> Array:
        """The laws of one position, [V**position, V], in base-V order of the prefix."""
        first = sum(self.vocab**n for n in range(position))
        return self.laws[first : first + self.vocab**position, :]

    def floats(self) -> Table:
        """The same table in float64."""
        return replace(self, laws=self.laws.astype(np.float64))

    def fractions(self) -> Table:
        """The same table in Fractions (floats read as the decimals they print as, rows renormalised exactly)."""
        return self if is_exact(self.laws) else table([self.at_length(n).tolist() for n in range(self.length)])


def table(levels: Sequence[Any], codebook: Any = None, vocab: int | None = None) -> Table:
    """A table of Fractions from nested laws: levels[i] holds V**i laws of V numbers, nested (V,)*i + (V,) or flat.

    Numbers are ints, floats (read as the decimals they print as), Fractions or text such as "1/3".  Rows must be >= 0
    and sum to 1 within 1e-9; a row that does not sum to exactly 1 is renormalised exactly and counted.
    """
    if not levels:
        raise SpecsimError("table: no laws; give at least the law of the first token")
    vocab = _vocab(levels[0]) if vocab is None else vocab
    if sum(vocab**n for n in range(len(levels))) > ROW_LIMIT:
        raise SpecsimError(f"table: vocab {vocab} and {len(levels)} positions need more than {ROW_LIMIT:,} laws")
    rows, off = [], 0
    for n, level in enumerate(levels):
        for where, row in _rows(level, n, vocab):
            law, exact = _law(row, where, vocab)
            rows.append(law)
            off += not exact
    laws = np.empty((len(rows), vocab), dtype=object)
    laws[:] = rows
    return Table(laws, len(levels), codebook, off)


def _vocab(first: Any) -> int:
    row = first
    while isinstance(row, (list, tuple)) and len(row) == 1 and isinstance(row[0], (list, tuple)):
        row = row[0]
    if not isinstance(row, (list, tuple)) or not row:
        raise SpecsimError(f"laws[0]: {row!r} must be the law of the first token, a list of numbers")
    return len(row)


def _rows(level: Any, depth: int, vocab: int) -> list[tuple[str, Any]]:
    """Flatten one level into (name, row) pairs, checking its shape."""
    rows, names, nested = [level], [f"laws[{depth}]"], 0
    while all(isinstance(row, (list, tuple)) and row and isinstance(row[0], (list, tuple)) for row in rows):
        names = [f"{name}[{i}]" for name, row in zip(names, rows, strict=True) for i in range(len(row))]
        rows = [inner for row in rows for inner in row]
        nested += 1
    if nested not in (depth, 1):
        raise SpecsimError(f"laws[{depth}] is nested {nested} deep; nest it {depth} deep, or give a list of its laws")
    if len(rows) != vocab**depth:
        raise SpecsimError(f"laws[{depth}]: {len(rows)} laws where {vocab}**{depth} = {vocab**depth} are needed")
    return list(zip(names, rows, strict=True))


def _law(row: Any, where: str, vocab: int) -> tuple[list[Fraction], bool]:
    """One checked law, and whether it summed to exactly 1."""
    if not isinstance(row, (list, tuple)) or len(row) != vocab:
        raise SpecsimError(f"{where}: {row!r} must be a list of {vocab} numbers")
    law = [_fraction(entry, where) for entry in row]
    if min(law) < 0:
        raise SpecsimError(f"{where}: {_show(min(law))} is negative; a law has entries of at least 0")
    total = sum(law, Fraction(0))
    if abs(total - 1) > SUM_SLACK:
        raise SpecsimError(f"{where}: the entries sum to {_show(total)}, not to 1 (within 1e-9)")
    return [entry / total for entry in law], total == 1


def _fraction(entry: Any, where: str) -> Fraction:
    try:
        if isinstance(entry, bool) or (isinstance(entry, str) and not WRITTEN.fullmatch(entry)):
            raise TypeError
        return Fraction(str(entry)) if isinstance(entry, float) else Fraction(entry)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise SpecsimError(f'{where}: {entry!r} is not a number or a fraction such as "1/3"') from None


def _show(value: Fraction) -> str:
    """A number for an error line, however large."""
    return f"{float(value):.12g}" if abs(value) < 10**300 else "a number beyond 1e300"


def random_table(vocab: int, length: int, seed: int, zeros: bool = False, highest: int = 9) -> Table:
    """A table of random rational laws with small numerators; with `zeros` about a third of the entries are 0."""
    rng = np.random.default_rng(seed)
    levels = []
    for n in range(length):
        weights = rng.integers(1, highest + 1, size=(vocab**n, vocab))
        if zeros:
            weights *= rng.random(weights.shape) > 1 / 3
            weights[weights.sum(axis=1) == 0, 0] = 1
        levels.append([[Fraction(int(w), int(row.sum())) for w in row] for row in weights])
    return table(levels)
