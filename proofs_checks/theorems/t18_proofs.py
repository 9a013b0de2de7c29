"""T18: SMT obligations of one group and of one token."""

from __future__ import annotations

from proofs_checks.smt import Obligation, both, least, positive, reals


def one_group() -> list[Obligation]:
    """Q b = min(P, Q) is what a group keeps; adding a token's (p, q) to a group adds at least min(p, q)."""
    p, q, mass, drafted, b = reals("p q P Q b")
    laws = [p >= 0, q >= 0, mass >= 0, drafted >= 0]
    capped = [*laws, drafted > 0, b >= 0, b <= 1, both(b * drafted <= mass, (b - 1) * (b * drafted - mass) == 0)]
    grown = least(mass + p, drafted + q) >= least(mass, drafted) + least(p, q)
    return [
        Obligation("b = min(1, P/Q): Q b = min(P, Q)", capped, b * drafted == least(mass, drafted)),
        Obligation("min(P + p, Q + q) >= min(P, Q) + min(p, q)", laws, grown),
    ]


def fits() -> list[Obligation]:
    """R = r w/S with w = [p - q]+, S = sum w = TV(p, q) >= r: R <= w <= [p - q b]+, in the optimal set."""
    p, q, kept_mass, w, r, total = reals("p q a w r S")
    room = positive(p - q) <= positive(p - kept_mass)
    return [
        one_group()[1],
        Obligation("w r <= w S", [w >= 0, r >= 0, r <= total], w * r <= w * total),
        Obligation("[p - q]+ <= [p - a]+", [p >= 0, kept_mass >= 0, kept_mass <= q], room),
    ]


def shared() -> list[Obligation]:
    """sum over the group of q b = Q b = min(P, Q), token by token: (Q + q) b = Q b + q b."""
    q, drafted, b = reals("q Q b")
    laws = [q >= 0, drafted >= 0, b >= 0, b <= 1]
    return [one_group()[0], Obligation("one b for all: masses add", laws, (drafted + q) * b == drafted * b + q * b)]
