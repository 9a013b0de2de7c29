"""What z3 proves of T28."""

from __future__ import annotations

from typing import Any

from proofs_checks.smt import Obligation, both, least, positive, reals


def dual() -> list[Obligation]:
    """1[Y in D] <= 1[Y in H] + 1[D not within H] for any H: in mean, no coupling keeps more than 1 + p(H) - Q(H)."""
    import z3

    drafted, member, within = z3.Bools("Y_in_D Y_in_H D_within_H")
    one, none = z3.RealVal(1), z3.RealVal(0)

    def indicator(event: Any) -> Any:
        return z3.If(event, one, none)

    meaning = z3.Implies(both(within, drafted), member)
    goal = indicator(drafted) <= indicator(member) + 1 - indicator(within)
    return [Obligation("1[Y in D] <= 1[Y in H] + 1 - 1[D within H]", [meaning], goal)]


def exchange() -> list[Obligation]:
    """x, y: q of a token that is not in H and of one that is; a: q of the rest of H; g_x, g_y: what each adds to Q."""
    a, x, y, gx, gy, px, py = reals("a x y g_x g_y p_x p_y")
    inside = [a >= 0, x > 0, y > 0]
    convex = [
        Obligation(
            f"k = {k}: the later token adds more for each unit of q",
            inside,
            (product(a + y + x, k) - product(a + y, k)) * y >= (product(a + y, k) - product(a, k)) * x,
        )
        for k in (2, 3)
    ]
    optimal = [px >= gx, py <= gy, gx * y >= gy * x]
    return [*convex, Obligation("then p_x/q_x >= p_y/q_y if H is best", [*inside, *optimal], px * y >= py * x)]


def product(value: Any, times: int) -> Any:
    """A power, written out."""
    found = value
    for _ in range(times - 1):
        found = found * value
    return found


def fewer_left() -> list[Obligation]:
    """Every draft held is one of H, m is their mass: the next is in H with probability t = (a - m)/(1 - m) <= a."""
    a, m, t, before, power = reals("a m t Q A")
    law = [a >= 0, a <= 1, m >= 0, m < 1, m <= a]
    return [
        Obligation("(a - m)/(1 - m) <= a", [*law, t * (1 - m) == a - m], t <= a),
        Obligation("Q <= a^k: Q t <= a^k a", [*law, before >= 0, before <= power, t >= 0, t <= a],
                   before * t <= power * a),
    ]  # fmt: skip


def one_draft() -> list[Obligation]:
    """k = 1: the best H has the tokens with p < q, each by itself."""
    p, q = reals("p q")
    law = [p >= 0, q >= 0]
    return [
        Obligation("q + min(0, p - q) = min(p, q): summed, 1 - TV", law, q + least(0 * p, p - q) == least(p, q)),
        Obligation("min(0, p - q) = -[q - p]+", law, least(0 * p, p - q) == -positive(q - p)),
    ]
