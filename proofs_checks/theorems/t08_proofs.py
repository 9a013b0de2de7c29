"""What z3 proves of T08: one token at a time, a = q b is kept, c = omega p; and one slot of a run."""

from __future__ import annotations

from proofs_checks.smt import Obligation, both, least, positive, reals


def lossless() -> list[Obligation]:
    """With a <= p everywhere [p - a]+ = p - a sums to r, so r G* = p - a and a + r G* = p."""
    p, q, c, a, back = reals("p q c a R")
    kept = [p >= 0, q >= 0, c >= 0, c <= p, a == least(q, c)]
    return [
        Obligation("a <= p", kept, both(a >= 0, a <= p)),
        Obligation("[p - a]+ = p - a", kept, positive(p - a) == p - a),
        Obligation("a + R = p", [*kept, back == positive(p - a)], a + back == p),
    ]


def fewer() -> list[Obligation]:
    """b <= min(1, p/q), in masses."""
    p, q, c = reals("p q c")
    return [Obligation("q b <= min(p, q)", [p >= 0, q >= 0, c >= 0, c <= p], least(q, c) <= least(p, q))]


def distance() -> list[Obligation]:
    """The terms of P(reject) + TV(out, p) - TV(p, q) for omega <= 1, where R = p - a, and above, where r G* fits."""
    p, q, c, a, back = reals("p q c a R")
    kept = [p >= 0, q >= 0, c >= 0, a == least(q, c), back >= 0]
    gap = q - a + positive(a + back - p) - positive(q - p) == positive(least(p, q) - c)
    return [
        *lossless(),
        Obligation("omega <= 1", [*kept, c <= p, back == p - a], gap),
        Obligation("omega >= 1", [*kept, c >= p, back <= positive(p - a)], gap),
    ]


def never_refused() -> list[Obligation]:
    """omega < 1: a term of the distance is 0 iff p = 0 or q <= omega p."""
    p, q, omega = reals("p q w")
    kept = [p >= 0, q >= 0, omega > 0, omega < 1]
    term = positive(least(p, q) - omega * p)
    return [
        *distance(),
        Obligation("p = 0", [*kept, p == 0], term == 0),
        Obligation("p > 0", [*kept, p > 0], (term == 0) == (q <= omega * p)),
    ]


def bias() -> list[Obligation]:
    """norm[p - q]+ puts nothing where p <= q, and there a = omega p is short of p; TV = sum [p - out]+."""
    p, q, c, out, x = reals("p q c out x")
    short = [p >= 0, q >= p, c >= 0, c <= p, out == least(q, c)]
    return [
        Obligation("[p - q]+ = 0", short, positive(p - q) == 0),
        Obligation("[p - out]+ = p - omega p", short, positive(p - out) == p - c),
        Obligation("elsewhere [p - out]+ >= 0", [x >= 0], positive(x) >= 0),
    ]


def slot() -> list[Obligation]:
    """Induction over what is left of a run of a chain: keeping less of a token costs no less.

    For one token of target mass p > 0: b = a/p and d <= b are the shares that two rules keep, both lossless at every
    slot.  Expected calls still to come: first with all slots left, on with fewer, later with fewer yet, off = 1 + first
    after a refusal; with the rule of d they are no smaller.
    """
    b, d, first, on, later, other_on, other_off = reals("b d A0 A1 A2 B D")
    off = 1 + first
    shares = [d >= 0, d <= b, b <= 1, first >= 0, first <= on, on <= later, later <= off]
    no_less = [other_on >= on, other_off >= off]
    here = b * on + (1 - b) * off
    return [
        Obligation("fewer slots cost no less", shares, here <= b * later + (1 - b) * off),
        Obligation("no slot left, a bonus token, no less than one slot", shares, here <= off),
        Obligation("a new call costs no less than a bonus token", shares, off <= 1 + here),
        Obligation("keeping less costs no less", [*shares, *no_less], here <= d * other_on + (1 - d) * other_off),
    ]
