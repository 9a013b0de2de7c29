"""The exact law of a decoder's output, and what can be read off it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from specsim.arrays import Array, number
from specsim.errors import SpecsimError
from specsim.tables import Table


@dataclass(frozen=True)
class Law:
    """The law of a sequence of `length` tokens, with the costs of decoding it.

    mass:     [V**N] probability of each sequence, in base-V order, float64 or Fractions.
    call_law: {target calls: probability}.  accepted: expected drafted tokens that became final.  drafted: expected
    drafts that target calls verified (the tokens of a call beyond the first; for a chain also the draft's calls).
    kept, reached: per slot, expected number of times it was kept and judged.
    tokens: expected output tokens (N unless an end of sequence cuts it short).  eos: its id; in a sequence everything
    after the first one is filled with it.
    """

    mass: Array
    vocab: int
    length: int
    call_law: dict[int, Any]
    accepted: Any
    drafted: Any
    kept: tuple
    reached: tuple
    tokens: Any
    eos: int | None = None

    @property
    def calls(self) -> Any:
        """Expected target calls (NFE) of a whole run."""
        return sum(calls * p for calls, p in self.call_law.items())

    @property
    def tokens_per_call(self) -> Any:
        """Expected tokens / expected calls: 1 for plain decoding."""
        return self.tokens / self.calls

    @property
    def acceptance_by_slot(self) -> list:
        """P(kept | judged) for every slot; None for a slot that is never judged."""
        return [k / r if r > 0 else None for k, r in zip(self.kept, self.reached, strict=True)]

    @property
    def total(self) -> Any:
        """Sum of the masses: exactly 1 in Fractions, 1 up to rounding in float64."""
        return self.mass.sum()

    def tv(self, other: Law | Table) -> Any:
        """TV(self, other) = 1/2 sum |self - other|; a Fraction when both are exact."""
        return abs(self.mass - mass_of(other, self)).sum() / number(2, self.mass)

    def kl(self, other: Law | Table) -> float:
        """KL(self || other) in nats; inf where self has mass and other has none."""
        return kl_divergence(self.mass, mass_of(other, self))

    def max_ratio(self, other: Law | Table) -> Any:
        """max self/other over sequences with self > 0; inf where other has none of them."""
        pairs = [(a, b) for a, b in zip(self.mass, mass_of(other, self), strict=True) if a > 0]
        return max((a / b if b > 0 else math.inf) for a, b in pairs)

    @property
    def marginals(self) -> Array:
        """Law of the token at each position, [N, V]."""
        cube = self.mass.reshape((self.vocab,) * self.length)
        axes = range(self.length)
        return np.stack([cube.sum(axis=tuple(a for a in axes if a != n)) for n in axes])

    def token_tv(self, other: Law | Table) -> list:
        """Per position: expected TV between the conditional laws, under self's own prefixes."""
        return [
            sum((w * abs(a - b).sum() / number(2, a) for w, a, b in level), 0) for level in conditionals(self, other)
        ]

    def token_kl(self, other: Law | Table) -> list[float]:
        """Per position: expected KL(self || other) of the conditional laws, under self's own prefixes; sums to `kl`."""
        return [sum(float(w) * kl_divergence(a, b) for w, a, b in level) for level in conditionals(self, other)]


def target_laws(model: Table, position: int, eos: int | None = None) -> Array:
    """Laws of plain decoding at a position, [V**position, V]; a prefix that holds `eos` goes on with `eos`."""
    laws = model.at_length(position)
    if eos is None:
        return laws
    prefixes = np.arange(model.vocab**position)
    powers = model.vocab ** np.arange(position, dtype=np.int64)
    ended = (prefixes[:, None] // powers % model.vocab == eos).any(axis=1)
    only = np.where(np.arange(model.vocab) == eos, number(1, laws), number(0, laws))
    return np.where(ended[:, None], only, laws)


def target_mass(model: Table, length: int, eos: int | None = None) -> Array:
    """Law of plain decoding from a table model, [V**N]."""
    mass = 0 * model.laws[0, :1] + 1
    for n in range(length):
        mass = (mass[:, None] * target_laws(model, n, eos)).reshape(-1)
    return mass


def mass_of(other: Law | Table, law: Law) -> Array:
    """The masses to compare `law` with, as masses of the same kind of sequence."""
    if isinstance(other, Table):
        if other.vocab != law.vocab or other.length < law.length:
            raise SpecsimError(
                f"cannot compare a law of {law.length} tokens over {law.vocab} with a table of {other.length} "
                f"positions over {other.vocab}"
            )
        return target_mass(other, law.length, law.eos)
    if (other.vocab, other.length) != (law.vocab, law.length):
        raise SpecsimError(
            f"cannot compare laws of {law.length} tokens over {law.vocab} and of {other.length} over {other.vocab}"
        )
    return other.mass


def kl_divergence(first: Array, second: Array) -> float:
    """KL(a || b) in nats of two vectors, computed in float64 with log1p near equality (exact inputs keep 0 at 0)."""
    total = 0.0
    for a, b in zip(first, second, strict=True):
        if a > 0:
            if b <= 0:
                return math.inf
            gap = (a - b) / b
            total += float(a) * math.log1p(float(gap))
    return total


def conditionals(law: Law, other: Law | Table) -> Iterator[list[tuple[Any, Array, Array]]]:
    """Per position: (mass of the prefix under law, its conditional law, other's conditional law) for every prefix.

    A prefix that `other` never produces has no conditional law there unless `other` is a table; it counts as a law
    with nothing in common (all zeros: TV 1/2 + 1/2 of what law puts there, KL inf).
    """
    mine, theirs = law.mass, mass_of(other, law)
    for n in range(law.length):
        a = mine.reshape(law.vocab**n, law.vocab, -1).sum(axis=-1)
        b = theirs.reshape(law.vocab**n, law.vocab, -1).sum(axis=-1)
        if isinstance(other, Table):
            b = target_laws(other, n, law.eos)
        weight, base = a.sum(axis=-1), b.sum(axis=-1)
        yield [
            (weight[i], a[i] / weight[i], b[i] / base[i] if base[i] > 0 else 0 * b[i] + number(0, b))
            for i in range(len(a))
            if weight[i] > 0
        ]
