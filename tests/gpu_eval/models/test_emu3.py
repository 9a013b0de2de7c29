"""Emu3 on tiny random weights: the library's own images, forced ends of lines, and what a decoder asks of a network."""

import json
import shutil

import pytest
import torch

from specsim import Autoregressive, Chain, Jacobi
from specsim.errors import SpecsimError
from specsim.sampling import sample

transformers = pytest.importorskip("transformers")

from transformers.models.emu3.processing_emu3 import Emu3Processor  # noqa: E402

from gpu_eval.models import emu3  # noqa: E402
from gpu_eval.processing import Processing  # noqa: E402
from tests.gpu_eval.models import library_models as shared  # noqa: E402

SIDE, SCALE, CODES = 4, 2, 10
AREA = (SIDE * SCALE) ** 2
NAMED = {
    "pad_token": "<|endoftext|>", "bos_token": "<|extra_203|>", "eos_token": "<|extra_204|>",
    "image_token": "<image>", "boi_token": "<|image start|>", "eoi_token": "<|image end|>",
    "image_wrapper_token": "<|image token|>", "eof_token": "<|extra_201|>",
}  # fmt: skip
WORDS = ("a", "red", "cat", "on", "mat", "lowres", "bad", "text", ",", "*", str(SIDE))
VISUAL = [43, 31, 25, 47, 29, 37, 33, 21, 45, 27]  # the ids of codes 0, 1, ...: with gaps and in no order
ASKED = shared.prompts("a red cat on a mat", "cat", "red mat")


def tokenizer():
    visual = {f"<|visual token {code:06}|>": number for code, number in enumerate(VISUAL)}
    return shared.tokenizer(NAMED, ("<|extra_200|>",), WORDS, begins=False, extra=visual)


END = 8  # the id of <|extra_200|> there


def tiny(seed: int):
    text = {
        "vocab_size": 48, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "attention_dropout": 0.0,
    }  # fmt: skip
    vq = {
        "codebook_size": CODES, "embed_dim": 4, "latent_channels": 4, "base_channels": 32, "channel_multiplier": [1, 1],
        "num_res_blocks": 1, "attn_resolutions": [1], "hidden_size": 32, "temporal_downsample_factor": 2,
    }  # fmt: skip
    config = transformers.Emu3Config(text_config=text, vq_config=vq, vocabulary_map=tokenizer().get_vocab())
    return shared.wide(transformers.Emu3ForConditionalGeneration, config, seed)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A target's folder and a draft's."""
    made = [tmp_path_factory.mktemp(name) for name in ("target", "draft")]
    for seed, folder in enumerate(made):
        tiny(seed).save_pretrained(folder)
        tokenizer().save_pretrained(folder)
    return made


@pytest.fixture(scope="module")
def loaded(folders):
    return emu3.load(folders[0], "cpu", torch.float64, area=AREA)


@pytest.fixture(scope="module")
def draft(folders):
    return emu3.load(folders[1], "cpu", torch.float64, area=AREA)


def processor():
    return Emu3Processor(transformers.Emu3ImageProcessor(), tokenizer())


def processed(texts):
    """The library's own inputs; it takes 8 pixels for a token whatever the image tokenizer."""
    inputs = processor()(
        text=texts, padding=True, return_tensors="pt", return_for_image_generation=True, ratio="1:1",
        image_area=(8 * SIDE) ** 2,
    )  # fmt: skip
    assert inputs.pop("image_sizes") == [[SIDE, SIDE]] * len(texts)
    return inputs


