"""LlamaGen's image tokenizer: the release's keys and sizes, and the decoder against two others of the same network."""

import json
from argparse import Namespace
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from gpu_eval.models.vq16 import NOT_DECODER, VQ16, VQ_16, Upsample, VQConfig, load_vq16
from specsim.errors import SpecsimError

LAYOUT = json.loads(Path(__file__).with_name("vq16_layout.json").read_text())
TINY = VQConfig(codes=20, latent=4, z_channels=32, channels=32, multipliers=(1, 2), blocks=2)
FLOAT64_ROUNDING = 1e-11  # some twenty layers in float64, sums taken in another order; values reach 10
FLOAT32_ROUNDING = 1e-4  # the same in float32


def tiny(seed=0, config=TINY):
    """Weights wide enough that every layer shows in the images."""
    module = VQ16(config)
    generator = torch.Generator().manual_seed(seed)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.2, generator=generator)
    return module.eval().requires_grad_(False)


def some_tokens(rows, side, seed=1, codes=TINY.codes):
    return torch.randint(codes, (rows, side * side), generator=torch.Generator().manual_seed(seed))


def shapes_of(name, kind, inputs, outputs):
    """Shapes by key of one row of the layout, by its rule."""
    if kind == "norm":
        return {f"{name}.weight": [inputs], f"{name}.bias": [inputs]}
    if kind in ("conv1", "conv3"):
        size = int(kind[-1])
        return {f"{name}.weight": [outputs, inputs, size, size], f"{name}.bias": [outputs]}
    if kind == "attention":
        rows = [("norm", "norm"), *((part, "conv1") for part in ("q", "k", "v", "proj_out"))]
        rows = [(*row, inputs, outputs) for row in rows]
    else:
        rows = [("norm1", "norm", inputs, inputs), ("conv1", "conv3", inputs, outputs)]
        rows += [("norm2", "norm", outputs, outputs), ("conv2", "conv3", outputs, outputs)]
        rows += [("nin_shortcut", "conv1", inputs, outputs)] if inputs != outputs else []
    return {key: shape for part, *row in rows for key, shape in shapes_of(f"{name}.{part}", *row).items()}


def expanded(rows):
    return {key: shape for row in rows for key, shape in shapes_of(*row).items()}


def test_the_full_size_has_the_keys_and_shapes_of_the_release():
    with torch.device("meta"):
        module = VQ16(VQ_16)
    found = {key: list(tensor.shape) for key, tensor in module.state_dict().items()}
    assert found == {"quantize.embedding.weight": [16384, 8], **expanded(LAYOUT["decoding"])}
    assert LAYOUT["facts"].items() <= found.items()
    decoder = sum(prod(shape) for key, shape in found.items() if key.startswith("decoder."))
    assert decoder == LAYOUT["decoder_parameters"]
    assert (module.codebook.shape, VQ_16.scale) == ((16384, 8), 16)


def test_with_the_keys_left_out_it_has_the_72_million_parameters_that_the_release_states():
    found = expanded(LAYOUT["decoding"]) | expanded(LAYOUT["ignored"])
    count = 16384 * 8 + sum(prod(shape) for shape in found.values())
    assert round(count / 1e6) == 72


def plain_norm(state, name, x):
    return F.group_norm(x, 32, state[f"{name}.weight"], state[f"{name}.bias"], 1e-6)


