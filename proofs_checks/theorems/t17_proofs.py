"""The obligations of T17, in masses: a = q b kept, R put back, B = (lam - 1) p the budget, g the loan."""

from __future__ import annotations

from proofs_checks.smt import Obligation, both, least, positive, reals


def borrowed() -> list[Obligation]:
    """a = q min(1, (p + g)/q) static, q min(1, p + g) dynamic: no more than q and than p + g."""
    p, q, g, a, b = reals("p q g a b")
    some = [p >= 0, q >= 0, q <= 1, g >= 0]
    return [
        Obligation("static: a <= q, a <= p + g", [*some, a == least(q, p + g)], both(a <= q, a <= p + g)),
        Obligation("dynamic: a <= q, a <= p + g", [*some, b == least(1, p + g), a == q * b], both(a <= q, a <= p + g)),
    ]


def multiple() -> list[Obligation]:
    """LANTERN++ with G*: R <= [p - a]+, so out <= max(a, p) <= lam p = p + B."""
    p, a, g, back, budget = reals("p a g R B")
    some = [p >= 0, a >= 0, g >= 0, g <= budget, a <= p + g, back >= 0, back <= positive(p - a)]
    return [*borrowed(), Obligation("a + R <= p + B", some, a + back <= p + budget)]


def at_most_one() -> list[Obligation]:
    """TV = out(A) - p(A) on A = {out > p}; out(A) <= 1 and out(A) <= lam p(A); w = 1/lam."""
    out, p, w = reals("out p w")
    some = [p >= 0, out >= p, out <= 1, w > 0, w <= 1, w * out <= p]
    return [*multiple(), Obligation("out(A) - p(A) <= 1 - 1/lam", some, out - p <= 1 - w)]


def shifted() -> list[Obligation]:
    """LANTERN with G*: the excess [a - p]+ is at most [q - p]+, and at most delta; none where q <= p."""
    p, q, a, g, back, delta = reals("p q a g R delta")
    some = [p >= 0, q >= 0, a >= 0, g >= 0, g <= delta, a <= q, a <= p + g]
    given = [*some, back >= 0, back <= positive(p - a)]
    return [
        *borrowed(),
        Obligation("out <= p + delta", given, a + back <= p + delta),
        Obligation("the excess of out is [a - p]+", given, positive(a + back - p) == positive(a - p)),
        Obligation("[a - p]+ <= [q - p]+", some, positive(a - p) <= positive(q - p)),
        Obligation("[a - p]+ <= delta", some, positive(a - p) <= delta),
        Obligation("none where q <= p", [*some, q <= p], positive(a - p) == 0),
    ]


def put_back() -> list[Obligation]:
    """Released static path: S_x = sum [p - q']+ >= T = sum [p - q]+ = TV and r <= T, so at most p(v) is put back."""
    p, q, less, a, s, t, w, f, r, back, budget = reals("p q less a S T w f r R B")
    strict = [p >= 0, q >= 0, a >= least(p, q)]
    return [
        *borrowed(),
        Obligation("q' <= q: [p - q']+ >= [p - q]+", [less <= q], positive(p - less) >= positive(p - q)),
        Obligation("q - a <= [q - p]+, so r <= T", strict, q - a <= positive(q - p)),
        Obligation("w/S <= p/T for w = [p - q']+ <= p", [w >= 0, w <= p, t > 0, s >= t], w * t <= p * s),
        Obligation("sum f w/S <= sum f p/T = r p/T <= p", [p >= 0, t > 0, r >= 0, r <= t, f * t == r * p], f <= p),
        Obligation("a <= p + B, R <= p: out <= (lam + 1) p", [a <= p + budget, back <= p], a + back <= 2 * p + budget),
    ]