def generated(net, scale: float):
    """The library's greedy images [B, N] of codes, its sequence constrained to visual tokens and ends of lines."""
    inputs, negative = processed([prompt.text for prompt in ASKED]), processed([emu3.NEGATIVE_PROMPT] * len(ASKED))
    width = inputs.input_ids.shape[1]

    def allowed(batch_id, ids):
        return [END] if (len(ids) - width) % (SIDE + 1) == SIDE else net.vocabulary_mapping.image_tokens

    guided = {"guidance_scale": scale, "negative_prompt_ids": negative.input_ids}
    ids = net.generate(
        **inputs, max_new_tokens=SIDE * (SIDE + 1), prefix_allowed_tokens_fn=allowed, do_sample=False,
        negative_prompt_attention_mask=negative.attention_mask, **(guided if scale != 1 else {}),
    )  # fmt: skip
    lines = ids[:, width:].view(-1, SIDE, SIDE + 1)
    return net.vocabulary_mapping.convert_bpe2img(lines).flatten(1).long()


@pytest.mark.parametrize("guidance", [1.0, 3.0])
def test_greedy_images_are_the_librarys(loaded, guidance):
    model = loaded.model(ASKED, Processing(guidance=guidance, temperature=0))
    found = sample(Autoregressive(), model, rows=range(len(ASKED)), seed=0).tokens
    assert torch.equal(found, generated(tiny(0), guidance))
    assert not torch.equal(found, generated(tiny(0), 4 - guidance))


def test_laws_are_over_visual_tokens_of_the_librarys_own_sequence(loaded):
    """One prompt at a time: no padding, no mask, no cache."""
    net, rows = tiny(0), len(ASKED)
    tokens = shared.some_tokens(loaded.model(ASKED, Processing()), rows, 1)
    found = shared.whole(loaded, ASKED, Processing(), tokens)
    for row, prompt in enumerate(ASKED):
        prefix = processed([prompt.text]).input_ids[0]
        image = net.vocabulary_mapping.convert_img2bpe(tokens[row].view(SIDE, SIDE)).flatten()
        logits = net(torch.cat([prefix, image])[None], use_cache=False).logits[0, len(prefix) - 1 : -1]
        drawn = [place for place in range(len(logits)) if place % (SIDE + 1) != SIDE]
        assert (found[row] - logits[drawn][:, VISUAL].softmax(-1)).abs().max() < shared.INSIDE


@pytest.mark.parametrize("guidance", [1.0, 3.0])
@pytest.mark.parametrize(
    "check",
    [
        shared.check_a_window_is_its_tokens_one_by_one,
        shared.check_every_row_rolls_back_by_itself,
        shared.check_a_prompt_is_of_no_effect_on_another,
    ],
)
def test_laws(loaded, check, guidance):
    check(loaded, ASKED, guidance)


def test_guidance_is_two_passes(loaded):
    shared.check_guidance_is_two_passes(loaded, ASKED, 3.0)


@pytest.mark.parametrize("decoder", [Jacobi(window=6), Chain(lookahead=3)], ids=repr)
@pytest.mark.parametrize("guidance", [1.0, 3.0])
def test_a_race_is_plain_decoding(loaded, draft, decoder, guidance):
    shared.check_a_race_is_plain_decoding(decoder, loaded, draft, ASKED, guidance)


def heard(body):
    """Fills with (ids [R, K], position_ids [R, K]) of every forward of the body from now on, and the hook's handle."""
    calls, vectors = [], body.embed_tokens.weight

    def listen(module, inputs, given):
        same = (given["inputs_embeds"][:, :, None] == vectors).all(-1)
        calls.append((same.long().argmax(-1), given["position_ids"]))

    return calls, body.register_forward_pre_hook(listen, with_kwargs=True)


@pytest.mark.parametrize("decoder", [Autoregressive(), Jacobi(window=6)], ids=repr)
def test_an_end_of_line_stands_after_every_row_and_is_never_drawn(loaded, decoder):
    model = loaded.model(ASKED, Processing())
    calls, handle = heard(model.model.network.network.body)
    try:
        tokens = sample(decoder, model, rows=range(len(ASKED)), seed=2).tokens
    finally:
        handle.remove()
    prompt = torch.tensor([[len(processed([prompt.text]).input_ids[0])] for prompt in ASKED])
    read = set()
    for ids, positions in calls:
        place = positions - prompt  # of the sequence after the prompt
        forced = (place >= 0) & (place % (SIDE + 1) == SIDE)
        assert torch.equal(ids == END, forced)
        assert torch.isin(ids[(place >= 0) & ~forced], torch.tensor(VISUAL)).all()
        read |= set(place[forced].tolist())
    assert read == {line * (SIDE + 1) + SIDE for line in range(SIDE - 1)}
    assert tokens.shape == (len(ASKED), SIDE**2) and tokens.min() >= 0 and tokens.max() < CODES


