"""The training script from end to end in a few steps, on synthetic files; its errors; its resuming."""

import copy
import gzip
import io
import os
import shutil
import zipfile

import numpy as np
import pytest
import torch

from gpu_eval import resuming, store, training
from gpu_eval.fashion import load_fashion
from gpu_eval.head import NOISE, Head
from gpu_eval.tokenizer import Tokenizer, TokenizerConfig
from gpu_eval.train_fashion import COMMITMENT, FULL, main
from gpu_eval.train_head import losses_of
from gpu_eval.training import Recipe, fit, rate_at, shown
from gpu_eval.transformer import Config, Transformer
from specsim.errors import SpecsimError

ONE = ("--threads", "1")
KEPT = 2  # steps after which the state is kept, here
SIZE = 30  # rows
RECIPE = Recipe(steps=6, batch=8, rate=2e-2, warmup=2, decay=0.05, seed=5, flips=True)
STOPS = [*((stop,) for stop in range(RECIPE.steps)), (3, 1), (2, 2), (2, 1, 3)]  # steps of every run that is stopped


def write_idx(path, array):
    head = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
    path.write_bytes(gzip.compress(head + array.tobytes()))


def write_data(folder):
    random = np.random.default_rng(0)
    for split, size in (("train", 60), ("t10k", 40)):
        write_idx(folder / f"{split}-images-idx3-ubyte.gz", random.integers(0, 256, (size, 28, 28), np.uint8))
        write_idx(folder / f"{split}-labels-idx1-ubyte.gz", random.integers(0, 10, size, np.uint8))
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


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


class Stopped(Exception):
    pass


def stopping(function, after):
    """The function, which is stopped when it is called once more than `after` times; None: never."""
    calls = iter(range(10**6))

    def call(*arguments):
        if next(calls) == after:
            raise Stopped
        return function(*arguments)

    return call


def a_tokenizer():
    """Its codebook is a moving average of latents, in buffers; eight codes, so that all of them win."""
    torch.manual_seed(1)
    net, images = Tokenizer(TokenizerConfig(codes=8, channels=4, blocks=1)), torch.rand(SIZE, 1, 28, 28)
    return net, lambda rows, generator: net.loss(shown(images[rows], RECIPE, generator), COMMITMENT, generator)


def a_head():
    torch.manual_seed(1)
    target = Transformer(Config(7, grid=3, classes=2, layers=1, heads=2, width=16, ffn_multiple=8))
    head, tokens, labels = Head(target.config), torch.randint(7, (SIZE, 9)), torch.randint(2, (SIZE,))

    def loss_at(rows, generator):
        def noise(some):
            return some + NOISE * (2 * torch.rand(some.shape, generator=generator) - 1)

        with torch.autocast("cpu", torch.bfloat16):
            return losses_of(head, target, tokens[rows], labels[rows], noise).total

    return head, loss_at


def fitted(make, state, stop=None, recipe=RECIPE, given=""):
    """Everything that a training left: losses, weights and buffers, and its last state but for the seconds."""
    module, loss_at = make()
    notes = fit("some", module, stopping(loss_at, stop), SIZE, recipe, state, given)
    kept = torch.load(state, weights_only=True)
    assert len(kept.pop("seconds")) == recipe.steps // KEPT
    return notes["losses"], resuming.tensors_of(module), kept


def same(some, other):
    """Bit for bit, through dictionaries and sequences."""
    if isinstance(some, torch.Tensor):
        return torch.equal(some, other)
    if isinstance(some, dict):
        return some.keys() == other.keys() and all(same(some[key], other[key]) for key in some)
    if isinstance(some, list | tuple):
        return len(some) == len(other) and all(map(same, some, other))
    return some == other


def check_going_on(make, folder):
    whole = fitted(make, folder / "whole.state")
    assert len(whole[0]) == RECIPE.steps and same(whole, fitted(make, folder / "again.state"))
    for number, stops in enumerate(STOPS):
        state = folder / f"{number}.state"
        for stop in stops:
            with pytest.raises(Stopped):
                fitted(make, state, stop)
        assert state.exists() == (stops[0] >= KEPT)
        assert same(whole, fitted(make, state))


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(training, "KEPT", KEPT)


@pytest.mark.parametrize("make", [a_tokenizer, a_head], ids=lambda some: some.__name__)
def test_a_training_stopped_anywhere_goes_on_as_if_it_had_not(make, tmp_path, often):
    check_going_on(make, tmp_path)


def forgetting(part):
    """A state of which one part is not restored."""

    def mistake(patch):
        plain = resuming.go_on

        def go_on(path, asked, course):
            module, optimiser = course.module, course.optimiser
            before = copy.deepcopy((resuming.tensors_of(module), optimiser.state_dict(), course.generator.get_state()))
            plain(path, asked, course)
            if part == "module":
                for name, some in resuming.tensors_of(module).items():
                    some.copy_(before[0][name])
            elif part == "optimiser":
                optimiser.load_state_dict(before[1])
            elif part == "generator":
                course.generator.set_state(before[2])
            else:
                course.losses.clear()

        patch.setattr(training, "go_on", go_on)

    mistake.__name__ = part
    return mistake


