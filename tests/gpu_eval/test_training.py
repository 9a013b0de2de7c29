"""The training script from end to end in a few steps, on synthetic files; its errors; its resuming."""

import gzip
import shutil

import numpy as np
import pytest
import torch

from gpu_eval import store
from gpu_eval.fashion import load_fashion
from gpu_eval.train_fashion import FULL, main
from gpu_eval.training import rate_at
from specsim.errors import SpecsimError

ONE = ("--threads", "1")


def write_idx(path, array):
    head = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
    path.write_bytes(gzip.compress(head + array.tobytes()))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder, random = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    for split, size in (("train", 60), ("t10k", 40)):
        write_idx(folder / f"{split}-images-idx3-ubyte.gz", random.integers(0, 256, (size, 28, 28), np.uint8))
        write_idx(folder / f"{split}-labels-idx1-ubyte.gz", random.integers(0, 10, size, np.uint8))
    return folder


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    assert main(["--data", str(data), "--out", str(out), "--quick", *ONE]) == 0
    return out


def run(data, out, *more):
    return main(["--data", str(data), "--out", str(out), "--quick", *ONE, *more])


def test_quick_run_writes_five_files_that_load_as_one_model(trained):
    assert sorted(path.name for path in trained.iterdir()) == [
        f"{name}.safetensors" for name in ("classifier", "draft", "reference", "target", "tokenizer")
    ]
    fashion = load_fashion(folder=trained)
    laws = fashion.target(torch.tensor([0, 9]))(torch.zeros(2, 49, dtype=torch.int64), torch.tensor([0, 3]), 4)
    assert laws.shape == (2, 4, 512) and bool((laws > 0).all())
    assert fashion.reference.tokens.shape == (40, 49) and fashion.reference.covariance.shape == (64, 64)


def test_headers_tell_how_the_files_were_made(trained):
    for name in ("tokenizer", "target", "draft", "classifier"):
        tensors, notes = store.read(trained / f"{name}.safetensors", f"fashion.{name}")
        assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
        assert notes["recipe"]["steps"] == 3 and len(notes["losses"]) == 3
    assert store.read(trained / "target.safetensors", "fashion.target")[1]["test_nats"] > 0


def test_the_same_seed_gives_the_same_codebook(data, trained, tmp_path):
    assert run(data, tmp_path, "--stage", "vq") == 0
    first, again = (store.read(p / "tokenizer.safetensors", "fashion.tokenizer")[0] for p in (trained, tmp_path))
    assert torch.equal(first["codebook"], again["codebook"])


def test_finished_stages_are_skipped(data, trained, capsys):
    before = (trained / "target.safetensors").stat().st_mtime_ns
    assert run(data, trained) == 0
    assert capsys.readouterr().out.count("is finished") == 4
    assert (trained / "target.safetensors").stat().st_mtime_ns == before


def test_files_of_another_recipe_are_not_overwritten(data, trained, capsys):
    assert main(["--data", str(data), "--out", str(trained), "--stage", "vq", *ONE]) == 2
    assert "another recipe" in capsys.readouterr().err


def test_a_stage_without_its_tokenizer_says_so(data, tmp_path, capsys):
    assert run(data, tmp_path, "--stage", "draft") == 2
    assert "tokenizer.safetensors" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "damage", "words"),
    [
        ("train-images-idx3-ubyte.gz", None, "no file"),
        ("train-images-idx3-ubyte.gz", lambda raw: raw[:-20], "not a whole gzip file"),
        ("train-labels-idx1-ubyte.gz", lambda raw: b"plain text", "not a whole gzip file"),
        ("train-labels-idx1-ubyte.gz", lambda raw: gzip.compress(b"text"), "not an idx file"),
        (
            "train-labels-idx1-ubyte.gz",
            lambda raw: gzip.compress(gzip.decompress(raw)[:-1]),
            "header says shape",
        ),
        (
            "train-labels-idx1-ubyte.gz",
            lambda raw: gzip.compress(gzip.decompress(raw)[:-1] + b"\n"),
            "labels 0..9",
        ),
    ],
)
def test_bad_data_is_named_in_one_line(data, tmp_path, capsys, name, damage, words):
    broken = tmp_path / "data"
    shutil.copytree(data, broken)
    raw = (broken / name).read_bytes()
    (broken / name).unlink()
    if damage:
        (broken / name).write_bytes(damage(raw))
    assert run(broken, tmp_path / "out", "--stage", "vq") == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and words in error and str(broken) in error
    assert not list((tmp_path / "out").iterdir())


def test_an_output_folder_that_cannot_be_made_is_refused_before_training(data, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert run(data, tmp_path / "file" / "out") == 2
    assert "--out" in capsys.readouterr().err


def test_learning_rate_rises_then_falls_to_zero():
    rates = [rate_at(step, FULL["target"]) for step in range(FULL["target"].steps)]
    top_rate = FULL["target"].rate
    assert max(rates) == pytest.approx(top_rate) and rates.index(max(rates)) in (99, 100)
    assert (rates[0], rates[49]) == pytest.approx((top_rate / 100, top_rate / 2))
    assert rates[:100] == sorted(rates[:100]) and rates[100:] == sorted(rates[100:], reverse=True)
    assert rates[-1] < top_rate / 1000


def test_weights_of_another_tokenizer_are_refused(trained, tmp_path):
    mixed = tmp_path / "mixed"
    shutil.copytree(trained, mixed)
    tensors, notes = store.read(mixed / "tokenizer.safetensors", "fashion.tokenizer")
    store.write(
        mixed / "tokenizer.safetensors",
        "fashion.tokenizer",
        tensors | {"codebook": -tensors["codebook"]},
        notes,
    )
    with pytest.raises(SpecsimError, match=r"reference\.safetensors|target\.safetensors"):
        load_fashion(folder=mixed)
