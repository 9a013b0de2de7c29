"""What needs a CUDA device: a seed gives the same images there, and a race is a race.  Run with: pytest -m gpu."""

import pytest
import torch

from gpu_eval.cache import Cached
from gpu_eval.compiling import Compiled
from gpu_eval.eagle import Eagle
from gpu_eval.fashion import load_fashion, load_fashion_eagle
from gpu_eval.labelled import class_model
from gpu_eval.models.hugging_face import HuggingFace, Prompts
from gpu_eval.models.lined import Lined
from gpu_eval.network import ImageModel
from gpu_eval.processing import Processing
from gpu_eval.race_ties import race_agreement
from specsim import (
    EAGLE_TREE,
    Autoregressive,
    Chain,
    ContentAware,
    DynamicTree,
    Jacobi,
    Ledger,
    Race,
    Strict,
    Tree,
    sampling,
    watching,
)
from specsim.interpreters import Sampling
from specsim.sampling import sample, to_numpy
from specsim.verification import Drafted, verify

DEVICE = "cuda"
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here"),
]
RUNS = [
    (Autoregressive(), None),
    (Chain(4), None),
    (Chain(4), Ledger()),
    (Tree(EAGLE_TREE), None),
    (DynamicTree(3, 3, 8), None),
    (Jacobi(16), ContentAware()),
    (Jacobi(16, "maximal"), None),
    (Jacobi(16, "gumbel"), None),
    (Race(Jacobi(16)), None),
]
ROUNDING = 1e-10  # float64 laws, sums taken in another order
HALF = {torch.bfloat16: 0.04, torch.float16: 0.005}
"""TV of a law from the float32 model's: twice what was seen on a CPU (0.018, 0.0023).  A wrong law is far beyond: the
draft's are 0.31 away."""
ROUNDINGS = 4096
"""Epsilons by which compiled numbers up to 1 may differ: sums over 512 tokens in another order, and what divides by
them."""
DRAWS = 64  # uniforms of a shape are made for so many draws at once


@pytest.mark.parametrize(("decoder", "rule"), RUNS, ids=repr)
def test_the_same_uniforms_give_the_same_tokens(decoder, rule):
    """In float64 rounding is far below any gap between uniforms and cumulative sums."""
    tokens = []
    for device in ("cpu", DEVICE):
        fashion, labels = load_fashion(device, torch.float64), torch.arange(8)
        draft = fashion.draft(labels) if decoder.needs_draft else None
        tokens.append(to_numpy(sample(decoder, fashion.target(labels), draft, rule, rows=8, seed=3).tokens))
    assert (tokens[0] == tokens[1]).all()


@pytest.mark.parametrize("decoder", [Chain(4), Tree(EAGLE_TREE), DynamicTree(3, 3, 8)], ids=repr)
def test_a_head_drafts_the_same_tokens(decoder):
    tokens = []
    for device in ("cpu", DEVICE):
        fashion = load_fashion_eagle(device, torch.float64)
        assert fashion.head is not None
        target = fashion.target(torch.arange(8))
        tokens.append(to_numpy(sample(decoder, target, Eagle(fashion.head, target), Strict(), rows=8, seed=3).tokens))
    assert (tokens[0] == tokens[1]).all()


@pytest.mark.parametrize("decoder", [Jacobi(16), Chain(4)], ids=repr)
def test_a_race_on_the_device(decoder):
    fashion, labels = load_fashion(DEVICE), torch.arange(8)
    found = race_agreement(decoder, lambda: fashion.target(labels), lambda: fashion.draft(labels), range(8), seed=7)
    assert found.holds


@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("cached", [False, True])
def test_in_half_precision_laws_are_float32_and_near_those_of_float32(dtype, cached):
    laws = []
    for kind in (torch.float32, dtype):
        fashion = load_fashion(DEVICE, kind)
        tokens, labels = fashion.reference.tokens[:8].to(DEVICE), fashion.reference.labels[:8]
        model = fashion.target(labels, cached=cached)
        laws.append(model(tokens, torch.zeros(8, dtype=torch.int64, device=DEVICE), model.length))
        assert laws[-1].dtype == model.uniform.dtype == torch.float32
    apart = (laws[0] - laws[1]).abs().sum(-1) / 2
    assert 0 < apart.max() <= HALF[dtype]


def shipped(guidance: float) -> ImageModel:
    """Three rows of `fashion` in float64; nothing waits for the device."""
    fashion, labels = load_fashion(DEVICE, torch.float64), torch.tensor([0, 5, 9], device=DEVICE)
    return class_model(fashion.target_net, labels, Processing(guidance=guidance), fashion.codebook, checked=False)