def test_what_a_run_needs_is_the_folders(loaded, folders):
    assert (loaded.name, loaded.prompts, loaded.grid) == (folders[0].name, "text", (SIDE, SIDE))
    assert loaded.network(ASKED, False).network.length == SIDE**2 + SIDE - 1  # of the body: no end after the last row
    assert torch.equal(loaded.codebook, tiny(0).model.vqmodel.quantize.embedding.weight)


def test_images_are_the_librarys_between_0_and_1(loaded):
    tokens, net = torch.arange(2 * SIDE**2).remainder(CODES).view(2, -1), tiny(0)
    lines = net.vocabulary_mapping.convert_img2bpe(tokens.view(-1, SIDE)).view(2, -1)
    ends = torch.zeros(2, 3, dtype=lines.dtype)  # of frame, of image, of text
    expected = net.decode_image_tokens(image_tokens=torch.cat([lines, ends], dim=1), height=SIDE, width=SIDE)
    images = loaded.paint(tokens)
    assert images.shape == (2, 3, SCALE * SIDE, SCALE * SIDE)
    assert torch.allclose(images, ((expected + 1) / 2).clamp(0, 1)) and images.std() > 0.1
    assert 0 <= images.min() < 0.1 and 0.9 < images.max() <= 1


@pytest.mark.parametrize("area", [emu3.AREA, 512 * 512, 100_000, 64])
def test_the_side_is_the_processors(area):
    assert processor().calculate_generate_size("1:1", area, 8) == (emu3.side(area, 8),) * 2


def test_the_published_size():
    assert emu3.side(emu3.AREA, 8) == 90


@pytest.mark.parametrize("area", [0, -64, 15])
def test_an_area_of_no_token_is_refused(area):
    with pytest.raises(SpecsimError, match=f"area is {area} pixels: give at least 64"):
        emu3.side(area, 8)


def refused(folder) -> str:
    with pytest.raises(SpecsimError) as error:
        emu3.load(folder, "cpu", torch.float64, area=AREA)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def broken(folders, tmp_path):
    return shutil.copytree(folders[0], tmp_path / "broken")


def edit(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))


def test_another_architecture_or_a_missing_file_is_refused(broken):
    (broken / "tokenizer.json").unlink()
    assert "lacks tokenizer.json" in refused(broken)
    tokenizer().save_pretrained(broken)
    edit(broken, architectures=["Emu3ForCausalLM"])  # of the first release, whose files have other keys
    assert "architectures ['Emu3ForCausalLM'], need ['Emu3ForConditionalGeneration']" in refused(broken)


@pytest.mark.parametrize("missing", ["<|visual token 000003|>", "<|visual token 000009|>"])
def test_every_code_must_have_an_id(broken, missing):
    vocabulary = tokenizer().get_vocab()
    del vocabulary[missing]
    edit(broken, vocabulary_map=vocabulary)
    said = f"names 9 visual tokens in its vocabulary_map, need <|visual token 000000|> to <|visual token {9:06}|>"
    assert said in refused(broken)


@pytest.mark.parametrize("role", ["boi_token", "image_wrapper_token"])
def test_a_tokenizer_without_the_special_tokens_is_refused(broken, role):
    shared.tokenizer({**NAMED, role: "<|other|>"}, ("<|extra_200|>",), WORDS, begins=False).save_pretrained(broken)
    assert f"lacks {NAMED[role]!r}" in refused(broken)
