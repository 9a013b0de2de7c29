"""LlamaGen from a folder of the released files, and what is said of one that is wrong."""

from argparse import Namespace
from dataclasses import replace

import pytest
import torch
from safetensors.torch import save_file

from gpu_eval.models.checkpoints import read_weights
from gpu_eval.models.llamagen import load, of_labels, pixels_of
from gpu_eval.models.vq16 import VQ16, VQConfig
from gpu_eval.network import ImageModel
from gpu_eval.processing import Processing
from gpu_eval.prompts import Prompt
from gpu_eval.transformer import LLAMAGEN, Transformer
from specsim.errors import SpecsimError

pytest.importorskip("transformers")

from tests.gpu_eval.models import llamagen_formulas as formulas
from tests.gpu_eval.models import tiny_t5
from tests.gpu_eval.models.llamagen_tiny import C2I, KINDS, LABELS, LENGTH, ROWS, T2I, some_tokens, tiny

ROUNDING = 1e-11  # float64 laws of two layers each of encoder and transformer, sums taken in another order
VQ = VQConfig(codes=19, latent=4, z_channels=32, channels=32, multipliers=(1, 2))
SIDE = 48
"""Pixels of an image of 3 x 3 tokens."""


@pytest.fixture
def published(monkeypatch):
    """The tiny sizes are told from the others by layers and width too, as the number of heads is in no shape."""
    monkeypatch.setitem(LLAMAGEN, "tiny", C2I)


def painter() -> VQ16:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return VQ16(VQ)


def write(folder, kind="c2i", name="c2i_tiny_256.pt", arguments=None, **changes):
    """A folder as released; `changes` of the tensors by key, None to leave one out."""
    folder.mkdir(exist_ok=True)
    net = tiny(KINDS[kind])
    tensors = {key: w for key, w in {**net.state_dict(), **changes}.items() if w is not None}
    if name.endswith(".safetensors"):
        save_file(tensors, folder / name)
    else:
        torch.save({"model": tensors, "args": arguments, "steps": 3}, folder / name)
    torch.save({"model": painter().state_dict() | {"encoder.junk": torch.zeros(2)}}, folder / f"vq_ds16_{kind}.pt")
    if kind == "t2i":
        (folder / "flan-t5-xl").mkdir(exist_ok=True)
        tiny_t5.write_encoder(folder / "flan-t5-xl", T2I.caption_width)
    return net


def loaded(folder, dtype=torch.float64):
    return load(folder, "cpu", dtype, VQ)


@pytest.mark.parametrize("name", ["c2i_tiny.pt", "c2i_tiny_256.safetensors"])
def test_a_class_model_comes_back_from_its_files(tmp_path, published, name):
    net = write(tmp_path, name=name, arguments=Namespace(image_size=SIDE, gpt_model="GPT-B"))
    found, grid = loaded(tmp_path), 3 if name.endswith(".pt") else 16
    assert (found.name, found.prompts, found.grid) == (name.partition(".")[0], "label", (grid, grid))
    tokens, start = some_tokens(length=grid * grid), torch.tensor([0, 4, 2])
    expected = ImageModel(of_labels(tiny_grid(net, grid))(LABELS, True), Processing(guidance=2))
    laws = found.model(LABELS, Processing(guidance=2), cached=False)(tokens, start, 4)
    assert torch.equal(laws, expected(tokens, start, 4))
    assert torch.equal(found.codebook, painter().codebook)
    assert torch.equal(found.paint(tokens), painter().decode(tokens))


def tiny_grid(net, grid):
    """The same weights for another grid."""
    other = Transformer(replace(net.config, grid=grid)).double()
    other.load_state_dict(net.state_dict())
    return other


