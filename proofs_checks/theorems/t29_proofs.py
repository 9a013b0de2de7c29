"""What z3 proves of T29."""

from __future__ import annotations

from proofs_checks.smt import Obligation, both, either, least, positive, reals


def falls() -> list[Obligation]:
    """Independent siblings: the next one is accepted no more often, token by token.

    r, q: a token's mass left and drafted, S = sum [r - q]+, n = [r - q]+/S what is left after a refusal.
    """
    r, q, s, n = reals("r q S n")
    law = [r >= 0, q >= 0, s > 0, n * s == positive(r - q)]
    return [Obligation("min([r - q]+/S, q) <= min(r, q)", law, least(n, q) <= least(r, q))]


def average() -> list[Obligation]:
    """k = 2, acceptances m_1 >= m_2, c the one that keeps as much twice: 1 + (1 - m_1) <= 1 + (1 - c).

    And with W = 2 - m_1, K = W M kept: the constant scheme that keeps K puts as much mass on every token.
    """
    m1, m2, c, w, wc, mean, kept = reals("m_1 m_2 c W W_c M K")
    inside = [m1 >= m2, m2 >= 0, m1 <= 1, c >= 0, c <= 1]
    weights = [w > 0, wc > 0, mean > 0, c > 0, kept == w * mean, kept == wc * c]
    return [
        Obligation("c <= m_1", [*inside, (1 - c) * (1 - c) == (1 - m1) * (1 - m2)], c <= m1),
        Obligation("W <= W_c: c <= M, so scaling down is possible", [*weights, w <= wc], c <= mean),
        Obligation("W_c c/M = W: the mass of a token is the same", weights, wc * c == w * mean),
    ]


def one_refused() -> list[Obligation]:
    """k = 2, x refused, so nothing is left of it: the second draft's law without x is at least q on what is left."""
    r, q, x, n = reals("r q q_x n")
    law = [r >= 0, q >= 0, x >= 0, x < 1, n * (1 - x) == q]
    return [
        Obligation("min(r, q/(1 - q_x)) >= min(r, q) on other tokens", law, least(r, n) >= least(r, q)),
        Obligation("min(0, q_x) = 0 on x itself", law, least(0 * r, x) == 0),
    ]


def lists() -> list[Obligation]:
    """m = max(p_i/p_j, q_i/q_j) of two tokens; a, b: clocks of one list, of another.

    j is first of all lists under p, in list 1, and first there under q iff the others of list 1 are behind m times its
    clock and those of other lists behind p_i/p_j times.
    """
    pi, pj, qi, qj, m = reals("p_i p_j q_i q_j m")
    ei, ej, other = reals("E_i E_j E_i'")
    larger = [m * pj >= pi, m * qj >= qi, either(m * pj == pi, m * qj == qi)]
    assume = [pj > 0, qj > 0, pi >= 0, qi >= 0, *larger, ei > 0, ej > 0, other > 0]
    wins = both(ej * pi <= ei * pj, ej * pi <= other * pj, ej * qi <= ei * qj)
    first = both(ei >= m * ej, other * pj >= pi * ej)
    return [Obligation("in list 1 at m E_j or later, elsewhere at p_i/p_j E_j or later", assume, wins == first)]


def relaxed() -> list[Obligation]:
    """max <= sum, so sum_i max <= 1/p_j + 1/q_j: with T that sum, K/(T + (K - 1)/p_j) >= p_j/(1 + p_j/(K q_j))."""
    a, b, top, p, q, k, t, u = reals("a b T p q K t u")
    sums = [p > 0, q > 0, p <= 1, q <= 1, k >= 1, top > 0, top * p * q <= p + q]
    terms = [t * (top * p + k - 1) == k * p, u * (k * q + p) == k * p * q]
    return [
        Obligation("max(a, b) <= a + b", [a >= 0, b >= 0], a + b - least(a, b) <= a + b),
        Obligation("the terms", [*sums, *terms], t >= u),
    ]


def guarantee() -> list[Obligation]:
    """x the limit, at most sum min(p, k q) = k beta(k), and k = 2, 3: 1 - (1 - x/k)^k >= (1 - (1 - 1/k)^k) x."""
    p, q, n, reach, part, x = reals("p q k reach p/k x")
    share = [p >= 0, q >= 0, n >= 1, reach <= p, reach <= n * q, n * part == p]
    unit = [x >= 0, x <= 1]
    return [
        Obligation("P(Y = v, v in D) <= k min(q, p/k)", share, reach <= n * least(q, part)),
        Obligation("k = 2", unit, 4 - (2 - x) * (2 - x) >= 3 * x),
        Obligation("k = 3", unit, 27 - (3 - x) * (3 - x) * (3 - x) >= 19 * x),
    ]


def against_the_residual() -> list[Obligation]:
    """What is used for k-SEQ against the recursive residual."""
    return [*falls(), *average()]