def plain_conv(state, name, x):
    weight = state[f"{name}.weight"]
    return F.conv2d(x, weight, state[f"{name}.bias"], padding=weight.shape[-1] // 2)


def plain_residual(state, name, x):
    inner = x
    for part in ("1", "2"):
        inner = plain_norm(state, f"{name}.norm{part}", inner)
        inner = plain_conv(state, f"{name}.conv{part}", inner * torch.sigmoid(inner))
    short = f"{name}.nin_shortcut"
    return inner + (plain_conv(state, short, x) if f"{short}.weight" in state else x)


def plain_attention(state, name, x):
    normed = plain_norm(state, f"{name}.norm", x)
    q, k, v = (plain_conv(state, f"{name}.{part}", normed).flatten(2) for part in "qkv")
    weights = torch.einsum("bci,bcj->bij", q, k).div(x.shape[1] ** 0.5).softmax(-1)
    return x + plain_conv(state, f"{name}.proj_out", torch.einsum("bij,bcj->bci", weights, v).view_as(x))


def plain_decode(state, tokens, side, levels):
    """Images in about [-1, 1] from a state dict, function by function; every place of the grid is set by hand."""
    vectors = state["quantize.embedding.weight"]
    z = torch.stack([vectors[row] / vectors[row].norm(dim=1, keepdim=True) for row in tokens])
    z = torch.stack([z[:, i * side : (i + 1) * side] for i in range(side)], 1).permute(0, 3, 1, 2)
    x = plain_conv(state, "decoder.conv_in", plain_conv(state, "post_quant_conv", z))
    x = plain_residual(state, "decoder.mid.0", x)
    x = plain_residual(state, "decoder.mid.2", plain_attention(state, "decoder.mid.1", x))
    for level in range(levels):
        for block in range(3):
            x = plain_residual(state, f"decoder.conv_blocks.{level}.res.{block}", x)
            x = plain_attention(state, f"decoder.conv_blocks.{level}.attn.{block}", x) if level == 0 else x
        if level < levels - 1:
            doubled = x.repeat_interleave(2, 2).repeat_interleave(2, 3)
            x = plain_conv(state, f"decoder.conv_blocks.{level}.upsample.conv", doubled)
    x = plain_norm(state, "decoder.norm_out", x)
    return plain_conv(state, "decoder.conv_out", x * torch.sigmoid(x))


@pytest.mark.parametrize("multipliers", [(1, 2), (1, 1, 2)])
def test_the_decoder_is_the_one_written_in_plain_functions(multipliers):
    module, tokens = tiny(config=replace(TINY, multipliers=multipliers)).double(), some_tokens(3, 4)
    expected = plain_decode(module.state_dict(), tokens, 4, len(multipliers))
    found = module.paint(module.codebook[tokens])
    assert found.shape == (3, 3, 4 * module.config.scale, 4 * module.config.scale)
    assert torch.allclose(found, expected, atol=FLOAT64_ROUNDING, rtol=0) and expected.std() > 0.1
    images = module.decode(tokens)
    assert images.dtype == torch.float32 and torch.equal(images, ((found.float() + 1) / 2).clamp(0, 1))


def test_the_decoder_is_the_one_of_janus_in_transformers():
    pytest.importorskip("transformers")
    from transformers.models.janus.configuration_janus import JanusVQVAEConfig
    from transformers.models.janus.modeling_janus import JanusVQVAEDecoder

    module = tiny().double()
    config = JanusVQVAEConfig(latent_channels=32, base_channels=32, channel_multiplier=[1, 2], dropout=0.0)
    janus = JanusVQVAEDecoder(config).double().eval()
    names = {"mid.0": "mid.block_1", "mid.1": "mid.attn_1", "mid.2": "mid.block_2"}
    names |= {"conv_blocks": "up", ".res.": ".block."}
    state = module.decoder.state_dict()
    for ours, theirs in names.items():
        state = {key.replace(ours, theirs): tensor for key, tensor in state.items()}
    janus.load_state_dict(state)
    z = torch.randn(2, 32, 4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        assert torch.allclose(module.decoder(z), janus(z), atol=FLOAT64_ROUNDING, rtol=0)


def test_an_image_depends_on_its_own_tokens_alone():
    module, tokens = tiny(), some_tokens(3, 4)
    alone = torch.cat([module.decode(row[None]) for row in tokens])
    together = module.decode(tokens)
    assert torch.allclose(together, alone, atol=FLOAT32_ROUNDING, rtol=0)
    assert (together[0] - together[1]).abs().max() > 0.1


def test_upsampling_repeats_each_pixel():
    layer = Upsample(2)
    torch.nn.init.dirac_(layer.conv.weight)
    torch.nn.init.zeros_(layer.conv.bias)
    x = torch.arange(12.0).reshape(1, 2, 2, 3)
    assert torch.equal(layer(x), x.repeat_interleave(2, 2).repeat_interleave(2, 3))


def test_images_are_clipped_to_0_and_1_and_half_is_grey():
    module = tiny()
    module.decoder.conv_out.weight.zero_()
    module.decoder.conv_out.bias.copy_(torch.tensor([-3.0, 0.0, 0.5]))
    images = module.decode(some_tokens(1, 2))
    assert torch.equal(images[0, :, 0, 0], torch.tensor([0.0, 0.5, 0.75]))


def test_the_norm_of_a_stored_code_is_of_no_effect():
    module, tokens = tiny(), some_tokens(2, 4)
    before = module.decode(tokens)
    module.quantize.embedding.weight.mul_(torch.linspace(0.5, 2, TINY.codes)[:, None])
    assert torch.allclose(module.codebook.norm(dim=1), torch.ones(TINY.codes))
    assert torch.allclose(module.decode(tokens), before, atol=FLOAT32_ROUNDING, rtol=0)


def released(module):
    """The state dict of the whole tokenizer; what decoding leaves out has the release's names and some shape."""
    left_out = {key: torch.ones(2) for key in expanded(LAYOUT["ignored"])}
    return {**left_out, **module.state_dict(), "quantize.codebook_used": torch.zeros(65536)}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda state: {"model": state},
        lambda state: {"model": state, "ema": released(tiny(9)), "steps": 3, "args": Namespace(lr=1e-4)},
        lambda state: {"ema": state, "steps": 3},
        lambda state: state,
    ],
    ids=["release", "training", "average", "bare"],
)
def test_a_file_in_the_layout_of_the_release_loads_back(tmp_path, wrap):
    module, tokens = tiny(), some_tokens(2, 4)
    torch.save(wrap(released(module)), tmp_path / "vq_ds16_c2i.pt")
    loaded = load_vq16(tmp_path / "vq_ds16_c2i.pt", TINY)
    assert torch.equal(loaded.decode(tokens), module.decode(tokens))
    assert not loaded.training and not any(parameter.requires_grad for parameter in loaded.parameters())


