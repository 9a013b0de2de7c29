"""Turning and searching: on figures known in advance, on tables, and judged on sequences never seen."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from specsim import (
    Annealed,
    BlockVerification,
    Lenient,
    Optimal,
    Partitioned,
    SpecsimError,
    Typical,
    exact,
    random_table,
)
from specsim.decoders import Autoregressive
from specsim.strength import Shape, Strength, shape_value, shapes_of, with_shape
from specsim.tune import search as search_module
from specsim.tune.command import tune_on
from specsim.tune.divergences import DIVERGENCES
from specsim.tune.judging import measured
from specsim.tune.search import FINER, GRID, Row, Searcher, ladder
from specsim.tune.sequences import Sequences, every_block
from specsim.tune.turning import SLACK, Meter, Point, turn

TARGET, DRAFT = random_table(3, 3, 1), random_table(3, 3, 2)
TABLES = every_block(TARGET.floats(), DRAFT.floats(), 3, "tables")


def meter(name: str = "tv") -> Meter:
    return Meter(TABLES, 3, DIVERGENCES[name])


def test_a_rule_is_turned_to_what_it_shall_accept() -> None:
    for goal in (2.0, 2.5, 2.9):
        turned = turn(meter(), Annealed(nu=0.4), goal)
        assert turned.point is not None and abs(turned.point.accepted - goal) <= SLACK
        assert turned.point == meter().at(Annealed(nu=0.4), turned.point.strength)
        assert turned.point.rule == Annealed(turned.point.strength, 0.4)


def test_what_cannot_be_accepted_has_a_reach_or_the_two_sides_of_a_jump() -> None:
    strict, every = (meter().accepted(Lenient(omega)) for omega in (1.0, 1e9))
    low = turn(meter(), Lenient(), strict - 0.1)
    assert low.point is None and low.reach == (strict, every) and not low.beside
    jump = turn(meter(), Typical(), 2.8)
    weak, strong = jump.beside
    assert jump.point is None and weak.accepted < 2.8 - SLACK < 2.8 + SLACK < strong.accepted
    whole = turn(meter(), Partitioned(), meter().accepted(Partitioned(2)))
    assert whole.point is not None and whole.point.rule == Partitioned(2)


class Dial(NamedTuple):
    """A thing that accepts `value` drafts, with shapes at will."""

    value: float
    nu: tuple[float, ...]
    shape: tuple[Shape, ...]
    strength: Strength = Strength("value", 0.0, 4.0)

    def with_strength(self, value: float) -> Any:
        return self._replace(value=value)

    def with_shape(self, field: str, value: float) -> Any:
        place = [shape.field for shape in self.shape].index(field)
        return self._replace(nu=(*self.nu[:place], value, *self.nu[place + 1 :]))

    def shape_value(self, field: str) -> float:
        return self.nu[[shape.field for shape in self.shape].index(field)]


class Bowl(NamedTuple):
    """A meter of dials: the divergence is a function of the shape."""

    figure: Callable[..., float]
    lookahead: int = 4

    def at(self, rule: Any, strength: float) -> Point:
        return Point(rule.with_strength(strength), strength, strength, self.figure(*rule.nu))

    def accepted(self, rule: Any) -> float:
        return rule.value


def found(figure: Callable[..., float], *shapes: Shape, own: tuple[float, ...] | None = None) -> Any:
    own = own or tuple(shape.high for shape in shapes)
    return Searcher(Bowl(figure), Dial(1.0, own, shapes), 2.0).search()  # type: ignore[arg-type]


@pytest.mark.parametrize("least", [-1.0, -0.93, 0.31, 1.0, 3.99, 4.0])
def test_the_best_of_one_shape_is_found(least: float) -> None:
    shape = Shape("nu", -1.0, 4.0)
    best = found(lambda nu: abs(nu - least), shape, own=(2.2,))
    step = 5.0 / (GRID[1] - 1)
    assert abs(best.best.values[0] - least) <= 2 * FINER * 2 * step
    assert best.published.values == (2.2,) and best.published.turned.point.divergence == abs(2.2 - least)
    assert len(best.rows) == GRID[1] and best.tried < 30


def test_the_best_whole_number_is_found() -> None:
    for least in (1, 2, 7, 30, 32):
        best = found(lambda k, least=least: (k - least) ** 2, Shape("k", 1, 32)).best
        assert best.values == (least,) and type(best.values[0]) is int
    assert ladder(Shape("k", 1, 32), 9)[:3] == [1, 2, 4]


def test_the_best_of_two_shapes_is_found() -> None:
    best = found(
        lambda a, b: (a - 0.3) ** 2 + (b - 1.4) ** 2 + (a * b) ** 2 / 9, Shape("a", 0.0, 2.0), Shape("b", 0.0, 2.0)
    )
    assert best.best.divergence < 0.03 and abs(best.best.values[1] - 1.38) < 0.1
    assert len(best.rows) == GRID[2] ** 2


def test_a_search_is_the_same_every_time() -> None:
    one, two = (Searcher(meter(), Annealed(), 2.6).search() for _ in range(2))
    assert one == two and one.best.divergence <= min(row.divergence for row in (*one.rows, one.published))


def test_no_shape_means_the_strength_alone() -> None:
    best = found(lambda: 0.5)
    assert best.best == best.published == best.rows[0] and best.tried == 1


def test_shapes_that_cannot_accept_it_do_not_count() -> None:
    class Half(Bowl):
        def at(self, rule: Any, strength: float) -> Point:
            reached = min(strength, 1.0) if rule.nu[0] < 2 else strength
            return Point(rule.with_strength(strength), strength, reached, rule.nu[0])

        def accepted(self, rule: Any) -> float:
            return self.at(rule, rule.value).accepted

    best = Searcher(Half(abs), Dial(1.0, (3.0,), (Shape("nu", 0.0, 4.0),)), 2.0).search()  # type: ignore[arg-type]
    assert best.best.values[0] == 2.0 and best.rows[0].turned.point is None


@pytest.mark.parametrize(
    ("rule", "goal", "name", "wanted"),
    [
        (Lenient(), 1.0, "tv", r"reaches 1\.2535 to 3 accepted drafts with blocks of 3 here, not 1$"),
        (Typical(), 2.8, "tv", r"cannot accept 2.8 drafts: its figure jumps between .* ask for one of them"),
    ],
)
def test_what_cannot_be_reached_is_said(rule: Any, goal: float, name: str, wanted: str) -> None:
    with pytest.raises(SpecsimError, match=wanted):
        Searcher(meter(name), rule, goal).search()


def test_an_infinite_divergence_is_said() -> None:
    with pytest.raises(SpecsimError, match="infinite divergence at 2 accepted drafts, whatever its shape"):
        found(lambda nu: math.inf, Shape("nu", 0.0, 1.0))


def sampled(rows: int, seed: int) -> Sequences:
    """Sequences of the target's own, one token longer than a block."""
    target, draft = random_table(3, 4, 11), random_table(3, 4, 12)
    law = np.asarray(exact(Autoregressive(), target).mass, dtype=np.float64)
    drawn = np.random.default_rng(seed).choice(len(law), size=rows, p=law / law.sum())
    tokens = drawn[:, None] // 3 ** np.arange(3, -1, -1) % 3
    start = np.zeros(rows, dtype=np.int64)
    return Sequences("drawn", tokens, target.floats()(tokens, start, 4), draft.floats()(tokens, start, 4))


