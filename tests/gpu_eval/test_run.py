"""`specsim run`: what it writes, what it refuses, and that images depend on nothing but seed and row."""

import json
import sys

import matplotlib.image
import numpy as np
import pytest

from gpu_eval import run_command
from gpu_eval.fashion import load_fashion
from gpu_eval.figures import mean_interval, ratio_interval
from gpu_eval.processing import Processing
from gpu_eval.run import Plan, decode
from gpu_eval.saved_laws import LawKeeper
from specsim import Autoregressive, Chain, Jacobi, Lenient, cli
from specsim.errors import SpecsimError

KEYS = {
    "nfe_per_image", "nfe_per_image_interval", "tokens_per_call", "tokens_per_call_interval", "accepted_per_call",
    "accepted_per_call_interval", "seconds_per_image", "step_overhead_fraction", "acceptance_by_slot", "nfe", "seed",
    "dtype", "failed", "step_compression",
    "step_compression_interval", "device", "device_name", "commit", "versions", "configuration", "schema", "interval",
}  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return load_fashion()


def call(capsys, monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["specsim", "run", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_run_writes_a_picture_and_its_figures(capsys, monkeypatch, tmp_path):
    status, out, _ = call(
        capsys, monkeypatch, "--decoder", "Jacobi(window=8)", "--images", 3, "--out", tmp_path / "o", "--json"
    )
    content = json.loads(out)
    assert status == 0 and content == json.loads((tmp_path / "o" / "result.json").read_text())
    assert set(content) == KEYS
    assert 1 < content["tokens_per_call"] < 49 and content["tokens_per_call"] == 3 * 49 / sum(content["nfe"])
    picture = matplotlib.image.imread(tmp_path / "o" / "images.png")
    assert picture.shape[0] > 28 and picture[..., 0].std() > 0.1


def test_saved_laws_pass_a_lossless_check(capsys, monkeypatch, tmp_path):
    file = tmp_path / "laws.npz"
    words = ("--decoder", "Chain(lookahead=3)", "--images", 2, "--out", tmp_path, "--save-laws", file)
    assert call(capsys, monkeypatch, *words)[0] == 0
    with np.load(file) as saved:
        assert saved["draft"].shape == saved["target"].shape == (len(saved["token"]), 512)
        assert len(saved["token"]) == saved["met"] and set(saved["slot"]) <= {0, 1, 2} and set(saved["row"]) == {0, 1}
        drawn = np.take_along_axis(saved["draft"], saved["token"][:, None], axis=1)
    assert (drawn > 0).all()
    monkeypatch.setattr(sys, "argv", ["specsim", "check", "Strict", "--laws", str(file), "--expect", "lossless"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert not stop.value.code


def test_law_keeper_samples_uniformly_beyond_its_limit(model):
    keeper = LawKeeper(seed=0, limit=40 * 2 * 512 * 4)
    keeper.next_batch(0)
    decode(Plan("fashion", Chain(4), images=4, batch=4), model, keeper)
    assert keeper.met > 80 and len(keeper.thinned()["key"]) == 40


@pytest.mark.parametrize("decoder", [Autoregressive(), Chain(4), Jacobi(8, "gumbel")], ids=repr)
def test_an_image_does_not_depend_on_its_batch(model, decoder):
    one = decode(Plan("fashion", decoder, images=5, seed=1, batch=5), model)
    two = decode(Plan("fashion", decoder, images=5, seed=1, batch=2), model)
    assert (one.tokens == two.tokens).mean() > 0.9  # float32 rounding differs with the batch; most rows agree whole
    assert (one.tokens == two.tokens).all(axis=1).sum() >= 4


def test_temperature_0_is_greedy_whatever_the_decoder(model):
    cold = Processing(temperature=0)
    plain = decode(Plan("fashion", Autoregressive(), images=3, processing=cold), model)
    fast = decode(Plan("fashion", Jacobi(8), images=3, seed=5, processing=cold), model)
    assert (plain.tokens == fast.tokens).all() and fast.calls.sum() < plain.calls.sum()


def test_relaxing_costs_fewer_calls(model):
    strict = decode(Plan("fashion", Chain(4), images=16, batch=16), model)
    loose = decode(Plan("fashion", Chain(4), Lenient(4.0), images=16, batch=16), model)
    assert loose.calls.sum() < strict.calls.sum()


BAD = {
    "images": (("--images", 0), "images = 0"),
    "batch": (("--batch", 0), "batch = 0"),
    "label": (("--label", 10), "label = 10"),
    "model": (("--model", "lumina"), "lumina"),
    "temperature": (("--temperature", -1), "-1"),
    "top_k": (("--top-k", -3), "-3"),
    "top_p": (("--top-p", 0), "top_p"),
    "guidance": (("--guidance", "nan"), "nan"),
    "seed": (("--seed", -1), "seed = -1"),
    "out": (("--out", "/dev/null/x"), "/dev/null/x"),
    "save-laws": (("--save-laws", "/dev/null/x/l.npz"), "/dev/null/x"),
    "rule": (("--rule", "Lenient(omega=-1)"), "omega = -1"),
    "no out": (("--out", ""), "empty path"),
    "too many": (("--images", 10**14), "images = 100000000000000"),
}


@pytest.mark.parametrize(("words", "named"), BAD.values(), ids=list(BAD))
def test_bad_input(capsys, monkeypatch, tmp_path, words, named):
    base = ("--decoder", "Jacobi(window=4)", "--images", 2, "--out", tmp_path / "o")
    status, out, err = call(capsys, monkeypatch, *base, *words)
    assert status == 2 and out == "" and named in err and err.startswith("error:") and err.count("\n") == 1
    assert not list((tmp_path).rglob("*.png"))


def test_intervals_hold_the_value():
    calls = np.array([10, 12, 9, 15, 11])
    figure = mean_interval(calls)
    assert figure["value"] == 11.4 and figure["interval"][0] < 11.4 < figure["interval"][1]
    assert mean_interval(calls[:1])["interval"] is None
    assert ratio_interval(np.full(4, 49), np.full(4, 49)) == {"value": 1.0, "interval": [1.0, 1.0]}


def test_laws_never_land_on_the_picture(capsys, monkeypatch, tmp_path):
    words = ("--decoder", "Jacobi(4)", "--images", 1, "--out", tmp_path, "--save-laws", tmp_path / "images.png")
    status, _, err = call(capsys, monkeypatch, *words)
    assert status == 2 and "choose another name" in err and not list(tmp_path.iterdir())


def test_laws_in_a_directory_that_is_no_file(capsys, monkeypatch, tmp_path):
    """The directory of the pictures itself, and one that has to be made."""
    words = ("--decoder", "Jacobi(4)", "--images", 1, "--out", tmp_path / "o", "--save-laws")
    status, _, err = call(capsys, monkeypatch, *words, tmp_path / "o")
    assert status == 2 and "choose another name" in err and not (tmp_path / "o").exists()
    status, _, _ = call(capsys, monkeypatch, *words, tmp_path / "new" / "laws.npz")
    assert status == 0 and (tmp_path / "new" / "laws.npz").exists()


def test_laws_are_not_left_alone(capsys, monkeypatch, tmp_path):
    """Whatever fails after the decoding leaves no file at all."""

    def full(sheet):
        raise SpecsimError("no room")

    monkeypatch.setattr(run_command, "png", full)
    words = ("--decoder", "Jacobi(4)", "--images", 1, "--out", tmp_path / "o", "--save-laws", tmp_path / "laws.npz")
    status, _, err = call(capsys, monkeypatch, *words)
    assert status == 2 and "no room" in err and not list(tmp_path.iterdir())


def test_a_name_that_is_taken_leaves_everything_as_it_was(capsys, monkeypatch, tmp_path):
    (tmp_path / "result.json").mkdir()
    status, _, err = call(capsys, monkeypatch, "--decoder", "Jacobi(4)", "--images", 1, "--out", tmp_path)
    assert status == 2 and "result.json" in err and [p.name for p in tmp_path.iterdir()] == ["result.json"]
