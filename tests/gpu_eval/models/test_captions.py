"""Captions: cleaned as the release does, encoded as if each were alone, filled up on the left."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from gpu_eval.models.captions import Captions, cleaned, load_captions, to_the_left
from specsim.errors import SpecsimError

pytest.importorskip("transformers")

from tests.gpu_eval.models.tiny_t5 import ids, write_encoder

ROUNDING = 1e-12  # float64 states of two layers, sums taken in another order
WIDTH, LENGTH = 6, 7


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("t5")
    write_encoder(path, WIDTH)
    return path


@pytest.fixture(scope="module")
def encode(folder) -> Captions:
    return load_captions(folder, "cpu", torch.float64, LENGTH, WIDTH)


CLEAN = [
    ("A blue Porsche 356 parked in front of a wall.", "a blue porsche 356 parked in front of a wall."),
    ("  “Sale”: 4x4 (new!) & FREE shipping \n", '"sale": new!'),
    ("see https://www.shop.com/a-b or <b>bold</b> @me", "see or bold"),
    ("a red+car%2c a dog", "a red car, a dog"),
    ("a well-known dog", "a well-known dog"),
    ("my_very-own_red-car", "my very own red car"),
    ("cars—blue…ones, AT&amp;T #12 1234567 pic.jpg", "cars-blue…ones, at t"),
    ("_,a dog", "a dog"),
    ("an R&D; lab", "an r d lab"),
    ("\u4dc0 sign", "sign"),
    ("<style>b</style> a dog.jpg or so", "a or so"),
    ("a dog \\n 中文on grass . jc6640", "a dog on grass"),
]


@pytest.mark.parametrize(("text", "expected"), CLEAN)
def test_captions_are_cleaned(text, expected):
    assert cleaned(text) == expected


def test_vectors_are_those_of_the_caption_alone_at_the_right_end(encode):
    vectors, present = encode(["A red  car.", "dog", "a blue dog on grass", ""])
    for row, text in enumerate(["a red car .", "dog", "a blue dog on grass", ""]):
        alone = encode.encoder(input_ids=ids(text)).last_hidden_state[0]
        assert present[row].tolist() == [False] * (LENGTH - len(alone)) + [True] * len(alone)
        assert torch.allclose(vectors[row, LENGTH - len(alone) :], alone, atol=ROUNDING, rtol=0)
        assert not vectors[row, : LENGTH - len(alone)].any()


def test_a_long_caption_is_cut_and_keeps_its_end_of_sequence(encode):
    (long, cut), present = encode(["a dog on " * 9, "a dog on a dog on"])
    assert present.all()
    assert torch.equal(long, cut)
    alone = encode.encoder(input_ids=ids("a dog on a dog on")).last_hidden_state[0]
    assert torch.allclose(long, alone, atol=ROUNDING, rtol=0)


def test_rows_move_by_what_they_lack():
    vectors = torch.arange(1.0, 9.0).reshape(2, 4, 1)
    present = torch.tensor([[True, False, False, False], [True, True, True, False]])
    moved, there = to_the_left(vectors, present)
    assert moved[..., 0].tolist() == [[0, 0, 0, 1], [0, 5, 6, 7]]
    assert there.int().tolist() == [[0, 0, 0, 1], [0, 1, 1, 1]]


def test_an_encoder_of_another_width_is_refused(folder):
    with pytest.raises(SpecsimError, match="makes vectors of width 6, the model reads 2048"):
        load_captions(folder, "cpu", torch.float32, LENGTH, 2048)


def test_weights_that_lack_a_layer_are_refused(folder, tmp_path):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    tensors = load_file(folder / "model.safetensors")
    kept = {key: tensor for key, tensor in tensors.items() if "encoder.block.1.layer.1" not in key}
    save_file(kept, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(SpecsimError, match=r"keys missing \(encoder.block.1.layer.1"):
        load_captions(tmp_path, "cpu", torch.float32, LENGTH, WIDTH)