def test_a_figure_is_brought_to_the_goal_along_the_strength() -> None:
    """A rule tuned to accept too much, brought back to first order: near the exact figure, which the raw one is not."""
    target, draft = random_table(3, 4, 11), random_table(3, 4, 12)
    exactly = Meter(every_block(target.floats(), draft.floats(), 3, "tables"), 3, DIVERGENCES["tv"])
    tuning, judging = (Meter(sampled(4000, seed), 3, DIVERGENCES["tv"]) for seed in (1, 2))
    goal = exactly.accepted(Lenient(1.5))
    wanted = exactly.at(Lenient(), 1.5).divergence
    dear = turn(tuning, Lenient(), goal + 0.2)
    values = measured(Row((), dear), tuning, judging, goal)
    found = judging.sequences.mean(values.divergence)
    raw = judging.sequences.mean(DIVERGENCES["tv"].values(judging.blocks(dear.point.rule)))  # type: ignore[union-attr]
    assert abs(found.value - wanted) < 5 * found.error < abs(raw.value - wanted)


def test_the_published_shape_is_compared_in_pairs_on_sequences_never_seen() -> None:
    content = tune_on(sampled(600, 3), Annealed(nu=1.5), 2.2, DIVERGENCES["kl"], 3)
    own, best = content["published"], content["best"]
    assert content["laws"]["tuned_on"] == content["laws"]["judged_on"] == 300
    assert best["above_best"] == 0 == best["above_best_error"] and not best["apart"]
    apart = own["held_out"]["divergence"]["value"] - best["held_out"]["divergence"]["value"]
    assert own["above_best"] == pytest.approx(apart)
    assert 0 < own["above_best_error"] < own["held_out"]["divergence"]["error"]


