"""Certificates of limits: sums that are only ever rounded down, logarithms from below, planes below a divergence."""

from decimal import Decimal, localcontext
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_checks.certificates import Program, dual_bound
from proofs_checks.frontiers.divergences import DIVERGENCES
from proofs_checks.frontiers.limits import KINDS, Limit, limit
from proofs_checks.frontiers.rationals import UNIT, integers, log_below, products, sparse_of, units
from specsim import random_table

CLOSED = {"tv": 1e-11, "local": 1e-11, "ratio": 1e-11, "kl": 1e-8, "kl_reverse": 1e-8, "chi2": 1e-8}
"""Largest gaps between value and bound: a vertex's dual, and the tolerance of an interior point."""
WHOLE = st.integers(min_value=1, max_value=10**30)


@given(WHOLE, WHOLE)
def test_a_logarithm_is_less_than_two_units_below(top: int, bottom: int) -> None:
    found = log_below(top, bottom)
    with localcontext() as context:
        context.prec = 60
        exact = (Decimal(top).ln() - Decimal(bottom).ln()) * UNIT
        assert found <= exact < found + 2


@given(st.lists(st.tuples(st.fractions(-3, 3), st.integers(-(10**25), 10**25)), min_size=1, max_size=6))
def test_weighed_sums_are_rounded_down_by_less_than_a_unit_a_term(terms: list[tuple[F, int]]) -> None:
    weights = integers(weight for _, weight in terms)
    exact = sum((value * weight for value, weight in terms), F(0))
    column = sparse_of([{0: value} for value, _ in terms], 2).weighed(weights)
    assert exact - len(terms) < column[0] <= exact and column[1] == 0
    assert exact - len(terms) < products(weights, [value for value, _ in terms]) <= exact


def test_a_matrix_keeps_its_entries() -> None:
    rows = [{1: F(1, 3)}, {}, {0: F(-2), 2: F(1, 7)}]
    assert sparse_of(rows, 3).floats().toarray().tolist() == [[0, 1 / 3, 0], [0, 0, 0], [-2, 0, 1 / 7]]
    assert sparse_of([{}, {}], 3).floats().toarray().tolist() == [[0, 0, 0], [0, 0, 0]]
    assert units(np.array([0.5, -1.0])).tolist() == [UNIT // 2, -UNIT]


def some(divergence: str, kind: str = "block", seed: int = 1) -> Limit:
    target, draft = random_table(3, 3, seed), random_table(3, 3, seed + 100)
    return limit(KINDS[kind], target, draft, 2 if KINDS[kind].cost == "calls" else 3, divergence)


COSTS = {"accepted": F(9, 4), "calls": F(5, 4)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_bounds_close(divergence: str, kind: str) -> None:
    point = some(divergence, kind).at(COSTS[KINDS[kind].cost])
    assert point.bound is not None and point.note == "" and point.value > 1000 * CLOSED[divergence]
    assert abs(point.value - float(point.bound)) <= CLOSED[divergence] * max(1, point.value)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_the_rounded_bound_lies_below_the_exact_one(divergence: str) -> None:
    """Any plane and any dual: the bound in whole units against the same sum in Fractions."""
    one = some(divergence)
    one.at(F(9, 4))
    plane, dual = one.posed.plane(), one.dual()
    width = one.rows.shape[1]
    cost = [F(0)] * width
    for i, j, top, bottom in entries(one.cells.terms):
        cost[j] += F(plane.slopes[i], UNIT) * F(top, bottom)
    rows: list[dict[int, F]] = [{} for _ in range(one.rows.shape[0])]
    for i, j, top, bottom in entries(one.rows):
        rows[i][j] = F(top, bottom)
    program = Program(cost, rows, [*one.verifier.masses.right, one.scale * F(9, 4)])
    exact = dual_bound(program, [F(y, UNIT) for y in dual]) + F(plane.constant, UNIT)
    assert exact - F(len(one.rows.top) * 2, UNIT) < one.bound(F(9, 4)) <= exact


def entries(matrix: object) -> zip:
    return zip(*(getattr(matrix, name).tolist() for name in ("row", "column", "top", "bottom")), strict=True)


@pytest.mark.parametrize("divergence", [name for name in DIVERGENCES if name != "local"])
def test_a_plane_lies_below_its_divergence_at_other_laws(divergence: str) -> None:
    one = some(divergence)
    one.at(F(9, 4))
    plane, of = one.posed.plane(), DIVERGENCES[divergence].of
    rng = np.random.default_rng(0)
    assert of is not None
    for _ in range(50):
        weights = rng.integers(1, 100, size=27)
        out = integers(F(int(w), int(weights.sum())) for w in weights)
        wanted = integers(one.cells.wanted)
        below = F(plane.constant + products(plane.slopes, list(out)), UNIT)
        assert below <= of(out, wanted)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_a_poor_dual_still_gives_a_bound(divergence: str) -> None:
    """The solver proposes: with its dual disturbed the bound only falls."""
    one, cost = some(divergence), F(9, 4)
    point = one.at(cost)
    solved, rng = one.dual(), np.random.default_rng(1)
    for size in (1e-9, 1e-3, 1.0):
        noise = units(rng.normal(size=len(solved)) * size)
        one.dual = lambda noise=noise: np.where(one.loose, np.minimum(solved + noise, 0), solved + noise)  # type: ignore[method-assign,misc]
        assert one.bound(cost) <= point.value + CLOSED[divergence]
        assert size < 1e-3 or one.bound(cost) < point.value - size / 100


def test_a_bound_that_stays_open_is_said() -> None:
    """The plane of another point certifies less, and the note says how much."""
    one = some("kl")
    one.at(F(2))
    plane = one.posed.plane()
    one.posed = replace_plane(one, plane)
    point = one.at(F(5, 2))
    assert point.bound is not None and point.bound < point.value - 1e-3 and point.note.startswith("certified to within")


def replace_plane(one: Limit, plane: object) -> object:
    return one.posed._replace(plane=lambda: plane)
