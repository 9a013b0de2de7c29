"""Janus on tiny random weights: the library's own images, and what a decoder asks of any network."""

import inspect
import json
import logging
import os
import shutil
import subprocess
import sys

import pytest
import torch

from specsim import Autoregressive, Chain, Jacobi
from specsim.errors import SpecsimError
from specsim.sampling import sample

transformers = pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file  # noqa: E402
from transformers.cache_utils import DynamicCache  # noqa: E402
from transformers.models.janus.image_processing_pil_janus import JanusImageProcessorPil  # noqa: E402

from gpu_eval.models import janus  # noqa: E402
from gpu_eval.models.pretrained import FILES  # noqa: E402
from gpu_eval.processing import Processing  # noqa: E402
from tests.gpu_eval.models import library_models as shared  # noqa: E402

SIDE, CODES = 3, 12
BEGIN, PAD, IMAGE = 0, 2, 4  # ids of special tokens below
NAMED = {
    "bos_token": "<｜begin▁of▁sentence｜>", "eos_token": "<｜end▁of▁sentence｜>", "pad_token": "<｜▁pad▁｜>",
    "image_token": "<image_placeholder>", "boi_token": "<begin_of_image>", "eoi_token": "<end_of_image>",
}  # fmt: skip
WORDS = ("a", "red", "cat", "on", "the", "mat", "dog", ":")
ASKED = shared.prompts("a red cat on the mat", "dog", " the cat ")
NEARLY_1 = 1 + 1e-9  # with a scale of exactly 1 the library draws a token for unconditional rows too, and fails


def tokenizer():
    return shared.tokenizer(NAMED, ("<|User|>", "<|Assistant|>"), WORDS, begins=True)


def tiny(seed: int):
    text = {
        "model_type": "llama", "vocab_size": 24, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "bos_token_id": BEGIN, "pad_token_id": PAD,
    }  # fmt: skip
    vision = {
        "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 4 * SIDE, "patch_size": 4,
        "projection_dim": 32, "num_image_tokens": SIDE**2, "mlp_ratio": 1.0,
    }  # fmt: skip
    vq = {
        "embed_dim": 4, "num_embeddings": CODES, "latent_channels": 32, "base_channels": 32,
        "channel_multiplier": [1, 1], "num_res_blocks": 1, "projection_dim": 32, "image_token_embed_dim": 32,
    }  # fmt: skip
    config = transformers.JanusConfig(text_config=text, vision_config=vision, vq_config=vq)
    return shared.wide(transformers.JanusForConditionalGeneration, config, seed)


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
    return janus.load(folders[0], "cpu", torch.float64)


@pytest.fixture(scope="module")
def draft(folders):
    return janus.load(folders[1], "cpu", torch.float64)


def processed():
    """The library's own inputs of the prompts."""
    texts = [f"<|User|>: {prompt.text.strip()}\n\n<|Assistant|>:" for prompt in ASKED]
    processor = transformers.JanusProcessor(JanusImageProcessorPil(), tokenizer())
    return processor(text=texts, generation_mode="image", padding=True, return_tensors="pt")


def generated(net, scale: float):
    """The library's greedy images.  Its own static cache is of no use in 5.17, so one is given."""
    inputs, body = processed(), net.model.language_model
    name = "cache" if "cache" in inspect.signature(body.forward).parameters else "past_key_values"
    net.generation_config.generation_kwargs = {"boi_token_id": IMAGE}
    return net.generate(
        inputs=inputs.input_ids, attention_mask=inputs.attention_mask, generation_mode="image", guidance_scale=scale,
        do_sample=False, bos_token_id=BEGIN, pad_token_id=PAD, **{name: DynamicCache(config=body.config)},
    )  # fmt: skip


def test_the_prompt_is_the_released_chat_form():
    assert janus.wrapped(" a red cat\n") == "<|User|>: a red cat\n\n<|Assistant|>:<begin_of_image>"


@pytest.mark.parametrize(("guidance", "scale"), [(5.0, 5.0), (1.0, NEARLY_1)])
def test_greedy_images_are_the_librarys(loaded, guidance, scale):
    model = loaded.model(ASKED, Processing(guidance=guidance, temperature=0))
    found = sample(Autoregressive(), model, rows=range(len(ASKED)), seed=0).tokens
    assert torch.equal(found, generated(tiny(0), scale))


def test_guidance_changes_the_greedy_images():
    assert not torch.equal(generated(tiny(0), 5.0), generated(tiny(0), NEARLY_1))


