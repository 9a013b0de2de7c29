"""Where in a block relaxation is put: one acceptance rate a slot, on context-free laws.

strict: a_k = 1 - TV(p_k, q_k) of every slot; a scheme: rates alpha_k from a_k to 1; P_k = alpha_1 .. alpha_k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from operator import mul

from proofs_checks.certificates import Program
from proofs_checks.theorems.blocks import SlotWise
from specsim import Ensemble

Rates = Sequence[Fraction]
Scheme = Callable[[Rates, Fraction], list[Fraction]]
"""scheme(strict, E) -> rates with E[accepted] = E."""


def alive(rates: Rates) -> list[Fraction]:
    """P_1 .. P_L."""
    return list(accumulate(rates, mul))


def kept(rates: Rates) -> Fraction:
    """E[accepted] = sum P_k."""
    return sum(alive(rates), Fraction(0))


def bound(strict: Rates, rates: Rates) -> Fraction:
    """Sum of the local errors, sum P_(k-1) (alpha_k - a_k)."""
    before = [Fraction(1), *alive(rates)]
    return sum((b * (alpha - a) for b, alpha, a in zip(before, rates, strict, strict=False)), Fraction(0))


def rest(strict: Rates) -> list[Fraction]:
    """T_k = 1 + a_(k+1) T_(k+1), T_L = 1: drafts kept from slot k on, k included, were the rest strict."""
    found = [Fraction(1)]
    for a in reversed(strict[1:]):
        found.append(1 + a * found[-1])
    return found[::-1]


def filled(strict: Rates, length: Fraction, order: Sequence[int]) -> list[Fraction]:
    """Everything is kept at one slot after the other, in the given order, until E[accepted] is reached."""
    rates = list(strict)
    for slot in order:
        below = kept(rates)
        rates[slot] = Fraction(1)
        above = kept(rates)
        if above > length:
            rates[slot] = strict[slot] + (length - below) / (above - below) * (1 - strict[slot])
            return rates
    return rates


def relax_first(strict: Rates, length: Fraction) -> list[Fraction]:
    """Keep everything at the first slots, one slot in between, then strict."""
    return filled(strict, length, range(len(strict)))


def relax_last(strict: Rates, length: Fraction) -> list[Fraction]:
    """The reverse."""
    return filled(strict, length, range(len(strict))[::-1])


def relax_worst(strict: Rates, length: Fraction) -> list[Fraction]:
    """Where draft and target differ most."""
    return filled(strict, length, sorted(range(len(strict)), key=lambda slot: strict[slot]))


def shared(strict: Rates, shares: Rates) -> list[Fraction]:
    """Rates from a share of every slot's room."""
    return [a + share * (1 - a) for a, share in zip(strict, shares, strict=True)]


def rules(strict: Rates, rates: Rates) -> SlotWise:
    """Rules with such rates: b = 1 - w + w min(1, p/q) has alpha = 1 - w + w a."""
    weights = [Fraction(1) if a == 1 else (1 - alpha) / (1 - a) for a, alpha in zip(strict, rates, strict=True)]
    return SlotWise(tuple(Ensemble(weight) for weight in weights))  # type: ignore[arg-type]


def least_bound(strict: Rates, length: Fraction) -> Program:
    """min sum x_k, x_k = P_k - a_k P_(k-1) >= 0, y_k = P_(k-1) - P_k >= 0, sum P_k = E.  Columns P, x, y."""
    size, one = len(strict), Fraction(1)
    rows: list[dict[int, Fraction]] = [{k: one for k in range(size)}]
    right = [length]
    for k, a in enumerate(strict):
        error, drop = {k: one, size + k: -one}, {k: one, 2 * size + k: one}
        rows += [error, drop] if k == 0 else [{**error, k - 1: -a}, {**drop, k - 1: -one}]
        right += [a, one] if k == 0 else [Fraction(0), Fraction(0)]
    return Program([*[Fraction(0)] * size, *[one] * size, *[Fraction(0)] * size], rows, right)


def as_point(strict: Rates, rates: Rates) -> list[Fraction]:
    """The program's point of a scheme."""
    now = alive(rates)
    before = [Fraction(1), *now[:-1]]
    errors = [p - a * b for p, a, b in zip(now, strict, before, strict=True)]
    return [*now, *errors, *(b - p for p, b in zip(now, before, strict=True))]
