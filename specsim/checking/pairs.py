"""The pairs of one-token laws that every rule is put to: exact, named, smallest first.

Adding a case is adding a row.  A small grid and seeded random pairs surround the rows, so that a counterexample is
small when a small one exists, and so that a rule tuned to the rows is still caught.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from specsim.arrays import Array

SLOTS = (0, 1, 2, 3, 7, 15, 63)
"""Slots that are checked: a rule may change inside a block, and late in a long window."""
RANDOM_PAIRS, RANDOM_SEED, HIGHEST_WEIGHT = 60, 7, 9
GRID = {2: 4, 3: 3}
"""Vocabulary -> highest denominator: all pairs of laws up to it are in the table."""

EDGES = (  # (name, target, draft); the group follows from the laws
    ("one token", "1", "1"),
    ("same point", "0 1", "0 1"),
    ("target is a point", "0 1 0", "1/4 1/2 1/4"),
    ("draft is a point", "1/4 1/2 1/4", "0 1 0"),
    ("draft is a point off the support", "1/2 1/2 0 0", "0 0 0 1"),
    ("equal with zeros", "0 1/4 0 3/4", "0 1/4 0 3/4"),
    ("equal uniform", "1/5 1/5 1/5 1/5 1/5", "1/5 1/5 1/5 1/5 1/5"),
    ("disjoint halves", "1/2 1/2 0 0", "0 0 1/4 3/4"),
    ("disjoint, nobody's token", "2/3 1/3 0 0 0", "0 0 0 1/2 1/2"),
    ("target zeros", "1/2 1/2 0 0", "1/4 1/4 1/4 1/4"),
    ("draft zeros", "1/4 1/4 1/4 1/4", "1/2 1/2 0 0"),
    ("crossed zeros", "0 1/4 1/4 1/2", "1/2 1/4 1/4 0"),
    ("top-k against top-k", "1/2 3/10 1/5 0 0", "0 1/10 2/5 1/2 0"),
    ("shared zeros", "0 1/3 2/3 0", "0 2/3 1/3 0"),
    ("a rare draft token", "19/20 1/20 0", "9/10 0 1/10"),
    ("a small gap", "1/2 1/2", "51/100 49/100"),
    ("ties of p and q", "1/4 1/4 1/8 3/8", "1/4 1/4 3/8 1/8"),
    ("one tie", "1/2 1/4 1/4", "1/4 1/2 1/4"),
    ("all but two tied", "2/5 1/5 1/5 1/10 1/10", "3/10 1/5 1/5 1/5 1/10"),
    ("ties inside both", "1/5 1/5 1/5 2/5", "3/10 3/10 3/10 1/10"),
    ("half of the draft", "1/10 1/10 1/5 1/5 2/5", "1/5 1/5 2/5 1/10 1/10"),
    ("peaked against flat", "24/25 1/100 1/100 1/100 1/100", "1/5 1/5 1/5 1/5 1/5"),
    ("flat against peaked", "1/5 1/5 1/5 1/5 1/5", "24/25 1/100 1/100 1/100 1/100"),
)
PUBLISHED = (  # (name, target, draft): pairs that a claim or a refutation hangs on
    ("canonical pair", "3/10 1/5 3/20 1/10 1/10 1/20 1/20 1/20", "1/20 1/20 1/20 1/10 1/10 3/20 1/5 3/10"),
    ("LANTERN trap pair", "1/10 1/10 2/5 2/5", "1/2 1/2 0 0"),
    ("GSD refutation pair", "1/4 1/4 1/2", "1/2 1/4 1/4"),
)
WIDE = (  # (name, weights of the target, of the draft): laws of more tokens than most windows, runs and tails hold
    ("twenty, rising against falling", [n * n for n in range(1, 21)], [n * n for n in range(20, 0, -1)]),
    (
        "twenty, tied in threes",
        [1 + (n // 3) * (n // 3 + 1) // 2 for n in range(20)],
        [n * 7 % 20 + 1 for n in range(20)],
    ),
    ("twenty, every other one never", [n % 2 * (n * n + 1) for n in range(20)], [n % 3 for n in range(20)]),
)
"""Weights are convex in the token: sums of neighbours are then no multiples of the token between them."""
GROUPS = (
    "one token", "point masses", "equal", "disjoint", "target zeros", "draft zeros", "shared zeros", "ties",
    "full support", "published", "random",
)  # fmt: skip

LawRow = tuple[Fraction, ...]


@dataclass(frozen=True)
class Pair:
    """A target law and a draft law over the same tokens, as Fractions."""

    name: str
    group: str
    target: LawRow
    draft: LawRow

    @property
    def vocab(self) -> int:
        """Number of tokens."""
        return len(self.target)

    @property
    def size(self) -> tuple[int, int, int]:
        """What "smallest" means: vocabulary, then the largest denominator, then the sum of denominators."""
        denominators = [entry.denominator for entry in (*self.target, *self.draft)]
        return self.vocab, max(denominators), sum(denominators)

    def __str__(self) -> str:
        return f"pair '{self.name}', p = ({as_row(self.target)}), q = ({as_row(self.draft)})"


class Stack(NamedTuple):
    """Pairs of one vocabulary as arrays, shaped as a decoder's block is: draft, target [M, S, V], position [S]."""

    pairs: Sequence[Pair]
    draft: Array
    target: Array
    position: Array


