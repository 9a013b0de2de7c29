"""The largest probability that an output of law p is one of the drafts: by subsets, by sorted subsets, by a flow.

A coupling of the drafted set D and the output Y ~ p; the dual of its linear program is a set H of tokens:
P(Y in D) <= P(Y in H) + P(D not within H) = 1 + p(H) - Q(H), and the best H is reached (a flow and its cut).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from proofs_checks.certificates import Program
from proofs_checks.several.drafts import ONE, Sets, Tokens, inside
from specsim.arrays import Array

ZERO = 0 * ONE


def subsets(vocab: int) -> Iterator[Tokens]:
    """Every H."""
    return (frozenset(some) for size in range(vocab + 1) for some in combinations(range(vocab), size))


def by_subsets(target: Array, sets: Sets, among: Any = None) -> Fraction:
    """1 + min_H p(H) - Q(H) over the sets H among some, by default over all."""
    some = subsets(len(target)) if among is None else among
    return 1 + min(sum((target[v] for v in H), ZERO) - inside(sets, H) for H in some)


def by_ratio(target: Array, draft: Array) -> list[int]:
    """Tokens in the order of p/q, the least first; q = 0 last."""

    def ratio(v: int) -> tuple[bool, Fraction]:
        return (draft[v] == 0, target[v] / draft[v] if draft[v] else ZERO)

    return sorted(range(len(target)), key=ratio)


def sorted_subsets(order: Sequence[int]) -> list[Tokens]:
    """H = the first few tokens of an order."""
    return [frozenset(order[:size]) for size in range(len(order) + 1)]


def optimal(target: Array, sets: Sets) -> Array:
    """A coupling that keeps as much as any: mass [sets, V] of (D, Y), rows in the order of `sets`.

    First the largest flow from sets to tokens in them, by augmenting paths; then the rest, in any way, as no token of a
    set with mass to spare has room left.
    """
    chances, flow = list(sets.values()), np.full((len(sets), len(target)), ZERO)
    members = [sorted(held) for held in sets]
    while (path := augmenting(flow, chances, target, members)) is not None:
        push(flow, path, chances, target)
    return flow + the_rest(flow, chances, target)


def augmenting(flow: Array, chances: Sequence[Fraction], target: Array, members: list[list[int]]) -> list[int] | None:
    """A shortest way [set, token, set, .., token] from a set with mass to spare to a token with room, or None."""
    ways = [[d] for d, chance in enumerate(chances) if flow[d].sum() < chance]
    sets, tokens = {way[0] for way in ways}, set[int]()
    while ways:
        way = ways.pop(0)
        for v in (v for v in members[way[-1]] if v not in tokens):
            tokens.add(v)
            if flow[:, v].sum() < target[v]:
                return [*way, v]
            back = [d for d in range(len(chances)) if flow[d, v] > 0 and d not in sets]
            sets.update(back)
            ways += [[*way, v, d] for d in back]
    return None


def push(flow: Array, way: list[int], chances: Sequence[Fraction], target: Array) -> None:
    """As much along a way as it takes."""
    ahead, back = list(zip(way[::2], way[1::2], strict=True)), list(zip(way[2::2], way[1:-1:2], strict=True))
    ends = chances[way[0]] - flow[way[0]].sum(), target[way[-1]] - flow[:, way[-1]].sum()
    amount = min(*ends, *(flow[pair] for pair in back))
    for pair in ahead:
        flow[pair] += amount
    for pair in back:
        flow[pair] -= amount


def the_rest(flow: Array, chances: Sequence[Fraction], target: Array) -> Array:
    """What is not kept: spread over the tokens with room, in their proportion."""
    spare, room = np.array(chances, dtype=object) - flow.sum(axis=1), target - flow.sum(axis=0)
    return spare[:, None] * room / room.sum() if room.sum() > 0 else 0 * flow


def kept(coupling: Array, sets: Sets) -> Fraction:
    """P(Y in D)"""
    return sum((coupling[d, v] for d, held in enumerate(sets) for v in held), ZERO)


def marginals(coupling: Array) -> tuple[Array, Array]:
    """Laws of D, in the order of its sets, and of Y."""
    return coupling.sum(axis=1), coupling.sum(axis=0)


def program(target: Array, sets: Sets) -> Program:
    """max P(Y in D) over couplings, as a minimum; columns (D, Y) in row order."""
    vocab, cells = len(target), [(held, v) for held in sets for v in range(len(target))]
    cost = [-ONE if v in held else ZERO for held, v in cells]
    rows = [{d * vocab + v: ONE for v in range(vocab)} for d in range(len(sets))]
    rows += [{d * vocab + v: ONE for d in range(len(sets))} for v in range(vocab)]
    return Program(cost, rows, [*sets.values(), *target])


Coupling = Callable[[Array, Sets], Array]
"""coupling(target, sets) -> mass [sets, V]."""
