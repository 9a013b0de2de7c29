"""Hypothesis strategies for tests of one's own: laws, pairs of laws and models in Fractions.

Zeros, ties, point masses and disjoint supports are frequent: that is where rules go wrong.
"""

from __future__ import annotations

from hypothesis import strategies as st

from specsim.arrays import Array
from specsim.errors import require_whole
from specsim.tables import Table
from specsim.testing.fields import LawField, ModelField, Shape, rows

MOST_TOKENS = 64
MOST_LAWS = 5_000
"""Laws of a model that is drawn: more take minutes."""


def laws(vocab: int) -> st.SearchStrategy[Array]:
    """Laws over `vocab` tokens: object arrays [V] of Fractions that sum to exactly 1."""
    require_whole("laws", "vocab", vocab, 1, MOST_TOKENS)
    return LawField().strategy(Shape(vocab, 1)).map(LawField().load)


def pairs(vocab: int | None = None) -> st.SearchStrategy[tuple[Array, Array]]:
    """(target, draft), two laws over the same tokens, [V] each; without `vocab` of 1 to 5 tokens."""
    if vocab is None:
        return st.integers(1, 5).flatmap(pairs)
    return st.tuples(laws(vocab), laws(vocab))


def models(vocab: int, length: int) -> st.SearchStrategy[Table]:
    """Table models in Fractions: a law after every prefix shorter than `length`."""
    require_whole("models", "vocab", vocab, 1, MOST_TOKENS)
    require_whole("models", "length", length, 1, MOST_TOKENS)
    shape = Shape(vocab, length)
    require_whole("models", "number of laws", rows(shape), 1, MOST_LAWS)
    return ModelField().strategy(shape).map(ModelField().load)
