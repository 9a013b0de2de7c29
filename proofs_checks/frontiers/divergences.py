"""What a verifier's output is judged by: how each divergence is minimised, and the plane below it that certifies it.

Every divergence here is convex in the masses, so a plane that touches it at the solver's answer lies below it
everywhere: minimising the plane over the verifiers is a linear program, and any dual of that program is a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from proofs_checks.frontiers.masses import ZERO, Path
from proofs_checks.frontiers.rationals import UNIT, Sparse, integers, log_below, products, sparse_of, units
from proofs_checks.frontiers.verifiers import Verifier
from specsim.arrays import Array
from specsim.laws import kl_divergence

TINY, STEEPEST = 1e-30, 500.0
"""Slopes are kept where they can be divided by and exponentiated; no good dual comes near either end."""


class Cells(NamedTuple):
    """What is compared: masses put somewhere, as terms [cells, columns], with the masses wanted there."""

    terms: Sparse
    wanted: Sequence[Fraction]


class Plane(NamedTuple):
    """slopes x masses + constant <= divergence, for whatever a verifier does; in units of 2**-BITS."""

    slopes: Array
    constant: int


class Posed(NamedTuple):
    """A divergence put to a solver: what is minimised, under which constraints, and the plane read off the answer."""

    value: Any
    given: list[Any]
    plane: Callable[[], Plane]


@dataclass(frozen=True)
class Divergence:
    """words: for an axis; least: its value where nothing is lost; of(out, wanted): of a law, None where that takes more
    than the law; cells: what is compared; pose(masses put [cells], cells): the convex program; support: infinite where
    mass is put on what the target never draws; covers: infinite where none is put on what it draws; solver: cvxpy's,
    with its options."""

    words: str
    least: Fraction
    of: Callable[[Array, Array], Any] | None
    cells: Callable[[Verifier], Cells]
    pose: Callable[[Any, Cells], Posed]
    support: bool
    covers: bool
    solver: Mapping[str, Any]


def whole_law(verifier: Verifier) -> Cells:
    """Sequences: every one that a verifier can put out."""
    return some_of(verifier, [path for path, terms in verifier.out.items() if terms])


def drawn_by_target(verifier: Verifier) -> Cells:
    """Sequences that the target draws."""
    return some_of(verifier, [path for path, wanted in verifier.wanted.items() if wanted])


def some_of(verifier: Verifier, paths: Sequence[Path]) -> Cells:
    """Some sequences of the law put out."""
    terms = sparse_of([verifier.out[path] for path in paths], len(verifier.masses.columns))
    return Cells(terms, [verifier.wanted[path] for path in paths])


def token_by_token(verifier: Verifier) -> Cells:
    """What arrives at each path beyond the target's share of its prefix, wanted to be nothing."""
    return Cells(sparse_of(verifier.local, len(verifier.masses.columns)), [ZERO] * len(verifier.local))


def floats(values: Sequence[Fraction]) -> Array:
    """Fractions in float64."""
    return np.array([float(value) for value in values])


def excess(put: Any, cells: Cells) -> Posed:
    """sum [put - wanted]+ >= sum s (put - wanted) for s in [0, 1]."""
    import cvxpy

    over = cvxpy.Variable(len(cells.wanted), nonneg=True)
    within = put - over <= floats(cells.wanted)

    def plane() -> Plane:
        slopes = np.minimum(np.maximum(units(within.dual_value), 0), UNIT)
        return Plane(slopes, products(-slopes, cells.wanted))

    return Posed(cvxpy.sum(over), [within], plane)


