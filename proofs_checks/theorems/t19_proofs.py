"""What z3 proves of T19, one token at a time: a = q b = min(q, c) is kept, c = omega p, and R = r G* is put back."""

from __future__ import annotations

from typing import Any

from proofs_checks.smt import Obligation, both, least, positive, reals


def lenience(p: Any, q: Any, c: Any, a: Any, back: Any) -> list[Any]:
    """One token under lenience: G* is one of the laws with r G <= [p - a]+ (T02)."""
    return [p >= 0, q >= 0, c >= 0, a == least(q, c), back >= 0, back <= positive(p - a)]


def pointwise() -> list[Obligation]:
    """out <= p or out <= omega p."""
    p, q, c, a, back = reals("p q c a R")
    token = lenience(p, q, c, a, back)
    return [
        Obligation("omega >= 1", [*token, c >= p], a + back <= c),
        Obligation("omega <= 1", [*token, c <= p], a + back <= p),
    ]


def largest() -> list[Obligation]:
    """omega >= 1: out is min(q, omega p) where q >= p, at most p elsewhere; nothing else can be short of p then."""
    p, q, c, a, back, x, y, s = reals("p q c a R x y s")
    token = [*lenience(p, q, c, a, back), c >= p]
    return [
        *pointwise(),
        Obligation("q >= p: out = min(q, omega p)", [*token, q >= p], both(a + back == least(q, c), least(q, c) >= p)),
        Obligation("q < p: out <= p", [*token, q < p], a + back <= p),
        Obligation("laws with out <= p at this token and in sum elsewhere", [x <= p, y <= s, x + y == p + s], x == p),
    ]


def squares() -> list[Obligation]:
    """out <= w p gives out^2/p <= w out, which sums to w."""
    p, out, w, square = reals("p out w s")
    token = [p > 0, out >= 0, w >= 1, out <= w * p, square * p == out * out]
    return [*pointwise(), Obligation("out^2/p <= w out", token, square <= w * out)]


def logarithms() -> list[Obligation]:
    """out <= w p gives log(out/p) <= log w, as log is monotone; weighted by out this sums to KL <= log w."""
    out, log, bound = reals("out l w")
    return [*pointwise(), Obligation("out log(out/p) <= out log w", [out >= 0, log <= bound], out * log <= out * bound)]


def excess() -> list[Obligation]:
    """TV is the sum of [out - p]+, and out exceeds p exactly where what is kept does."""
    p, q, c, a, back = reals("p q c a R")
    token = lenience(p, q, c, a, back)
    return [Obligation("[out - p]+ = [a - p]+", token, positive(a + back - p) == positive(a - p))]


def step() -> list[Obligation]:
    """One slot of a run: what follows a kept token exceeds the target's mass by at most U, what follows a new call by
    Z; with omega U <= B and Z <= B this token and what follows exceed it by at most B."""
    p, q, w, a, back, on, new, bound = reals("p q w a R U Z B")
    token = [p >= 0, q >= 0, w >= 1, a == least(q, w * p), back >= 0, back <= positive(p - a)]
    after = [on >= 0, new >= 0, w * on <= bound, new <= bound]
    return [Obligation("a U + R Z <= B p", [*token, *after], a * on + back * new <= bound * p)]


def attained() -> list[Obligation]:
    """q >= omega p, omega >= 1: omega p is kept and nothing put back, so a run grows by omega at every slot."""
    p, q, w, a, back = reals("p q w a R")
    token = [p > 0, w >= 1, q >= w * p, a == least(q, w * p), back >= 0, back <= positive(p - a)]
    return [Obligation("a = omega p, R = 0", token, both(a == w * p, back == 0))]
