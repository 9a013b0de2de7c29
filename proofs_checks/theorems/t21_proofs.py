"""What z3 proves of T21: at a token with p = 0 nothing is kept (a = q b = 0) and no replacement has mass there.

One token says it for every V.  S > 0 is the sum that a residual is divided by; where it is 0 the residual is p itself.
"""

from __future__ import annotations

from typing import Any

from proofs_checks.smt import Obligation, least, positive, reals


def where(condition: Any, value: Any) -> Any:
    """The value where the condition holds, else 0."""
    import z3

    return z3.If(condition, value, 0 * value)


def nowhere(assume: list[Any], kept: Any, weight: Any) -> list[Obligation]:
    """p = 0: kept mass 0, and weight 0 before it is normalised, so replaced mass 0."""
    p, g, s = reals("p G S")
    return [
        Obligation("nothing is kept where p = 0", [*assume, p == 0], kept == 0),
        Obligation("the residual is 0 where p = 0", [*assume, p == 0, s > 0, g * s == weight], g == 0),
    ]


def ratio_rules() -> list[Obligation]:
    """Strict, lenience, COOL-SD: a = min(q, omega p) at any omega, weight [p - a]+ (strict: omega = 1)."""
    p, q, omega = reals("p q w")
    kept = least(q, omega * p)
    return nowhere([q >= 0, omega > 0], kept, positive(p - kept))


def masked_rules() -> list[Obligation]:
    """Addition and CSD with their mask: a = min(q, p + x) where p > 0, x = bonus q, else 0; weight [p - q]+."""
    p, q, x = reals("p q x")
    return nowhere([q >= 0, x >= 0], where(p > 0, least(q, p + x)), positive(p - q))


def lantern_plus() -> list[Obligation]:
    """What is borrowed is at most (lam - 1) p; the released residual takes tokens out of q, never of p."""
    p, q, gain, lam, left = reals("p q g l q'")
    borrowed = [q >= 0, lam >= 1, gain >= 0, gain <= (lam - 1) * p, left >= 0, left <= q]
    return nowhere(borrowed, least(q, p + gain), positive(p - left))


def lantern_plus_optimal() -> list[Obligation]:
    """The same acceptance, weight [p - a]+."""
    p, q, gain, lam = reals("p q g l")
    kept = least(q, p + gain)
    return nowhere([q >= 0, lam >= 1, gain >= 0, gain <= (lam - 1) * p], kept, positive(p - kept))


def lantern_plus_kept() -> list[Obligation]:
    """The dynamic path: b = p + gain over a positive sum."""
    p, q, gain, lam, b, s = reals("p q g l b s")
    borrowed = [q >= 0, lam >= 1, gain >= 0, gain <= (lam - 1) * p, s > 0, b * s == p + gain]
    return [Obligation("nothing is kept where p = 0", [*borrowed, p == 0], q * b == 0)]


def block_verification() -> list[Obligation]:
    """Any slot of a block: min(q, w p) goes on in the mean, weight [w p - q]+, w being the weight of the prefix."""
    p, q, w = reals("p q w")
    return nowhere([q >= 0, w >= 0], least(q, w * p), positive(w * p - q))


def account() -> list[Obligation]:
    """The ledger at any slot: keep = min(a q, omega p [d]+), theta of the rest on p > 0; weight [p d - keep]+."""
    p, q, a, d, omega, theta = reals("p q a d w t")
    first = least(a * q, omega * p * positive(d))
    kept = first + where(p > 0, theta * (a * q - first))
    return nowhere([q >= 0, a >= 0, omega >= 1, theta >= 0, theta <= 1], kept, positive(p * d - kept))


def band() -> list[Obligation]:
    """The band at any slot: min(d, (1 + up) p) is kept; weight between [(1 - down) p - d]+ and [p - d]+."""
    p, d, up, down, theta = reals("p d up down t")
    low = positive((1 - down) * p - d)
    rule = [d >= 0, up >= 0, down >= 0, theta >= 0, theta <= 1]
    return nowhere(rule, least(d, (1 + up) * p), low + theta * (positive(p - d) - low))


def typical() -> list[Obligation]:
    """Kept only where p exceeds a threshold >= 0; weight p."""
    p, q, threshold = reals("p q t")
    return nowhere([q >= 0, threshold >= 0], where(p > threshold, q), p)


def cactus() -> list[Obligation]:
    """g = p + root capped at 1, root^2 = 2 d p (1 - p); a = min(q, g).  Weights: of y from p(y) f, of x from g(x)."""
    p, q, d, root, factor = reals("p q d s f")
    raised = least(p + root, 0 * p + 1)
    rule = [q >= 0, d >= 0, root >= 0, root * root == 2 * d * p * (1 - p), factor >= 0, factor <= 1]
    other = nowhere(rule, least(q, raised), positive(p * factor - q))
    return [*other, *nowhere(rule, least(q, raised), positive(raised - q))]


def optimal() -> list[Obligation]:
    """Any a >= 0, weight [p - a]+."""
    p, a, g, s = reals("p a G S")
    rule = [a >= 0, p == 0, s > 0, g * s == positive(p - a)]
    return [Obligation("the residual is 0 where p = 0", rule, g == 0)]
