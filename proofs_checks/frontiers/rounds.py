"""What a verifier can do with one round of drafts, as rows over masses: sequential decisions and block-level ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import prod
from typing import NamedTuple

from proofs_checks.frontiers.masses import ONE, Laws, Masses, Path, Terms


class Pair(NamedTuple):
    """The two models.  support: tokens that the target never draws are never put out."""

    target: Laws
    draft: Laws
    support: bool

    def may(self, prefix: Path) -> Iterator[int]:
        """Tokens that may follow a prefix in the output."""
        return (v for v in range(self.target.vocab) if self.target[prefix][v] or not self.support)


class Round(NamedTuple):
    """One round.  kept[x]: column of the mass with all drafts up to x kept, the round's start too; corrected[x]: of the
    mass whose first refused draft was replaced by the last token of x."""

    kept: dict[Path, int]
    corrected: dict[Path, int]


Held = Callable[[Path, Path], Path]
"""held(start of the round, prefix) -> the path whose mass bounds what is kept of the drafts after the prefix."""


def by_prefix(start: Path, prefix: Path) -> Path:
    """Decisions on what was drafted so far: of the mass that is alive, a draft's share can be kept."""
    return prefix


def by_block(start: Path, prefix: Path) -> Path:
    """Decisions on the whole block: of all the mass that started, the drafts' share can be kept.

    Whatever masses obey this can be had: keep the longest prefix that passes, as block verification does (T15).
    """
    return start


def make_round(masses: Masses, start: Path, size: int, pair: Pair, held: Held) -> Round:
    """A round of `size` drafts from a prefix."""
    found = Round({start: masses.var("start", start)}, {})
    layer = [start]
    for _ in range(size):
        layer = [path for prefix in layer for path in judged(masses, start, prefix, found, pair, held)]
    return found


def judged(masses: Masses, start: Path, prefix: Path, found: Round, pair: Pair, held: Held) -> list[Path]:
    """The draft after a prefix is kept or replaced: the rows of both, and the paths on which it is kept."""
    alive, flow, kept = found.kept[prefix], Terms(), []
    bound = held(start, prefix)
    for token in pair.may(prefix):
        path = (*prefix, token)
        found.corrected[path] = masses.var("corrected", start, path)
        flow[found.corrected[path]] = ONE
        if share := drafted(pair.draft, bound, path):
            found.kept[path] = masses.var("kept", start, path)
            masses.at_most({found.kept[path]: ONE, found.kept[bound]: -share})
            flow[found.kept[path]] = ONE
            kept.append(path)
    masses.equation(flow | {alive: -ONE})
    return kept


def drafted(draft: Laws, before: Path, path: Path) -> Fraction:
    """The draft's probability of going on from one path to another."""
    return prod((draft[path[:i]][path[i]] for i in range(len(before), len(path))), start=ONE)


def local_terms(block: Round, target: Laws) -> list[Terms]:
    """What arrives at each path of a round, less the target's share of its prefix's mass."""
    found = []
    for path, column in block.corrected.items():
        terms = {column: ONE, block.kept[path[:-1]]: -target[path[:-1]][path[-1]]}
        if path in block.kept:
            terms[block.kept[path]] = ONE
        found.append(terms)
    return found
