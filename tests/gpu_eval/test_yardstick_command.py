"""The yardstick's command: small, resumable, and the same images as the decoder of the other commands."""

import gzip
import json
import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from gpu_eval import store
from gpu_eval.run import Plan, decode
from gpu_eval.transformer import Transformer
from gpu_eval.yardstick import __main__ as command
from gpu_eval.yardstick import images, independent, results, settings, tuning
from gpu_eval.yardstick.decoding import decode_rows
from gpu_eval.yardstick.settings import DECODER, LOSSLESS, PLAIN, SCHEMES, STRICT, Scheme, tuned
from gpu_eval.yardstick.table import markdown, read_results
from specsim import Annealed, Autoregressive, Lenient
from specsim.errors import SpecsimError
from specsim.rules.ledger import Ledger
from specsim.strength import strength_of, with_strength

SMALL = (
    Scheme("uniform", Lenient(), (1.02, 3.5)),
    Scheme("annealed .7", Annealed(), (1.02, 30.0)),
    Scheme("ledger 3", Ledger(), (1.02, 30.0)),
)


@pytest.fixture(scope="module")
def model():
    return command.fashion()


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """An independent model that has learnt nothing."""
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("weights") / "independent.safetensors"
    store.save_module(path, independent.KIND, Transformer(independent.CONFIG), {})
    return path


@pytest.fixture(scope="module")
def ran(tmp_path_factory, weights):
    """A whole run of three schemes at one level, and its folder."""
    folder = tmp_path_factory.mktemp("yardstick")
    patch = pytest.MonkeyPatch()
    patch.setattr(command, "SCHEMES", SMALL)
    patch.setattr(results, "RESAMPLES", 40)
    patch.setattr(command, "LEVELS", (3.2,))
    words = ["--folder", str(folder), "--images", "40", "--seeds", "1", "--pool", "1", "--pilot", "10", "--along", "4"]
    words += ["--independent", str(weights), "--out", str(folder / "out.json"), "--picture", str(folder / "out.png")]
    assert command.main(words) == 0
    yield folder, words
    patch.undo()


@pytest.mark.parametrize("decoder, rule", [(DECODER, Lenient(1.3)), (DECODER, Ledger(2.0)), (Autoregressive(), None)])
def test_images_are_those_of_the_other_commands(model, decoder, rule):
    """Rows that leave the batch change nothing: tokens, classes and calls, of rows that do not begin at 0 too."""
    done = decode(Plan("fashion", decoder, rule, 30, 5, 30), model)
    found = decode_rows(model, decoder, rule, list(range(30)), 5)
    assert (found.tokens == done.tokens).all() and (found.labels == done.labels).all()
    assert (found.calls == done.calls).all()
    some = decode_rows(model, decoder, rule, [7, 21], 5)
    assert (some.tokens == done.tokens[[7, 21]]).all() and some.labels.tolist() == [7, 1]


def test_every_scheme_has_a_strength_and_a_name_of_its_own():
    for scheme in SCHEMES:
        assert strength_of(scheme.rule) and all(with_strength(scheme.rule, value) for value in scheme.grid)
    everything = [*LOSSLESS, *(tuned(scheme, level, scheme.rule) for scheme in SCHEMES for level in settings.LEVELS)]
    work = images.Work(Path("x"), 40)
    assert len({work.path(setting, 0) for setting in everything}) == len(everything)


def test_a_run_has_every_figure(ran):
    content = read_results(ran[0] / "out.json")
    names = [row["name"] for row in content["settings"]]
    assert names[:3] == ["plain decoding", "strict", "block verification"] and len(names) == 6
    assert content["images"] == content["pool"] == 40 and content["seeds"] == [0]
    strict = content["settings"][1]["divergences"]
    assert all(abs(strict[name]["value"]) < 1e-9 for name in ("tv", "kl", "token_tv", "local", "relaxed"))
    loose = next(row for row in content["settings"] if row["name"] == "uniform @ 3.2")["divergences"]
    assert 0 < loose["tv"]["value"] < 1 and loose["kl"]["value"] > 0
    assert set(content["verdicts"]) == {"quality", *content["power"]}
    text = markdown(content)
    assert content["verdicts"]["quality"]["text"] in text and "| uniform @ 3.2 |" in text
    assert (ran[0] / "out.png").read_bytes().startswith(b"\x89PNG")