def released(net, row, unconditional: bool, tokens):
    """Logits [length, V] by the release's recipe for one prompt: no padding, no mask, no cache."""
    ids = processed().input_ids[row]
    ids = ids[ids.tolist().index(BEGIN) :].clone()
    if unconditional:
        ids[1:-1] = PAD
    image = net.model.generation_aligner(net.model.generation_embeddings(tokens[:-1]))
    vectors = torch.cat([net.model.language_model.embed_tokens(ids), image])[None]
    hidden = net.model.language_model(inputs_embeds=vectors, use_cache=False).last_hidden_state
    return net.model.generation_head(hidden[0, len(ids) - 1 :])


@pytest.mark.parametrize("unconditional", [False, True])
def test_logits_are_those_of_the_released_recipe(loaded, unconditional):
    rows, net = len(ASKED), tiny(0)
    tokens = shared.some_tokens(loaded.model(ASKED, Processing()), rows, 1)
    slots = torch.arange(SIDE**2).expand(2 * rows, -1)
    found = loaded.network(ASKED, True).logits(tokens[:, :-1].repeat(2, 1), slots).chunk(2)[unconditional]
    for row in range(rows):
        assert (found[row] - released(net, row, unconditional, tokens[row])).abs().max() < shared.INSIDE


@pytest.mark.parametrize("guidance", [1.0, 5.0])
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
    shared.check_guidance_is_two_passes(loaded, ASKED, 5.0)


@pytest.mark.parametrize("decoder", [Jacobi(window=4), Chain(lookahead=3)], ids=repr)
@pytest.mark.parametrize("guidance", [1.0, 5.0])
def test_a_race_is_plain_decoding(loaded, draft, decoder, guidance):
    shared.check_a_race_is_plain_decoding(decoder, loaded, draft, ASKED, guidance)


def test_what_a_run_needs_is_the_folders(loaded, folders):
    assert (loaded.name, loaded.prompts, loaded.grid) == (folders[0].name, "text", (SIDE, SIDE))
    expected = tiny(0).model.vqmodel.quantize.embedding.weight
    norms = expected.norm(dim=1, keepdim=True)
    assert torch.allclose(loaded.codebook, expected / norms) and norms.std() > 0.01


def test_images_are_the_librarys_between_0_and_1(loaded):
    tokens = torch.arange(2 * SIDE**2).remainder(CODES).view(2, -1)
    images, net = loaded.paint(tokens), tiny(0)
    expected = net.decode_image_tokens(tokens).permute(0, 3, 1, 2)
    assert images.shape == (2, 3, 2 * SIDE, 2 * SIDE)
    assert torch.allclose(images, ((expected + 1) / 2).clamp(0, 1)) and images.std() > 0.1
    assert 0 <= images.min() < 0.1 and 0.9 < images.max() <= 1


def test_half_precision_runs_and_paints_in_float32(folders):
    loaded = janus.load(folders[0], "cpu", torch.bfloat16)
    assert loaded.network(ASKED, True).like.dtype == torch.bfloat16
    laws = loaded.model(ASKED, Processing(guidance=5.0))(torch.zeros(3, SIDE**2, dtype=torch.int64), shared.start(3), 4)
    assert laws.dtype == torch.float32 and torch.allclose(laws.sum(-1), torch.ones(3, 4))
    assert loaded.paint(torch.zeros(1, SIDE**2, dtype=torch.int64)).dtype == loaded.codebook.dtype == torch.float32


def refused(folder) -> str:
    with pytest.raises(SpecsimError) as error:
        janus.load(folder, "cpu", torch.float64)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def broken(folders, tmp_path):
    return shutil.copytree(folders[0], tmp_path / "broken")


@pytest.mark.parametrize("pattern", FILES)
def test_a_missing_file_is_named(broken, pattern):
    for file in broken.glob(pattern):
        file.unlink()
    assert f"lacks {pattern}; " in refused(broken)


def test_a_missing_shard_is_named(broken):
    (broken / "model.safetensors").rename(broken / "model-00001-of-00002.safetensors")
    index = broken / "model.safetensors.index.json"
    index.write_text(
        json.dumps({"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002.safetensors"}})
    )
    assert "lacks model-00002.safetensors" in refused(broken)
    index.write_text(json.dumps({"weight_map": {"a": "../elsewhere.safetensors"}}))
    assert f"{index} has no weight_map" in refused(broken)


