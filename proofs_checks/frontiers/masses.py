"""The masses of every verifier, as a linear program: sparse rows over variables in [0, 1], named by what they are.

Everything a verifier does to a block or a run is linear in the masses of its paths, so the best verifier for a pair of
models is a linear program, whatever rule reaches it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from specsim.tables import Table

Path = tuple[int, ...]
Terms = dict[int, Fraction]
ONE, ZERO = Fraction(1), Fraction(0)


@dataclass
class Masses:
    """Variables in [0, 1] by key, and equations sum coefficient x = right."""

    columns: dict[Any, int] = field(default_factory=dict)
    rows: list[Terms] = field(default_factory=list)
    right: list[Fraction] = field(default_factory=list)

    def var(self, *key: Any) -> int:
        """The column of a mass, made when first asked for."""
        return self.columns.setdefault(key, len(self.columns))

    def equation(self, terms: Mapping[int, Fraction], right: Fraction = ZERO) -> int:
        """sum terms = right -> the number of the row; zero coefficients are left out."""
        self.rows.append({column: value for column, value in terms.items() if value})
        self.right.append(right)
        return len(self.rows) - 1


def add(terms: Terms, column: int, value: Fraction) -> None:
    """terms += value x."""
    terms[column] = terms.get(column, ZERO) + value


@dataclass(frozen=True)
class Laws:
    """The conditional laws of a table by prefix, as Fractions."""

    rows: Mapping[Path, Sequence[Fraction]]
    vocab: int

    def __getitem__(self, prefix: Path) -> Sequence[Fraction]:
        return self.rows[prefix]


def laws(model: Table, length: int) -> Laws:
    """All laws of the first `length` positions."""
    exact = model.fractions()
    rows: dict[Path, Sequence[Fraction]] = {}
    for n in range(length):
        rows |= dict(zip(paths(model.vocab, n), exact.at_length(n).tolist(), strict=True))
    return Laws(rows, model.vocab)


def paths(vocab: int, length: int) -> Iterator[Path]:
    """All sequences of a length, in base-V order."""
    return product(range(vocab), repeat=length)


def continuation(target: Laws, prefix: Path, length: int) -> Iterator[tuple[Path, Fraction]]:
    """(sequence, probability) of going on from a prefix with the target up to `length`."""
    if len(prefix) == length:
        yield prefix, ONE
        return
    for token, share in enumerate(target[prefix]):
        if share:
            for path, rest in continuation(target, (*prefix, token), length):
                yield path, share * rest
