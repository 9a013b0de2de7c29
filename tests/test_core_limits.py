"""Defaults as published, the ends of every field, and what an enumeration and a table may take."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specsim import RULES, SpecsimError, Table, exact_laws, random_table, table
from specsim.decoders import DECODERS, Autoregressive
from specsim.errors import TooLarge
from specsim.exact_laws import Size
from specsim.interpreters.exact import Exact
from specsim.tasks import make_task

F = Fraction
MOST, MOST_TOKENS, MOST_SLOTS = 1e9, 2**20, 4096

AS_THEY_COME = {
    **{"Strict": "Strict()", "Lenient": "Lenient(omega=1.3)"},
    "Annealed": "Annealed(delta=1.1, nu=0.7, mu=0.0, clamp=True)",
    "Scheduled": "Scheduled(omegas=(2.0, 1.5, 1.0, 1.0), scale=1.0)",
    **{name: f"{name}(epsilon=0.1)" for name in ("Additive", "AdditiveUnmasked")},
    **{name: f"{name}(lam=0.5, delta=0.35)" for name in ("ContentAware", "ContentAwareUnmasked")},
    **{name: f"{name}(k=10, delta=0.1)" for name in ("Lantern", "LanternDynamic")},
    **{name: f"{name}(k=10, lam=5.0)" for name in ("LanternPlus", "LanternPlusDynamic")},
    "Optimal": "Optimal(rule=Lantern(k=10, delta=0.1))",
    "Grouped": "Grouped(size=14, gap=0.15, distance=0.5, strict_tail=0)",
    "Partitioned": "Partitioned(size=14)",
    **{"Typical": "Typical(epsilon=0.09, delta=0.3)", "Ensemble": "Ensemble(weight=0.5)", "Cactus": "Cactus(d=1.0)"},
    **{"BlockVerification": "BlockVerification(rule=Strict())", "Ledger": "Ledger(w=1.5, nu=3.0)"},
    "Band": "Band(omega=1.5)",
    **{"FuzzyKL": "FuzzyKL(threshold=0.5)", "FuzzyJS": "FuzzyJS(threshold=0.1)", "CascadeOpt": "CascadeOpt(alpha=0.5)"},
    **{"Autoregressive": "Autoregressive()", "Chain": "Chain(lookahead=4)"},
    "RelaxedBonus": "RelaxedBonus(lookahead=4)",
    # EAGLE-1's and EAGLE-2's own trees have 25 and 60 nodes: see the docstrings.
    "Tree": "Tree(paths=((0,), (1,), (0, 0), (0, 1), (1, 0), (0, 0, 0)), siblings='distinct')",
    "DynamicTree": "DynamicTree(depth=3, width=3, nodes=8)",
    "Jacobi": "Jacobi(window=16, continuation='independent', tail='uniform')",
    "Race": "Race(decoder=Autoregressive())",
}
STRENGTHS = {
    **{"Strict": None, "Lenient": ("omega", 1, MOST), "Annealed": ("delta", 1, MOST)},
    "Scheduled": ("scale", 0, MOST),
    **{name: ("epsilon", 0, 1) for name in ("Additive", "AdditiveUnmasked")},
    **{name: ("lam", 0, MOST) for name in ("ContentAware", "ContentAwareUnmasked")},
    **{name: ("delta", 0, 1) for name in ("Lantern", "LanternDynamic", "Optimal")},
    **{name: ("lam", 1, MOST) for name in ("LanternPlus", "LanternPlusDynamic")},
    **{name: ("size", 1, 2**17) for name in ("Grouped", "Partitioned")},
    **{"Typical": ("delta", MOST, 0), "Ensemble": ("weight", 1, 0), "Cactus": ("d", 0, MOST)},
    **{"BlockVerification": None, "Ledger": ("w", 1, MOST), "Band": ("omega", 1, MOST)},
    **{"FuzzyKL": ("threshold", 0, MOST), "FuzzyJS": ("threshold", 0, 1), "CascadeOpt": ("alpha", 0, 1)},
}
RANGES = [
    *(("Lenient", "omega", None, MOST), ("Annealed", "delta", None, MOST)),
    *(("Annealed", name, -1000, 1000) for name in ("nu", "mu")),
    ("Scheduled", "scale", 0, MOST),
    *(("Ledger", "w", None, MOST), ("Ledger", "nu", 0, 1000), ("Band", "omega", 1, MOST)),
    *((name, "epsilon", 0, MOST) for name in ("Additive", "AdditiveUnmasked")),
    *((kind, name, 0, MOST) for kind in ("ContentAware", "ContentAwareUnmasked") for name in ("lam", "delta")),
    *((kind, "k", 1, MOST_TOKENS) for kind in ("Lantern", "LanternDynamic", "LanternPlus", "LanternPlusDynamic")),
    *((kind, "delta", 0, MOST) for kind in ("Lantern", "LanternDynamic")),
    *((kind, "lam", 1, MOST) for kind in ("LanternPlus", "LanternPlusDynamic")),
    *(("Grouped", "gap", 0, MOST), ("Grouped", "distance", 0, 1e300), ("Grouped", "strict_tail", 0, MOST_TOKENS)),
    *((kind, "size", 1, 2**17) for kind in ("Grouped", "Partitioned")),
    *(("Typical", "epsilon", 0, 1), ("Typical", "delta", 0, MOST), ("Ensemble", "weight", 0, 1)),
    *(("Cactus", "d", 0, MOST), ("FuzzyKL", "threshold", 0, MOST), ("FuzzyJS", "threshold", 0, MOST)),
    *(("CascadeOpt", "alpha", 0, MOST), ("Chain", "lookahead", 1, MOST_SLOTS)),
    *(("RelaxedBonus", "lookahead", 1, MOST_SLOTS), ("Jacobi", "window", 1, MOST_SLOTS)),
]
"""Kind, field, smallest and largest value; None: every number above 0."""


def test_defaults_are_the_published_ones() -> None:
    """Each docstring names its source; where a paper gives several values, the first it reports."""
    assert {name: repr(kind()) for name, kind in {**RULES, **DECODERS}.items()} == AS_THEY_COME


def test_ends_of_every_strength() -> None:
    assert {name: getattr(kind(), "strength", None) for name, kind in RULES.items()} == STRENGTHS


@pytest.mark.parametrize(("kind", "field", "low", "high"), RANGES)
def test_both_ends_of_a_field_are_legal_and_nothing_beyond(kind: str, field: str, low: Any, high: Any) -> None:
    made = {**RULES, **DECODERS}[kind]
    whole = isinstance(high, int) and isinstance(getattr(made(), field), int)
    below = 0 if low is None else low - 1 if whole else math.nextafter(low, -math.inf)
    for value in (math.nextafter(0, 1) if low is None else low, high):
        assert getattr(made(**{field: value}), field) == value
    for value in (below, high + 1 if whole else math.nextafter(high, math.inf)):
        with pytest.raises(SpecsimError, match=f"^{kind}: {field} = .* must be a .*"):
            made(**{field: value})


@pytest.mark.parametrize(
    "asked",
    [lambda choose, law, live: choose(law, live), lambda choose, law, live: choose.race(law, np.array([0]), live)],
)
def test_a_fork_takes_its_bytes_and_no_more(asked: Any) -> None:
    """A row: 64 bytes, 4 for each of 3 positions, and three copies of five numbers of 8 bytes."""
    law, live, row = np.array([[0.25, 0.75]]), (np.zeros((1, 5)),), 64 + 4 * 3 + 3 * 8 * 5
    choose = Exact(law, 3, 2 * row)
    _, (held,) = asked(choose, law, live)
    assert choose.peak == 2 * row and held.shape == (2, 5) and choose.weight.tolist() == [0.25, 0.75]
    with pytest.raises(SpecsimError, match=r"this needs 2 rows at once .* budget of 3.64e-07 GiB; shrink"):
        asked(Exact(law, 3, 2 * row - 1, lambda: "shrink"), law, live)


def size_of(length: int, budget: int) -> Size:
    """Plain decoding of so many tokens from a model of 4."""
    model = random_table(2, 4, 1)
    task = make_task(Autoregressive(), model, None, None, None, None)._replace(length=length)
    return Size(Autoregressive(), task, model, None, budget)


def test_a_probe_takes_what_its_largest_fork_takes() -> None:
    """At the last of N tokens: 2**N rows of 64 + 4 N bytes and three copies of N tokens and a length."""
    for n in range(1, 5):
        assert size_of(4, 1).probe(n) == 2**n * (64 + 4 * n + 24 * (n + 1))


@pytest.fixture
def tenfold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Probes that take 10, 100, 1000, .. bytes: 10**7 is the first above 4 MiB."""
    monkeypatch.setattr(Size, "probe", lambda self, length: 10**length)


