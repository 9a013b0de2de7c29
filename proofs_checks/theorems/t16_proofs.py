"""The obligations of T16, in masses: a = q b kept, R put back, E = e q what the bonus e = lam H(p) adds."""

from __future__ import annotations

from proofs_checks.smt import Obligation, both, least, positive, reals


def excess() -> list[Obligation]:
    """Where TV(p, q) < delta: a = min(q, p + E), and norm[p - q]+ puts back R = r w/S, w = [p - q]+."""
    p, q, a, e, r, s, w, back = reals("p q a E r S w R")
    some = [p >= 0, q >= 0, e >= 0, a == least(q, p + e)]
    share = [w >= 0, r >= 0, s > 0, r <= s, back * s == r * w]
    inside = [*some, back >= 0, back <= positive(p - q)]
    return [
        Obligation("a >= min(p, q), so r <= S", some, a >= least(p, q)),
        Obligation("R = r w/S <= w", share, back <= w),
        Obligation(
            "out - p is [min(q - p, E)]+ from above", inside, positive(a + back - p) == positive(least(q - p, e))
        ),
    ]


def masked() -> list[Obligation]:
    """The same with a = 0 where p = 0: nothing is kept, put back or emitted there."""
    p, q, a, back = reals("p q a R")
    off = [p == 0, q >= 0, a == 0, back >= 0, back <= positive(p - q)]
    return [*excess(), Obligation("p = 0: a + R = 0", off, both(a + back == 0, positive(a + back - p) == 0))]


def bounded() -> list[Obligation]:
    """Terms of the sum: at most [q - p]+, and at most E where q > p; E sums to at most e."""
    p, q, e, above, rest, bonus = reals("p q E above rest e")
    some = [p >= 0, q >= 0, e >= 0]
    term = positive(least(q - p, e))
    return [
        *masked(),
        Obligation("a term is at most [q - p]+", some, term <= positive(q - p)),
        Obligation("a term is at most E", some, term <= e),
        Obligation("no term where q <= p", [*some, q <= p], term == 0),
        Obligation("e q(q > p) <= e", [bonus >= 0, above >= 0, rest >= 0, above + rest == 1], bonus * above <= bonus),
    ]


def all_kept() -> list[Obligation]:
    """e >= 1 where TV(p, q) < delta."""
    p, q, bonus = reals("p q e")
    return [Obligation("min(q, p + e q) = q", [p >= 0, q >= 0, bonus >= 1], least(q, p + bonus * q) == q)]
