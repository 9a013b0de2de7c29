"""Bad input of the Python API: refused in one line that names it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from array_api_compat import array_namespace

from specsim import SpecsimError, Table, Verdict, bind_codebook, exact, output_law, random_table, table
from specsim.decoders import Autoregressive, Chain, Jacobi, Race
from specsim.rules import Additive, Annealed, ContentAware, Lantern, LanternPlus, Lenient, Optimal, Strict
from specsim.sampling import sample
from tests import edge_runs

F = Fraction


def law(numbers: list) -> np.ndarray:
    return np.array([F(x) for x in numbers], dtype=object)


TARGET, DRAFT, WIDE = random_table(2, 3, 1), random_table(2, 3, 2), random_table(3, 3, 3)
HALVES = [F(1, 2), F(1, 2)]
VOCABULARIES = [Table(np.full((1, vocab), 1 / vocab), 1) for vocab in (151_936, 152_064)]


def half(dtype: type) -> Table:
    """Two tokens, in a number type of any precision."""
    return Table(np.full((7, 2), 0.5, dtype=dtype), 3)


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
    "codebook of NaN": (lambda: bind_codebook(Optimal(Lantern()), [[0.0], [float("nan")]]), "codebook"),
    "rows 0": (lambda: sample(Autoregressive(), TARGET.floats(), rows=0), "at least one row"),
    "rows -1": (lambda: sample(Autoregressive(), TARGET.floats(), rows=[-1]), "no negative"),
    "seed -1": (lambda: sample(Autoregressive(), TARGET.floats(), seed=-1), "no negative"),
    "four tokens racing": (lambda: exact(Race(), random_table(4, 1, 1)), "vocab 1, 2 and 3, not 4; sample"),
    "other table": (lambda: exact(Autoregressive(), TARGET).tv(WIDE), "cannot compare"),
    "other law": (
        lambda: exact(Autoregressive(), TARGET).kl(exact(Autoregressive(), TARGET, length=2)),
        "cannot compare",
    ),
    "float16": (lambda: sample(Chain(2), half(np.float16), half(np.float32)), "target laws are float16; give float32"),
    "float16 draft": (
        lambda: sample(Chain(2), half(np.float32), half(np.float16)),
        "draft laws are float16; give float",
    ),
    "exact float16": (lambda: exact(Autoregressive(), half(np.float16)), "target laws are float16; give float32"),
    "bfloat16": (
        lambda: sample(Jacobi(2), Table(torch.full((1, 2), 0.5, dtype=torch.bfloat16), 1)),
        "target laws are bfloat16; give float32",
    ),
    "whole numbers": (lambda: sample(Jacobi(2), Table(np.array([[1, 0]]), 1)), "target laws are int64; give float32"),
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
    *((kind, "k", (0, 1.5)) for kind in (Lantern, LanternPlus)),
    (Lantern, "delta", (-0.1, math.nan)),
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


@dataclass(frozen=True)
class Late:
    """The strict rule up to slot 3; from slot 4 on something is done to its verdict."""

    spoil: Callable[[Any, Any], tuple[Any, Any]]

    def __call__(self, draft: Any, target: Any, position: Any) -> Verdict:
        xp, right = array_namespace(target), Strict()(draft, target, position)
        late = (position > 3)[..., None]
        return Verdict(*(xp.where(late, bad, good) for bad, good in zip(self.spoil(*right), right, strict=True)))


def fallen(residual: Any) -> Any:
    """(1/2, 1/2) -> (3/2, -1/2): the sum of 1 alone does not make a law."""
    return 3.5 - 4 * array_namespace(residual).cumulative_sum(residual, axis=-1)


SPOILED: dict[str, tuple[Callable[[Any, Any], tuple[Any, Any]], str]] = {
    "raised by 3": (
        lambda b, g: (b + 3, g),
        r"slot 4 with probability -[23]\S*, .*; an acceptance must be",
    ),
    "below 0": (lambda b, g: (b - 2, g), r"slot 4 with probability [23]\S*, .*; an acceptance must be from 0 to 1"),
    "NaN": (lambda b, g: (b * math.nan, g), r"slot 4 with probability nan, nan up to there; an acceptance must be"),
    "nothing": (lambda b, g: (b * 0, g * 0), r"the residual of row 0, slot 4 sums to 0.0, not to 1; it must be a law"),
    "a NaN law": (lambda b, g: (b * 0, g * math.nan), r"row 0, slot 4 sums to nan, not to 1; it must be a law"),
    "negative": (lambda b, g: (b * 0, fallen(g)), r"slot 4 holds -0.5, below 0; it must be a law"),
}


@pytest.mark.parametrize("spoiled", SPOILED)
@pytest.mark.parametrize("backend", edge_runs.BACKENDS)
@pytest.mark.parametrize("decoder", [Chain(6), Jacobi(6)], ids=repr)
def test_an_invalid_verdict_stops_the_sampler(decoder: Any, backend: str, spoiled: str) -> None:
    """Equal laws, so that four drafts are kept and slot 4 is judged."""
    spoil, wanted = SPOILED[spoiled]
    laws = edge_runs.BACKENDS[backend].asarray(np.full((2, 7, 2, 2), 0.5))
    with pytest.raises(SpecsimError, match=f"^rule: .*{wanted}") as caught, np.errstate(all="ignore"):
        sample(decoder, edge_runs.Rowwise(laws), edge_runs.Rowwise(laws), Late(spoil), rows=2)
    assert "\n" not in str(caught.value)
    fine = sample(decoder, edge_runs.Rowwise(laws), edge_runs.Rowwise(laws), Late(lambda b, g: (b, g)), rows=2)
    assert fine.tokens.shape == (2, 7)


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
