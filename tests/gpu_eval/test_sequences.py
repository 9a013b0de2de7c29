"""`specsim run --save-sequences`: laws of both models along the target's own images, within the limit, or a refusal."""

import json
import sys
from typing import Any

import numpy as np
import pytest
import torch

from gpu_eval import run_command
from gpu_eval.fashion import load_fashion
from gpu_eval.processing import Processing
from gpu_eval.run import Plan, decode
from gpu_eval.sequences import SEQUENCES, sequences_file
from specsim import Autoregressive, SpecsimError, cli
from specsim.tune.laws_file import read_sequences

IMAGES = 4
ROUNDING = 1e-5
"""Of a law in float32, whether its network had a cache or not."""


def call(capsys: Any, monkeypatch: Any, *words: Any) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["specsim", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_the_laws_along_the_targets_own_images_are_written_and_tuned_on(capsys, monkeypatch, tmp_path):
    words = ("run", "--decoder", "Autoregressive()", "--images", IMAGES, "--out", tmp_path, "--save-sequences")
    more = ("--guidance", "1.5", "--top-k", "200", "--seed", 3)
    status, out, _ = call(capsys, monkeypatch, *words, *more, "--json")
    said = json.loads(out)["saved_sequences"]
    file = tmp_path / SEQUENCES
    assert status == 0 and said == {"file": str(file), "written": IMAGES, "images": IMAGES, "limit_mib": 64}
    found, processing = read_sequences(file), Processing(guidance=1.5, top_k=200)
    assert found.target.shape == (IMAGES, 49, 512) and ((found.target > 0).sum(axis=-1) == 200).all()
    fashion, labels = load_fashion(), torch.arange(IMAGES)
    tokens, start = torch.from_numpy(found.tokens), torch.zeros(IMAGES, dtype=torch.int64)
    for laws, model in ((found.target, fashion.target), (found.draft, fashion.draft)):
        again = model(labels, processing)(tokens, start, 49).numpy()
        assert abs(laws - again).max() < ROUNDING
    assert (
        decode(Plan("fashion", Autoregressive(), None, IMAGES, 3, processing=processing), fashion).tokens
        == tokens.numpy()
    ).all()
    assert (found.codebook == fashion.codebook.numpy()).all()
    tune = ("tune", "--rule", "Lenient()", "--laws", file, "--at-accepted", 2.5, "--json")
    status, out, err = call(capsys, monkeypatch, *tune)
    assert status == 0, err
    assert json.loads(out)["best"]["accepted"] == pytest.approx(2.5, abs=1e-5)


def test_the_limit_keeps_the_first_images(tmp_path):
    fashion, plan = load_fashion(), Plan("fashion", Autoregressive(), images=5, batch=5)
    done = decode(plan, fashion)
    each = 2 * 49 * 512 * 4
    data, said = sequences_file(plan, done, fashion, limit=4 * each + 1)
    (tmp_path / "some.npz").write_bytes(data)
    assert said["written"] == 4 and said["images"] == 5 and len(data) < 5 * each
    assert (read_sequences(tmp_path / "some.npz").tokens == done.tokens[:4]).all()
    assert "the first 4 of 5 images fill 0 MiB" in run_command.sequences_line({"file": "f", **said})


@pytest.mark.parametrize("decoder", ["Chain(lookahead=2)", "Jacobi(window=4)", "Race(Chain(lookahead=2))"])
def test_tokens_that_are_not_the_targets_own_are_refused(decoder, capsys, monkeypatch, tmp_path):
    words = ("run", "--decoder", decoder, "--images", 1, "--out", tmp_path / "o", "--save-sequences")
    status, _, err = call(capsys, monkeypatch, *words)
    assert status == 2 and "does not draw from the target alone; run --decoder 'Autoregressive()'" in err
    assert err.count("\n") == 1 and not (tmp_path / "o").exists()


def test_the_two_files_of_laws_may_not_be_one(tmp_path):
    plan = Plan("fashion", Autoregressive(), images=1)
    with pytest.raises(SpecsimError, match="is a file that --out"):
        run_command.run_to_directory(plan, run_command.Output(tmp_path, tmp_path / SEQUENCES, sequences=True))


def test_nothing_is_written_unasked(capsys, monkeypatch, tmp_path):
    words = ("run", "--decoder", "Autoregressive()", "--images", 1, "--out", tmp_path, "--json")
    status, out, _ = call(capsys, monkeypatch, *words)
    assert status == 0 and "saved_sequences" not in json.loads(out) and not (tmp_path / SEQUENCES).exists()


def test_laws_are_stored_as_they_are(tmp_path):
    """Float32 keeps every law summing to 1 far within what is read as a law."""
    fashion, plan = load_fashion(), Plan("fashion", Autoregressive(), images=4, batch=4)
    data, _ = sequences_file(plan, decode(plan, fashion), fashion)
    (tmp_path / "f.npz").write_bytes(data)
    with np.load(tmp_path / "f.npz") as stored:
        assert all(abs(stored[key].sum(axis=-1, dtype=np.float64) - 1).max() < ROUNDING for key in ("target", "draft"))