def lined(guidance: float) -> ImageModel:
    """Three rows of a small Llama with prompts of two lengths and forced ends of lines, likewise."""
    from transformers import LlamaConfig, LlamaModel

    sizes = {"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 4}
    ids = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
    rows, vocab = 3 if guidance == 1 else 6, 7
    with torch.random.fork_rng():
        torch.manual_seed(0)
        body = LlamaModel(LlamaConfig(hidden_size=16, intermediate_size=16, attn_implementation="sdpa", **sizes, **ids))
        embed, head = torch.nn.Embedding(vocab + 1, 16), torch.nn.Linear(16, vocab, bias=False)
        vectors = torch.randn(rows, 3, 16, dtype=torch.float64).to(DEVICE)
    for module in (body, embed, head):
        for weight in module.parameters():
            torch.nn.init.normal_(weight, std=0.4)
        module.to(DEVICE, torch.float64).eval().requires_grad_(False)
    present = torch.ones(rows, 3, dtype=torch.bool, device=DEVICE)
    present[1, 0] = False
    network = HuggingFace(body, embed, head, Prompts(vectors, present), vocab, length=15)
    return ImageModel(Lined(network, 4, vocab, length=12), Processing(guidance=guidance), checked=False)


@pytest.mark.parametrize("guidance", [1.0, 2.5])
@pytest.mark.parametrize("build", [shipped, lined])
def test_rows_are_rolled_back_by_themselves(build, guidance):
    """Every row moves on by another number of tokens, and what follows is drafted anew."""
    model = build(guidance)
    cached, generator = Cached(model), torch.Generator().manual_seed(0)
    tokens, start = (torch.zeros(3, n, dtype=torch.int64) for n in (model.length, 1))
    for _ in range(12):
        fresh = torch.randint(model.vocab, tokens.shape, generator=generator)
        tokens = torch.where(torch.arange(model.length) < start - 1, tokens, fresh)
        asked = tokens.to(DEVICE), start[:, 0].to(DEVICE), 4
        assert torch.allclose(cached(*asked), model(*asked), atol=ROUNDING, rtol=0)
        start = (start + torch.randint(-2, 5, (3, 1), generator=generator)).clamp(0, model.length)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")  # by torch, once
@pytest.mark.parametrize("build", [shipped, lined])
@pytest.mark.parametrize(("decoder", "rule"), RUNS, ids=repr)
def test_a_step_waits_for_the_device_once(decoder, rule, build, monkeypatch):
    """Any other wait is an error, but for new uniforms, made on the host a few steps ahead, and both ends of a run."""
    steps, refills = [], []
    monkeypatch.setattr(watching, "together", allowed(watching.together, steps))
    monkeypatch.setattr(Sampling, "to_device", allowed(Sampling.to_device, refills))
    monkeypatch.setattr(sampling, "to_numpy", allowed(sampling.to_numpy, []))
    target, draft = Cached(build(2.0), ahead=0), Cached(build(1.0), ahead=1)
    models = (target, draft if decoder.needs_draft else None)
    sample(decoder, *models, rule, rows=3, seed=4)  # constants are made once
    for some in (steps, refills):
        some.clear()
    for model in (target, draft):
        model.forget()
    torch.cuda.set_sync_debug_mode("error")
    try:
        found = sample(decoder, *models, rule, rows=3, seed=5)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert len(steps) == len(found.start) > 1
    assert len(refills) <= 3 * (1 + 8 * len(steps) // DRAWS)  # of three shapes at most, at most eight draws a step


def allowed(work, seen):
    """work(), which may wait; counted."""

    def waits(*arguments):
        seen.append(1)
        before = torch.cuda.get_sync_debug_mode()
        torch.cuda.set_sync_debug_mode("default")
        try:
            return work(*arguments)
        finally:
            torch.cuda.set_sync_debug_mode(before)

    return waits


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("rule", [Strict(), ContentAware(), Ledger(2.0)], ids=repr)
def test_a_compiled_rule_judges_as_it_does_uncompiled(rule, dtype):
    fashion, labels = load_fashion(DEVICE, dtype), torch.arange(8) % 10
    tokens, start = fashion.reference.tokens[:8].to(DEVICE), torch.full((8,), 20, device=DEVICE)
    draft, target = (make(labels, cached=False)(tokens, start, 5) for make in (fashion.draft, fashion.target))
    slot = torch.arange(5, device=DEVICE).expand(8, -1)
    drafted = Drafted(draft, target, tokens[:, 20:25], slot < 4, start[:, None] + slot)
    limit = ROUNDINGS * torch.finfo(dtype).eps
    compiled, eager = Compiled(rule).block(drafted), verify(rule, drafted)
    assert all((one - two).abs().max() <= limit for one, two in zip(compiled, eager, strict=True))
    other = verify(Ledger(2.2), drafted)
    assert (other.stop - compiled.stop).abs().max() > limit  # what the comparison can tell apart
