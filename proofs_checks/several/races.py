"""Races of exponential clocks as exact numbers: what is kept of several drafts that are race winners, at every V.

Given that the output's clock rings at s, everything else is a sum of terms c exp(-r s): {r: c}, integrated in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from itertools import pairwise

from proofs_checks.several.drafts import ONE
from specsim.arrays import Array

Terms = dict[Fraction, Fraction]
"""sum of c exp(-r s), as {r: c}."""
ZERO = 0 * ONE
CERTAIN: Terms = {ZERO: ONE}


def beyond(rate: Fraction) -> Terms:
    """P(a clock rings after rate s)"""
    return {rate: ONE}


def plus(first: Terms, second: Terms, scale: Fraction = ONE) -> Terms:
    """first + scale second"""
    return {r: first.get(r, ZERO) + scale * second.get(r, ZERO) for r in {**first, **second}}


def times(first: Terms, second: Terms) -> Terms:
    """Their product."""
    found: Terms = {}
    for r, c in first.items():
        for s, d in second.items():
            found[r + s] = found.get(r + s, ZERO) + c * d
    return found


def product(factors: list[Terms]) -> Terms:
    """The product of several."""
    return reduce(times, factors, CERTAIN)


def integral(terms: Terms) -> Fraction:
    """Over s from 0 on, with the density exp(-s) of the clock itself."""
    return sum((c / (1 + r) for r, c in terms.items() if c), ZERO)


def ratios(law: Array, token: int) -> list[Fraction]:
    """law(i) / law(token): i wins against the token under this law iff its clock rings before so many times s."""
    return [mass / law[token] for mass in law]


def others(vocab: int, token: int) -> list[int]:
    """All the other tokens."""
    return [v for v in range(vocab) if v != token]


def common(target: Array, draft: Array) -> list[int]:
    """Tokens that both laws give."""
    return [v for v in range(len(target)) if target[v] > 0 and draft[v] > 0]


def matched(target: Array, draft: Array, count: int) -> Fraction:
    """P(the winner under p is among the first k of the race under q), one noise: match verification of distinct drafts.

    Token j at s wins under p iff every E_i >= s p_i/p_j; E_i < s q_i/q_j puts i before j under q.
    """
    return sum((integral(among_first(target, draft, v, count)) for v in common(target, draft)), ZERO)


def among_first(target: Array, draft: Array, token: int, count: int) -> Terms:
    """P(the token wins under p and fewer than k are before it under q | it rings at s)."""
    before: list[Terms] = [CERTAIN]  # by the number of tokens that are before it
    wins, drawn = ratios(target, token), ratios(draft, token)
    for v in others(len(target), token):
        behind = beyond(max(wins[v], drawn[v]))
        ahead = plus(beyond(wins[v]), behind, -ONE)
        more = [{}, *(times(some, ahead) for some in before)]
        same = [*(times(some, behind) for some in before), {}]
        before = [plus(a, b) for a, b in zip(more, same, strict=True)][:count]
    return reduce(plus, before, {})


def listed(target: Array, draft: Array, count: int) -> Fraction:
    """P(Y is one of the X's) of Gumbel-max list sampling (Rowan, Phan and Khisti 2025, arXiv 2506.05632, algorithm 1).

    K lists of V clocks each; X_k = argmin_i E_ik / q_i, Y = argmin_i min_k E_ik / p_i.
    """
    return sum((found_in_lists(target, draft, v, count) for v in common(target, draft)), ZERO)


def found_in_lists(target: Array, draft: Array, token: int, count: int) -> Fraction:
    """P(Y = token, and some X is): of P(Y = token) what is left without the runs where no X is.

    The clock of Y's token rings first in one of K lists alike, at s.  No X is the token iff in no list all other clocks
    are behind its own under q.
    """
    wins, drawn = ratios(target, token), ratios(draft, token)
    rest = others(len(target), token)
    all_behind = product([beyond(wins[v]) for v in rest])
    own = plus(all_behind, product([beyond(max(wins[v], drawn[v])) for v in rest]), -ONE)
    lost = plus(times(all_behind, beyond(ONE)), drawn_later(wins, drawn, rest), -ONE)
    return target[token] - count * integral(product([own, *[lost] * (count - 1)]))


def drawn_later(wins: list[Fraction], drawn: list[Fraction], rest: list[int]) -> Terms:
    """P(in a list the token's clock rings at u >= s, the others behind s p_i/p_j and behind u q_i/q_j).

    max(s p_i/p_j, u q_i/q_j) changes at u = s (p_i/p_j)/(q_i/q_j); between two such points all exponents are linear.
    """
    turns = {v: wins[v] / drawn[v] if drawn[v] else None for v in rest}
    points = sorted({ONE, *(turn for turn in turns.values() if turn is not None and turn > 1)})
    found: Terms = {}
    for low, high in pairwise([*points, None]):
        assert low is not None
        late = [v for v in rest if (turn := turns[v]) is not None and turn <= low]
        fixed = sum((wins[v] for v in rest if v not in late), ZERO)
        slope = ONE + sum((drawn[v] for v in late), ZERO)
        found = plus(found, {fixed + slope * low: 1 / slope})
        if high is not None:
            found = plus(found, {fixed + slope * high: -1 / slope})
    return found


Bound = Callable[[Array, Array, int], Fraction]
"""bound(target, draft, count)"""


def list_bound(target: Array, draft: Array, count: int) -> Fraction:
    """sum_j K / (sum_i max(p_i/p_j, q_i/q_j) + (K - 1)/p_j), the list matching lemma (the same paper, theorem 1)."""
    return sum(
        (
            count / (sum(map(max, ratios(target, v), ratios(draft, v))) + (count - 1) / target[v])
            for v in common(target, draft)
        ),
        ZERO,
    )


def relaxed_bound(target: Array, draft: Array, count: int) -> Fraction:
    """sum_j p_j / (1 + p_j / (K q_j)), as sum_i max(..) <= 1/p_j + 1/q_j."""
    return sum((target[v] / (1 + target[v] / (count * draft[v])) for v in common(target, draft)), ZERO)
