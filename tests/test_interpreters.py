"""The readings of a decoder: draws at their boundaries, parity of backends, replay, merging, shared noise."""

import re
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import array_api_strict
import numpy as np
import pytest
import torch

from specsim import COUPLINGS, RULES, SpecsimError, Table, exact, random_table, table
from specsim.decoders import DECODERS, Autoregressive, Chain, Jacobi, Race
from specsim.decoding import Round, Rows, commit
from specsim.interpreters import Recording, Replay, merging, pick
from specsim.rules import Lenient, Strict
from specsim.sampling import sample, to_numpy
from specsim.verification import Block, carries_state, draw_stop, first_rejection, judges_blocks
from tests.known_bad import Tampered

F = Fraction
BELOW_ONE = {np.float64: np.nextafter(1.0, 0.0), np.float32: np.nextafter(np.float32(1), np.float32(0))}
NAMESPACES = {"torch": torch, "array_api_strict": array_api_strict}
CODEBOOK = [[0, 0], [1, 0], [0, 1]]
TARGET = replace(random_table(3, 4, 1, zeros=True).floats(), codebook=CODEBOOK)
DRAFT = random_table(3, 4, 2, zeros=True).floats()
COUPLED = [Jacobi(2, coupling, tail) for coupling, tail in product(COUPLINGS, ("uniform", "onehot"))]
DECODER_SETTINGS = [*(kind() for kind in DECODERS.values()), Chain(2), Race(Chain(2)), *COUPLED]
DECODER_SETTINGS += [Race(decoder) for decoder in COUPLED if decoder.continuation == "independent"]
RUNS = [(d, None) for d in DECODER_SETTINGS if not d.takes_rule]
COUPLED = {d for d in DECODER_SETTINGS if getattr(d, "continuation", "independent") != "independent"}
RUNS += [
    (d, rule())
    for d in DECODER_SETTINGS
    if d.takes_rule
    for rule in RULES.values()
    if not (d in COUPLED and getattr(rule, "independent_only", False))  # refused, tests/test_block_rules.py
    and not (
        getattr(d, "single_tokens", False) and (carries_state(rule) or judges_blocks(rule))
    )  # refused, tests/test_trees.py
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("weights", "uniform", "index"),
    [
        ([0.25, 0.5, 0.25], 0.0, 0),
        ([0.25, 0.5, 0.25], 0.25, 1),  # index i owns [F(i-1), F(i)): a boundary belongs to the next one
        ([0.25, 0.5, 0.25], 0.75, 2),
        ([0.25, 0.5, 0.25], None, 2),  # None: the last number below 1
        ([0, 0.25, 0, 0.75], 0.0, 1),  # weight 0 owns nothing, also at the ends
        ([0, 0.25, 0, 0.75], 0.25, 3),
        ([0.5, 0.5, 0, 0], None, 1),
        ([0, 0, 1, 0], 0.0, 2),
        ([0, 0, 1, 0], None, 2),
        ([1, 2, 1], 0.25, 1),  # weights need no sum of 1
        ([0, 8, 0, 24], 0.25, 3),
        ([0.125, 0, 0.125], 0.5, 2),
        ([1], None, 0),
    ],
)
def test_pick(dtype: Any, weights: list, uniform: float | None, index: int) -> None:
    law, u = np.array(weights, dtype=dtype), dtype(BELOW_ONE[dtype] if uniform is None else uniform)
    for namespace in (np, torch, array_api_strict):
        assert int(pick(namespace.asarray(law), namespace.asarray(np.array(u)))) == index


def kept(accept: list[float], uniform: float) -> int:
    """How many drafts the decoders keep when the uniform of their draw is given."""
    stop = first_rejection(np.array([[*accept, 0.0]]))  # the last slot holds no draft
    block = Block(stop, stop[..., None])
    index, _ = draw_stop(block, lambda law, live: (pick(law, np.array([uniform])), live), ())
    return int(index[0])


@pytest.mark.parametrize("accept", [0.0, 0.25, 0.5, 1.0])
def test_accept_iff_u_is_below_b(accept: float) -> None:
    for uniform in (0.0, 0.125, 0.25, 0.375, 0.5, 0.75, BELOW_ONE[np.float64]):
        assert kept([accept], uniform) == (uniform < accept)


