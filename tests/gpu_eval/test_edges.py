"""Edge cases of the image side: logits in any number type, and half-precision networks with every rule."""

import itertools
from typing import Any

import pytest
import torch

from gpu_eval import processing
from gpu_eval.labelled import class_model
from gpu_eval.network import ImageModel
from gpu_eval.processing import Processing, law
from gpu_eval.transformer import Config, Transformer
from specsim import RULES, Chain, Jacobi, Race, SpecsimError, Strict, bind_codebook, sample
from specsim.decoders import Autoregressive, RelaxedBonus
from specsim.verification import verdict_at
from tests.edge_runs import read_rows, value

TYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}
WRITTEN = 1e-6
"""Relative: six float32 roundings, and laws written with nine digits."""
VOCAB, LENGTH, IMAGES = 5, 4, 3
HALF = {name: TYPES[name] for name in ("float16", "bfloat16")}


LOGITS = [(row, kind) for row in read_rows("logits") for kind in row.get("types", TYPES)]


@pytest.mark.parametrize(("row", "kind"), LOGITS, ids=[f"{row['name']}-{kind}" for row, kind in LOGITS])
def test_logits(row: dict, kind: str) -> None:
    """The law of logits in a number type that holds them exactly: float32 or better, whatever the type."""
    logits = torch.tensor([float(x) for x in row["logits"]], dtype=TYPES[kind])
    assert logits.tolist() == [float(x) for x in row["logits"]]
    settings = {name: float(x) if name != "top_k" else int(x) for name, x in row["processing"].items()}
    found = law(logits, Processing(**settings))
    expected = torch.tensor([value(x, float) for x in row["law"]], dtype=torch.float64)
    assert found.dtype == (torch.float64 if kind == "float64" else torch.float32)
    assert (abs(found.double() - expected) <= WRITTEN * expected).all()


