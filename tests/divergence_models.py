"""Table models along all their sequences at once: a sample that leaves nothing out."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from specsim import (
    Additive,
    AdditiveUnmasked,
    Annealed,
    Chain,
    ContentAware,
    Grouped,
    Lantern,
    LanternPlus,
    Law,
    Lenient,
    Strict,
    Table,
    bind_codebook,
    exact,
    random_table,
)
from specsim.divergences import Paths, along
from specsim.laws import target_mass
from specsim.rules import BlockVerification, Cactus, Ledger

CODES = [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]]
RULES = (
    *(Strict(), Lenient(1.5), Annealed(2.0, 0.7), ContentAware(0.5, 0.8), Additive(0.2), AdditiveUnmasked(0.2)),
    *(Lantern(1, 0.4), LanternPlus(1, 3.0), Grouped(2, 0.5, 4.0), Cactus(0.5)),
    *(Ledger(2.0), BlockVerification(), BlockVerification(Lenient(1.5)), BlockVerification(Lantern(1, 0.4))),
)
"""Every form: one residual, a residual for each token, a state along the path, whole blocks."""


@dataclass(frozen=True)
class Case:
    """Two random models of V tokens and N positions, and a lookahead."""

    vocab: int
    length: int
    lookahead: int
    seed: int
    zeros: bool = False

    @cached_property
    def target(self) -> Table:
        return random_table(self.vocab, self.length, self.seed, self.zeros)

    @cached_property
    def draft(self) -> Table:
        return random_table(self.vocab, self.length, self.seed + 100, self.zeros)

    @cached_property
    def tokens(self) -> np.ndarray:
        """All sequences, [V**N, N], in the order of a law."""
        return np.array(list(product(range(self.vocab), repeat=self.length)))

    @cached_property
    def laws(self) -> tuple[np.ndarray, np.ndarray]:
        """Both models' laws along them."""
        start = np.zeros(len(self.tokens), dtype=np.int64)
        return tuple(model(self.tokens, start, self.length) for model in (self.target, self.draft))

    @cached_property
    def target_mass(self) -> np.ndarray:
        return target_mass(self.target, self.length)

    def bound(self, rule: Any) -> Any:
        return bind_codebook(rule, CODES[: self.vocab])

    def law(self, rule: Any) -> Law:
        return exact(Chain(self.lookahead), self.target, self.draft, self.bound(rule))

    def paths(self, rule: Any) -> Paths:
        return along(self.bound(rule), *self.laws, self.tokens, self.lookahead)


CASES = (
    Case(2, 4, 2, 1),
    Case(3, 3, 2, 2, zeros=True),
    Case(2, 5, 3, 3),
    Case(2, 3, 6, 5, zeros=True),
    Case(3, 1, 2, 4),
)


def total(weights: np.ndarray, values: np.ndarray) -> Any:
    """The mean over all sequences, those without mass left out."""
    return sum((w * v for w, v in zip(weights, values, strict=True) if w), Fraction(0))
