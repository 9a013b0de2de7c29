"""What z3 proves of T15: the weights of prefixes, one token at a time, and one slot of a run."""

from __future__ import annotations

from proofs_checks.smt import Obligation, both, least, positive, reals


def marginal() -> list[Obligation]:
    """Induction from the last slot back: P(at least i kept | x up to i) = w_i.

    M = sum min(q, w p) is then P(at least i + 1 kept | x up to i), and w - M = S.
    """
    p, q, w, m, s, h, r = reals("p q w M S h r")
    shares = [m >= 0, m <= w, w <= 1, s == w - m]
    token = [p >= 0, q > 0, w >= 0, w <= 1]
    return [
        Obligation(
            "q min(1, w p/q) = min(q, w p)", [*token, r * q == w * p], q * least(r, 1 + 0 * r) == least(q, w * p)
        ),
        Obligation("min(q, w p) + [w p - q]+ = w p", token, least(q, w * p) + positive(w * p - q) == w * p),
        Obligation("M < 1: M + (1 - M) h = w", [*shares, m < 1, h * (s + 1 - w) == s], m + (1 - m) * h == w),
        Obligation("M = 1: w = 1, h does not matter", [*shares, m == 1], both(w == 1, s + 1 - w == 0)),
    ]


def lossless() -> list[Obligation]:
    """Of the mass Q w that goes on, Q min(q, w p) is kept, and S of Q is put back by norm[w p - q]+."""
    p, q, w, s, g = reals("p q w S G")
    token = [p >= 0, q >= 0, w >= 0, w <= 1, s > 0, g * s == positive(w * p - q)]
    return [
        *marginal(),
        Obligation("kept + corrected = w p", token, least(q, w * p) + s * g == w * p),
        Obligation("S = 0: nothing is put back", [*token[:4], w * p <= q], least(q, w * p) == w * p),
    ]


def more() -> list[Obligation]:
    """A product of min(1, p/q), s, is at most w."""
    p, q, w, s = reals("p q w s")
    assume = [p >= 0, q >= 0, s >= 0, s <= w, w <= 1]
    return [Obligation("s min(q, p) <= min(q, w p)", assume, s * least(q, p) <= least(q, w * p))]


def most() -> list[Obligation]:
    """Any lossless verifier: A(x) kept, C(x) put on x earlier, A + C = T; C goes on with p, and R >= 0 is added."""
    p, a, c, then, more, put = reals("p A C B D R")
    q, w, drafted = reals("q w Q")
    path = [p >= 0, a >= 0, c >= 0, put >= 0, more == c * p + put, then + more == (a + c) * p]
    bound = [then <= a * p, then <= drafted * q, a <= drafted * w, drafted > 0, q >= 0, p >= 0, w >= 0]
    return [
        Obligation("A(x v) <= A(x) p(v)", path, then <= a * p),
        Obligation("A <= Q w: A(x v) <= Q min(q, w p)", bound, then <= drafted * least(q, w * p)),
    ]


def cheaper() -> list[Obligation]:
    """Strict runs: C(x) calls to come, D(x) = C(x) - sum_v p C(x v) saved by keeping the draft x, is at least 0.

    A0, A1 as in T08: calls to come in a round with i and i + 1 drafts kept; C = 1 + A0.
    """
    a, after, on, here, before = reals("a C1 A1 f g")
    return [
        Obligation("a (A1 - C) >= -a", [a >= 0, after <= 1 + on], a * (on - after) >= -a),
        Obligation("D = 1 + sum a (A1 - C) >= 1 - sum a >= 0", [here >= -before, before <= 1], 1 + here >= 0),
        Obligation("more kept, D >= 0: no more calls", [here >= before, a >= 0], -here * a <= -before * a),
    ]
