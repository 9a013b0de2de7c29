"""What a statement is about, one field at a time: laws, models, probabilities, numbers.

A field can be searched in two ways: `strategy` for Hypothesis, and `values`, every value up to a denominator, so that
a bounded search can say that nothing smaller exists.  Raw values are tuples of Fractions: they can be compared, hashed
and written down; `load` makes of them what a rule or decoder is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from types import FunctionType
from typing import Any, NamedTuple, Protocol

import numpy as np
from hypothesis import strategies as st

from specsim.arrays import Array
from specsim.checking.pairs import small_laws
from specsim.errors import SpecsimError, shown
from specsim.tables import WRITTEN, Table

WEIGHTS = (2, 12)
"""Laws are drawn as whole weights up to one of these: the small one makes zeros and ties frequent."""
DENOMINATOR = 12
"""Largest denominator of a number that is drawn."""


class Shape(NamedTuple):
    """Tokens of the vocabulary and positions of a sequence."""

    vocab: int
    length: int


class Field(Protocol):
    """strategy and values give raw values; load turns one into what the code under test takes; text, read: JSON."""

    def strategy(self, shape: Shape) -> st.SearchStrategy[Any]: ...

    def values(self, shape: Shape, denominator: int) -> Iterator[Any]: ...

    def load(self, raw: Any) -> Any: ...

    def text(self, raw: Any) -> Any: ...

    def read(self, text: Any, shape: Shape) -> Any: ...


def exact(values: Sequence[Any]) -> Array:
    """Nested sequences of Fractions as an object array."""
    return np.array(values, dtype=object)


def fraction(text: Any) -> Fraction:
    """A number from JSON; of text only what is short enough to be computed with, "1e-99999999" is not."""
    try:
        if isinstance(text, bool) or (isinstance(text, str) and not WRITTEN.fullmatch(text)):
            raise TypeError
        return Fraction(text)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError) as error:
        raise SpecsimError(f'{shown(text)} is not a fraction such as "1/3"') from error


def read_vector(text: Any, count: int) -> tuple[Fraction, ...]:
    """`count` fractions from JSON."""
    if not isinstance(text, list) or len(text) != count:
        raise SpecsimError(f"{shown(text)} must be a list of {count} fractions")
    return tuple(fraction(entry) for entry in text)


def read_law(text: Any, count: int) -> tuple[Fraction, ...]:
    """A law from JSON."""
    law = read_vector(text, count)
    if min(law) < 0 or sum(law) != 1:
        raise SpecsimError(f"{shown(text)} is not a law: entries of at least 0 that sum to 1")
    return law


def normalised(weights: Sequence[int]) -> tuple[Fraction, ...]:
    """Whole weights as a law."""
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


@lru_cache(maxsize=256)
def law_strategy(count: int) -> st.SearchStrategy[tuple[Fraction, ...]]:
    """Laws over `count` cells; zeros, ties and point masses are frequent."""
    lists = [st.lists(st.integers(0, top), min_size=count, max_size=count) for top in WEIGHTS]
    return st.one_of(*lists).filter(any).map(normalised)


@lru_cache(maxsize=256)
def cached_laws(count: int, denominator: int) -> list[tuple[Fraction, ...]]:
    """Every law with one common denominator of at most `denominator`."""
    return small_laws(count, denominator)


@dataclass(frozen=True)
class LawField:
    """A law over V tokens; with order k, one over V**k cells: a joint law of k tokens."""

    order: int = 1

    def strategy(self, shape: Shape) -> st.SearchStrategy[Any]:
        """Laws with zeros, ties and point masses."""
        return law_strategy(shape.vocab**self.order)

    def values(self, shape: Shape, denominator: int) -> Iterator[Any]:
        """Every law with a common denominator up to the given one."""
        return iter(cached_laws(shape.vocab**self.order, denominator))

    def load(self, raw: Any) -> Array:
        """[V], or [V, V] for a joint law of two."""
        return exact(raw).reshape((round(len(raw) ** (1 / self.order)),) * self.order)

    def text(self, raw: Any) -> Any:
        """Fractions as text."""
        return [str(entry) for entry in raw]

    def read(self, text: Any, shape: Shape) -> Any:
        """From JSON."""
        return read_law(text, shape.vocab**self.order)


@dataclass(frozen=True)
class ProbabilityField:
    """One probability for each token, as acceptances are: V numbers from 0 to 1."""

    def strategy(self, shape: Shape) -> st.SearchStrategy[Any]:
        """Fractions from 0 to 1."""
        one = st.fractions(0, 1, max_denominator=DENOMINATOR)
        return st.lists(one, min_size=shape.vocab, max_size=shape.vocab).map(tuple)

    def values(self, shape: Shape, denominator: int) -> Iterator[Any]:
        """Every vector of them."""
        return product(between(Fraction(0), Fraction(1), denominator), repeat=shape.vocab)

    def load(self, raw: Any) -> Array:
        """[V]"""
        return exact(raw)

    def text(self, raw: Any) -> Any:
        """Fractions as text."""
        return [str(entry) for entry in raw]

    def read(self, text: Any, shape: Shape) -> Any:
        """From JSON."""
        vector = read_vector(text, shape.vocab)
        if min(vector) < 0 or max(vector) > 1:
            raise SpecsimError(f"{shown(text)} must hold numbers from 0 to 1")
        return vector


def between(low: Fraction, high: Fraction, denominator: int) -> list[Fraction]:
    """Every fraction from low to high with a denominator of at most `denominator`."""
    spans = ((d, range(-(-low * d // 1), high * d // 1 + 1)) for d in range(1, denominator + 1))
    return sorted({Fraction(n, d) for d, span in spans for n in span})


@dataclass(frozen=True)
class NumberField:
    """A rational number from low to high, such as a strength."""

    low: Fraction
    high: Fraction

    def strategy(self, shape: Shape) -> st.SearchStrategy[Any]:
        """Fractions in the range."""
        return st.fractions(self.low, self.high, max_denominator=DENOMINATOR)

    def values(self, shape: Shape, denominator: int) -> Iterator[Any]:
        """All of them."""
        return iter(between(Fraction(self.low), Fraction(self.high), denominator))

    def load(self, raw: Any) -> Fraction:
        """The number itself."""
        return raw

    def text(self, raw: Any) -> Any:
        """As text."""
        return str(raw)

    def read(self, text: Any, shape: Shape) -> Any:
        """From JSON."""
        value = fraction(text)
        if not self.low <= value <= self.high:
            raise SpecsimError(f"{shown(text)} must be from {self.low} to {self.high}")
        return value


@dataclass(frozen=True)
class OneOf:
    """One of a few things: whole numbers, decoders, rules, tails, functions.  A label stands for them."""

    options: tuple[Any, ...]

    def strategy(self, shape: Shape) -> st.SearchStrategy[Any]:
        """Any of them; shrinks to the first."""
        return st.sampled_from(self.options)

    def values(self, shape: Shape, denominator: int) -> Iterator[Any]:
        """All of them."""
        return iter(self.options)

    def load(self, raw: Any) -> Any:
        """The thing itself."""
        return raw

    def text(self, raw: Any) -> Any:
        """Its label."""
        return label(raw)

    def read(self, text: Any, shape: Shape) -> Any:
        """The option with this label."""
        found = [option for option in self.options if label(option) == text]
        if not found:
            raise SpecsimError(f"{shown(text)} must be one of {', '.join(map(label, self.options))}")
        return found[0]


def label(option: Any) -> str:
    """The name of a function or class, whose repr is of one run only, and the repr of anything else."""
    named = isinstance(option, (FunctionType, type))
    return option.__qualname__ if named else repr(option)


@dataclass(frozen=True)
class ModelField:
    """A table model: a law after every prefix shorter than N.  Raw: the rows, shorter prefixes first."""

    def strategy(self, shape: Shape) -> st.SearchStrategy[Any]:
        """Rows drawn one by one, or out of at most two laws: models that repeat themselves have more coincidences."""
        count, law = rows(shape), law_strategy(shape.vocab)
        few = st.lists(law, min_size=1, max_size=2).flatmap(
            lambda some: st.lists(st.sampled_from(some), min_size=count, max_size=count)
        )
        return st.one_of(few, st.lists(law, min_size=count, max_size=count)).map(tuple)

    def values(self, shape: Shape, denominator: int) -> Iterator[Any]:
        """Every model whose laws have denominators up to the given one."""
        return product(cached_laws(shape.vocab, denominator), repeat=rows(shape))

    def load(self, raw: Any) -> Table:
        """The table."""
        vocab, length, count = len(raw[0]), 0, 0
        while count < len(raw):
            count, length = count + vocab**length, length + 1
        return Table(exact(raw), length)

    def text(self, raw: Any) -> Any:
        """Rows of fractions as text."""
        return [[str(entry) for entry in row] for row in raw]

    def read(self, text: Any, shape: Shape) -> Any:
        """From JSON."""
        if not isinstance(text, list) or len(text) != rows(shape):
            raise SpecsimError(f"a model of {shape.vocab} tokens and {shape.length} positions has {rows(shape)} laws")
        return tuple(read_law(row, shape.vocab) for row in text)


def rows(shape: Shape) -> int:
    """Laws of a table: 1 + V + .. + V**(N-1)."""
    return sum(shape.vocab**n for n in range(shape.length))
