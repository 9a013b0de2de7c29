"""SMT obligations of modified rejection sampling: keep x ~ q with b = min(1, p/q), else draw from norm[p - q]+."""

from __future__ import annotations

from proofs_checks.smt import Obligation, both, either, law, least, magnitude, positive, reals, total


def diagonal() -> list[Obligation]:
    """Token v, kept with b = min(1, p/q), and never taken up after it was refused: P(X = Y = v) = min(p, q)."""
    p, q, b = reals("p q b")
    assume = [p >= 0, q >= 0, b >= 0, b <= 1, either(both(p >= q, b == 1), both(p < q, b * q == p))]
    return [
        Obligation("q b = min(p, q)", assume, q * b == least(p, q)),
        Obligation("q (1 - b) = [q - p]+: summed, r = sum [q - p]+", assume, q * (1 - b) == positive(q - p)),
        Obligation("a token that can be refused is no replacement", assume, q * (1 - b) * positive(p - q) == 0),
    ]


def refilled() -> list[Obligation]:
    """Token y: min(p, q) is kept, r = sum [q - p]+ is replaced from G = [p - q]+ / S, S = sum [p - q]+."""
    p, q, r, s, g = reals("p q r S G")
    token, some = [p >= 0, q >= 0], [p >= 0, q >= 0, s > 0, r == s]
    return [
        Obligation("[p - q]+ - [q - p]+ = p - q: summed, S = r", token, positive(p - q) - positive(q - p) == p - q),
        Obligation("min(p, q) + r G = p", [*some, g * s == positive(p - q)], least(p, q) + r * g == p),
        Obligation("with S = r = 0 no token is refused", [*token, positive(q - p) == 0, positive(p - q) == 0], p == q),
    ]


def in_full() -> list[Obligation]:
    """Off the diagonal q(x) (1 - b(x)) G(y) = [q - p]+(x) [p - q]+(y) / S; and S = TV, whichever law comes first."""
    p, q, moved, left, gained, s = reals("p q m left gained S")
    pair = [left >= 0, gained >= 0, s > 0, moved * s == left * gained]
    halves = magnitude(p - q) == positive(p - q) + positive(q - p)
    return [
        *diagonal(),
        *refilled()[:1],
        Obligation("|p - q| = [p - q]+ + [q - p]+: summed, 2 TV = 2 S", [p >= 0, q >= 0], halves),
        Obligation("the share of G moved is the closed form", pair, moved == left * (gained / s)),
    ]


def whole(vocab: int) -> list[Obligation]:
    """All of it at once: m(x, y) = q(x) K(x, y), S m(x, y) = [q - p]+(x) [p - q]+(y) apart from what is kept."""
    (q, first), (p, second), tokens = law("q", vocab), law("p", vocab), range(vocab)
    (room,) = reals("S")
    moved = [[next(reals(f"m{x}{y}")) for y in tokens] for x in tokens]
    shares = [room * moved[x][y] == positive(q[x] - p[x]) * positive(p[y] - q[y]) for x in tokens for y in tokens]
    assume = [*first, *second, room == total([positive(p[v] - q[v]) for v in tokens]), room > 0, *shares]
    rows = [least(p[x], q[x]) + total(moved[x]) == q[x] for x in tokens]
    columns = [least(p[y], q[y]) + total([moved[x][y] for x in tokens]) == p[y] for y in tokens]
    return [
        Obligation(f"V = {vocab}: X ~ q", assume, both(*rows)),
        Obligation(f"V = {vocab}: Y ~ p", assume, both(*columns)),
    ]
