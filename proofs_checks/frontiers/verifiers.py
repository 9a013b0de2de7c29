"""What a verifier can do: with one block of drafts, and over whole runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from proofs_checks.frontiers.masses import ONE, ZERO, Laws, Masses, Path, Terms, continuation, paths, sequence_masses
from proofs_checks.frontiers.rounds import Held, Pair, Round, by_block, by_prefix, local_terms, make_round
from proofs_checks.frontiers.spans import greatest_accepted, least_calls


@dataclass(frozen=True)
class Verifier:
    """What a verifier can do.

    masses: the rows; out: {sequence: terms of its mass}; wanted: {sequence: the target's mass}; local: terms of what
    arrives at a path beyond the target's share, for every prefix of every round; cost: terms of the expected cost;
    sign: 1 where more is better, -1 where less is; length: tokens of a sequence; span: the least and the greatest cost.
    """

    masses: Masses
    out: dict[Path, Terms]
    wanted: dict[Path, Fraction]
    local: list[Terms]
    cost: Terms
    sign: int
    length: int
    span: tuple[Fraction, Fraction]


def sequential_block(target: Laws, draft: Laws, lookahead: int, support: bool = False) -> Verifier:
    """One block of L drafts, each decision on what was drafted so far; the target goes on from a correction.

    The cost is E[accepted]: more is better.
    """
    masses, pair = Masses(), Pair(target, draft, support)
    return one_block(masses, make_round(masses, (), lookahead, pair, by_prefix), pair, lookahead)


def joint_block(target: Laws, draft: Laws, lookahead: int, support: bool = False) -> Verifier:
    """One block whose decision may look at all of it.  The cost is E[accepted]: more is better."""
    masses, pair = Masses(), Pair(target, draft, support)
    return one_block(masses, make_round(masses, (), lookahead, pair, by_block), pair, lookahead)


def one_block(masses: Masses, block: Round, pair: Pair, length: int) -> Verifier:
    """The verifier of one block, whatever its decisions look at."""
    masses.equation({block.kept[()]: ONE}, ONE)
    out: dict[Path, Terms] = {path: {} for path in paths(pair.target.vocab, length)}
    for path, column in block.corrected.items():
        for end, share in continuation(pair.target, path, length):
            out[end][column] = share
    for path, column in block.kept.items():
        if len(path) == length:
            out[path][column] = ONE
    cost = {column: ONE for path, column in block.kept.items() if path}
    span = ZERO, greatest_accepted(pair.target, pair.draft, length, pair.support)
    wanted = sequence_masses(pair.target, length)
    return Verifier(masses, out, wanted, local_terms(block, pair.target), cost, 1, length, span)


def whole_run(
    target: Laws,
    draft: Laws,
    lookahead: int,
    length: int,
    free_bonus: bool = False,
    support: bool = False,
    held: Held = by_prefix,
) -> Verifier:
    """A run of N tokens: masses of (round start, prefix).  The cost is E[target calls]: fewer is better.

    The bonus token follows the target, or any law (`free_bonus`): one law a path, since a law for every round that ends
    there could be replaced by their mean, which changes no mass and no sum of local errors for the worse.
    """
    run = Run(Masses(), Pair(target, draft, support), held, {}, {}, [])
    bonus = bonus_free if free_bonus else bonus_of_target
    starts = {}
    for start in [path for n in range(length) for path in paths(target.vocab, n)]:
        if start in run.arrives or not start:
            starts[one_round(run, start, min(lookahead, length - len(start) - 1), bonus)] = ONE
    local = run.local + bonus_errors(run) if free_bonus else run.local
    out = {path: run.arrives.get(path, {}) for path in paths(target.vocab, length)}
    span = least_calls(run.pair, held, lookahead, length, free_bonus), Fraction(length)
    return Verifier(run.masses, out, sequence_masses(target, length), local, starts, -1, length, span)


class Run(NamedTuple):
    """A run as far as it is written down.

    held: what decisions look at; arrives[x]: terms of the mass that rounds hand to x; ends[x]: of the mass with a whole
    block kept up to x; local: as a verifier's.
    """

    masses: Masses
    pair: Pair
    held: Held
    arrives: dict[Path, Terms]
    ends: dict[Path, Terms]
    local: list[Terms]


def one_round(run: Run, start: Path, size: int, bonus: Callable[[Run, Path, int], None]) -> int:
    """The round that starts at a prefix, `size` drafts long -> the column of its start."""
    column = run.masses.var("start", start)
    run.masses.equation(
        {some: -share for some, share in run.arrives.get(start, {}).items()} | {column: ONE}, root(start)
    )
    found = make_round(run.masses, start, size, run.pair, run.held)
    for path, corrected in found.corrected.items():
        run.arrives.setdefault(path, {})[corrected] = ONE
    run.local.extend(local_terms(found, run.pair.target))
    for path, alive in found.kept.items():
        if len(path) == len(start) + size:
            run.ends.setdefault(path, {})[alive] = ONE
            bonus(run, path, alive)
    return column


def root(start: Path) -> Fraction:
    """The mass that a round starts with from outside: 1 for the first."""
    return ZERO if start else ONE


def bonus_of_target(run: Run, path: Path, alive: int) -> None:
    """The token after a wholly kept block follows the target: no local error."""
    for token, share in enumerate(run.pair.target[path]):
        if share:
            run.arrives.setdefault((*path, token), {})[alive] = share


def bonus_free(run: Run, path: Path, alive: int) -> None:
    """The token after a wholly kept block follows any law."""
    for token in run.pair.may(path):
        run.arrives.setdefault((*path, token), {})[run.masses.var("bonus", path, token)] = ONE


def bonus_errors(run: Run) -> list[Terms]:
    """The rows of the free bonus laws, and their local errors."""
    found = []
    for path, alive in run.ends.items():
        bonus = {token: run.masses.var("bonus", path, token) for token in run.pair.may(path)}
        run.masses.equation({column: ONE for column in bonus.values()} | {column: -ONE for column in alive})
        shares = run.pair.target[path]
        found += [{column: ONE} | {some: -shares[token] for some in alive} for token, column in bonus.items()]
    return found
