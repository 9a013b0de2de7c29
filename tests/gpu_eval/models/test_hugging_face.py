"""Any decoder of the transformers library as a network: laws, prompts of other lengths, rollback, forced tokens."""

import inspect

import pytest
import torch

from gpu_eval.cache import Cached
from gpu_eval.models.hugging_face import HuggingFace, Prompts
from gpu_eval.models.lined import Lined
from gpu_eval.network import ImageModel
from gpu_eval.processing import Processing
from gpu_eval.race_ties import race_agreement
from specsim import Chain, Jacobi
from specsim.errors import SpecsimError

transformers = pytest.importorskip("transformers")

ROUNDING = 1e-12  # float64 laws of two layers, sums taken in another order
EAGER = 1e-5  # the library takes the softmax of its own "eager" attention in float32
VOCAB, LENGTH, WIDTH = 16, 12, 4
IMAGE, END = torch.arange(20, 20 + VOCAB), 19
PROMPTS = torch.tensor([[0, 0, 5, 6, 7], [1, 2, 3, 4, 9], [0, 0, 0, 0, 3]])
PRESENT = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1]]).bool()
START = torch.zeros(3, dtype=torch.int64)


def causal(attention: str = "sdpa", seed: int = 0):
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=40, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, initializer_range=0.4, attn_implementation=attention,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config).double().eval().requires_grad_(False)


def network(net, length: int = LENGTH, rows=(0, 1, 2)) -> HuggingFace:
    embed, ids, rows = net.get_input_embeddings(), torch.cat([IMAGE, torch.tensor([END])]), list(rows)
    prompts = Prompts(embed(PROMPTS[rows]), PRESENT[rows])
    return HuggingFace(net.model, lambda t: embed(ids[t]), lambda h: net.lm_head(h)[..., IMAGE], prompts, VOCAB, length)


def lined(net, rows=(0, 1, 2)) -> Lined:
    return Lined(network(net, LENGTH + LENGTH // WIDTH - 1, rows), WIDTH, VOCAB, LENGTH)


def tokens(seed: int = 0):
    return torch.randint(VOCAB, (3, LENGTH), generator=torch.Generator().manual_seed(seed))


def alone(net, row, image_ids):
    """The library's own laws of one row after its prompt, without padding, cache or mask."""
    prompt = PROMPTS[row][PRESENT[row]]
    logits = net(torch.cat([prompt, image_ids])[None]).logits[0, len(prompt) - 1 : -1]
    return logits[:, IMAGE].softmax(-1)


@pytest.mark.parametrize(("attention", "limit"), [("sdpa", ROUNDING), ("eager", EAGER)])
def test_laws_are_the_librarys_own_whatever_the_padding(attention, limit):
    net, given = causal(attention), tokens()
    found = ImageModel(network(net), Processing())(given, START, LENGTH)
    for row in range(3):
        assert (found[row] - alone(net, row, IMAGE[given[row]])).abs().max() < limit
    others = ImageModel(network(net), Processing())(given.roll(1, 1), START, LENGTH)
    assert (found[:, 1:] - others[:, 1:]).abs().max() > 1e-2  # what the comparison can tell apart


def test_forced_tokens_stand_after_every_line():
    net, given = causal(), tokens()
    found = ImageModel(lined(net), Processing())(given, START, LENGTH)
    for row in range(3):
        lines = [torch.cat([IMAGE[line], torch.tensor([END])]) for line in given[row].split(WIDTH)]
        laws = alone(net, row, torch.cat(lines))
        drawn = [place for place in range(len(laws)) if place % (WIDTH + 1) != WIDTH]
        assert (found[row] - laws[drawn]).abs().max() < ROUNDING


@pytest.mark.parametrize("make", [network, lined])
def test_every_row_is_rolled_back_by_itself(make):
    model = ImageModel(make(causal()), Processing())
    cached, given, draws = Cached(model), tokens(), torch.Generator().manual_seed(1)
    for _ in range(40):
        start = torch.randint(LENGTH + 1, (3,), generator=draws)
        count = int(torch.randint(1, 7, (), generator=draws))
        kept = torch.arange(LENGTH) < start[:, None] - 2
        given = torch.where(kept, given, torch.randint(VOCAB, (3, LENGTH), generator=draws))
        assert (cached(given, start, count) - model(given, start, count)).abs().max() < ROUNDING


@pytest.mark.parametrize("make", [network, lined])
@pytest.mark.parametrize("decoder", [Jacobi(window=5), Chain(lookahead=3)], ids=repr)
def test_a_race_equals_plain_decoding(make, decoder):
    target, draft = (Cached(ImageModel(make(causal(seed=s), rows=(0, 1, 2, 1)), Processing(2.0))) for s in (0, 1))
    found = race_agreement(
        decoder,
        lambda: Cached(target.model),
        lambda: Cached(draft.model),
        [0, 1],
        seed=3,
        single=lambda: target.model,
    )
    assert found.holds and found.equal == 2


def test_a_window_costs_its_slots():
    """A line's end among them, or one that was read before, is what is added."""
    net = causal()
    cached, given, seen = Cached(ImageModel(lined(net), Processing())), tokens(), []
    net.model.layers[0].register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0].shape[1]))
    cached(given, START, 3)
    cached(given, START + 3, 3)
    assert seen == [3 + 1, 3 + 1]


def test_what_cannot_work_is_refused():
    with pytest.raises(SpecsimError, match=r'load it with attn_implementation="sdpa"'):
        flash = causal()
        flash.model.config._attn_implementation = "flash_attention_2"
        network(flash)
    net = network(causal())
    with pytest.raises(SpecsimError, match="filled up on the left"):
        HuggingFace(net.body, net.embed, net.head, Prompts(net.prompts.vectors, PRESENT.flip(1)), VOCAB, LENGTH)


def test_the_cache_has_the_name_that_this_version_gives_it():
    net = causal()
    assert network(net).cache_name in inspect.signature(net.model.forward).parameters


def test_layers_that_see_only_some_places_back_are_refused():
    """A mask of ours would take the place of their window: the laws would be another model's."""
    sizes = {"vocab_size": 40, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "attn_implementation": "sdpa"}
    for window in (6, 4096):
        net = transformers.MistralForCausalLM(transformers.MistralConfig(**sizes, **heads, sliding_window=window))
        if window < LENGTH:
            with pytest.raises(SpecsimError, match="layers that see 6 places back, and prompt and image take 17"):
                network(net)
        else:
            found = ImageModel(network(net.double()), Processing())(tokens(), START, LENGTH)
            assert (found[1] - alone(net, 1, IMAGE[tokens()[1]])).abs().max() < EAGER
    net = transformers.GemmaForCausalLM(transformers.GemmaConfig(**sizes, **heads, head_dim=8))
    assert network(net).vocab == VOCAB
    mamba = transformers.MambaForCausalLM(transformers.MambaConfig(vocab_size=40, hidden_size=32, num_hidden_layers=1))
    mamba.config._attn_implementation = mamba.backbone.config._attn_implementation = "sdpa"
    mamba.model = mamba.backbone
    with pytest.raises(SpecsimError, match="keeps more than keys and values of attention"):
        network(mamba)
