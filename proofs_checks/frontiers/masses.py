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
    """Variables in [0, 1] by key, and rows sum coefficient x = right, or <= right where `loose`."""

    columns: dict[Any, int] = field(default_factory=dict)
    rows: list[Terms] = field(default_factory=list)
    right: list[Fraction] = field(default_factory=list)
    loose: list[bool] = field(default_factory=list)

    def var(self, *key: Any) -> int:
        """The column of a mass, made when first asked for."""
        return self.columns.setdefault(key, len(self.columns))

    def equation(self, terms: Mapping[int, Fraction], right: Fraction = ZERO) -> None:
        """sum terms = right; zero coefficients are left out."""
        self.row(terms, right, False)

    def at_most(self, terms: Mapping[int, Fraction], right: Fraction = ZERO) -> None:
        """sum terms <= right."""
        self.row(terms, right, True)

    def row(self, terms: Mapping[int, Fraction], right: Fraction, loose: bool) -> None:
        """One row of either kind."""
        self.rows.append({column: value for column, value in terms.items() if value})
        self.right.append(right)
        self.loose.append(loose)


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


def sequence_masses(model: Laws, length: int) -> dict[Path, Fraction]:
    """The law of plain decoding, for every sequence of a length, those of mass 0 too."""
    masses: dict[Path, Fraction] = {(): ONE}
    for _ in range(length):
        masses = {(*path, v): mass * share for path, mass in masses.items() for v, share in enumerate(model[path])}
    return masses