@pytest.mark.parametrize("kind", HALF)
def test_a_softmax_in_half_precision_is_caught(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A law that is made float32 after its softmax has the type, and no tail."""
    monkeypatch.setattr(processing, "at_least_float32", lambda logits: logits.softmax(-1).float().log())
    with pytest.raises(AssertionError):
        test_logits(read_rows("logits")[0], kind)


def network(kind: torch.dtype, seed: int, vocab: int = VOCAB) -> Transformer:
    torch.manual_seed(seed)
    net = Transformer(Config(vocab, 2, classes=2, layers=1, heads=1, width=8, ffn_multiple=8))
    with torch.no_grad():
        for weight in net.parameters():
            weight.normal_(1.0 if weight.ndim == 1 else 0.0, 1.0)
    return net.to(kind)


def image_model(net: Transformer, **settings: Any) -> ImageModel:
    codebook = torch.arange(net.config.vocab)[:, None] / 2
    return class_model(net, torch.zeros(IMAGES, dtype=torch.int64), Processing(**settings), codebook)


@pytest.mark.parametrize("kind", HALF)
@pytest.mark.parametrize("name", RULES)
def test_half_precision_networks_with_every_rule(name: str, kind: str) -> None:
    """The law that is verified is the float32 law that the token was drawn from, and float32 all the way."""
    target, draft = (image_model(network(HALF[kind], seed)) for seed in (1, 2))
    met: list[Any] = []
    rule = bind_codebook(RULES[name](), target.codebook)
    coupled = "independent" if getattr(rule, "independent_only", False) else "maximal"
    for decoder in (Chain(2), RelaxedBonus(2), Jacobi(2, coupled, "onehot")):
        done = sample(decoder, target, draft, rule, rows=IMAGES, observe=lambda block, counts: met.append(block))
        assert done.tokens.min() >= 0 and done.tokens.max() < VOCAB
    assert {law.dtype for block in met for law in (block.draft, block.target)} == {torch.float32}
    for block in met:
        drawn = block.draft.gather(-1, block.tokens[..., None])[..., 0]
        assert (drawn[block.real] > 0).all()
        assert (abs(block.target.sum(-1) - 1) < VOCAB * torch.finfo(torch.float32).eps).all()


@pytest.mark.parametrize("kind", TYPES)
def test_the_drafts_law_is_the_one_that_drew_it(kind: str) -> None:
    """The first block's draft laws are those of the draft model for the tokens before them, to the last bit."""
    target, draft = (image_model(network(TYPES[kind], seed)) for seed in (1, 2))
    met: list[Any] = []
    sample(Chain(2), target, draft, rows=IMAGES, observe=lambda block, counts: met.append(block))
    start = torch.zeros(IMAGES, dtype=torch.int64)
    for slot in range(2):
        assert torch.equal(met[0].draft[:, slot], draft(met[0].tokens[:, :slot], start + slot, 1)[:, 0])


DECODERS = (
    *(Autoregressive(), Chain(1), Chain(9), RelaxedBonus(2), Jacobi(1), Jacobi(9)),
    *(Jacobi(2, c, t) for c, t in itertools.product(("maximal", "gumbel"), ("uniform", "onehot"))),
    *(Race(Chain(2)), Race(Jacobi(2))),
)


@pytest.mark.parametrize("kind", TYPES)
def test_temperature_zero_is_the_greedy_image(kind: str) -> None:
    """Both laws are certain, of different tokens: every decoder gives the target's greedy image, whatever is drawn."""
    target, draft = (image_model(network(TYPES[kind], seed), temperature=0.0) for seed in (1, 2))
    start, greedy = torch.zeros(IMAGES, dtype=torch.int64), torch.zeros((IMAGES, 0), dtype=torch.int64)
    for position in range(LENGTH):
        token = target(greedy, start + position, 1).argmax(-1)
        greedy = torch.cat([greedy, token], dim=1)
    assert draft(greedy, start, LENGTH).argmax(-1).tolist() != greedy.tolist()
    for decoder, seed in itertools.product(DECODERS, range(3)):
        found = sample(decoder, target, draft, rows=IMAGES, seed=seed)
        assert found.tokens.tolist() == greedy.tolist(), decoder


def test_the_greedy_draft_scored_softly() -> None:
    """What temperature 0 forgotten in the verification does: token 0 is kept with .3 / .36, where it never should."""
    soft_target, soft_draft = (torch.tensor([x]).double().log() for x in ([0.3, 0.5, 0.2], [0.36, 0.33, 0.31]))
    token, position = torch.tensor([0]), torch.tensor([0])
    for temperature, kept in ((1.0, 0.3 / 0.36), (0.0, 0.0)):
        laws = [law(logits, Processing(temperature=temperature)) for logits in (soft_draft, soft_target)]
        verdict = verdict_at(Strict(), *laws, token, position)
        assert verdict.accept.tolist() == pytest.approx([kept])
    assert verdict.residual.tolist() == [[0, 1, 0]]


@pytest.mark.parametrize("kind", TYPES)
def test_one_token_in_the_vocabulary(kind: str) -> None:
    model = image_model(network(TYPES[kind], 1, vocab=1))
    for decoder in DECODERS:
        assert not sample(decoder, model, model, rows=IMAGES).tokens.any(), decoder


@pytest.mark.parametrize("kind", HALF)
def test_a_network_that_overflows_half_precision_is_located(kind: str) -> None:
    """Weights that are fine in float32 make an infinite logit or a NaN: an error with row and position, no image."""
    net = network(HALF[kind], 1)
    with torch.no_grad():
        net.output.weight[0] = torch.finfo(HALF[kind]).max
    with pytest.raises(SpecsimError, match=r"logits of row 0, position 0 hold -?(inf|nan): check the weights"):
        sample(Chain(2), image_model(net), image_model(network(HALF[kind], 2)), rows=IMAGES)


def test_vocabularies_of_two_networks_differ() -> None:
    target, draft = (image_model(network(torch.float32, 1, vocab)) for vocab in (VOCAB, VOCAB + 1))
    with pytest.raises(SpecsimError, match="draft vocab 6 differs from target vocab 5"):
        sample(Chain(2), target, draft, rows=IMAGES)
