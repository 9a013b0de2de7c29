"""Evidence computed on the spot, in Fractions: a block with a better residual, a relaxed slot, a variance of calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import specsim
from proofs_checks.claims.claim import AGAINST, FOR, OPEN, Context, Weighed
from proofs_checks.theorems.blocks import block_error, walk
from specsim import Jacobi, Optimal, Strict, Table, Tree, bind_codebook, exact, optimal_residual, table
from specsim.arrays import Array, total_variation
from specsim.table_files import read_table

TOYS = Path(specsim.__file__).parent / "toys"
LIKELY = Fraction(1, 2)
"""A draft none of whose tokens is likelier than not is not called confident here."""
Rows = Sequence[Sequence[str]]
"""A law, or numbers from 0 to 1, for every slot: "1/3" is a third."""


def numbers(row: Sequence[str]) -> Array:
    """A row as Fractions [V]."""
    return np.array([Fraction(some) for some in row], dtype=object)


def context_free(rows: Rows) -> Table:
    """The model whose law at a position is the same after every prefix."""
    laws = [numbers(row).tolist() for row in rows]
    return table([[law] * len(law) ** n if n else law for n, law in enumerate(laws)])


def words(law: Array) -> str:
    """(1/2, 0, 1/2)"""
    return f"({', '.join(map(str, law))})"


@dataclass(frozen=True)
class BlockResidual:
    """In one block, then the target, G* at every slot has no larger TV of the block than a rival with the same b.

    target, draft, keep (b), rival (its G), all [L][V]; positions do not depend on the context.
    """

    target: Rows
    draft: Rows
    keep: Rows
    rival: Rows

    def weigh(self, context: Context) -> Weighed:
        """Against if the rival is better; that one rival is not proves nothing."""
        best, other = self.error(False), self.error(True)
        stance = AGAINST if other < best else OPEN
        models = f"p {self.shown(self.target)}, q {self.shown(self.draft)}, b {self.shown(self.keep)}"
        line = f"TV of a block of {len(self.keep)} with G* and with G {words(numbers(self.rival[-1]))} in the last slot"
        return Weighed(stance, f"{line}: {best}, {other}; {models}; computed here")

    def error(self, rival: bool) -> Fraction:
        """TV(out, target) of the block."""

        def judge(draft: Array, target: Array, position: int, slot: int) -> tuple[Array, Array]:
            keep = numbers(self.keep[slot])
            residual = numbers(self.rival[slot]) if rival else optimal_residual(draft, target, keep + 0 * draft)
            kept = draft * keep
            return kept, kept + (1 - kept.sum(axis=-1, keepdims=True)) * residual

        return block_error(walk(judge, context_free(self.target), context_free(self.draft), len(self.keep)))

    def shown(self, rows: Rows) -> str:
        """Slot by slot."""
        return "; ".join(words(numbers(row)) for row in rows)


@dataclass(frozen=True)
class OnlyConfident:
    """A rule relaxes no slot whose draft law has all tokens at or below LIKELY: tried on one pair of laws.

    Half of the `tokens` have the draft probability (1 + tilt)/V, half (1 - tilt)/V; the target is uniform.
    """

    rule: Any
    tokens: int
    tilt: str

    def weigh(self, context: Context) -> Weighed:
        """Against if more is kept than by the strict rule; open where this pair cannot tell."""
        tilt, half = Fraction(self.tilt), self.tokens // 2
        target = numbers([f"1/{self.tokens}"] * self.tokens)
        draft = target * np.array([1 + tilt] * half + [1 - tilt] * half, dtype=object)
        position = np.zeros((), dtype=int)
        kept = [(draft * some(draft, target, position).accept).sum() for some in (self.rule, Strict())]
        stance = AGAINST if kept[0] > kept[1] and max(draft) <= LIKELY else OPEN
        pair = f"uniform target, {self.tokens} tokens, draft (1 +- {tilt})/{self.tokens}"
        line = f"{self.rule!r} keeps {float(kept[0]):.4f} of the drafts and Strict() {float(kept[1]):.4f}"
        distance = f"TV {total_variation(target, draft)}, largest draft probability {max(draft)}"
        return Weighed(stance, f"{line}: {pair}, {distance}; computed here")


@lru_cache(maxsize=16)
def call_moments(toy: str, decoder: Any) -> tuple[Fraction, Fraction]:
    """Mean and variance of the target calls of a strict run on a shipped table."""
    law = exact(decoder, read_table(TOYS / f"{toy}_target.json"))
    return law.calls, sum(p * (calls - law.calls) ** 2 for calls, p in law.call_law.items())


@dataclass(frozen=True)
class SteadierCalls:
    """The number of calls of a strict run on a shipped table varies less with the first decoder than the second."""

    toy: str
    first: Jacobi
    second: Jacobi

    def weigh(self, context: Context) -> Weighed:
        """Exact variances decide; equal ones leave it open."""
        (_, one), (_, other) = (call_moments(self.toy, some) for some in (self.first, self.second))
        stance = FOR if one < other else AGAINST if one > other else OPEN
        line = f"variance of the calls of {self.first!r} and {self.second!r}: {float(one):.4f}, {float(other):.4f}"
        return Weighed(stance, f"{line} (toys/{self.toy}_target.json, computed here)")


@lru_cache(maxsize=16)
def run_in_a_tree(toy: str, rule: Any) -> tuple[Fraction, Fraction]:
    """Target calls and TV of a run on a shipped table with the default tree of drafts."""
    target, draft = (read_table(TOYS / f"{toy}_{name}.json") for name in ("target", "draft"))
    law = exact(Tree(), target, draft, rule=bind_codebook(rule, target.codebook))
    return law.calls, law.tv(target)


@dataclass(frozen=True)
class InATree:
    """A run on a shipped table with a tree of drafts has no more of a figure with G* than with the rule's own residual.

    figure: "calls" or "tv".
    """

    toy: str
    figure: str
    rule: Any

    def weigh(self, context: Context) -> Weighed:
        """Exact figures decide; for if they are equal."""
        own, best = (run_in_a_tree(self.toy, some)[self.figure == "tv"] for some in (self.rule, Optimal(self.rule)))
        line = f"{self.figure} of {self.rule!r}, as released and with G*: {float(own):.6f}, {float(best):.6f}"
        where = f"toys/{self.toy}_target.json, Tree(), computed here"
        return Weighed(FOR if best <= own else AGAINST, f"{line} ({where})")