def test_halves_share_no_sequence_and_do_not_follow_a_period() -> None:
    numbered = sampled(200, 0)._replace(tokens=np.arange(200)[:, None])
    first, second = (half.tokens[:, 0] for half in numbered.halves())
    assert sorted([*first, *second]) == list(range(200)) and len(first) == 100
    for period in (2, 10):
        assert all(2 <= np.sum(first % period == i) * 10 // 100 <= 8 or period == 10 for i in range(period))
    assert {i % 10 for i in first} == set(range(10)) == {i % 10 for i in second}


def test_exact_differences_need_no_error() -> None:
    content = tune_on(TABLES, Annealed(), 2.6, DIVERGENCES["tv"], 3)
    rows = [row for row in content["table"] if "rule" in row]
    assert content["laws"]["kind"] == "all" and "held_out" not in content["best"]
    for row in rows:
        above = row["divergence"] - content["best"]["divergence"]
        assert row["above_best"] == pytest.approx(above, abs=1e-12) and row["above_best"] >= 0
        assert row["apart"] == (above > SLACK)


def test_shapes_of_rules_and_of_rules_around_them() -> None:
    assert shapes_of(Lenient()) == () and shapes_of(BlockVerification(Lenient())) == ()
    wrapped = Optimal(Annealed())
    assert shapes_of(wrapped) == shapes_of(Annealed()) == shapes_of(BlockVerification(Annealed()))
    assert shape_value(wrapped, "nu") == 0.7 and with_shape(wrapped, "nu", 1.5) == Optimal(Annealed(nu=1.5))
    assert Shape("k", 1, 9).whole and not Shape("nu", 0.0, 1.0).whole


@dataclass(frozen=True)
class Listed:
    """A rule with a tuple of factors."""

    shape: ClassVar[Any] = (Shape("omegas[1]", 1.0, 3.0),)
    omegas: tuple[float, ...] = (1.0, 2.0)

    def __call__(self, draft: Any, target: Any, position: Any) -> Any:
        return None


def test_an_entry_of_a_tuple_is_a_shape() -> None:
    assert shape_value(Listed(), "omegas[1]") == 2.0
    assert with_shape(Listed(), "omegas[1]", 2.5) == Listed((1.0, 2.5))


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        (3, r"its shape must be a tuple such as"),
        ((Shape("omegas[7]", 1.0, 2.0),), r"its shape 'omegas\[7\]' is no field of it"),
        ((Shape("nu", 1.0, 2.0),), "its shape 'nu' is no field of it"),
        ((Shape("omegas[1]", 2.0, 2.0),), "two finite numbers, the lower one first"),
        ((Shape("omegas[1]", 0.0, math.inf),), "two finite numbers, the lower one first"),
    ],
)
def test_what_is_no_shape_is_refused(shape: Any, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Listed, "shape", shape)
    with pytest.raises(SpecsimError, match=wanted):
        shapes_of(Listed())


def first_of_all(self: Searcher, start: Row) -> None:
    """No refinement."""


def upside_down(self: Searcher, start: Row) -> None:
    """Refined beside the worst of the grid."""
    REFINE(self, max((row for row in self.seen.values()), key=lambda row: row.divergence))


REFINE = Searcher.refine


@pytest.mark.parametrize("wrong", [first_of_all, upside_down])
def test_wrong_searches_are_caught(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module.Searcher, "refine", wrong)
    with pytest.raises(AssertionError):
        test_the_best_of_one_shape_is_found(0.31)
