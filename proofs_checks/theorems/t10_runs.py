"""Models of whole runs for T10, and a token raced or redrawn twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from proofs_checks.theorems.t09_joint_laws import BYTES
from specsim import Table
from specsim.arrays import Array
from specsim.couplings import Redraw
from specsim.errors import SpecsimError
from specsim.interpreters.exact import Exact
from specsim.testing.fields import Shape, cached_laws, exact, law_strategy, read_law

Markov = tuple[int, tuple[tuple[Fraction, ...], ...]]


@dataclass(frozen=True)
class MarkovField:
    """A model whose laws depend on the last `order` tokens only.  Raw: (length, a law after each of them).

    Tables of every prefix are too many to be listed at four positions; these are few.
    """

    order: int = 1

    def contexts(self, shape: Shape) -> list[tuple[int, ...]]:
        """What a law depends on: up to `order` tokens, fewer at the start."""
        return [tokens for n in range(self.order + 1) for tokens in product(range(shape.vocab), repeat=n)]

    def strategy(self, shape: Shape) -> st.SearchStrategy[Any]:
        """Laws drawn one by one."""
        count = len(self.contexts(shape))
        laws = st.lists(law_strategy(shape.vocab), min_size=count, max_size=count)
        return laws.map(lambda drawn: (shape.length, tuple(drawn)))

    def values(self, shape: Shape, denominator: int) -> Iterator[Any]:
        """Every model up to a denominator."""
        laws = cached_laws(shape.vocab, denominator)
        return ((shape.length, rows) for rows in product(laws, repeat=len(self.contexts(shape))))

    def load(self, raw: Markov) -> Table:
        """The table."""
        length, laws = raw
        shape = Shape(len(laws[0]), length)
        after = dict(zip(self.contexts(shape), laws, strict=True))
        prefixes = [tokens for n in range(length) for tokens in product(range(shape.vocab), repeat=n)]
        return Table(exact([after[tokens[-self.order :]] for tokens in prefixes]), length)

    def text(self, raw: Markov) -> Any:
        """Laws of fractions as text, the shortest context first."""
        return [[str(entry) for entry in law] for law in raw[1]]

    def read(self, text: Any, shape: Shape) -> Any:
        """From JSON."""
        if not isinstance(text, list) or len(text) != len(self.contexts(shape)):
            raise SpecsimError(f"{text!r} must be a list of {len(self.contexts(shape))} laws")
        return shape.length, tuple(read_law(law, shape.vocab) for law in text)


def ends_law(redraw: Redraw, old: Array, new: Array, last: Array) -> Array:
    """Joint law of a token that won a race under `old` and what it is after redraws to `new` and to `last`, [V, V]."""
    choose, position = Exact(old, 1, BYTES), np.zeros((1, 1), dtype=np.int64)
    laws = (old[None, None], new[None, None], last[None, None])
    begun, (old, new, last) = choose.race(laws[0], position, laws)
    weights, (begun, new, last) = redraw(choose, old, new, begun, 0 * begun, (begun, new, last))
    middle, (begun, new, last) = choose(weights, (begun, new, last))
    weights, (begun,) = redraw(choose, new, last, middle, 0 * middle, (begun,))
    ended, (begun,) = choose(weights, (begun,))
    joint = np.full((last.shape[-1],) * 2, Fraction(0))
    np.add.at(joint, (begun[:, 0], ended[:, 0]), choose.weight)
    return joint