def test_a_text_model_comes_back_from_its_files(tmp_path, published):
    net = write(tmp_path, "t2i", "t2i_tiny_stage1.pt", Namespace(image_size=SIDE))
    found = loaded(tmp_path)
    assert (found.prompts, found.grid) == ("text", (3, 3))
    texts = [Prompt(text, None, "test") for text in ("A red car", "dog", "Grass, a dog, a blue car")]
    tokens, start = some_tokens(), torch.zeros(ROWS, dtype=torch.int64)
    laws = found.model(texts, Processing(), cached=True)(tokens, start, LENGTH)
    encoder = tiny_t5.encoder(tmp_path / "flan-t5-xl")
    for row, words in enumerate(("a red car", "dog", "grass , a dog")):  # the last is cut to five with its end
        vectors = encoder(input_ids=tiny_t5.ids(words)).last_hidden_state[0]
        prompt = formulas.of_caption(net.state_dict(), vectors, torch.ones(len(vectors), dtype=torch.bool))
        expected = formulas.logits(net.state_dict(), 2, 3, prompt, tokens[row]).softmax(-1)
        assert torch.allclose(laws[row], expected, atol=ROUNDING, rtol=0)


def test_loaded_weights_have_the_type_asked_for_and_the_rotation_stays_precise(tmp_path, published):
    write(tmp_path)
    net = loaded(tmp_path, torch.bfloat16).network(LABELS, False).net
    assert {weight.dtype for weight in net.parameters()} == {torch.bfloat16}
    assert torch.equal(net.rotation.table, Transformer(replace(C2I, grid=16)).rotation.table)


WRONG = {
    "no transformer": (lambda path: (path / "c2i_tiny_256.pt").unlink(), "has no c2i_.* or t2i_"),
    "two transformers": (lambda path: write(path, name="c2i_other_384.pt"), "c2i_other_384.pt and c2i_tiny_256.pt"),
    "no tokenizer": (lambda path: (path / "vq_ds16_c2i.pt").unlink(), "lacks vq_ds16_c2i"),
    "no size": (lambda path: (path / "c2i_tiny_256.pt").rename(path / "c2i_tiny.pt"), "no image size in its name"),
    "two sizes": (lambda path: (path / "c2i_tiny_256.pt").rename(path / "c2i_256_384.pt"), "more than one image size"),
    "trained for another": (lambda path: write(path, arguments=Namespace(image_size=384)), "named for 256 .* for 384"),
    "trained for no grid": (lambda path: write(path, arguments=Namespace(image_size=250)), "250 pixels"),
    "another kind": (lambda path: write(path, **{"cls_embedding.embedding_table.weight": None}), "is missing: no c2i"),
    "another size": (lambda path: write(path, **{"layers.7.ffn_norm.weight": torch.ones(16)}), "3 layers of width 16"),
    "missing key": (lambda path: write(path, **{"layers.1.ffn_norm.weight": None}), "missing keys layers.1.ffn_norm"),
    "unexpected key": (lambda path: write(path, **{"extra.weight": torch.ones(2)}), "unexpected keys extra.weight"),
    "wrong shape": (lambda path: write(path, **{"norm.weight": torch.ones(15)}), r"norm.weight \[15\] for \[16\]"),
    "other codes": (
        lambda path: write(path, **{key: torch.zeros(20, 16) for key in ("tok_embeddings.weight", "output.weight")}),
        "20 tokens, the tokenizer 19 codes",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_folder_is_said(tmp_path, published, case):
    write(tmp_path)
    spoil, words = WRONG[case]
    spoil(tmp_path)
    with pytest.raises(SpecsimError, match=words):
        loaded(tmp_path)


def test_a_text_model_needs_its_encoder(tmp_path, published):
    write(tmp_path, "t2i", "t2i_tiny_256.pt")
    (tmp_path / "flan-t5-xl").rename(tmp_path / "t5")
    with pytest.raises(SpecsimError, match="lacks flan-t5-xl"):
        loaded(tmp_path)


def test_the_rotation_that_some_files_hold_is_left_out(tmp_path, published):
    write(tmp_path, freqs_cis=torch.zeros(3))
    assert "freqs_cis" in read_weights(tmp_path / "c2i_tiny_256.pt")
    assert loaded(tmp_path).length == 256


@pytest.mark.parametrize(
    ("name", "pixels"),
    [("c2i_B_256.pt", 256), ("c2i_X_384L.pt", 384), ("t2i_XL_stage1_256.pt", 256), ("t2i_XL_stage2_512.pt", 512)],
)
def test_published_names_say_the_size(tmp_path, name, pixels):
    torch.save({"model": {}}, tmp_path / name)
    assert pixels_of(tmp_path / name) == pixels
