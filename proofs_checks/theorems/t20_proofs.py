"""Why a rule is on the Pareto line: SMT obligations of one token, with a = q b kept and R = r G put back.

q b between min(p, q) and q, and R within [p - q b]+ everywhere, make every term of the distance from the line 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proofs_checks.smt import EVERY, Obligation, Proof, both, either, least, positive, reals


def on_the_line() -> list[Obligation]:
    """The term of one token: (q - a) + [a + R - p]+ - [q - p]+ = 0."""
    p, q, a, back = reals("p q a R")
    assume = [p >= 0, q >= 0, least(p, q) <= a, a <= q, back >= 0, back <= positive(p - a)]
    term = (q - a) + positive(a + back - p) - positive(q - p)
    return [Obligation("min(p, q) <= a <= q and R <= [p - a]+ leave nothing", assume, term == 0)]


def standard_fits() -> list[Obligation]:
    """norm[p - q]+: r = sum (q - a) <= S = sum [q - p]+ = sum [p - q]+, so R = r [p - q]+/S <= [p - q]+ <= [p - a]+."""
    p, q, a, w, r, s = reals("p q a w r S")
    assume = [p >= 0, q >= 0, least(p, q) <= a, a <= q]
    return [
        Obligation("q - a <= [q - p]+", assume, q - a <= positive(q - p)),
        Obligation("[p - q]+ <= [p - a]+", assume, positive(p - q) <= positive(p - a)),
        Obligation("w r <= w S", [w >= 0, r >= 0, r <= s], w * r <= w * s),
    ]


def optimal_fits() -> list[Obligation]:
    """norm[p - a]+: r = sum (p - a) <= S = sum [p - a]+, so R = r [p - a]+/S <= [p - a]+."""
    p, a, w, r, s = reals("p a w r S")
    return [
        Obligation("p - a <= [p - a]+", [p >= 0, a >= 0], p - a <= positive(p - a)),
        Obligation("w r <= w S", [w >= 0, r >= 0, r <= s], w * r <= w * s),
    ]


def between(assume: list[Any], kept: Any) -> list[Obligation]:
    """The rule's own part: what it keeps lies between min(p, q) and q."""
    p, q = reals("p q")
    return [Obligation("min(p, q) <= q b <= q", [p >= 0, q >= 0, *assume], both(least(p, q) <= kept, kept <= q))]


def strict() -> list[Obligation]:
    """q b = min(p, q)."""
    p, q = reals("p q")
    return [*between([], least(p, q)), *standard_fits(), *on_the_line()]


def lenient() -> list[Obligation]:
    """q b = min(omega p, q), omega >= 1."""
    p, q, omega = reals("p q omega")
    return [*between([omega >= 1], least(omega * p, q)), *optimal_fits(), *on_the_line()]


def raised() -> list[Obligation]:
    """q b = min(p + c q, q) with c >= 0, or min(p, q): masked where p = 0, and strict where the filter says so."""
    p, q, bonus = reals("p q c")
    kept = least(p + bonus * q, q)
    masked = between([bonus >= 0, p == 0], p)
    return [*between([bonus >= 0], kept), *between([], least(p, q)), *masked, *standard_fits(), *on_the_line()]


def mixed() -> list[Obligation]:
    """q b = min(w p + (1 - w) q, q), 0 <= w <= 1."""
    p, q, w = reals("p q w")
    return [*between([w >= 0, w <= 1], least(w * p + (1 - w) * q, q)), *standard_fits(), *on_the_line()]


def all_or_strict() -> list[Obligation]:
    """q b = q everywhere, or min(p, q) everywhere."""
    p, q, kept = reals("p q a")
    return [*between([either(kept == q, kept == least(p, q))], kept), *standard_fits(), *on_the_line()]


def borrowed() -> list[Obligation]:
    """q b = min(p + what is borrowed, q), with G*."""
    p, q, gain = reals("p q gain")
    return [*between([gain >= 0], least(p + gain, q)), *optimal_fits(), *on_the_line()]


def of_one_draft() -> list[Obligation]:
    """Block verification of one draft keeps min(q, p') and puts [p' - q]+ back, p' = a + R being the law of a rule on
    the line, min(p, q) <= a <= q and R <= [p - a]+: p' is between p and q at every token."""
    p, q, a, back = reals("p q a R")
    inner = [p >= 0, q >= 0, a >= least(p, q), a <= q, back >= 0, back <= positive(p - a)]
    law = a + back
    split = positive(q - law) + positive(law - p) == positive(q - p)
    return [Obligation("[q - p']+ + [p' - p]+ = [q - p]+", inner, split)]


