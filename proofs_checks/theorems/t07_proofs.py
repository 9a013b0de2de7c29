"""The SMT obligations of T07.  Masses over the prefixes of a slot are summed: P_k = sum A_k, a_k = 1 - TV(p_k, q_k)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from proofs_checks.smt import Obligation, both, least, positive, reals, total


def named(letter: str, count: int) -> list[Any]:
    """letter1 .. letterN"""
    return list(reals(" ".join(f"{letter}{i}" for i in range(1, count + 1))))


def one_token() -> list[Obligation]:
    """q b >= min(p, q): [q b - p]+ = q b - min(p, q), so that N = alpha - a."""
    p, q, a = reals("p q a")
    assume = [p >= 0, q >= 0, a <= q, a >= least(p, q)]
    return [Obligation("one token", assume, positive(a - p) == a - least(p, q))]


def identity() -> list[Obligation]:
    """sum (P_k - a P_(k-1)) = (1 - a) E - a + a P_L."""

    def of(size: int) -> Obligation:
        alive, (a,) = [1, *named("P", size)], reals("a")
        errors = total([now - a * before for before, now in pairwise(alive)])
        goal = errors == (1 - a) * total(alive[1:]) - a + a * alive[-1]
        return Obligation(f"L = {size}", [a >= 0, a <= 1, *(p >= 0 for p in alive[1:])], goal)

    return [*one_token(), *(of(size) for size in (1, 2, 3, 4))]


def rest_of(strict: list[Any]) -> list[Any]:
    """T_k = 1 + a_(k+1) T_(k+1), T_L = 1."""
    found: list[Any] = [1]
    for a in reversed(strict[1:]):
        found.append(1 + a * found[-1])
    return found[::-1]


def one_path() -> list[Obligation]:
    """After a path of mass A: a token, m = min(p, q), A' = D + A m and T' for the longer path; w = sum m T'."""
    before, after, extra, m, later, w, rest = reals("A A' D m T' w T")
    masses = [before >= 0, extra >= 0, m >= 0, later >= 1, after == extra + before * m]
    prefix = [before >= 0, w >= 0, rest == 1 + w]
    return [
        Obligation("A' T' = D T' + A m T'", masses, after * later == extra * later + before * m * later),
        Obligation("A sum m T' = A T - A", prefix, before * w == before * rest - before),
    ]


def prices() -> list[Obligation]:
    """Any models, t_i = sum A_i T_i, d_i = sum D_i T_i over the paths: t_i + P_(i-1) = d_i + t_(i-1) by `one_path`.

    t_0 = T_0 is one number for all rules, t_L = P_L; with D = 0 the same holds of the strict rule, P' and t'.
    """

    def of(size: int) -> Obligation:
        (start,) = reals("T0")
        extra, sums, assume = named("d", size), [], [start >= 1]
        for mark, more in (("", extra), ("'", [0] * size)):
            alive, worth = [1, *named(f"P{mark}", size)], [start, *named(f"t{mark}", size)]
            steps = zip(pairwise(alive), pairwise(worth), more, strict=True)
            assume += [after + mass == d + before for (mass, _), (before, after), d in steps]
            assume += [worth[-1] == alive[-1], *(some >= 0 for some in alive[1:])]
            sums.append(total(alive[1:]))
        return Obligation(f"L = {size}", assume, sums[0] - sums[1] == total(extra))

    return [*one_token(), *one_path(), *(of(size) for size in (1, 2, 3, 4))]


def feasible(strict: list[Any], alive: list[Any]) -> list[Any]:
    """a_k P_(k-1) <= P_k <= P_(k-1)."""
    steps = zip(strict, pairwise(alive), strict=True)
    return [both(a * before <= now, now <= before) for a, (before, now) in steps]


def errors_of(strict: list[Any], alive: list[Any]) -> Any:
    """sum (P_k - a_k P_(k-1))"""
    return total([now - a * before for a, (before, now) in zip(strict, pairwise(alive), strict=True)])


def relaxed_first(strict: list[Any], whole: int, rate: Any) -> list[Any]:
    """1 at the first slots, `rate` at one, strict from there on."""
    alive: list[Any] = [1] * (whole + 1) + [rate]
    for a in strict[whole + 1 :]:
        alive.append(a * alive[-1])
    return alive


def relax_first_is_least() -> list[Obligation]:
    """Every scheme with the same E, T_1 >= .. >= T_L; one obligation for every number of slots that keep all."""

    def of(size: int, whole: int) -> Obligation:
        strict, alive, (rate,) = named("a", size), [1, *named("P", size)], reals("x")
        best = relaxed_first(strict, whole, rate)
        assume = [both(a >= 0, a <= 1) for a in strict] + feasible(strict, alive)
        assume += [before >= now for before, now in pairwise(rest_of(strict))]
        assume += [strict[whole] <= rate, rate <= 1, total(alive[1:]) == total(best[1:])]
        return Obligation(f"L = {size}, {whole} whole", assume, errors_of(strict, best) <= errors_of(strict, alive))

    return [of(size, whole) for size in (1, 2, 3) for whole in range(size)]


def second_is_better() -> list[Obligation]:
    """L = 3, T_1 < T_2: with the same E, x at slot 1 alone against y at slot 2 alone."""
    strict, (x, y) = named("a", 3), reals("x y")
    first, second, third = strict
    ahead = [1, x, x * second, x * second * third]
    behind = [1, first, first * y, first * y * third]
    assume = [both(a >= 0, a <= 1) for a in strict] + [first > 0, second * (1 + third) < third]
    assume += [x > first, x <= 1, y > second, y <= 1, total(ahead[1:]) == total(behind[1:])]
    return [Obligation("L = 3", assume, errors_of(strict, behind) < errors_of(strict, ahead))]


def two_slots() -> list[Obligation]:
    """One prefix x, n its A_1, m its share of A_2: m - n a is its error.  Then with equal E the sum of n a decides."""
    more, less, a = reals("n n' a")
    bounds = list(reals("E a1 G G'"))
    length, first, ahead, behind = bounds
    term = Obligation("a prefix that is kept more often", [a >= 0, less >= 0, more >= less], more * a >= less * a)
    kept = Obligation(
        "the bounds E - a_1 - sum n a", [ahead >= behind], length - first - ahead <= length - first - behind
    )
    mass, n = reals("m n")
    alpha = Obligation(
        "bound = (alpha_1 - a_1) + (sum m - sum n a), E = alpha_1 + sum m",
        [length == n + mass],
        (n - first) + (mass - ahead) == length - first - ahead,
    )
    return [*one_token(), alpha, term, kept]