def test_a_finished_run_decodes_nothing_and_concludes_the_same(ran, monkeypatch, capsys):
    before = json.loads((ran[0] / "out.json").read_text())
    monkeypatch.setattr(images, "decode_rows", None)
    monkeypatch.setattr(tuning, "decode_rows", None)
    assert command.main(ran[1]) == 0
    after = json.loads((ran[0] / "out.json").read_text())
    assert {key: after[key] for key in ("settings", "verdicts")} == {
        key: before[key] for key in ("settings", "verdicts")
    }
    capsys.readouterr()
    assert command.main(["--show", str(ran[0] / "out.json")]) == 0
    assert capsys.readouterr().out.startswith(after["verdicts"]["quality"]["text"])


def test_only_seeds_that_every_setting_has_count(ran):
    work = images.Work(ran[0], 40)
    assert images.complete_seeds(work, LOSSLESS, 3) == [0]
    assert list(images.missing(work, LOSSLESS, 1, 1)) == []
    assert list(images.missing(work, [STRICT], 2, 1)) == [(STRICT, 1)]
    assert [seed for _, seed in images.missing(work, [], 2, 3)] == [images.POOL_SEEDS + 1, images.POOL_SEEDS + 2]


def test_foreign_blocks_are_refused(ran):
    work = images.Work(ran[0], 40)
    path = work.path(PLAIN, 0)
    with pytest.raises(SpecsimError, match="need 40 of 'Chain"):
        images.load(path, STRICT, 40)
    with pytest.raises(SpecsimError, match="need 41 of"):
        images.load(path, PLAIN, 41)
    broken = ran[0] / "broken.npz"
    broken.write_bytes(b"not a block")
    with pytest.raises(SpecsimError, match="is no block of images"):
        images.load(broken, PLAIN, 40)


def test_a_pilot_of_another_size_is_refused(ran):
    with pytest.raises(SpecsimError, match="is the pilot of another scheme or size"):
        tuning.kept_curve(command.fashion, SMALL[0], 21, ran[0])


def test_bad_usage_is_one_line(ran, weights, tmp_path, capsys):
    assert command.main([*ran[1], "--images", "10"]) == 2
    assert "yardstick: images = 10 must be at least 40" in capsys.readouterr().err
    assert command.main([*ran[1], "--schemes", "nobody"]) == 2
    assert "yardstick: scheme = 'nobody' must be one of uniform" in capsys.readouterr().err
    (tmp_path / "x.json").write_text("{}")
    assert command.main(["--show", str(tmp_path / "x.json")]) == 2
    assert "is no yardstick file" in capsys.readouterr().err
    words = ["--folder", str(tmp_path), "--images", "40", "--pilot", "10", "--along", "4", "--analyse"]
    (tmp_path / "pilot").symlink_to(ran[0] / "pilot")
    assert command.main([*words, "--independent", str(weights), "--out", str(tmp_path / "y.json")]) == 2
    assert "no seed of all 6 settings" in capsys.readouterr().err.replace("\n", " ")


def test_the_independent_model_learns(tmp_path):
    """A few steps on made-up images: a file that loads, with a finite test loss."""
    rng = np.random.default_rng(0)
    for split in ("train", "t10k"):
        pictures, classes = rng.integers(0, 256, (80, 28, 28), np.uint8), rng.integers(0, 10, 80).astype(np.uint8)
        for name, array in (("images-idx3", pictures), ("labels-idx1", classes)):
            head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
            (tmp_path / f"{split}-{name}-ubyte.gz").write_bytes(gzip.compress(head + array.tobytes()))
    out = tmp_path / "independent.safetensors"
    assert independent.main(["--data", str(tmp_path), "--out", str(out), "--steps", "2"]) == 0
    net = independent.load_independent(out)
    assert net.config == independent.CONFIG
