"""What z3 proves of T24, one token at a time: a q is there, p d wanted, keep kept."""

from __future__ import annotations

from typing import Any

from proofs_checks.smt import Obligation, both, least, positive, reals


def balanced() -> list[Obligation]:
    """omega = 1 and d = a: keep = a min(p, q), nothing is spent, and a' = d'."""
    p, q, a, s, k, w, now, then = reals("p q a S k g A D")
    token = [p >= 0, q >= 0, a > 0]
    keep = least(a * q, a * p)
    after = [p > 0, s > 0, k == 0, now * p == keep, then * p * s == least(keep, p * a) * s + k * w]
    return [
        Obligation("keep = a min(q, p): b = min(1, p/q)", token, keep == a * least(q, p)),
        Obligation("nothing above p d: no excess, k = 0", token, positive(keep - a * p) == 0),
        Obligation("[p d - keep]+ = a [p - q]+", token, positive(a * p - keep) == a * positive(p - q)),
        Obligation("a' = d'", [*token, *after], now == then),
        Obligation("S = 0: p <= q, keep = a p, a' = a = d'", [*token, p <= q], keep == a * p),
    ]


def kept_mass() -> tuple[list[Any], Any, list[Any]]:
    """A slot with any account: formulas of the rule, what is kept, and the variables."""
    p, q, a, d, omega, share = reals("p q a d w t")
    there, base = a * q, p * positive(d)
    first = least(there, omega * base)
    given = [p >= 0, q >= 0, a >= 0, omega >= 1, share >= 0, share <= 1]
    return given, first + share * (there - first), [p, q, a, d, omega, share]


def valid() -> list[Obligation]:
    """0 <= keep <= a q, and nothing where p = 0, where the share is not given out."""
    given, keep, (p, q, a, d, omega, _) = kept_mass()
    mass, alive = reals("k A")
    s, g, r, over, then = reals("S g r k D")
    entered = [p > 0, g >= 0, s > 0, g <= s, r == s - over]
    return [
        Obligation("0 <= keep <= a q", given, both(keep >= 0, keep <= a * q)),
        Obligation("p = 0: min(a q, omega p d) = 0", [*given, p == 0], least(a * q, omega * p * positive(d)) == 0),
        Obligation("a q < p d: all is kept", [*given, a * q <= p * d], keep == a * q),
        Obligation("a q >= p d >= 0: no less than p d", [*given, a * q >= p * d, d >= 0], keep >= p * d),
        # d' as the rule has it, min(keep, p d) + (k/S) g with g = p d - keep > 0, is d - r G/p with G = g/S.
        Obligation(
            "d' = d - r G/p",
            [*entered, then * p * s == (p * d - g) * s + over * g],
            then * p * s == d * p * s - r * g,
        ),
        Obligation("a' = keep/p", [p > 0, mass >= 0, alive * p == mass], both(alive >= 0, alive * p == mass)),
    ]


def support() -> list[Obligation]:
    """p = 0: nothing is kept and nothing put back."""
    given, _, (p, q, a, d, omega, _) = kept_mass()
    first = least(a * q, omega * p * positive(d))
    off = [*given, p == 0]
    return [
        Obligation("nothing is kept", off, first == 0),
        Obligation("[p d - keep]+ = 0", off, positive(p * d - first) == 0),
    ]


def lenient() -> list[Obligation]:
    """a = d = 1, no excess: keep = min(q, omega p), and the residual is that of lenience."""
    p, q, omega = reals("p q w")
    return [
        Obligation(
            "keep", [p >= 0, q >= 0, omega >= 1], least(1 * q, omega * (p * positive(1 + 0 * p))) == least(q, omega * p)
        ),
        Obligation("spare <= 0 is not spent", [p >= 0], -positive(least(q, omega * p) - p) <= 0),
    ]
