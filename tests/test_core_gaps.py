"""Plain facts of the core that a mutation run showed to follow from no other test."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from specsim import SpecsimError, Table, bind_codebook, enumeration, exact_laws, random_table, sample, table
from specsim.arrays import as_numbers, place, to_numpy
from specsim.decoders import Autoregressive, Chain, Jacobi, Race, RelaxedBonus
from specsim.decoders.jacobi import Window
from specsim.interpreters import Recording, Sampling
from specsim.interpreters.exact import Exact, shares
from specsim.interpreters.merging import as_words, merge
from specsim.interpreters.sampling import below_one
from specsim.rules import (
    Annealed,
    Grouped,
    Lantern,
    LanternDynamic,
    LanternPlus,
    LanternPlusDynamic,
    Optimal,
    Partitioned,
    Strict,
)
from specsim.rules.optimal import acceptance
from specsim.tasks import make_task
from specsim.verification import carries_state, first_rejection, judges_blocks, verdict_at
from tests.test_one_token import SETTINGS, array, bound, pairs

F = Fraction


def test_uniforms_of_float32_are_those_of_float64_cut_to_24_bits() -> None:
    """Cut, not rounded: the largest stays below 1.  So a float32 model decodes what its float64 twin does."""
    cut = below_one(np.array([0.0, 2.0**-25, 0.5, 0.7, np.nextafter(1.0, 0.0)]), "float32")
    assert cut.dtype == np.float32 and cut.tolist() == [0, 0, 0.5, math.floor(0.7 * 2**24) / 2**24, 1 - 2.0**-24]
    single, double = (Sampling(3, [0, 5], 4, np.ones(2, dtype=kind)) for kind in ("float32", "float64"))
    for shape in ((2,), (2, 3)):
        got, fine = single.uniform(shape), double.uniform(shape)
        assert (got.dtype, fine.dtype) == (np.float32, np.float64)
        assert got.tolist() == (np.floor(fine * 2**24) / 2**24).tolist() and len(set(fine.reshape(-1))) == fine.size
    model = Table(random_table(2, 6, 1).floats().laws, 6)
    coarse = Table(model.laws.astype(np.float32), 6)
    assert (sample(Autoregressive(), coarse, rows=50).tokens == sample(Autoregressive(), model, rows=50).tokens).all()


def test_arrays_of_any_kind_come_to_numpy() -> None:
    some = torch.tensor([[0.5, -2.0]], dtype=torch.bfloat16, requires_grad=True)
    for found in (to_numpy(some), to_numpy(some.float()), to_numpy([[0.5, -2.0]])):
        assert isinstance(found, np.ndarray) and found.tolist() == [[0.5, -2.0]]


def test_a_recording_forgets_with_what_it_records() -> None:
    """A noise that is known is unknown again."""
    choose = Exact(np.array([[0.25, 0.75]]), 2, 10**6)
    assert choose.peak == 0
    choose.race(np.array([[0.25, 0.75]]), np.array([0]), ())
    known = choose.noise.copy()
    Recording(choose).forget(np.array([1, 0]))
    assert known[:, 0].all() and choose.noise[:, 0].tolist() == [0, known[1, 0]]


class OnlyStart:
    def start(self, task: Any, rows: Any, choose: Any) -> Any:
        return rows


class OnlyStep:
    def step(self, state: Any, choose: Any, task: Any) -> Any:
        return state


@pytest.mark.parametrize("half", [OnlyStart(), OnlyStep(), Chain], ids=["start", "step", "class"])
def test_half_a_decoder_is_none(half: Any) -> None:
    with pytest.raises(SpecsimError, match="is no decoder; give one such as Chain"):
        make_task(half, random_table(2, 2, 1), None, None, None, None)
    with pytest.raises(SpecsimError, match=r"Race: decoder = .* must be a decoder that does not race yet"):
        Race(OnlyStart() if half is Chain else half)


@pytest.mark.parametrize(("vocab", "length"), [(3, 3), (2, 2)])
def test_laws_of_other_sequences_are_not_compared(vocab: int, length: int) -> None:
    law, model = exact_laws.exact(Autoregressive(), random_table(2, 3, 1)), random_table(vocab, length, 2)
    other = exact_laws.exact(Autoregressive(), model)
    for read in (law.tv, law.kl, law.max_ratio, law.token_tv, law.token_kl):
        for against in (model, other):
            with pytest.raises(SpecsimError, match="cannot compare"):
                read(against)
    longer = random_table(2, 4, 1)  # a table goes on where a law ends
    assert law.tv(longer) == law.tv(Table(longer.laws[:7], 3))


def test_a_prefix_that_the_other_law_never_produces() -> None:
    """There it has no law to compare with: half a distance, and an endless divergence."""
    target = table([["1/4", "3/4"], [["1/3", "2/3"], ["1/2", "1/2"]]])
    point = table([[1, 0], [["1/3", "2/3"], ["1/2", "1/2"]]])
    law, other = (exact_laws.exact(Autoregressive(), model) for model in (target, point))
    assert law.token_tv(other) == [F(3, 4), F(3, 4) * F(1, 2)] and law.token_tv(point) == [F(3, 4), 0]
    assert law.token_kl(other) == [math.inf, math.inf] and law.kl(point) == law.max_ratio(point) == math.inf
    assert other.token_tv(law) == [F(3, 4), 0] and other.kl(law) == pytest.approx(math.log(4), abs=1e-15)
    assert other.max_ratio(law) == 4


@pytest.mark.parametrize(("tail", "left"), [("uniform", 2), ("onehot", 4)])
def test_states_that_differ_in_nothing_that_matters_are_one(
    monkeypatch: pytest.MonkeyPatch, tail: str, left: int
) -> None:
    """Jacobi, V = N = W = 2: two drafts to begin with; after a refusal one new draft, and a slot beyond the end.

    Against the uniform law only token 0 can be refused (and is replaced by 1), against certainty any.
    """
    sizes: list[int] = []

    def counted(arrays: tuple, weight: Any) -> tuple:
        merged = merge(arrays, weight)
        sizes.append(len(merged[1]))
        return merged

    monkeypatch.setattr(enumeration, "merge", counted)
    exact_laws.exact(Jacobi(2, tail=tail), table([["1/4", "3/4"], [["1/3", "2/3"], ["1/5", "4/5"]]]))
    assert sizes == [4, left]


def test_the_row_that_is_no_law_is_the_one_that_is_named() -> None:
    good, negative, empty = [0.5, 0.25, 0.25], [1.5, -0.5, 0.0], [0.0, 0.0, 0.0]
    for rows, named in (([good, negative], "'1.5', '-0.5'"), ([empty, good], "'0.0', '0.0'"), ([good, empty], "'0.0'")):
        with pytest.raises(SpecsimError, match=rf"exact law: \[{named}.*\] is not a law"):
            shares(np.array(rows))
    for total in (1, 2, 4, 0.5):
        assert shares(np.array([[0.25, 0.75], [0.5, 0.5]]) * total).tolist() == [[0.25, 0.75], [0.5, 0.5]]
    for wrong in ([math.nan, 0.5, 0.5], negative, empty):
        model = Table(np.array([good, good, wrong, good]), 2)
        with pytest.raises(SpecsimError, match=r"target table: laws\[2\] = .* is not a law"):
            make_task(Autoregressive(), model, None, None, None, None)


@pytest.mark.parametrize(("sum_of", "said"), [(5000, "5000"), (F(10**300), "a number beyond"), (F(1, 3), "0.3333333")])
def test_what_a_row_sums_to_is_said(sum_of: Any, said: str) -> None:
    with pytest.raises(SpecsimError, match=rf"laws\[0\]: the entries sum to {said}"):
        table([[sum_of, 0]])


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32, np.int64])
def test_a_word_for_every_number(kind: type) -> None:
    words = as_words(np.array([[[0, 1], [2, 3]], [[-0.0, 1], [2, 4]], [[0, 1], [2, 3]]], dtype=kind))
    assert words.shape == (3, 4) and words.dtype == np.int64
    assert words[0].tolist() == words[2].tolist() and (words[0] == words[1]).tolist() == [True, True, True, False]


def test_a_float32_law_is_enumerated_in_float32() -> None:
    fine = random_table(3, 3, 1).floats()
    law = exact_laws.exact(Jacobi(2, "maximal"), Table(fine.laws.astype(np.float32), 3))
    assert (
        law.mass.dtype == np.float32 and law.tv(Table(fine.laws.astype(np.float32), 3)) < 1e-6
    )  # 27 sums of roundings


def test_a_block_is_no_longer_than_what_can_be_drafted() -> None:
    """Windows end with the sequence, and counts with the last slot that was ever judged."""
    model, draft = random_table(2, 4, 1), random_table(2, 4, 2)
    task = make_task(Jacobi(), model, None, None, None, None)
    assert [Jacobi(window).size(task) for window in (1, 4, 5, 16)] == [1, 4, 4, 4]
    for decoder, slots in ((Chain(2), 2), (Chain(5), 3), (RelaxedBonus(1), 2), (Jacobi(2), 2), (Jacobi(9), 4)):
        law = exact_laws.exact(decoder, model, draft)
        assert len(law.kept) == len(law.reached) == len(law.acceptance_by_slot) == slots


def test_what_a_wrapper_looks_up() -> None:
    assert [Optimal(rule).reach for rule in (Strict(), Lantern(k=3), LanternPlus(k=7), Grouped(size=5))] == [0, 4, 8, 5]


@pytest.mark.parametrize("rule", [LanternDynamic(k=5, delta=1.0), LanternPlusDynamic(k=5, lam=1e9)], ids=repr)
def test_an_acceptance_that_rounds_above_one_is_one(rule: Any) -> None:
    """A token that borrows from all others has all mass: sums of floats round to either side of 1."""
    laws = np.random.default_rng(0).dirichlet(np.ones(6), size=200)
    ready = bind_codebook(rule, np.arange(6.0)[:, None])
    found = ready.acceptance(laws, laws, np.zeros(200))
    assert found.max() == 1 and found.min() > 1 - 1e-15  # three roundings
    plain = [p[v] + sum(p[u] for u in ready.neighbours.values[v]) for p in laws for v in range(6)]
    assert max(plain) > 1


@pytest.mark.parametrize("rule", SETTINGS, ids=repr)
def test_a_verdict_depends_on_its_own_laws_only(rule: Any) -> None:
    """A batch [2, 4, V] of different laws, tokens and slots, entry by entry."""
    found = pairs(8, 5, seed=3)
    draft, target = (np.array([array(pair[i]) for pair in found]).reshape(2, 4, 5) for i in (0, 1))
    token, slot = np.arange(8).reshape(2, 4) % 5, np.arange(8).reshape(2, 4) % 3
    ready = bound(rule, 5)
    whole = verdict_at(ready, draft, target, token, slot)
    for i in np.ndindex(2, 4):
        alone = verdict_at(ready, draft[i], target[i], token[i], slot[i])
        assert alone.accept == whole.accept[i] and alone.residual.tolist() == whole.residual[i].tolist()
    if judges_blocks(ready) or carries_state(ready):
        return
    accept = acceptance(ready, draft, target, slot)
    assert all(accept[i].tolist() == acceptance(ready, draft[i], target[i], slot[i]).tolist() for i in np.ndindex(2, 4))


def test_the_law_of_the_first_rejection_in_any_shape() -> None:
    accept = np.array([F(1, 2), F(1, 3), F(0)])
    wanted = [F(1, 2), F(1, 3), F(1, 6)]
    for shape in ((3,), (1, 3), (1, 1, 3)):
        found = first_rejection(accept.reshape(shape))
        assert found.shape == shape and found.reshape(-1).tolist() == wanted


def test_a_slot_that_is_never_judged_has_no_rate() -> None:
    law = exact_laws.exact(Autoregressive(), random_table(2, 2, 1))
    judged = replace(law, kept=(F(1, 4), F(0)), reached=(F(1, 2), F(0)))
    assert law.acceptance_by_slot == [] and judged.acceptance_by_slot == [F(1, 2), None]


@pytest.mark.parametrize("rule", [Strict, 3, "Strict()"], ids=repr)
def test_what_is_no_rule(rule: Any) -> None:
    with pytest.raises(SpecsimError, match="is no rule; give one such as Lenient"):
        make_task(Jacobi(2), random_table(2, 2, 1), None, rule, None, None)
    assert make_task(Jacobi(2), random_table(2, 2, 1), None, None, None, None).length == 2


def test_what_is_placed_and_where() -> None:
    """Two tokens from each start on; what falls beyond the end is dropped, and nothing else is touched."""
    tokens, values = np.array([[1, 2, 3, 4]] * 4), np.array([[8, 9]] * 4)
    wanted = [[8, 9, 3, 4], [1, 8, 9, 4], [1, 2, 3, 8], [1, 2, 3, 4]]
    assert place(tokens, np.array([0, 1, 3, 4]), values).tolist() == wanted
    assert place(tokens, np.array([0, 1, 3, 4]), values[:, :0]).tolist() == tokens.tolist()


@pytest.mark.parametrize(
    ("decoder", "target", "draft"),
    [
        *((Autoregressive(), {1}, set()), (Chain(2), {3}, {1}), (Chain(9), {4}, {1}), (RelaxedBonus(1), {2}, {1})),
        *((Jacobi(2), {3}, set()), (Jacobi(9), {5}, set())),
    ],
)
def test_no_law_is_asked_for_that_is_not_needed(decoder: Any, target: set, draft: set) -> None:
    """Laws of one call, four tokens in all: each costs a position of a real model."""
    models = [Counting(random_table(2, 4, seed).floats()) for seed in (1, 2)]
    sample(decoder, *models, rows=3)
    assert [model.counts for model in models] == [target, draft]


class Counting:
    """A table that notes how many laws it is asked for at once."""

    def __init__(self, model: Table) -> None:
        self.model, self.counts = model, set[int]()
        self.vocab, self.length, self.uniform = model.vocab, model.length, model.uniform

    def __call__(self, tokens: Any, start: Any, count: int) -> Any:
        self.counts.add(count)
        return self.model(tokens, start, count)


def test_marginals_are_an_array_of_laws() -> None:
    found = exact_laws.exact(Autoregressive(), table([["1/4", "3/4"], [["1/3", "2/3"], ["1/5", "4/5"]]])).marginals
    assert found.shape == (2, 2) and found.tolist() == [[F(1, 4), F(3, 4)], [F(7, 30), F(23, 30)]]


def test_slots_that_hold_no_draft_are_one_state() -> None:
    """W = 3, N = 4, two tokens final: of four slots the third lies beyond the end, and the last never holds a draft."""
    task = make_task(Jacobi(3), random_table(2, 4, 1), None, None, None, None)
    laws = np.full((1, 4, 2), F(1, 2))
    state = Window(np.array([[0, 1, 0, 0]]), np.array([2]), np.array([[1, 1, 1, 1]]), laws)
    found = Jacobi(3).canonical(state, task)
    assert found.window.tolist() == [[1, 1, 0, 0]] and found[:2] == state[:2]
    assert found.laws.tolist() == [[[F(1, 2), F(1, 2)]] * 2 + [[F(1), F(0)]] * 2]


def test_a_codebook_beyond_float64_is_refused_without_a_warning() -> None:
    with pytest.raises(SpecsimError, match="codebook: shape"):
        bind_codebook(Lantern(), np.array([[np.longdouble("1e400")], [0]]))


def test_a_heated_factor_stops_at_exp_20() -> None:
    """In Fractions and in floats; index numbers come in the type of the laws."""
    slots, exact_like = np.array([0, 1, 5]), np.array([F(1)])
    hottest = F(11, 10) * F(math.exp(20))
    assert Annealed(nu=-1000).omega(slots, exact_like).tolist() == [F(11, 10), hottest, hottest]
    assert Annealed(nu=-1000).omega(slots, np.ones(1)).tolist() == pytest.approx([1.1, *[1.1 * math.exp(20)] * 2])
    assert [type(n) for n in as_numbers(slots, exact_like)] == [F] * 3 and as_numbers(slots, np.ones(1)).dtype == float


def test_runs_are_as_many_as_cover_the_vocabulary() -> None:
    law = np.array([F(n, 28) for n in (7, 1, 6, 2, 5, 3, 4)])
    found = Partitioned(3).runs(law, np.argsort(law))
    assert found.tolist() == [F(6, 28), F(15, 28), F(7, 28)]