def test_at_least_i_are_kept_iff_u_is_below_the_product() -> None:
    """b = 1/2, 1, 1/4, 1/2: products 1/2, 1/2, 1/8, 1/16."""
    uniforms = (0.0, 1 / 32, 1 / 16, 3 / 32, 1 / 8, 3 / 8, 1 / 2, 3 / 4)
    assert [kept([0.5, 1, 0.25, 0.5], u) for u in uniforms] == [4, 4, 3, 3, 2, 2, 0, 0]


def converted(model: Table, namespace: Any) -> Table:
    return replace(model, laws=namespace.asarray(model.laws))


@pytest.mark.parametrize(("decoder", "rule"), RUNS, ids=repr)
def test_backends_agree_token_for_token(decoder: Any, rule: Any) -> None:
    """The same uniforms in numpy, torch and the strictest reading of the array standard."""
    for eos in (None, 1):
        go = partial(sample, decoder, rule=rule, rows=6, seed=3, eos=eos)
        wanted = go(TARGET, DRAFT)
        for namespace in NAMESPACES.values():
            got = go(converted(TARGET, namespace), converted(DRAFT, namespace))
            assert type(got.tokens) is type(namespace.asarray([0]))
            assert to_numpy(got.tokens).tolist() == wanted.tokens.tolist()
            assert np.array_equal(got.kept, wanted.kept) and np.array_equal(got.reached, wanted.reached)


@pytest.mark.parametrize("decoder", DECODER_SETTINGS, ids=repr)
def test_a_row_does_not_depend_on_its_batch(decoder: Any) -> None:
    batch, alone = (sample(decoder, TARGET, DRAFT, rows=rows, seed=1) for rows in (8, [5]))
    assert batch.tokens[5].tolist() == alone.tokens[0].tolist()
    assert (batch.calls[5], batch.accepted[5]) == (alone.calls[0], alone.accepted[0])
    assert len({tuple(row) for row in sample(decoder, TARGET, DRAFT, rows=32).tokens.tolist()}) > 1


@pytest.mark.parametrize("inner", [Chain(2), *(d for d in COUPLED if d.continuation == "independent")], ids=repr)
def test_a_race_equals_plain_decoding(inner: Any) -> None:
    plain, raced = (sample(Race(d), TARGET, DRAFT, rows=50, seed=2, eos=2) for d in (Autoregressive(), inner))
    assert raced.tokens.tolist() == plain.tokens.tolist()
    assert raced.calls.sum() < plain.calls.sum()


def test_a_race_of_equal_laws_keeps_every_draft() -> None:
    """The same law raced twice at one position has one winner: tails are uniform, and so is this target."""
    uniform = table([[[1 / 2, 1 / 2]] * 2**n for n in range(6)]).floats()
    for decoder, calls in ((Chain(2), 2), (Jacobi(2), 2), (Jacobi(1), 3)):
        assert sample(Race(decoder), uniform, uniform, rows=20).calls.tolist() == [calls] * 20


@pytest.mark.parametrize("decoder", DECODER_SETTINGS, ids=repr)
def test_a_recording_replays(decoder: Any) -> None:
    script: list = []
    first = sample(Tampered(decoder, lambda choose: Recording(choose, script)), TARGET, DRAFT, rows=4, seed=9)
    replay = Replay(script)
    again = sample(Tampered(decoder, lambda choose: replay), TARGET, DRAFT, rows=4, seed=10)
    assert again.tokens.tolist() == first.tokens.tolist() and again.kept.tolist() == first.kept.tolist()
    assert replay.asked == len(script)


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ([[0]], "weight 0"),
        ([[1]], "ends after 1 draws"),
        ([[1, 1]], r"needs shape \(1,\)"),
        ([[[1]]], r"needs shape \(1,\)"),
    ],
)
def test_a_script_that_does_not_fit(script: list, wanted: str) -> None:
    model = table([[0, 1], [[0.5, 0.5]] * 2]).floats()
    with pytest.raises(SpecsimError, match=wanted):
        replay = Replay(script)
        sample(Tampered(Autoregressive(), lambda choose: replay), model)


def test_equal_values_have_equal_codes() -> None:
    """Also when they are different objects or number types; different values never share a code."""
    values = np.array([F(1, 3), F(2, 6), 1, F(1), F(10**30, 3), F(10**30 + 1, 3)], dtype=object)
    codes = merging.value_codes(values).tolist()
    assert codes[0] == codes[1] and codes[2] == codes[3] and len(set(codes)) == 4
    assert merging.value_codes(values.reshape(2, 3)).shape == (2, 3)


