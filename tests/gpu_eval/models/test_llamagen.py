"""LlamaGen's laws are the released formulas, with any window, rollback, batch and guidance."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from gpu_eval.attention import visible
from gpu_eval.models.llamagen import of_labels
from gpu_eval.processing import Processing, guide, law
from gpu_eval.prompts import Prompt
from gpu_eval.race_ties import race_agreement
from gpu_eval.transformer import LLAMAGEN, Norm, Transformer
from specsim import Chain, Jacobi
from specsim.errors import SpecsimError
from tests.gpu_eval.models import llamagen_formulas as formulas
from tests.gpu_eval.models.llamagen_tiny import (
    C2I,
    GUIDANCE,
    KINDS,
    LABELS,
    LENGTH,
    ROWS,
    TEXTS,
    all_slots,
    captions,
    model,
    network,
    some_tokens,
    tiny,
)

ROUNDING = 1e-11  # float64 logits of size 10 of two layers, sums taken in another order; laws are below 1


@pytest.fixture(params=KINDS)
def net(request):
    return tiny(KINDS[request.param])


def test_logits_are_the_released_formulas(net):
    tokens, weights = some_tokens(), net.state_dict()
    found = network(net, guided=True).logits(tokens.repeat(2, 1), all_slots(2 * ROWS))
    for row in range(2 * ROWS):
        expected = formulas.logits(weights, 2, 3, plain_prompt(weights, row), tokens[row % ROWS])
        assert torch.allclose(found[row], expected, atol=ROUNDING, rtol=0)


def plain_prompt(weights, row):
    """Of a row, conditional ones first. An unconditional one has vectors of its own where its caption has any."""
    number, conditional = row % ROWS, row < ROWS
    if "cls_embedding.embedding_table.weight" in weights:
        return formulas.of_class(weights, LABELS[number].label if conditional else C2I.classes)
    vectors, present = captions([prompt.text for prompt in TEXTS])
    none = weights["cls_embedding.uncond_embedding"]
    return formulas.of_caption(weights, vectors[number] if conditional else none, present[number])


def test_windows_and_single_tokens_with_a_memory_are_the_whole_forward(net):
    rows, tokens = network(net, guided=True), some_tokens(rows=2 * ROWS)
    expected = rows.logits(tokens, all_slots(2 * ROWS))
    for width in (1, 4):
        memory = rows.memory()
        for start in range(0, LENGTH, width):
            slots = (torch.arange(width) + start).clamp(max=LENGTH - 1).expand(2 * ROWS, -1)
            found = rows.logits(tokens, slots, memory)
            assert torch.allclose(found, expected[:, slots[0]], atol=ROUNDING, rtol=0)


def test_a_place_that_is_not_there_is_seen_by_itself_alone():
    places = torch.arange(4)[None]
    present = torch.tensor([[False, False, True, True], [True, True, True, True]])
    first, second = visible(places, places, present)[:, 0].int().tolist()
    assert first == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]]
    assert second == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]


def test_rows_roll_back_by_themselves(net):
    plain, cached, generator = model(net), model(net, cached=True), torch.Generator().manual_seed(1)
    tokens = some_tokens()
    for _ in range(25):
        start = torch.randint(LENGTH - 2, (ROWS,), generator=generator)
        count = int(torch.randint(1, 4, (), generator=generator))
        assert torch.allclose(cached(tokens, start, count), plain(tokens, start, count), atol=ROUNDING, rtol=0)
        fresh = torch.randint(C2I.vocab, tokens.shape, generator=generator)
        kept = torch.randint(LENGTH, (ROWS, 1), generator=generator)
        tokens = torch.where(torch.arange(LENGTH) < kept, tokens, fresh)


def test_guidance_in_one_doubled_batch_is_two_passes(net):
    tokens, slots, both = some_tokens(), all_slots(), network(net, guided=True)
    names = ("labels",) if net.config.prompt == 1 else ("vectors", "present")
    halves = [[getattr(both, name).chunk(2)[half] for name in names] for half in (0, 1)]
    passes = [type(both)(net, *half).logits(tokens, slots) for half in halves]
    expected = law(guide(*passes, guidance=GUIDANCE), Processing())
    found = model(net)(tokens, torch.zeros(ROWS, dtype=torch.int64), LENGTH)
    assert torch.allclose(found, expected, atol=ROUNDING, rtol=0)
    assert not torch.allclose(*passes, atol=0.1)


def test_guided_laws_of_bfloat16_logits_are_computed_in_float32():
    net = tiny(C2I).bfloat16()
    tokens, slots = some_tokens(), all_slots()
    yes, no = network(net, guided=True).logits(tokens.repeat(2, 1), slots.repeat(2, 1)).float().chunk(2)
    found = model(net)(tokens, torch.zeros(ROWS, dtype=torch.int64), LENGTH)
    assert found.dtype == torch.float32
    assert torch.equal(found, law(guide(yes, no, GUIDANCE), Processing()))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_norm_rounds_where_the_release_does(dtype):
    x, norm, library = norms(dtype)
    precise = x.float()
    released = (precise * (precise.square().mean(-1, keepdim=True) + 1e-5).rsqrt()).type_as(x) * norm.weight
    assert torch.equal(norm(x), released)
    assert not torch.equal(library(x), released)


def test_norm_is_the_librarys_in_float32():
    x, norm, library = norms(torch.float32)
    assert torch.equal(norm(x), library(x))


def norms(dtype):
    generator = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(50, 64, generator=generator).to(dtype) for _ in range(2))
    made = Norm(64, 1e-5).to(dtype), nn.RMSNorm(64, 1e-5).to(dtype)
    for norm in made:
        norm.weight.data = weight[0]
    return x, *made


@pytest.mark.parametrize("decoder", [Jacobi(4), Chain(3)], ids=repr)
def test_race_equals_plain_decoding(net, decoder):
    other = tiny(replace(net.config, layers=1), seed=1)
    found = race_agreement(
        decoder, lambda: model(net, cached=True), lambda: model(other, cached=True), range(ROWS), 7, lambda: model(net)
    )
    assert found.equal == found.rows == ROWS


@pytest.mark.parametrize(
    ("size", "stated"), [("B", "111M"), ("L", "343M"), ("XL", "775M"), ("XXL", "1.4B"), ("3B", "3.1B")]
)
def test_published_sizes_have_the_parameters_that_the_release_states(size, stated):
    with torch.device("meta"):
        net = Transformer(LLAMAGEN[size])
    millions = sum(weight.numel() for weight in net.parameters()) / 1e6
    assert stated == (f"{millions:.0f}M" if millions < 1000 else f"{millions / 1000:.1f}B")


def test_the_published_text_model_has_the_released_keys_and_shapes():
    with torch.device("meta"):
        net = Transformer(replace(LLAMAGEN["XL"], grid=32, classes=0, prompt=120, caption_width=2048))
    found = {key: list(w.shape) for key, w in net.state_dict().items() if key.startswith("cls_embedding")}
    fc1, fc2 = (f"cls_embedding.cap_proj.{name}.weight" for name in ("fc1", "fc2"))
    assert found == {fc1: [1280, 2048], fc2: [1280, 1280], "cls_embedding.uncond_embedding": [120, 2048]}
    assert net.config.places == 119 + 1024


def test_labels_outside_the_classes_are_refused():
    with pytest.raises(SpecsimError, match=r"prompt from labels: label 4 must be from 0 to 3"):
        of_labels(tiny(C2I))([*LABELS, Prompt(None, 4, "labels")], False)
