"""SMT obligations of two races with one noise.

p_i, p_j, q_i, q_j are the masses of two tokens, m = max(p_j / p_i, q_j / q_i); t is a term 1 / M, M = sum_j m.
"""

from __future__ import annotations

from typing import Any

from proofs_checks.smt import Obligation, both, either, least, magnitude, positive, reals


def pair() -> tuple[Any, Any, Any, Any, Any, list[Any]]:
    """p_i, p_j, q_i, q_j, m and what makes m the larger ratio."""
    pi, pj, qi, qj, m = reals("p_i p_j q_i q_j m")
    larger = [m * pi >= pj, m * qi >= qj, either(m * pi == pj, m * qi == qj)]
    return pi, pj, qi, qj, m, [pi > 0, qi > 0, pj >= 0, qj >= 0, *larger]


def most(first: Any, second: Any) -> Any:
    """max(x, y)"""
    return first + second - least(first, second)


def event() -> list[Obligation]:
    """i beats j in both races iff E_j >= m E_i; over all j that has probability 1 / sum_j m, E being Exp(1)."""
    pi, pj, qi, qj, m, assume = pair()
    ei, ej = reals("E_i E_j")
    wins = both(ei * pj <= ej * pi, ei * qj <= ej * qi)
    return [Obligation("i beats j in both races iff E_j >= m E_i", [*assume, ei > 0, ej > 0], wins == (ej >= m * ei))]


def segment() -> list[Obligation]:
    """V = 2, where the noise is a point e of a segment: lengths are masses, and the terms are min(p, q)."""
    e, p, q, pi, qi, m, t = reals("e p q p_i q_i m t")
    inside = [e >= 0, e <= 1, p >= 0, p <= 1, q >= 0, q <= 1]
    larger = [m * pi >= 1 - pi, m * qi >= 1 - qi, either(m * pi == 1 - pi, m * qi == 1 - qi)]
    laws = [pi > 0, pi <= 1, qi > 0, qi <= 1]
    return [
        Obligation("token 0 wins under p iff e <= p(0)", inside, (e * (1 - p) <= (1 - e) * p) == (e <= p)),
        Obligation("it wins both iff e <= min(p(0), q(0))", inside, both(e <= p, e <= q) == (e <= least(p, q))),
        Obligation("so does the term: 1 / (1 + m) = min(p, q)", [*laws, *larger, t * (1 + m) == 1], t == least(pi, qi)),
    ]


def below() -> list[Obligation]:
    """1 / M >= min(p_i, q_i) / (1 + TV), as m min(p_i, q_i) <= max(p_j, q_j); equal iff p_i = q_i."""
    pi, pj, qi, qj, m, assume = pair()
    big, low, top, t, p, q = reals("M low T t p q")
    term = [big > 0, low > 0, top > 0, t * big == 1]
    twice = 2 * most(p, q) == p + q + magnitude(p - q)
    return [
        Obligation("m min(p_i, q_i) <= max(p_j, q_j)", assume, m * least(pi, qi) <= most(pj, qj)),
        Obligation("equal at every j if p_i = q_i", [*assume, pi == qi], m * least(pi, qi) == most(pj, qj)),
        Obligation("at j = i only if p_i = q_i", [pi > 0, qi > 0], (least(pi, qi) == most(pi, qi)) == (pi == qi)),
        Obligation("M low <= T: 1 / M >= low / T", [*term, big * low <= top], t * top >= low),
        Obligation("M low < T: 1 / M > low / T", [*term, big * low < top], t * top > low),
        Obligation("2 max = p + q + |p - q|: summed, max is 1 + TV", [p >= 0, q >= 0], twice),
    ]


def above() -> list[Obligation]:
    """1 / M <= p_i, as m p_i >= p_j sums to M p_i >= 1; equal iff i has the least ratio p/q.  q_i likewise."""
    pi, pj, qi, qj, m, assume = pair()
    big, t, mass = reals("M t mass")
    term = [big > 0, mass > 0, t * big == 1]
    return [
        Obligation("m p_i >= p_j, equal iff p_i/q_i <= p_j/q_j", assume, (m * pi == pj) == (pi * qj <= pj * qi)),
        Obligation("m q_i >= q_j, equal iff p_i/q_i >= p_j/q_j", assume, (m * qi == qj) == (pi * qj >= pj * qi)),
        Obligation("M mass >= 1: 1 / M <= mass", [*term, big * mass >= 1], t <= mass),
        Obligation("equal iff M mass = 1", term, (t == mass) == (big * mass == 1)),
    ]


def two_tokens() -> list[Obligation]:
    """V = 2: X = 0 iff e <= q(0), Y = 0 iff e <= p(0); X = 0, Y = 1 on a length that the closed form of T11 gives."""
    e, p, q = reals("e p q")
    inside = [e >= 0, e <= 1, p >= 0, p <= 1, q >= 0, q <= 1]
    moved = both(e <= q, e > p) == both(e > least(p, q), e <= q)
    gained = positive((1 - p) - (1 - q))
    return [
        *segment(),
        Obligation("X = 0, Y = 1 on (min(p, q), q]", inside, moved),
        Obligation("of length [q - p]+", inside, q - least(p, q) == positive(q - p)),
        Obligation("[q - p]+(0) [p - q]+(1) = TV [q - p]+(0)", inside,
                   positive(q - p) * gained == magnitude(p - q) * positive(q - p)),
    ]  # fmt: skip
