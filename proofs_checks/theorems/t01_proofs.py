"""The obligations of T01, in masses."""

from __future__ import annotations

from proofs_checks.smt import Obligation, both, least, positive, reals


def one_token() -> list[Obligation]:
    """min(p, q) is kept and r G put back; S = sum [p - q]+.  The first sums over the tokens to r = S."""
    p, q, r, s, w, others, share = reals("p q r S w others share")
    masses = [p >= 0, q >= 0]
    terms = [w >= 0, others >= 0, w + others == s, r == s]
    return [
        Obligation("p - min(p, q) = [p - q]+, so r = S", masses, p - least(p, q) == positive(p - q)),
        Obligation("S > 0: r (w/S) = w", [*terms, s > 0, share * s == w], r * share == w),
        Obligation("S = 0: r = 0 and w = 0", [*terms, s == 0], both(r == 0, w == 0)),
        Obligation("min(p, q) + [p - q]+ = p", masses, least(p, q) + positive(p - q) == p),
    ]


def one_slot() -> list[Obligation]:
    """A slot reached with mass A puts out A p at a token, whether it holds a draft or not; P = A p, Q = A q."""
    wanted, drafted, kept, put = reals("P Q kept put")
    holding = [wanted >= 0, drafted >= 0, kept == least(wanted, drafted), put == positive(wanted - drafted)]
    return [
        Obligation("a slot that holds a draft", holding, kept + put == wanted),
        Obligation("an empty slot: the bonus", [wanted >= 0, kept == 0, put == wanted], kept + put == wanted),
    ]
