"""Fields with an entry for every slot or path: numbers, and models whose laws do not depend on the prefix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from hypothesis import strategies as st

from proofs_checks.theorems.blocks import context_free
from specsim import Table
from specsim.testing.fields import LawField, ProbabilityField, Shape, exact, rows


@dataclass(frozen=True)
class PerSlotField:
    """A number from 0 to 1 for every slot, as many as the shape is long."""

    def strategy(self, shape: Shape) -> st.SearchStrategy[Any]:
        """Fractions from 0 to 1."""
        return ProbabilityField().strategy(Shape(shape.length, 1))

    def values(self, shape: Shape, denominator: int) -> Iterator[Any]:
        """Every vector of them."""
        return ProbabilityField().values(Shape(shape.length, 1), denominator)

    def load(self, raw: Any) -> tuple[Fraction, ...]:
        """The numbers."""
        return raw

    def text(self, raw: Any) -> Any:
        """Fractions as text."""
        return ProbabilityField().text(raw)

    def read(self, text: Any, shape: Shape) -> Any:
        """From JSON."""
        return ProbabilityField().read(text, Shape(shape.length, 1))


@dataclass(frozen=True)
class ContextFreeField:
    """A law for every position, the same after every prefix."""

    def strategy(self, shape: Shape) -> st.SearchStrategy[Any]:
        """Laws drawn one by one."""
        law = LawField().strategy(shape)
        return st.lists(law, min_size=shape.length, max_size=shape.length).map(tuple)

    def values(self, shape: Shape, denominator: int) -> Iterator[Any]:
        """Every row of laws."""
        return product(LawField().values(shape, denominator), repeat=shape.length)

    def load(self, raw: Any) -> Table:
        """The table."""
        return context_free([LawField().load(law) for law in raw])

    def text(self, raw: Any) -> Any:
        """Laws of fractions as text."""
        return [LawField().text(law) for law in raw]

    def read(self, text: Any, shape: Shape) -> Any:
        """From JSON."""
        return tuple(LawField().read(law, shape) for law in text)


@dataclass(frozen=True)
class PerPathField:
    """V numbers from 0 to 1 after every path shorter than N, as acceptances that depend on the path are."""

    def strategy(self, shape: Shape) -> st.SearchStrategy[Any]:
        """Rows drawn one by one."""
        count, row = rows(shape), ProbabilityField().strategy(shape)
        return st.lists(row, min_size=count, max_size=count).map(tuple)

    def values(self, shape: Shape, denominator: int) -> Iterator[Any]:
        """Every table of them."""
        return product(ProbabilityField().values(shape, denominator), repeat=rows(shape))

    def load(self, raw: Any) -> Table:
        """The table, shorter paths first."""
        vocab, length = len(raw[0]), 0
        while rows(Shape(vocab, length)) < len(raw):
            length += 1
        return Table(exact(raw), length)

    def text(self, raw: Any) -> Any:
        """Rows of fractions as text."""
        return [ProbabilityField().text(row) for row in raw]

    def read(self, text: Any, shape: Shape) -> Any:
        """From JSON."""
        return tuple(ProbabilityField().read(row, shape) for row in text)