@pytest.mark.parametrize("collide", [False, True])
def test_only_equal_rows_are_merged(monkeypatch: pytest.MonkeyPatch, collide: bool) -> None:
    """Also when every row has the same key: then equal rows may stay apart, and no others come together."""
    if collide:
        monkeypatch.setattr(merging, "row_keys", lambda words: np.zeros(len(words), dtype=np.uint64))
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 2, (60, 2))
    laws = np.array([[F(int(n), 3)] for n in rng.integers(0, 2, 60)])
    weight = np.array([F(1, n + 1) for n in range(60)])
    (some, held), sums = merging.merge((tokens, laws), weight)
    mass: dict = {}
    for source, weights in (((tokens, laws), weight), ((some, held), -sums)):
        for x, law, w in zip(*source, weights, strict=True):
            mass[tuple(x), law[0]] = mass.get((tuple(x), law[0]), F(0)) + w
    assert set(mass.values()) == {0}
    assert collide or len(sums) == len(mass)


def test_a_run_with_colliding_keys_has_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    model, rule = random_table(2, 4, 5), Lenient(2)
    wanted = exact(Jacobi(3, "maximal"), model, rule=rule)
    monkeypatch.setattr(merging, "row_keys", lambda words: np.zeros(len(words), dtype=np.uint64))
    law = exact(Jacobi(3, "maximal"), model, rule=rule)
    assert (law.mass.tolist(), law.call_law) == (wanted.mass.tolist(), wanted.call_law)


@pytest.mark.parametrize("decoder", [Autoregressive(), Chain(2), Jacobi(3, "maximal")], ids=repr)
@pytest.mark.parametrize("budget", [3_000, 10_000, 30_000])
def test_a_length_that_is_offered_fits(decoder: Any, budget: int) -> None:
    """What does not fit is refused, and the length that the refusal names runs within the same budget."""
    model = random_table(2, 8, 0)
    with pytest.raises(SpecsimError, match=r"budget") as caught:
        exact(decoder, model, model, budget=budget)
    offered = re.search(r"length (\d+) would fit", str(caught.value))
    assert offered and exact(decoder, model, model, length=int(offered[1]), budget=budget).total == 1


class RaceTwice(NamedTuple):
    """Tokens 0 and 1 win races under their own laws, both with the noise of position 0."""

    needs_draft: bool = False
    takes_rule: bool = False

    def start(self, task: Any, rows: Rows, choose: Any) -> Rows:
        return rows

    def step(self, state: Rows, choose: Any, task: Any) -> tuple:
        laws = task.target(state.tokens, state.length, 2)
        first = np.zeros((len(state.length), 2), dtype=np.int64)
        won, (tokens, length) = choose.race(laws, first, tuple(state))
        rows, _ = commit(task, Rows(tokens, length), won, 0 * length + 2)
        return rows, Round(*(0 * rows.length for _ in Round._fields))


@pytest.mark.parametrize("vocab", [2, 3])
def test_shared_noise_is_the_gumbel_coupling(vocab: int) -> None:
    """Each winner has its law; they agree with probability sum_i 1 / sum_j max(p_j / p_i, q_j / q_i)."""
    for seed in range(20):
        p, q = (tuple(random_table(vocab, 1, seed + i, zeros=True).laws[0]) for i in (0, 50))
        joint = exact(RaceTwice(), table([[p], [q] * vocab])).mass.reshape(vocab, vocab)
        assert (joint.sum(axis=1).tolist(), joint.sum(axis=0).tolist()) == ([*p], [*q])
        alike = [v for v in range(vocab) if p[v] * q[v] > 0]
        agree = sum((1 / sum(max(p[j] / p[i], q[j] / q[i]) for j in range(vocab)) for i in alike), F(0))
        assert np.trace(joint) == agree
        tv = sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
        assert agree == 1 - tv if vocab == 2 else (1 - tv) / (1 + tv) <= agree <= 1 - tv


@pytest.mark.parametrize("name", [name for name in COUPLINGS if name != "independent"])
def test_a_race_redraws_by_itself(name: str) -> None:
    """Racing another coupling's mixture is no race under the new law (its drafts are hardly ever kept)."""
    with pytest.raises(SpecsimError, match="the race redraws the window"):
        Race(Jacobi(2, name))
    for inner in (Race(), Strict(), 3):
        with pytest.raises(SpecsimError, match="a decoder that does not race yet"):
            Race(inner)
