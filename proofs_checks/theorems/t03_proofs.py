"""What z3 proves of T03, one token at a time: a = q b is kept, R = r G put back."""

from __future__ import annotations

from proofs_checks.smt import Obligation, both, least, magnitude, positive, reals


def coordinate() -> list[Obligation]:
    """One token: a = q b kept, R = r G put back; summed over tokens q - a is P(reject), [a + R - p]+ is TV(out, p)."""
    p, q, a, back, x, u, g = reals("p q a R x u g")
    assume = [p >= 0, q >= a, a >= 0, back >= 0]
    return [
        Obligation("q - a + [a + R - p]+ >= [q - p]+", assume, q - a + positive(a + back - p) >= positive(q - p)),
        # Laws have the same sum, so the x of all tokens sum to 0 and half the sum of |x| is the sum of [x]+.
        Obligation("|x|/2 = [x]+ - x/2", [], magnitude(x) / 2 == positive(x) - x / 2),
        Obligation("R >= 0: so is each term q(x) (1 - b(x)) G_x of it", [u >= 0, g >= 0], u * g >= 0),
    ]


def equality() -> list[Obligation]:
    """A sum of terms >= 0 is 0 iff each is, so equality is a question about one token."""
    p, q, a, back = reals("p q a R")
    assume = [p >= 0, q >= a, a >= 0, back >= 0]
    inside = both(a >= least(p, q), back <= positive(p - a))
    gap = q - a + positive(a + back - p) - positive(q - p)
    return [
        *coordinate(),
        Obligation("inside: equality", [*assume, inside], gap == 0),
        Obligation("equality: inside", [*assume, gap == 0], inside),
    ]


def effective() -> list[Obligation]:
    """Two refused tokens of mass u, w, replaced by laws that give g, h to a token: r G = u g + w h, r = u + w."""
    u, w, g, h, law, other = reals("u w g h G O")
    refused = [u >= 0, w >= 0, u + w > 0, g >= 0, g <= 1, h >= 0, h <= 1]
    split = [(u + w) * law == u * g + w * h, (u + w) * other == u * (1 - g) + w * (1 - h)]
    return [
        Obligation("G >= 0", [*refused, split[0]], law >= 0),
        Obligation("G sums to 1", [*refused, *split], law + other == 1),
    ]


def spending() -> list[Obligation]:
    """On the line a token costs a - min(p, q), and the sum of min(p, q) is 1 - TV(p, q)."""
    p, q, a, back = reals("p q a R")
    assume = [p >= 0, q >= a, a >= least(p, q), back >= 0, back <= positive(p - a)]
    return [
        Obligation("[a + R - p]+ = a - min(p, q)", assume, positive(a + back - p) == a - least(p, q)),
        Obligation("min(p, q) = p - [p - q]+", [p >= 0, q >= 0], least(p, q) == p - positive(p - q)),
    ]
