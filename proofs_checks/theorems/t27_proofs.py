"""What z3 proves of T27: one slot of the band, relative to the mass alive before it, whatever the level."""

from __future__ import annotations

from typing import Any

from proofs_checks.smt import Obligation, both, least, positive, reals


def parts() -> tuple[list[Any], Any, Any, Any]:
    """p, d, up, down, the share theta; kept of a token before it is scaled, its weight, and what it is asked to be."""
    p, d, up, down, theta = reals("p d up down theta")
    low = positive((1 - down) * p - d)
    assume = [p >= 0, d >= 0, up >= 0, down >= 0, theta >= 0, theta <= 1]
    return assume, least(d, (1 + up) * p), low + theta * (positive(p - d) - low), positive(p - d)


def valid() -> list[Obligation]:
    """Kept is at most d and nothing where p = 0; weights are between 0 and [p - d]+; the share is one."""
    assume, kept, weight, room = parts()
    p, d, w, kept_share, total = reals("p d w k T")
    lack, most, left, theta = reals("S M r t")
    sums = [lack >= 0, most > lack, left <= most, left > lack, theta * (most - lack) == left - lack]
    share = [p >= 0, w > 0, w <= 1, kept_share >= 0, kept_share <= d, total >= 1]
    return [
        Obligation("0 <= kept <= d", assume, both(kept >= 0, kept <= d)),
        Obligation("nothing is kept where p = 0", [*assume, p == 0], kept == 0),
        Obligation("0 <= weight <= [p - d]+", assume, both(weight >= 0, weight <= room)),
        Obligation("sum weight = what is left, 0 <= theta <= 1", sums, both(theta >= 0, theta <= 1)),
        Obligation("w' = w k/(T q) with d = q/w: at most 1", share, kept_share <= total * d),
    ]


def enough() -> list[Obligation]:
    """r = 1 - sum kept <= sum [p - d]+: token by token p - kept <= [p - d]+."""
    assume, kept, _, room = parts()
    (p,) = reals("p")
    return [Obligation("p - kept <= [p - d]+", assume, p - kept <= room)]


def within() -> list[Obligation]:
    """(c p + kept + put back)/(1 + c) <= omega p, as up <= n = (omega - 1)(1 + c)."""
    assume, kept, _, room = parts()
    p, up, omega, c, back, total, share = reals("p up omega c R T k")
    more = [omega >= 1, c >= 0, up <= (omega - 1) * (1 + c), back >= 0, back <= room]
    scaled = [*assume, *more, total >= 1, share >= 0, share <= kept]
    return [
        *enough(),
        Obligation("c p + kept/T + R <= omega p (1 + c)", scaled, c * p + share + back <= omega * p * (1 + c)),
    ]


def one() -> list[Obligation]:
    """omega = 1: n = 0, so up = down = 0, kept = min(q/w, p), weight [p - q/w]+: block verification, divided by w."""
    p, q, d, w = reals("p q d w")
    law = [p >= 0, q >= 0, w > 0, w <= 1, d * w == q]
    return [
        Obligation("w min(d, p) = min(q, w p)", law, w * least(d, p) == least(q, w * p)),
        Obligation("w [p - d]+ = [w p - q]+", law, w * positive(p - d) == positive(w * p - q)),
    ]


def marginal() -> list[Obligation]:
    """T15's induction with any kept masses k <= d: q w'/w = k, M = w sum k, h = S/(S + 1 - w), S = w - M."""
    m, w, s, h = reals("M w S h")
    shares = [m >= 0, m <= w, w <= 1, s == w - m]
    return [
        Obligation("M < 1: M + (1 - M) h = w", [*shares, m < 1, h * (s + 1 - w) == s], m + (1 - m) * h == w),
        Obligation("M = 1: w = 1, h does not matter", [*shares, m == 1], both(w == 1, s + 1 - w == 0)),
    ]