def test_an_estimate_goes_on_as_it_grew_last(tenfold: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index for every length, and none beyond; what no probe may take is endless."""
    for length in (1, 6, 7, 8, 12):
        assert np.array(size_of(length, 1).log_bytes()) / math.log(10) == pytest.approx(range(length + 1), rel=1e-12)

    def refused(self: Size, length: int) -> int:
        if length == 3:
            raise TooLarge("too large")
        return 10**length

    monkeypatch.setattr(Size, "probe", refused)
    assert size_of(5, 1).log_bytes() == [0, math.log(10), math.log(100), math.inf, math.inf, math.inf]
    steps = [0, 10, 2**22 - 1, 2**22, 0]  # a probe of 4 MiB is the last one, and nothing shrinks
    monkeypatch.setattr(Size, "probe", lambda self, length: steps[length])
    assert size_of(5, 1).log_bytes()[3:] == pytest.approx([math.log(2**22)] * 3, rel=1e-6)


def test_an_estimate_refuses_far_above_the_budget_only(tenfold: None) -> None:
    """Four times the budget is what an estimate may err by."""
    size_of(12, 10**12 // 4 + 1).refuse_too_large()
    with pytest.raises(TooLarge, match=r"at vocab 2 and length 12 needs about 10\^12.0 bytes, above the bu") as said:
        size_of(12, 10**12 // 4 - 1).refuse_too_large()
    assert "budget of 233 GiB; length 11 would fit" in str(said.value)
    assert size_of(12, 10**5).advice() == "length 5 would fit" and size_of(3, 10**9).advice() == "length 2 would fit"
    assert size_of(12, 9).advice() == "no length would fit: shrink the window or the lookahead"


def test_a_probe_is_no_larger_than_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe is held to 2**28 bytes, and `exact` to 2**32 unless told otherwise."""
    held: list[float] = []

    def enumerated(decoder: Any, task: Any, target: Any, budget: float, *more: Any) -> tuple:
        held.append(budget)
        assert task.target is target and (budget == 2**32 or target.laws.dtype == task.fresh.dtype == np.float64)
        return "a law", 1

    monkeypatch.setattr(exact_laws, "enumerate_law", enumerated)
    assert size_of(4, 1).probe(2) == 1 and exact_laws.exact(Autoregressive(), random_table(2, 4, 1)) == "a law"
    assert held == [2**28, 2**32]


@pytest.mark.parametrize(("length", "estimated"), [(11, False), (12, True)])
def test_small_runs_are_not_estimated(monkeypatch: pytest.MonkeyPatch, length: int, estimated: bool) -> None:
    """Up to 3000 sequences: 2**11 are run at once."""
    asked: list[Size] = []
    monkeypatch.setattr(Size, "refuse_too_large", lambda self: asked.append(self))
    monkeypatch.setattr(exact_laws, "enumerate_law", lambda *some: ("a law", 1))
    exact_laws.exact(Autoregressive(), random_table(2, 12, 1), length=length)
    assert bool(asked) == estimated


def test_a_row_may_miss_one_by_a_billionth() -> None:
    """Then it is renormalised exactly and counted; beyond it is refused."""
    for sign in (1, -1):
        miss = sign * F(1, 10**9)
        near = table([[F(1, 2), F(1, 2) + miss]])
        assert near.laws.tolist() == [[F(1, 2) / (1 + miss), (F(1, 2) + miss) / (1 + miss)]] and near.renormalised == 1
        with pytest.raises(SpecsimError, match=r"laws\[0\]: the entries sum to .*, not to 1 \(within 1e-9\)"):
            table([[F(1, 2), F(1, 2) + miss * (1 + F(1, 10**6))]])
    assert table([[F(1, 3), F(2, 3)]]).renormalised == 0


def test_a_table_of_five_million_laws_is_the_largest() -> None:
    """Before any of them is read."""
    with pytest.raises(SpecsimError, match=r"table: vocab 5000000 and 2 positions need more than 5,000,000 laws"):
        table([[], []], vocab=5_000_000)
    with pytest.raises(SpecsimError, match=r"must be a list of 4999999 numbers"):
        table([[], []], vocab=4_999_999)


@pytest.mark.parametrize("miss", [0.99e-4, -0.99e-4, 1.01e-4, -1.01e-4])
def test_a_law_of_floats_may_miss_one_by_a_ten_thousandth(miss: float) -> None:
    model = Table(np.array([[0.5, 0.5 + miss]]), 1)
    if abs(miss) < 1e-4:
        assert make_task(Autoregressive(), model, None, None, None, None).length == 1
    else:
        with pytest.raises(SpecsimError, match=r"target table: laws\[0\] = \[.*\] is not a law"):
            make_task(Autoregressive(), model, None, None, None, None)


def test_random_tables() -> None:
    """Numerators from 1 to the highest, or 0 about one time in three; the seed decides, and every law is one."""
    assert set(random_table(3, 3, 0, highest=1).laws.reshape(-1).tolist()) == {F(1, 3)}
    odds = {a / b for a, b in random_table(2, 9, 1, highest=3).laws.tolist()}
    assert odds == {F(a, b) for a in (1, 2, 3) for b in (1, 2, 3)}
    usual = {a / b for a, b in random_table(2, 10, 1).laws.tolist()}
    assert usual == {F(a, b) for a in range(1, 10) for b in range(1, 10)}
    laws = random_table(3, 8, 0, zeros=True, highest=2).laws
    assert (laws.sum(axis=1) == 1).all() and (laws == random_table(3, 8, 0, zeros=True, highest=2).laws).all()
    share = (laws == 0).mean()  # of 9,840 entries; a row of zeros (1 in 27) gets its first one back
    assert share == pytest.approx(1 / 3 - 1 / 81, abs=0.02)
