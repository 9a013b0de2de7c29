"""What a rule is tuned on: the laws of both models along sequences of the target, sampled or all there are."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from specsim.arrays import Array
from specsim.divergences.estimates import Estimate, mean
from specsim.errors import SpecsimError, TooLarge
from specsim.laws import target_mass
from specsim.rules.codebooks import bind_codebook
from specsim.tables import Table
from specsim.tune.blocks import Blocks, blocks_along

MOST_NUMBERS = 2**26
"""Numbers of the laws along all sequences of a table: half a gibibyte of float64."""


class Sequences(NamedTuple):
    """tokens [B, N], target, draft: laws [B, N, V] along them; codebook [V, d] or None.

    weight: [B] the target's probability of each where the sequences are all there are, None for a sample of it.
    """

    name: str
    tokens: Array
    target: Array
    draft: Array
    codebook: Any = None
    weight: Array | None = None

    @property
    def sampled(self) -> bool:
        """Whether figures have a standard error."""
        return self.weight is None

    def blocks(self, rule: Any, lookahead: int) -> Blocks:
        """The blocks of a rule along all sequences."""
        bound = bind_codebook(rule, self.codebook)
        return blocks_along(bound, self.target, self.draft, self.tokens, lookahead)

    def mean(self, values: np.ndarray) -> Estimate:
        """Of values [B, M] over all blocks.  The blocks of one sequence share its tokens, so the error is of whole
        sequences; 0 where the sequences are all there are."""
        each = values.mean(axis=1)
        if self.weight is None:
            return mean(each)
        seen = self.weight > 0
        return Estimate(float((self.weight[seen] * each[seen]).sum()), 0.0)

    def halves(self) -> tuple[Sequences, Sequences]:
        """Two random halves, always the same: classes of images come in turn, so every other one would not do."""
        order = np.random.default_rng(0).permutation(len(self.tokens))
        middle = len(order) // 2
        first, second = (self.some(np.sort(part)) for part in (order[:middle], order[middle:]))
        return first, second

    def some(self, rows: np.ndarray) -> Sequences:
        """The sequences of some rows."""
        return self._replace(tokens=self.tokens[rows], target=self.target[rows], draft=self.draft[rows])


def every_block(target: Table, draft: Table, lookahead: int, name: str) -> Sequences:
    """All blocks of L tokens from the start of two tables, weighed by the target; Fractions or float64 as the tables.

    One column more, which holds no draft, stands for the bonus, and nobody reads it.
    """
    for which, model in (("target", target), ("draft", draft)):
        if model.vocab != target.vocab:
            raise SpecsimError(f"tune: the target has {target.vocab} tokens, the draft {model.vocab}: give a pair")
        if not 1 <= lookahead <= model.length:
            raise SpecsimError(f"tune: lookahead = {lookahead}: the {which} table has laws for 1 to {model.length}")
    vocab = target.vocab
    if vocab ** (lookahead + 1) * (lookahead + 1) > MOST_NUMBERS:
        raise TooLarge(f"tune: all blocks of {lookahead} of {vocab} tokens are too many; take a smaller --lookahead")
    tokens = np.array(list(product(range(vocab), repeat=lookahead)), dtype=np.int64)
    start = np.zeros(len(tokens), dtype=np.int64)
    wanted, drawn = (one_more(model(tokens, start, lookahead)) for model in (target, draft))
    return Sequences(name, one_more(tokens), wanted, drawn, target.codebook, target_mass(target, lookahead))


def one_more(array: Array) -> Array:
    """[B, N, ..] with its last column twice."""
    return np.concatenate([array, array[:, -1:]], axis=1)
