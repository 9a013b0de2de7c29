"""Edge cases as data (tests/edges): one token, one draw, one block, one sequence, one redraw, one race, one figure."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specsim import (
    COUPLINGS,
    RULES,
    Table,
    bind_codebook,
    exact,
    output_law,
    table,
)
from specsim.arrays import total_variation
from specsim.decoders import Autoregressive, Chain, Jacobi
from specsim.interpreters import Sampling, pick
from specsim.interpreters.sampling import winner
from specsim.laws import kl_divergence
from specsim.sampling import sample
from specsim.specs import parse
from specsim.verification import first_rejection, verdict_at
from tests import edge_runs, known_bad
from tests.known_bad import Altered, Tampered

F = Fraction
MISTAKES = {kind.__name__: kind for kind in (known_bad.ResampleTarget, known_bad.OnlyDraftedToken)}


def rows(name: str) -> Any:
    """A parametrization over the rows of one file; decimals are read exactly."""
    found = edge_runs.read_rows(name)
    return pytest.mark.parametrize("row", found, ids=[row["name"] for row in found])


def law(numbers: list) -> np.ndarray:
    return np.array([F(x) for x in numbers], dtype=object)


@rows("one_token")
def test_one_token(row: dict) -> None:
    target, draft = law(row["target"]), law(row["draft"])
    rule = bind_codebook(parse(row["rule"], {**RULES, **MISTAKES}, "rule"), row.get("codebook"))
    every, wide = np.arange(len(target)), (len(target), len(target))
    laws = (np.broadcast_to(x, wide) for x in (draft, target))
    kept = verdict_at(rule, *laws, every, 0 * every).accept
    out = output_law(rule, draft, target, np.array(0))
    ratio = max(a / b for a, b in zip(out, target, strict=True) if b)
    assert (draft * kept).sum() == F(row["accept"])
    assert total_variation(out, target) == F(row.get("tv", 0))
    assert ratio == F(row.get("ratio", ratio)) and out.tolist() == [F(x) for x in row.get("out", out)]


@rows("draws")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_draws(row: dict, dtype: Any) -> None:
    weights, u = edge_runs.law(row["weights"], dtype), edge_runs.value(row["u"], dtype)
    for namespace in edge_runs.BACKENDS.values():
        assert int(pick(namespace.asarray(weights), namespace.asarray(np.asarray(u)))) == row["index"]


@rows("blocks")
def test_blocks(row: dict) -> None:
    stop = first_rejection(law([*row["accept"], 0])[None])
    assert stop[0].tolist() == [i == row["kept"] for i in range(len(row["accept"]) + 1)]


@rows("sequences")
def test_sequences(row: dict) -> None:
    """Models that are certain of one sequence: every draft is right, and only the end decides what counts."""
    sequence, eos = row["sequence"], row["eos"]
    model = table([[[int(v == x) for v in range(3)]] * 3**n for n, x in enumerate(sequence)])
    found = exact(Chain(row["lookahead"]), model, model, eos=eos)
    assert (found.tokens, found.accepted, found.calls) == (row["tokens"], row["accepted"], row["calls"])
    ended = [eos if eos in sequence[:n] else x for n, x in enumerate(sequence)]
    assert found.mass[int("".join(map(str, ended)), 3)] == 1
    samples = sample(Chain(row["lookahead"]), model.floats(), model.floats(), eos=eos)
    assert samples.tokens.tolist() == [ended] and set(samples.acceptance_by_slot) == {1}
    wanted = [row[name] for name in ("tokens", "accepted", "calls")]
    assert [samples.lengths, samples.accepted, samples.calls] == wanted


@pytest.mark.parametrize("uniform", [0.0, 0.5, 0.99999994])
@pytest.mark.parametrize("decoder", [Chain(1), Chain(2), Jacobi(2), Jacobi(2, "maximal", "onehot")], ids=repr)
def test_a_target_a_rounding_below_its_draft(decoder: Any, uniform: float) -> None:
    """float32 laws (1 - 2**-24, 0) and (1, 0): the residual is empty, and nothing may come but token 0."""
    target, draft = (Table(np.array([[x, 0]] * 7, dtype=np.float32), 3) for x in (0.99999994, 1))

    def scripted(choose: Any) -> Any:
        def draw(weights: Any, live: tuple) -> tuple:
            assert np.isfinite(weights).all()
            return pick(weights, np.full(weights.shape[:-1], uniform, dtype=np.float32)), live

        return Altered(draw, lambda inner, weights, position, live: inner(weights, live), forgets=False)

    assert sample(Tampered(decoder, scripted), target, draft).tokens.tolist() == [[0, 0, 0]]


@rows("redraws")
def test_redraws(row: dict) -> None:
    """How often a redraw keeps a token, and that the new token has the new law."""
    new, old = (law(row[name]) for name in ("new", "old"))
    wide, tokens = np.tile(new, (1, len(new), 1)), np.arange(len(new))[None]
    kernel, _ = COUPLINGS[row["coupling"]].redraw(None, 0 * wide + old, wide, tokens, tokens, ())
    kernel = kernel / kernel.sum(axis=-1, keepdims=True)  # a redraw gives weights
    assert (old * np.diagonal(kernel[0])).sum() == F(row["agree"])
    assert (old @ kernel[0]).tolist() == new.tolist()


@rows("noise")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_noise(row: dict, dtype: Any) -> None:
    noise, probability = (edge_runs.law(row[name], dtype) for name in ("noise", "law"))
    for namespace in edge_runs.BACKENDS.values():
        assert int(winner(namespace.asarray(noise), namespace.asarray(probability))) == row["winner"]


def test_shared_noise_is_never_zero() -> None:
    """Whatever is generated: the token that has nearly everything wins."""
    probability = np.array([0, 0, 0, 0.1, 0, 0, 0, 0.9], dtype=np.float32)
    choose = Sampling(0, [0], 2, probability)
    choose.stream = lambda kind, row: Zeros()
    noise = choose.noise(np.array([0]))
    assert noise.dtype == np.float32 and (noise > 0).all()
    assert choose.race(probability[None], np.array([1]), ())[0].tolist() == [7]


@rows("divergences")
def test_divergences(row: dict) -> None:
    """KL in nats of exact laws; nothing here takes log(1 - x) of a rounded 1 - x."""
    expected = pytest.approx(float(row["kl"]), rel=float(row.get("within", 1e-8)), abs=0)  # nine digits are written
    assert kl_divergence(law(row["first"]), law(row["second"])) == expected


def test_a_logarithm_of_a_rounded_ratio_is_caught() -> None:
    [row] = [row for row in edge_runs.read_rows("divergences") if "1e-10" in row["name"]]
    pairs = zip(law(row["first"]), law(row["second"]), strict=True)
    naive = sum(float(a) * math.log(float(a / b)) for a, b in pairs)
    assert naive != pytest.approx(float(row["kl"]), rel=1e-2, abs=0)


class Zeros:
    """A generator at its worst."""

    def standard_exponential(self, shape: tuple) -> np.ndarray:
        return np.zeros(shape)


def test_what_one_side_never_emits() -> None:
    halves, never = (table([[one], [one] * 2]) for one in ([0.5, 0.5], [1, 0]))
    law_of_halves = exact(Autoregressive(), halves)
    assert (law_of_halves.tv(never), law_of_halves.max_ratio(never)) == (F(3, 4), math.inf)
    assert law_of_halves.kl(never) == math.inf == law_of_halves.token_kl(never)[0]
    assert exact(Autoregressive(), never).max_ratio(halves) == 4