def cap(put: Any, cells: Cells) -> Posed:
    """max put / wanted >= sum s put where s >= 0 and sum s wanted <= 1."""
    import cvxpy

    rho = cvxpy.Variable(nonneg=True)
    scale = 1 / floats(cells.wanted)
    within = cvxpy.multiply(scale, put) <= rho

    def plane() -> Plane:
        slopes = np.maximum(units(within.dual_value * scale), 0)
        total = -products(-slopes, cells.wanted)
        return Plane(slopes * UNIT // max(total, UNIT), 0)

    return Posed(rho, [within], plane)


def kl(put: Any, cells: Cells) -> Posed:
    """KL(put || wanted) >= sum put (log(o / wanted) + 1) - o for every o > 0: x log x is convex."""
    import cvxpy

    masses, link, wanted = linked(put, cells)

    def plane() -> Plane:
        shares = positive(wanted * np.exp(np.minimum(link.dual_value, STEEPEST) - 1))
        pairs = zip(shares, cells.wanted, strict=True)
        logs = integers(log_below(o * wanted.denominator, UNIT * wanted.numerator) for o, wanted in pairs)
        return Plane(logs + UNIT, -sum(shares))

    return Posed(cvxpy.sum(cvxpy.rel_entr(masses, wanted)), [link], plane)


def kl_reverse(put: Any, cells: Cells) -> Posed:
    """KL(wanted || put) >= sum wanted (log(wanted / o) + 1 - put / o) for every o > 0: -log is convex."""
    import cvxpy

    masses, link, wanted = linked(put, cells)

    def plane() -> Plane:
        shares = positive(-wanted / np.minimum(link.dual_value, -TINY))
        ratios = [wanted * UNIT / share for share, wanted in zip(shares, cells.wanted, strict=True)]
        logs = integers(log_below(ratio.numerator, ratio.denominator) for ratio in ratios)
        slopes = integers(-ratio.numerator * UNIT // ratio.denominator for ratio in ratios)
        return Plane(slopes, products(logs + UNIT, cells.wanted))

    return Posed(cvxpy.sum(cvxpy.rel_entr(wanted, masses)), [link], plane)


def chi_square(put: Any, cells: Cells) -> Posed:
    """sum put**2 / wanted - 1 >= sum (2 o put - o**2) / wanted - 1 for every o: squares are convex."""
    import cvxpy

    masses, link, wanted = linked(put, cells)

    def plane() -> Plane:
        pairs = list(zip(positive(wanted * link.dual_value / 2), cells.wanted, strict=True))
        slopes = integers(2 * o * wanted.denominator // wanted.numerator for o, wanted in pairs)
        squares = sum(-o * o * wanted.denominator // (wanted.numerator * UNIT) for o, wanted in pairs)
        return Plane(slopes, squares - UNIT)

    return Posed(cvxpy.sum_squares(cvxpy.multiply(1 / np.sqrt(wanted), masses)) - 1, [link], plane)


def linked(put: Any, cells: Cells) -> tuple[Any, Any, Array]:
    """The masses as variables of their own, the equations that say so, whose dual is the divergence's slope, and what
    is wanted in float64."""
    import cvxpy

    masses = cvxpy.Variable(len(cells.wanted), nonneg=True)
    return masses, put == masses, floats(cells.wanted)


def positive(values: Array) -> Array:
    """A solver's masses as units, at least one unit each, so that they can be divided by."""
    return np.maximum(units(values), 1)


def tv_of(out: Array, wanted: Array) -> Any:
    """TV(out, wanted)."""
    return abs(out - wanted).sum() / 2


def ratio_of(out: Array, wanted: Array) -> Any:
    """max out / wanted; inf off the target's support."""
    return max((a / b if b > 0 else math.inf) for a, b in zip(out, wanted, strict=True) if a > 0)


def kl_reverse_of(out: Array, wanted: Array) -> float:
    """KL(wanted || out)."""
    return kl_divergence(wanted, out)


def chi_square_of(out: Array, wanted: Array) -> Any:
    """sum (out - wanted)**2 / wanted; inf off the target's support."""
    pairs = [(a, b) for a, b in zip(out, wanted, strict=True) if a > 0 or b > 0]
    return sum(((a - b) ** 2 / b if b > 0 else math.inf) for a, b in pairs)


ONE, NONE = Fraction(1), Fraction(0)
# The interior point method ends with a crossover to a vertex, so its duals are as exact as the simplex method's; a run
# takes half the time, a block the same.
LINEAR = {"solver": "HIGHS", "highs_options": {"solver": "ipm", "output_flag": False}}
# A hundredth of the solver's usual tolerances takes an iteration or two more, and its bounds close to about 1e-9.
CONIC = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
DIVERGENCES = {
    "tv": Divergence("TV(out, target)", NONE, tv_of, whole_law, excess, False, False, LINEAR),
    "local": Divergence("sum of local errors", NONE, None, token_by_token, excess, False, False, LINEAR),
    "ratio": Divergence("max out / target", ONE, ratio_of, whole_law, cap, True, False, LINEAR),
    "kl": Divergence("KL(out, target) in nats", NONE, kl_divergence, whole_law, kl, True, False, CONIC),
    "kl_reverse": Divergence(
        "KL(target, out) in nats", NONE, kl_reverse_of, drawn_by_target, kl_reverse, False, True, CONIC
    ),
    "chi2": Divergence("chi-square(out, target)", NONE, chi_square_of, whole_law, chi_square, True, False, CONIC),
}