def test_what_is_left_out_is_the_encoder_s_side_and_nothing_else():
    def left_out(key):
        return key in NOT_DECODER or key.startswith("encoder.")

    assert all(left_out(key) for key in expanded(LAYOUT["ignored"]))
    assert not any(left_out(key) for key in VQ16(TINY).state_dict())


def test_a_file_of_another_size_or_with_a_strange_key_is_refused(tmp_path):
    path = tmp_path / "vq.pt"
    torch.save({"model": released(tiny())}, path)
    with pytest.raises(SpecsimError, match=r"vq\.pt: .*wrong shapes .*of another model or size") as error:
        load_vq16(path, replace(TINY, codes=21))
    assert "quantize.embedding.weight [20, 4] for [21, 4]" in str(error.value)
    with pytest.raises(SpecsimError, match=r"missing keys .*of another model or size"):
        load_vq16(path, replace(TINY, multipliers=(1, 1, 2)))
    torch.save({"model": {**released(tiny()), "quantize.embedding_ema": torch.ones(2)}}, path)
    with pytest.raises(SpecsimError, match=r"unexpected keys quantize\.embedding_ema: "):
        load_vq16(path, TINY)


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (torch.zeros(1, 15, dtype=torch.long), r"\(1, 15\)"),
        (torch.zeros(16, dtype=torch.long), r"\(16,\)"),
        (torch.zeros(0, 16, dtype=torch.long), r"\(0, 16\)"),
        (torch.full((1, 16), 20), "20 to 20, need 0..19"),
        (torch.full((1, 16), -1), "-1 to -1, need 0..19"),
    ],
)
def test_tokens_that_no_grid_of_this_codebook_has_are_refused(tokens, said):
    with pytest.raises(SpecsimError, match=said):
        tiny().decode(tokens)