def band() -> list[Obligation]:
    """A block of one draft keeps min(q, (1 + up) p) and puts r = sum (q - a) back by weights w, which are between
    [(1 - down) p - q]+ and [p - q]+ so that their sum S is at least r, as sum [p - q]+ is: R = r w/S <= w."""
    p, q, up, down, t = reals("p q up down t")
    low = positive((1 - down) * p - q)
    laws = [p >= 0, q >= 0, up >= 0, down >= 0]
    kept = least(q, (1 + up) * p)
    return [
        *between([up >= 0], kept),
        Obligation("q - a <= [q - p]+", laws, q - kept <= positive(q - p)),
        Obligation("w <= [p - q]+", [*laws, t >= 0, t <= 1], low + t * (positive(p - q) - low) <= positive(p - q)),
        *standard_fits()[1:],
        *on_the_line(),
    ]


def cactus() -> list[Obligation]:
    """G_x = norm[H_x - q]+, x refused.  H_x <= p off x and q(x) > g(x) = H_x(x), so [H_x - q]+ <= [p - q]+; and its
    sum, which is that of [q - H_x]+, is at least r = sum [q - g]+.  So R <= r [p - q]+/r = [p - q]+ <= [p - a]+."""
    p, q, g, h, own, bent = reals("p q g h own bent")
    other = [p >= 0, q >= 0, own >= 0, own < 1, own <= bent, bent <= 1, h * (1 - own) == p * (1 - bent)]
    raised_law = [p >= 0, q >= 0, p <= g]
    w, r, s = reals("w r S")
    return [
        *between([p <= g], least(g, q)),
        Obligation("H_x(y) <= p(y)", other, h <= p),
        Obligation("[H_x - q]+ <= [p - q]+ off x", [*raised_law, h <= p], positive(h - q) <= positive(p - q)),
        Obligation("[H_x(x) - q(x)]+ = 0 where x is refused", [*raised_law, q > g], positive(g - q) == 0),
        Obligation("[q - H_x]+ >= [q - g]+ at every token", [*raised_law, h <= g], positive(q - h) >= positive(q - g)),
        Obligation("w r/S <= w, as w r <= w S", [w >= 0, r >= 0, r <= s], w * r <= w * s),
        *standard_fits()[1:2],
        *on_the_line(),
    ]


def terms() -> list[Obligation]:
    """One token: (q - a) + [a - p]+ - [q - p]+ = [min(p, q) - a]+ for a <= q; TV(out, p) cancels."""
    p, q, a = reals("p q a")
    left = (q - a) + positive(a - p) - positive(q - p)
    return [Obligation("one token", [p >= 0, a >= 0, a <= q], left == positive(least(p, q) - a))]


def nothing_wasted() -> list[Obligation]:
    """And with R <= [p - a]+, as G* is, TV(out, p) = N(b)."""
    p, a, back = reals("p a R")
    inside = [p >= 0, a >= 0, back >= 0, back <= positive(p - a)]
    spent = Obligation("[a + R - p]+ = [a - p]+", inside, positive(a + back - p) == positive(a - p))
    return [*terms(), *optimal_fits(), spent]


def within_room() -> list[Obligation]:
    """R = r w/S with w = [p - q]+, S = sum w = TV(p, q) >= r: R <= w <= [p - q b]+."""
    p, q, a, back, w, r, total = reals("p q a R w r S")
    kept = [p >= 0, a >= 0, a <= q]
    return [
        Obligation("w r <= w S", [w >= 0, r >= 0, r <= total], w * r <= w * total),
        Obligation("[p - q]+ <= [p - a]+", kept, positive(p - q) <= positive(p - a)),
        Obligation(
            "[a + R - p]+ = [a - p]+",
            [*kept, back >= 0, back <= positive(p - a)],
            positive(a + back - p) == positive(a - p),
        ),
    ]


def two_points() -> list[Obligation]:
    """Both on the line of one pair of laws: r + t is the same."""
    first, second, line, t1, t2 = reals("r1 r2 TV t1 t2")
    both_on = [first + t1 == line, second + t2 == line]
    return [*on_the_line(), Obligation("two points of a line", both_on, t1 - t2 == second - first)]


def refused() -> list[Obligation]:
    """r = sum (q - min(p, q)) = sum [q - p]+ = TV(p, q)."""
    p, q = reals("p q")
    return [Obligation("q - min(p, q) = [q - p]+", [p >= 0, q >= 0], q - least(p, q) == positive(q - p))]


ARGUMENTS: dict[str, Callable[[], list[Obligation]]] = {
    "Strict": strict,
    "Lenient": lenient,
    "Annealed": lenient,
    "Scheduled": lenient,
    "Additive": raised,
    "AdditiveUnmasked": raised,
    "ContentAware": raised,
    "ContentAwareUnmasked": raised,
    "Ensemble": mixed,
    "Cactus": cactus,
    "FuzzyKL": all_or_strict,
    "FuzzyJS": all_or_strict,
    "CascadeOpt": all_or_strict,
    "Optimal": borrowed,
    "BlockVerification": of_one_draft,
    "Ledger": lenient,
    "Band": band,
}


def proof_of(name: str) -> Proof:
    """For every V, summed over tokens."""
    return Proof(EVERY, ARGUMENTS[name])
