"""The limit of one slot: equal to a convex program's, and passed by no rule."""

from typing import Any

import numpy as np
import pytest

from specsim import Additive, Annealed, Cactus, ContentAware, Ensemble, Lenient, SpecsimError, Strict, Typical
from specsim.divergences.one_slot import SHAPES, at_price, kept_by_strict, limit
from specsim.flows import token_flow

SOLVED = 1e-6
"""How far a conic solver's optimum may lie from the closed form, relative: it stops at about 1e-8 of its own scale."""
ROUNDING = 1e-9
"""Sums of float64 laws, and a price known to 64 bisections."""
NAMES = ("tv", *SHAPES)


def contexts(seed: int, vocab: int = 4, zeros: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    draft, target = rng.dirichlet(np.ones(vocab), 3), rng.dirichlet(np.ones(vocab), 3)
    if zeros:
        target[0, 0] = draft[1, 1] = 0
        draft, target = (law / law.sum(axis=-1, keepdims=True) for law in (draft, target))
    return draft, target


def program(name: str, draft: np.ndarray, target: np.ndarray, accepted: float) -> float:
    """The same by a solver: any laws out, any masses kept below both out and the draft."""
    import cvxpy

    out, kept = (cvxpy.Variable(draft.shape, nonneg=True) for _ in range(2))
    share = cvxpy.multiply(out - target, 1 / np.where(target > 0, target, 1) ** 0.5)
    goal = {
        "tv": lambda: cvxpy.sum(cvxpy.abs(out - target)) / 2,
        "kl": lambda: cvxpy.sum(cvxpy.kl_div(out, target)),
        "kl_reverse": lambda: cvxpy.sum(cvxpy.kl_div(target, out)),
        "chi2": lambda: cvxpy.sum_squares(share),
    }[name]()
    given = [kept <= out, kept <= draft, cvxpy.sum(out, axis=1) == 1, cvxpy.sum(kept) / len(draft) >= accepted]
    given += [out[target == 0] == 0] if (target == 0).any() else []
    problem = cvxpy.Problem(cvxpy.Minimize(goal / len(draft)), given)
    problem.solve(solver=cvxpy.CLARABEL)
    return float(problem.value)


@pytest.mark.parametrize("way", [0.2, 0.6, 0.9])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_optimum_of_the_convex_program(seed: int, name: str, way: float) -> None:
    draft, target = contexts(seed)
    strict = kept_by_strict(draft, target)
    accepted = strict + way * (1 - strict)
    found, wanted = limit(name, draft, target, accepted), program(name, draft, target, accepted)
    assert abs(found - wanted) <= SOLVED * max(1, wanted)


def test_zeros_of_either_law() -> None:
    draft, target = contexts(3, zeros=True)
    strict = kept_by_strict(draft, target)
    accepted = strict + 0.5 * (np.where(target > 0, draft, 0).sum(axis=-1).mean() - strict)
    for name in ("kl", "chi2"):
        wanted = program(name, draft, target, accepted)
        assert abs(limit(name, draft, target, accepted) - wanted) <= SOLVED * max(1, wanted)


RULES = [Lenient(2.0), Annealed(3.0), Additive(0.3), Ensemble(0.6), ContentAware(0.5, 0.9), Typical(), Cactus(0.2)]


@pytest.mark.parametrize("rule", [Strict(), *RULES], ids=repr)
@pytest.mark.parametrize("name", NAMES)
def test_no_rule_passes_it(rule: Any, name: str) -> None:
    draft, target = contexts(5)
    flow = token_flow(rule, draft, target, np.zeros(3, dtype=int))
    share, accepted = flow.law / target, float(flow.kept.sum(axis=-1).mean())
    f = (lambda x: abs(x - 1) / 2) if name == "tv" else SHAPES[name].f
    assert limit(name, draft, target, accepted) <= (target * f(share)).sum(axis=-1).mean() + ROUNDING


def test_strict_reaches_it_without_bias_and_lenience_comes_near() -> None:
    """Lenience keeps what the best rule for KL keeps, and replaces almost as well."""
    draft, target = contexts(6)
    assert all(limit(name, draft, target, kept_by_strict(draft, target)) == 0 for name in NAMES)
    flow = token_flow(Lenient(2.0), draft, target, np.zeros(3, dtype=int))
    value = (target * SHAPES["kl"].f(flow.law / target)).sum(axis=-1).mean()
    least = limit("kl", draft, target, float(flow.kept.sum(axis=-1).mean()))
    assert 0 < least < value


@pytest.mark.parametrize("name", SHAPES)
def test_a_dearer_draft_is_kept_more(name: str) -> None:
    points = [at_price(SHAPES[name], *contexts(7), price) for price in (0.01, 0.1, 0.5, 2.0)]
    assert [p.accepted for p in points] == sorted(p.accepted for p in points)
    assert [p.value for p in points] == sorted(p.value for p in points) and points[0].value > 0


@pytest.mark.parametrize("name", SHAPES)
def test_the_price_is_what_one_more_kept_draft_costs(name: str) -> None:
    """The slope of the limit, by a difference of two neighbours on either side."""
    draft, target = contexts(9)
    at, step = at_price(SHAPES[name], draft, target, 0.5), 1e-5
    low, high = (limit(name, draft, target, at.accepted + side * step) for side in (-1, 1))
    assert (high - low) / (2 * step) == pytest.approx(at.price, rel=1e-3)


def steep(name: str, target: list[float], draft: list[float], accepted: float) -> float:
    return limit(name, np.array([draft]), np.array([target]), accepted)


# V = 2 in closed form: out = (kept - q_2, 1 - ..) where the first token is the one that the draft lacks.
@pytest.mark.parametrize(
    ("name", "target", "draft", "accepted", "wanted"),
    [
        ("chi2", [1 - 1e-7, 1e-7], [0.5, 0.5], 0.75, 624999.81),
        ("chi2", [1 - 1e-7, 1e-7], [0.5, 0.5], 1.0, 2499999.25),
        ("chi2", [1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6], 0.9000002, 809997.57),
        ("kl_reverse", [1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6], 1.0, 13.8155),
        ("kl_reverse", [0.999999, 1e-6], [1e-6, 0.999999], 0.9999000002, 9.20037),
        ("kl_reverse", [0.75, 0.25], [0.0, 1.0], 0.999925, 6.561200),
    ],
)
def test_the_ends_in_closed_form(
    name: str, target: list[float], draft: list[float], accepted: float, wanted: float
) -> None:
    """Figures of an independent computation in 40 digits, six of which are given."""
    assert steep(name, target, draft, accepted) == pytest.approx(wanted, rel=1e-5)


def test_a_token_that_the_target_lacks_makes_no_nan() -> None:
    draft, target = np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([[1.0, 0.0], [0.5, 0.5]])
    assert np.isfinite(limit("kl_reverse", draft, target, 0.72))


@pytest.mark.parametrize("name", NAMES)
def test_more_than_there_is_is_refused(name: str) -> None:
    with pytest.raises(SpecsimError, match=r"no verifier keeps 1\.5 of a draft"):
        limit(name, *contexts(8), 1.5)
