"""The shipped weights: they load, they model the images they were made for, and damaged files are refused."""

import shutil

import pytest
import torch

from gpu_eval import store
from gpu_eval.fashion import WEIGHTS, load_fashion
from gpu_eval.processing import Processing
from specsim import Autoregressive, Chain, Jacobi, Race, sample
from specsim.errors import SpecsimError

FLOAT32_ROUNDING = 2e-5  # laws of a four-layer network in float32, sums taken in another order
FLOAT64_ROUNDING = 1e-10  # the same in float64
FILES = ("tokenizer", "target", "draft", "classifier", "reference")


@pytest.fixture(scope="module")
def fashion():
    return load_fashion()


def start_at(position, rows):
    return torch.full((rows,), position)


def test_sizes(fashion):
    assert (fashion.length, *fashion.codebook.shape) == (49, 512, 8)
    assert sum(path.stat().st_size for path in WEIGHTS.glob("*.safetensors")) < 7e6
    norms = fashion.codebook.norm(dim=1)
    assert (norms - 1).abs().max() < 1e-3  # float16 has 11 bits
    model = fashion.target(torch.arange(10))
    assert model.uniform.shape == (512,) and model.uniform.dtype == torch.float32
    assert (model.vocab, model.length) == (512, 49) and model.codebook is fashion.codebook


def test_real_images_are_likelier_than_chance_and_target_beats_draft(fashion):
    tokens, labels = fashion.reference.tokens[:200], fashion.reference.labels[:200]
    nats = [
        -make(labels, cached=False)(tokens, start_at(0, 200), 49).gather(2, tokens[..., None]).log().mean()
        for make in (fashion.target, fashion.draft)
    ]
    assert 2.0 < nats[0] < nats[1] - 0.1 < 4.5  # a uniform law has 6.24


def test_decoded_reference_tokens_are_images_of_their_class(fashion):
    images = fashion.decode(fashion.reference.tokens)
    assert images.shape == (1000, 1, 28, 28) and images.min() >= 0 and images.max() <= 1
    right = (fashion.classifier(images).argmax(1) == fashion.reference.labels).float().mean()
    assert right > 0.8
    again = fashion.tokenizer.encode(images)
    assert (again == fashion.reference.tokens).float().mean() > 0.5  # decoding loses little of the grid


@pytest.mark.parametrize("processing", [Processing(), Processing(guidance=3.0, temperature=0.9, top_k=100)])
def test_a_window_gives_the_laws_of_token_by_token_calls(fashion, processing):
    labels, tokens = torch.tensor([3, 8]), fashion.reference.tokens[:2]
    window = fashion.target(labels, processing)(tokens, start_at(0, 2), 49)
    model = fashion.target(labels, processing)
    single = torch.cat([model(tokens, start_at(n, 2), 1) for n in range(49)], 1)
    assert torch.allclose(window, single, atol=FLOAT32_ROUNDING, rtol=0)
    assert not torch.allclose(window[:, 1:], window[:, :-1], atol=0.01, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_guidance_in_one_doubled_batch_is_guidance_in_two_passes(dtype):
    fashion = load_fashion(dtype=dtype)
    net, tokens, labels = fashion.target_net, fashion.reference.tokens[:3], torch.tensor([0, 4, 9])
    slots = torch.arange(49).expand(3, 49)
    with torch.no_grad():
        conditional, free = (net(net.embed(tokens, c, slots), slots) for c in (labels, torch.full((3,), 10)))
    expected = (free + 2.5 * (conditional - free)).softmax(-1)
    found = fashion.target(labels, Processing(guidance=2.5))(tokens, start_at(0, 3), 49)
    tolerance = FLOAT64_ROUNDING if dtype == torch.float64 else FLOAT32_ROUNDING
    assert found.dtype == dtype and torch.allclose(found, expected, atol=tolerance, rtol=0)


def test_positions_past_the_end_give_valid_laws(fashion):
    for cached in (True, False):
        model = fashion.draft(torch.tensor([1, 2]), cached=cached)
        laws = model(fashion.reference.tokens[:2], torch.tensor([47, 52]), 5)
        assert laws.shape == (2, 5, 512) and torch.allclose(laws.sum(-1), torch.ones(2, 5))


def test_broken_weights_are_reported_at_their_row_and_position():
    fashion = load_fashion()
    with torch.no_grad():
        fashion.target_net.tok_embeddings.weight[7] = torch.nan
    tokens = torch.zeros(2, 49, dtype=torch.int64)
    tokens[1, 3] = 7  # the last token that the first law of the window needs
    with pytest.raises(SpecsimError, match="row 1, position 4 hold nan"):
        fashion.target(torch.tensor([0, 1]))(tokens, start_at(4, 2), 8)


@pytest.mark.parametrize("labels", [[10], [-1], []])
def test_labels_outside_the_classes_are_refused(fashion, labels):
    with pytest.raises(SpecsimError, match=r"one class of 0\.\.9"):
        fashion.target(torch.tensor(labels, dtype=torch.int64))


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(WEIGHTS, tmp_path / "fashion")
    return tmp_path / "fashion"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda path: path.unlink(), "no file"),
        (lambda path: path.write_bytes(path.read_bytes()[:-100]), "not a whole safetensors file"),
        (lambda path: path.write_bytes(path.read_bytes()[:40]), "not a whole safetensors file"),
        (lambda path: path.write_bytes(b"not weights at all"), "not a whole safetensors file"),
        (lambda path: store.write(path, "other", {"x": torch.zeros(1)}, {}), "'other'"),
        (
            lambda path: store.write(path, f"fashion.{path.stem}", {"x": torch.zeros(1)}, {}),
            "need|no readable",
        ),
    ],
)
def test_damaged_and_foreign_files_are_refused_in_one_line(copy, name, damage, words):
    path = copy / f"{name}.safetensors"
    damage(path)
    with pytest.raises(SpecsimError, match=words) as error:
        load_fashion(folder=copy)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda tensors: tensors.pop("norm.weight"), r"'norm\.weight' has shape missing, need \(192,\)"),
        (lambda tensors: tensors.update(extra=torch.zeros(2)), r"'extra' has shape \(2,\), need no such key"),
        (lambda tensors: tensors.update({"norm.weight": torch.zeros(5)}), r"has shape \(5,\), need \(192,\)"),
    ],
)
def test_wrong_keys_and_shapes_are_named(copy, change, words):
    tensors, notes = store.read(copy / "target.safetensors", "fashion.target")
    change(tensors)
    store.write(copy / "target.safetensors", "fashion.target", tensors, notes)
    with pytest.raises(SpecsimError, match=words):
        load_fashion(folder=copy)


@pytest.mark.parametrize("length", [1, 2, 7])
def test_shorter_sequences_begin_as_longer_ones_do(length):
    """Blocks and windows then reach beyond the tokens that are asked, into positions the model has laws for."""
    model, labels = load_fashion(), torch.arange(3)
    target, draft = (make(labels, Processing()) for make in (model.target, model.draft))

    for decoder in (Autoregressive(), Race(Chain(lookahead=4)), Race(Jacobi(window=8))):
        whole = sample(decoder, target, draft, rows=3, seed=1).tokens[:, :length]
        assert torch.equal(sample(decoder, target, draft, length=length, rows=3, seed=1).tokens, whole)
    for decoder in (Chain(lookahead=4), Jacobi(window=8)):
        found = sample(decoder, target, draft, length=length, rows=3, seed=1)
        assert found.tokens.shape == (3, length) and (found.calls <= length).all()