def rate_from_0(patch):
    """Every run begins the course of the learning rate anew."""
    plain, steps = resuming.go_on, []
    patch.setattr(training, "go_on", lambda *some: (steps.clear(), plain(*some)))
    patch.setattr(training, "rate_at", lambda _, recipe: (steps.append(0), rate_at(len(steps) - 1, recipe))[1])


def state_dict_only(patch):
    """Moving averages that no state dict has are lost."""
    patch.setattr(resuming, "tensors_of", lambda module: module.state_dict())


MISTAKES = [*map(forgetting, ("module", "optimiser", "generator", "losses")), rate_from_0, state_dict_only]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda some: some.__name__)
def test_mistakes_in_going_on_are_seen(mistake, tmp_path, often, monkeypatch):
    mistake(monkeypatch)
    with pytest.raises(AssertionError):
        check_going_on(a_tokenizer, tmp_path)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_stop_while_the_state_is_written_loses_nothing(error, tmp_path, often, monkeypatch):
    whole, state, replace = fitted(a_tokenizer, tmp_path / "whole.state"), tmp_path / "a.state", os.replace

    def first_only(*paths):
        if state.exists():
            raise error
        replace(*paths)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", first_only)
        with pytest.raises(SpecsimError if isinstance(error, OSError) else KeyboardInterrupt):
            fitted(a_tokenizer, state)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.state", "whole.state"]
    assert len(torch.load(state, weights_only=True)["losses"]) == KEPT
    assert same(whole, fitted(a_tokenizer, state))


def test_a_state_with_other_givens_is_not_gone_on_with(tmp_path, often):
    fitted(a_head, tmp_path / "a.state", given="one")
    with pytest.raises(SpecsimError, match="another recipe"):
        fitted(a_head, tmp_path / "a.state", given="other")


@pytest.mark.parametrize("stop", [1, 2])
def test_a_stopped_stage_goes_on_to_the_same_file(stop, data, trained, tmp_path, often, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Tokenizer, "loss", stopping(Tokenizer.loss, stop))
        with pytest.raises(Stopped):
            run(data, tmp_path, "--stage", "vq")
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.state"] * (stop // KEPT)
    assert run(data, tmp_path, "--stage", "vq") == 0
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.safetensors"]
    first, again = (store.read(p / "tokenizer.safetensors", "fashion.tokenizer") for p in (trained, tmp_path))
    assert same(first[0], again[0]) and first[1] | {"seconds": 0} == again[1] | {"seconds": 0}


@pytest.fixture(scope="module")
def kept(data, tmp_path_factory):
    """A state after two of three steps."""
    out = tmp_path_factory.mktemp("stopped")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "KEPT", KEPT)
        patch.setattr(Tokenizer, "loss", stopping(Tokenizer.loss, KEPT))
        with pytest.raises(Stopped):
            run(data, out, "--stage", "vq")
    return (out / "tokenizer.state").read_bytes()


def edited(raw, *keys, value):
    """The state with one entry replaced by value(what was there)."""
    content = inner = torch.load(io.BytesIO(raw), weights_only=True)
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value(inner.get(keys[-1]))
    return saved(content)


def saved(content):
    file = io.BytesIO()
    torch.save(content, file)
    return file.getvalue()


def flipped(raw):
    """One bit of the largest tensor."""
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        largest = max(file.infolist(), key=lambda info: info.file_size)
    place = largest.header_offset + largest.file_size // 2
    return raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]


def foreign_zip(_):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as some:
        some.writestr("data.txt", "text")
    return file.getvalue()


NO_STATE = "no whole state of a training"


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda raw: edited(raw, "training", "recipe", "seed", value=lambda seed: seed + 1), "by another recipe"),
        (lambda raw: edited(raw, "training", "size", value=lambda size: size + 1), "by another recipe"),
        (lambda raw: edited(raw, "module", "codebook", value=lambda codes: codes[:-1]), "of another network"),
        (lambda raw: edited(raw, "module", "more", value=lambda _: torch.zeros(1)), "of another network"),
        (lambda raw: edited(raw, "more", value=lambda _: 1), NO_STATE),
        (lambda raw: b"", NO_STATE),
        (lambda raw: b"plain text", NO_STATE),
        (lambda raw: raw[:-20], NO_STATE),
        (lambda raw: raw[: len(raw) // 2], NO_STATE),
        (flipped, "is damaged"),
        (lambda raw: saved([1, 2]), NO_STATE),
        (lambda raw: saved({"training": {}}), NO_STATE),
        (foreign_zip, NO_STATE),
        (None, NO_STATE),
    ],
)
def test_a_state_that_is_none_of_this_training_is_refused_in_one_line(data, kept, tmp_path, capsys, damage, words):
    state = tmp_path / "tokenizer.state"
    if damage is None:
        state.mkdir()
    else:
        state.write_bytes(damage(kept))
    assert run(data, tmp_path, "--stage", "vq") == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {state} ") and error.count("\n") == 1 and words in error
    assert list(tmp_path.iterdir()) == [state]
    assert damage is None or state.read_bytes() == damage(kept)
