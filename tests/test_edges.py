"""Edge cases as data (tests/edges), and bad input of the Python API: refused in one line that names it."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch

from specsim import (
    COUPLINGS,
    RULES,
    SpecsimError,
    Table,
    bind_codebook,
    exact,
    output_law,
    random_table,
    table,
)
from specsim.arrays import total_variation
from specsim.decoders import Autoregressive, Chain, Jacobi, Race
from specsim.files import read_json
from specsim.interpreters import Sampling, pick
from specsim.interpreters.sampling import winner
from specsim.rules import Additive, Annealed, ContentAware, Lantern, LanternOptimal, Lenient, Strict
from specsim.sampling import sample
from specsim.specs import parse
from specsim.verification import first_rejection, verdict_at
from tests import known_bad
from tests.known_bad import Altered, Tampered

F = Fraction
MISTAKES = {kind.__name__: kind for kind in (known_bad.ResampleTarget, known_bad.OnlyDraftedToken)}
EDGES = Path(__file__).parent / "edges"


def rows(name: str) -> Any:
    """A parametrization over the rows of one file; decimals are read exactly."""
    found = read_json(EDGES / f"{name}.json", exact=True)
    return pytest.mark.parametrize("row", found, ids=[row["name"] for row in found])


def law(numbers: list) -> np.ndarray:
    return np.array([F(x) for x in numbers], dtype=object)


@rows("one_token")
def test_one_token(row: dict) -> None:
    target, draft = law(row["target"]), law(row["draft"])
    rule = parse(row["rule"], {**RULES, **MISTAKES}, "rule")
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
    weights, u = (np.array(row[name], dtype=dtype) for name in ("weights", "u"))
    for namespace in (np, torch, array_api_strict):
        assert int(pick(namespace.asarray(weights), namespace.asarray(u))) == row["index"]


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


@pytest.mark.parametrize(("coupling", "agree"), [("independent", F(47, 100)), ("maximal", F(9, 10))])
def test_how_often_a_redraw_keeps_a_token(coupling: str, agree: Fraction) -> None:
    """The pair of four tokens again: independent draws agree with .47, and no coupling beats .9."""
    new, old = (np.tile(law(["3/5", "1/5", "1/10", "1/10"]), (1, 4, 1)), law(["7/10", "1/5", "1/20", "1/20"]))
    tokens = np.arange(4)[None]
    kernel, _ = COUPLINGS[coupling].redraw(None, 0 * new + old, new, tokens, tokens, ())
    kernel = kernel / kernel.sum(axis=-1, keepdims=True)  # a redraw gives weights
    assert (old * np.diagonal(kernel[0])).sum() == agree
    assert (old @ kernel[0]).tolist() == new[0, 0].tolist()


def test_noise_of_zero() -> None:
    """A token of probability 0 never wins with it, and shared noise is never 0, whatever is generated."""
    probability = np.array([0, 0, 0, 0.1, 0, 0, 0, 0.9], dtype=np.float32)
    assert winner(np.array([0, 0, 0, 2.0, 0, 0, 0, 1.0], dtype=np.float32), probability) == 7
    choose = Sampling(0, [0], 2, probability)
    choose.stream = lambda kind, row: Zeros()
    noise = choose.noise(np.array([0]))
    assert noise.dtype == np.float32 and (noise > 0).all()
    assert choose.race(probability[None], np.array([1]), ())[0].tolist() == [7]


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


TARGET, DRAFT, WIDE = random_table(2, 3, 1), random_table(2, 3, 2), random_table(3, 3, 3)
HALVES = [F(1, 2), F(1, 2)]
VOCABULARIES = [Table(np.full((1, vocab), 1 / vocab), 1) for vocab in (151_936, 152_064)]
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "length 0": (lambda: exact(Autoregressive(), TARGET, length=0), "length 0: .* 1 to 3"),
    "length -1": (lambda: sample(Autoregressive(), TARGET.floats(), length=-1), "length -1: .* 1 to 3"),
    "length 4": (lambda: exact(Autoregressive(), TARGET, length=4), "length 4: .* 1 to 3"),
    "eos -1": (lambda: exact(Autoregressive(), TARGET, eos=-1), "eos -1: .* 0 to 1"),
    "eos 2": (lambda: sample(Autoregressive(), TARGET.floats(), eos=2), "eos 2: .* 0 to 1"),
    "no draft": (lambda: exact(Chain(2), TARGET), "needs a draft model"),
    "no draft in a race": (lambda: exact(Race(Chain(2)), TARGET), "needs a draft model"),
    "draft vocabulary": (lambda: exact(Chain(2), TARGET, WIDE), "draft vocab 3 .* target vocab 2"),
    "real vocabularies": (lambda: sample(Chain(4), *VOCABULARIES), "152064 differs from target vocab 151936"),
    "short draft": (lambda: exact(Chain(2), TARGET, random_table(2, 2, 1)), "for 2 tokens, 3 are asked"),
    "draft numbers": (lambda: exact(Chain(2), TARGET, DRAFT.floats()), "float64, target laws are object"),
    "rule for plain": (lambda: exact(Autoregressive(), TARGET, rule=Strict()), "takes no rule"),
    "rule for a race": (lambda: exact(Race(Chain(2)), TARGET, DRAFT, Lenient(2)), "takes no rule"),
    "no codebook": (lambda: exact(Jacobi(2), TARGET, rule=Lantern()), "needs a codebook"),
    "unbound": (lambda: output_law(Lantern(), law(HALVES), law(HALVES), np.array(0)), "bind a codebook"),
    "short codebook": (
        lambda: output_law(bind_codebook(Lantern(), [[0], [1]]), law([0, 0, 1]), law([1, 0, 0]), np.array(0)),
        "2 codes, the laws have 3 tokens",
    ),
    "codebook of NaN": (lambda: bind_codebook(LanternOptimal(), [[0.0], [float("nan")]]), "codebook"),
    "rows 0": (lambda: sample(Autoregressive(), TARGET.floats(), rows=0), "at least one row"),
    "rows -1": (lambda: sample(Autoregressive(), TARGET.floats(), rows=[-1]), "no negative"),
    "seed -1": (lambda: sample(Autoregressive(), TARGET.floats(), seed=-1), "no negative"),
    "four tokens racing": (lambda: exact(Race(), random_table(4, 1, 1)), "vocab 1, 2 and 3, not 4; sample"),
    "other table": (lambda: exact(Autoregressive(), TARGET).tv(WIDE), "cannot compare"),
    "other law": (
        lambda: exact(Autoregressive(), TARGET).kl(exact(Autoregressive(), TARGET, length=2)),
        "cannot compare",
    ),
    "no laws": (lambda: table([]), "no laws"),
    "an empty law": (lambda: table([[]]), "laws"),
    "NaN": (lambda: table([[float("nan"), 1]]), "not a number"),
    "infinite": (lambda: table([[float("inf"), 1]]), "not a number"),
    "true": (lambda: table([[True, 0]]), "not a number"),
    "words": (lambda: table([["half", "half"]]), "'half' is not a number"),
    "divided by 0": (lambda: table([["1/0", 1]]), "not a number"),
    "negative": (lambda: table([[F(3, 2), F(-1, 2)]]), "negative"),
    "sum": (lambda: table([[0.5, 0.6]]), "sum to 1.1, not to 1"),
    "too many laws": (lambda: table([HALVES, [HALVES] * 3]), "3 laws where 2..1 = 2 are needed"),
    "a short law": (lambda: table([HALVES, [HALVES, [1]]]), "list of 2 numbers"),
    "a huge table": (lambda: table([HALVES] * 30), "more than 5,000,000 laws"),
    "window 0": (lambda: Jacobi(0), "window = 0 must be a whole number from 1 to 4096"),
    "window 1.5": (lambda: Jacobi(1.5), "window = 1.5 must be"),
    "continuation": (lambda: Jacobi(2, "sideways"), "continuation = 'sideways' must be one of independent"),
    "tail": (lambda: Jacobi(2, tail="long"), "tail = 'long' must be one of uniform, onehot"),
    "lookahead 0": (lambda: Chain(0), "lookahead = 0 must be"),
}
for kind, name, values in [
    (Lenient, "omega", (0, -1, math.inf, math.nan)),
    (Annealed, "delta", (0, math.inf, math.nan)),
    (Annealed, "nu", (math.inf, math.nan)),
    (Annealed, "mu", (math.inf, math.nan)),
    (Additive, "epsilon", (-0.1, math.inf, math.nan)),
    (ContentAware, "lam", (-0.1, math.inf, math.nan)),
    (ContentAware, "delta", (-0.1, math.nan)),
    *((kind, "k", (0, 1.5)) for kind in (Lantern, LanternOptimal)),
    *((kind, "delta", (-0.1, math.nan)) for kind in (Lantern, LanternOptimal)),
]:
    for value in values:
        said = f"{kind.__name__}: {name} = {value}"
        BAD[said] = (partial(kind, **{name: value}), f"{said} must be")


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case: str) -> None:
    action, wanted = BAD[case]
    with pytest.raises(SpecsimError, match=wanted) as caught:
        action()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("laws", [[[2.0, 0.0]], [[1.5, -0.5]], [[float("nan"), 1.0]], [[0.4, 0.4]]], ids=repr)
def test_a_table_made_by_hand_must_hold_laws(laws: list) -> None:
    """Table(...) checks nothing by itself; whatever uses it does, sampling and exact laws alike."""
    wrong = Table(np.array(laws), 1)
    for use in (sample, exact):
        with pytest.raises(SpecsimError, match=r"target table: laws\[0\] = .* is not a law"):
            use(Autoregressive(), wrong)


@pytest.mark.parametrize(("entry", "total"), [(5.0, "5.0"), (0.0, "0.0"), (float("nan"), "nan")])
def test_a_model_that_gives_no_laws_is_named_by_row_and_position(entry: float, total: str) -> None:
    """Any callable may be a model: what it says is looked at while it is sampled."""

    class Model:
        vocab, length, uniform, codebook = 2, 3, np.array([0.5, 0.5]), None

        def __call__(self, tokens: np.ndarray, start: np.ndarray, count: int) -> np.ndarray:
            laws = np.full((len(tokens), count, 2), 0.5)
            laws[1, start[1] == 2] = [0, entry]
            return laws

    with pytest.raises(SpecsimError, match=f"target model: the law of row 1, position 2 sums to {total}, not to 1"):
        sample(Autoregressive(), Model(), rows=3)