def as_row(law: Iterable[Any]) -> str:
    """Numbers as text, separated by commas."""
    return ", ".join(str(entry) for entry in law)


def group_of(target: LawRow, draft: LawRow) -> str:
    """The first of `GROUPS` that the laws belong to."""
    both = list(zip(target, draft, strict=True))
    tests = {
        "one token": len(both) == 1,
        "equal": target == draft,
        "disjoint": all(p == 0 or q == 0 for p, q in both),
        "point masses": max(target) == 1 or max(draft) == 1,
        "target zeros": any(p == 0 < q for p, q in both),
        "draft zeros": any(q == 0 < p for p, q in both),
        "shared zeros": any(p == q == 0 for p, q in both),
        "ties": any(p == q for p, q in both),
    }
    return next((group for group, true in tests.items() if true), "full support")


def pair(name: str, target: str, draft: str, group: str | None = None) -> Pair:
    """A pair from laws written as text, "1/4 3/4"."""
    laws = [tuple(Fraction(entry) for entry in law.split()) for law in (target, draft)]
    return Pair(name, group or group_of(laws[0], laws[1]), laws[0], laws[1])


def weighted(name: str, target: Iterable[int], draft: Iterable[int]) -> Pair:
    """A pair of laws from whole weights."""
    laws = [tuple(Fraction(n, sum(row)) for n in row) for row in (list(target), list(draft))]
    return Pair(name, group_of(laws[0], laws[1]), laws[0], laws[1])


def grid() -> Iterator[Pair]:
    """Every pair of laws with small denominators."""
    for vocab, highest in GRID.items():
        for p, q in product(small_laws(vocab, highest), repeat=2):
            yield Pair(f"grid {as_row(p)} | {as_row(q)}", group_of(p, q), p, q)


def small_laws(vocab: int, highest: int) -> list[LawRow]:
    """Every law over `vocab` tokens whose entries have one common denominator of at most `highest`."""
    counts = [c for c in product(range(highest + 1), repeat=vocab) if 0 < sum(c) <= highest]
    return sorted({tuple(Fraction(n, sum(c)) for n in c) for c in counts})


def random_pairs(count: int, seed: int) -> Iterator[Pair]:
    """Random rational pairs over 2 to 5 tokens; about a third of the entries are 0."""
    rng = np.random.default_rng(seed)
    for n in range(count):
        vocab = 2 + n % 4
        weights = rng.integers(1, HIGHEST_WEIGHT + 1, (2, vocab)) * (rng.random((2, vocab)) > 1 / 3)
        weights[weights.sum(axis=1) == 0, 0] = 1
        p, q = (tuple(Fraction(int(w), int(row.sum())) for w in row) for row in weights)
        yield Pair(f"random {n}", "random", p, q)


def all_pairs() -> list[Pair]:
    """The whole table, smallest first."""
    rows = [pair(*row) for row in EDGES] + [pair(*row, group="published") for row in PUBLISHED]
    rows += [weighted(*row) for row in WIDE]
    return sorted([*rows, *grid(), *random_pairs(RANDOM_PAIRS, RANDOM_SEED)], key=lambda some: some.size)


def stacks(pairs: Sequence[Pair], dtype: Any = object, slots: tuple[int, ...] = SLOTS) -> list[Stack]:
    """One stack for every vocabulary, smallest first, each with its pairs in the order given."""
    by_vocab = {vocab: [some for some in pairs if some.vocab == vocab] for vocab in {p.vocab for p in pairs}}
    return [stack(by_vocab[vocab], dtype, slots) for vocab in sorted(by_vocab)]


def stack(pairs: Sequence[Pair], dtype: Any = object, slots: tuple[int, ...] = SLOTS) -> Stack:
    """Pairs of one vocabulary, each at every slot.  Read-only: a rule that writes into its arguments is caught."""
    laws = np.array([[some.draft, some.target] for some in pairs], dtype=object).astype(dtype)
    wide = np.broadcast_to(laws[:, :, None, :], (len(pairs), 2, len(slots), laws.shape[-1]))
    return Stack(pairs, wide[:, 0], wide[:, 1], np.array(slots))