def test_another_architecture_is_refused(broken):
    config = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps({**config, "architectures": ["LlamaForCausalLM"]}))
    assert "architectures ['LlamaForCausalLM'], need ['JanusForConditionalGeneration']" in refused(broken)
    (broken / "config.json").write_text("[]")
    assert "config.json is no JSON object" in refused(broken)
    (broken / "config.json").write_text(json.dumps({**config, "vq_config": {**config["vq_config"], "embed_dim": "4"}}))
    assert f"{broken} cannot be loaded (" in refused(broken)


def test_keys_must_match(broken):
    weights, tensors = broken / "model.safetensors", load_file(broken / "model.safetensors")
    key = "model.generation_head.vision_head.bias"
    kept = tensors.pop(key)
    save_file(tensors, weights, {"format": "pt"})
    assert f"1 keys missing ({key})" in refused(broken)
    save_file({**tensors, key: kept, "model.other": kept.clone()}, weights, {"format": "pt"})
    assert "1 keys unexpected (model.other)" in refused(broken)
    save_file({**tensors, key: kept[:-1]}, weights, {"format": "pt"})
    assert f"1 keys of wrong shape ({key} [{CODES - 1}] for [{CODES}])" in refused(broken)
    weights.write_bytes(weights.read_bytes()[:-8])
    assert f"{broken} cannot be loaded (" in refused(broken)


def test_no_pickle_is_read(broken):
    weights = broken / "model.safetensors"
    torch.save(load_file(weights), broken / "pytorch_model.bin")
    weights.rename(broken / "other.safetensors")
    assert f"{broken} cannot be loaded (" in refused(broken)


def test_a_tokenizer_without_the_special_tokens_is_refused(broken):
    named = {**NAMED, "boi_token": "<img>"}
    shared.tokenizer(named, ("<|User|>", "<|Assistant|>"), WORDS, begins=True).save_pretrained(broken)
    assert "lacks '<begin_of_image>'" in refused(broken)


class Heard(logging.Handler):
    """What a logger says."""

    def __init__(self):
        super().__init__()
        self.words = []

    def emit(self, record):
        self.words.append(record.getMessage())


def test_loading_says_nothing_and_leaves_the_librarys_settings(folders, broken, capfd):
    settings, heard, speaker = transformers.utils.logging, Heard(), logging.getLogger("transformers")
    settings.set_verbosity_warning()
    bars = settings.is_progress_bar_enabled()
    tensors = load_file(broken / "model.safetensors")
    tensors.pop("model.generation_head.vision_head.bias")
    save_file(tensors, broken / "model.safetensors", {"format": "pt"})
    speaker.addHandler(heard)
    try:
        janus.load(folders[0], "cpu", torch.float64)
        refused(broken)
        assert heard.words == [] and capfd.readouterr() == ("", "")
        assert (settings.get_verbosity(), settings.is_progress_bar_enabled()) == (settings.WARNING, bars)
        transformers.JanusForConditionalGeneration.from_pretrained(broken, local_files_only=True)
        assert "vision_head.bias" in "".join(heard.words)  # what it would have said
    finally:
        speaker.removeHandler(heard)


def test_the_library_is_not_imported_before_a_family_is_loaded():
    program = "import sys, gpu_eval.models.janus, gpu_eval.models.emu3; sys.exit('transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], env=os.environ, check=False).returncode == 0


def test_special_tokens_in_a_text_are_padded_in_the_unconditional_row():
    """As released: everything between the first and the last id is the pad's, whatever it is."""
    marks = janus.Marks(None, begin=1, image=2, pad=0)
    ids = torch.tensor([[1, 5, 2, 6, 2], [0, 0, 1, 1, 2]])
    present = torch.tensor([[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]]).bool()
    assert janus.unconditional(ids, present, marks).tolist() == [[1, 0, 0, 0, 2], [0, 0, 1, 0, 2]]


@pytest.mark.parametrize("key", ["model.language_model.embed_tokens.weight", "model.aligner.fc1.bias"])
def test_numbers_that_are_none_are_named_before_anything_is_computed(broken, key):
    file = next(broken.glob("*.safetensors"))
    tensors = load_file(file)
    whole = tensors[key].clone()
    for change, said in ((whole.fill_(torch.nan), "NaN"), (torch.zeros_like(whole, dtype=torch.int64), "type I64")):
        save_file(tensors | {key: change}, file, {"format": "pt"})
        with pytest.raises(SpecsimError, match=said) as caught:
            janus.load(broken, "cpu", torch.float32)
        assert key in str(caught.value)
