"""`specsim run` on models of one's own and of the families: prompts, weights, too little memory, laws that are none."""

import json
from dataclasses import fields, replace
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
import torch

from gpu_eval import run as runs
from gpu_eval.fashion import SHIPPED, load_fashion
from gpu_eval.models.families import FAMILIES, load_pair
from gpu_eval.models.loaded import Pair
from gpu_eval.prompts import Prompt
from gpu_eval.run import Plan, decode
from gpu_eval.run_result import result_json
from gpu_eval.saved_laws import LawKeeper
from specsim import Chain, Jacobi, Lenient
from specsim.errors import SpecsimError
from tests.gpu_eval.test_run import call

OWN = str(Path(__file__).parents[2] / "examples" / "own_model.py") + ":make"
CPU = torch.device("cpu")


def test_a_model_of_ones_own_reads_prompts(capsys, monkeypatch, tmp_path):
    file = tmp_path / "prompts.txt"
    file.write_text("a cat\na dog\n")
    words = ("--model", OWN, "--prompts", file, "--images", 5, "--batch", 2, "--guidance", 2, "--json")
    status, out, _ = call(capsys, monkeypatch, *words, "--decoder", "Jacobi(window=4)", "--out", tmp_path / "o")
    content = json.loads(out)
    assert status == 0 and len(content["nfe"]) == 5 and content["failed"] == []
    assert content["configuration"]["prompts"] == [{"text": t, "label": None} for t in ("a cat", "a dog")]
    plan = Plan(
        OWN, Jacobi(window=4), images=5, batch=2, prompts=(Prompt("a cat", None, ""), Prompt("a dog", None, ""))
    )
    assert [prompt.text for prompt in plan.asked(range(5))] == ["a cat", "a dog", "a cat", "a dog", "a cat"]
    found = [decode(replace(plan, batch=size), load_pair(OWN, None, None, CPU, None)) for size in (1, 5)]
    assert (found[0].tokens == found[1].tokens).all()  # an image depends on its prompt, not on its batch
    other = decode(replace(plan, prompts=plan.prompts[:1]), load_pair(OWN, None, None, CPU, None))
    assert (other.tokens[::2] == found[0].tokens[::2]).all() and (other.tokens != found[0].tokens).any()


def test_a_draft_of_ones_own(capsys, monkeypatch, tmp_path):
    words = ("--model", OWN, "--prompts", "a cat", "--images", 2, "--decoder", "Chain(lookahead=2)", "--out", tmp_path)
    status, _, err = call(capsys, monkeypatch, *words)
    assert status == 2 and "give --draft-weights DIR" in err and not list(tmp_path.iterdir())
    own = load_pair(OWN, None, None, CPU, None).target
    plan = Plan(OWN, Chain(lookahead=2), images=2, prompts=(Prompt("a cat", None, ""),))
    assert decode(plan, Pair(own, own)).calls.max() < 16  # a draft that is the target keeps everything
    with pytest.raises(SpecsimError, match=r"grid = \(4, 4\), target fashion target has \(7, 7\)|prompts = 'text'"):
        Pair(load_fashion().pair().target, own)


REFUSED = {
    "no such family": (("--model", "lumina"), "choose fashion, fashion-eagle, llamagen, janus-pro, emu3"),
    "no weights": (("--model", "llamagen"), "needs --weights DIR, a folder with: c2i_"),
    "weights that ship": (("--weights", "."), "ships with its weights"),
    "an empty folder": (("--model", "llamagen", "--weights", "EMPTY"), "c2i_"),
    "an empty folder of the library": (("--model", "janus-pro", "--weights", "EMPTY", "--prompts", "x"), "config.json"),
    "a folder that is not there": (("--model", "emu3", "--weights", "nowhere", "--prompts", "x"), "nowhere"),
    "a text for a model of labels": (("--prompts", "a cat"), "is a text; fashion target reads a label"),
    "no text for a model of texts": (("--model", OWN), "give --prompts FILE or a text"),
    "both kinds": (("--prompts", "a cat", "--label", "3"), "give one of them"),
    "a number type": (("--dtype", "int8"), "one of float32, bfloat16"),
    "a file that is not there": (("--model", "nofile.py:make", "--prompts", "x"), "nofile.py"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "named"), REFUSED.values(), ids=list(REFUSED))
def test_what_cannot_run_is_refused_before_the_first_image(capsys, monkeypatch, tmp_path, words, named):
    (tmp_path / "empty").mkdir()
    words = [str(tmp_path / "empty") if word == "EMPTY" else word for word in words]
    status, out, err = call(capsys, monkeypatch, "--decoder", "Jacobi(window=4)", *words, "--out", tmp_path / "o")
    assert status == 2 and out == "" and named in err and err.count("\n") == 1
    assert not (tmp_path / "o").exists() or not list((tmp_path / "o").iterdir())


def test_every_family_says_what_it_needs(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["specsim", "models", "--json"])
    from specsim import cli

    with pytest.raises(SystemExit):
        cli.main()
    content = json.loads(capsys.readouterr().out)
    assert set(content["models"]) == {*SHIPPED, *FAMILIES, "FILE.py:function"}
    assert all(set(row) == {"tokens", "reads", "needs", "memory", "status"} for row in content["models"].values())


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("can't allocate memory")])
def test_too_little_memory_halves_the_batch(monkeypatch, error):
    """Images, figures and saved laws are those of a run that always fitted."""
    plain, most, notices = runs.decode_batch, 3, []

    def small(plan, pair, rows, keeper, length=None):
        found = plain(plan, pair, rows, keeper, length)
        if len(rows) > most:
            raise error  # after some of the batch was seen
        return found

    plan, pair = Plan("fashion", Jacobi(8), Lenient(1.3), images=9, batch=8), load_fashion().pair()
    wanted, keepers = decode(plan, pair, all_laws := LawKeeper(0)), LawKeeper(0)
    monkeypatch.setattr(runs, "decode_batch", small)
    found = decode(plan, pair, keepers, notice=notices.append)
    assert found.batch == 2 and (found.tokens == wanted.tokens).all() and (found.calls == wanted.calls).all()
    assert notices == [f"out of memory with {n} images side by side: going on with {n // 2}" for n in (8, 4)]
    assert keepers.met == all_laws.met
    laws = [sorted(map(tuple, np.stack([e["row"] for e in [k.thinned()]], 1))) for k in (keepers, all_laws)]
    assert laws[0] == laws[1]
    most = 0
    with pytest.raises(SpecsimError, match="out of memory with one image at a time"):
        decode(plan, pair)


def test_other_errors_are_not_taken_for_too_little_memory(monkeypatch):
    monkeypatch.setattr(runs, "decode_batch", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        decode(Plan("fashion", Jacobi(8), images=2), load_fashion().pair())


def broken_for(label, position):
    """The pair, its target giving NaN for one class from some position on."""
    pair = load_fashion().pair()

    def build(prompts, guided):
        network = pair.target.network(prompts, guided)
        plain = network.logits

        class Broken(type(network)):
            def logits(self, tokens, slots, memory=None):
                wrong = (self.labels == label)[:, None] & (slots >= position)
                return torch.where(wrong[..., None], torch.nan, plain(tokens, slots, memory))

        return Broken(**{name: getattr(network, name) for name in (field.name for field in fields(network))})

    return Pair(replace(pair.target, network=build), pair.draft)


@pytest.mark.parametrize("decoder", [Jacobi(8), Chain(3)], ids=repr)
def test_an_image_whose_laws_are_none_is_given_up(decoder):
    plan = Plan("fashion", decoder, images=12, batch=5)
    found, right = decode(plan, broken_for(3, 20)), decode(plan, load_fashion().pair())
    assert [(some.image, some.position, some.prompt.label) for some in found.failed] == [(3, 20, 3)]
    others = np.arange(12) != 3
    assert (found.tokens[others] == right.tokens[others]).all() and (found.calls[others] == right.calls[others]).all()
    content = result_json(plan, found, load_fashion().pair())
    assert content["nfe_per_image"] == pytest.approx(right.calls[others].mean())
    assert content["failed"][0]["prompt"]["label"] == 3 and "sums to nan" in content["failed"][0]["what"]


@pytest.mark.parametrize("decoder", [Jacobi(8), Chain(3)], ids=repr)
def test_laws_that_are_none_are_not_saved(decoder):
    keeper = LawKeeper(0)
    decode(Plan("fashion", decoder, images=6, batch=3), broken_for(3, 20), keeper)
    whole = keeper.thinned()
    assert np.isfinite(whole["target"]).all() and np.isfinite(whole["draft"]).all() and 3 in whole["row"]


def test_too_little_memory_while_compiling_halves_the_batch_too(monkeypatch):
    plain = runs.decode_batch

    def small(plan, pair, rows, keeper, length=None):
        if len(rows) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return plain(plan, pair, rows, keeper, length)

    monkeypatch.setattr(runs, "decode_batch", small)
    monkeypatch.setattr("gpu_eval.compiling.Compiled", lambda rule: rule)  # what it compiles is tested elsewhere
    found = decode(Plan("fashion", Jacobi(8), images=4, batch=4, compiled=True), load_fashion().pair())
    assert found.batch == 2 and len(found.calls) == 4


def test_a_run_with_a_failed_image_exits_with_1(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("gpu_eval.run_command.load_pair", lambda *_: broken_for(1, 5))
    words = ("--decoder", "Jacobi(window=8)", "--images", 3, "--out", tmp_path / "o")
    status, out, _ = call(capsys, monkeypatch, *words)
    assert status == 1 and "given up" in out and "1 images; image 1:" in out
    content = json.loads((tmp_path / "o" / "result.json").read_text())
    assert "target model: the law of image 1, position 5 sums to nan" in content["failed"][0]["what"]
    assert (tmp_path / "o" / "images.png").exists()
    monkeypatch.setattr("gpu_eval.run_command.load_pair", lambda *_: broken_for(3, 5))
    status, _, err = call(capsys, monkeypatch, *words[:2], "--label", 3, "--images", 2, "--out", tmp_path / "p")
    assert status == 2 and "no image could be decoded" in err and not list((tmp_path / "p").glob("*"))


def test_saved_images_are_what_metrics_reads(capsys, monkeypatch, tmp_path):
    words = ("--decoder", "Jacobi(window=8)", "--images", 12, "--save-images", "--json")
    for name in ("one", "two"):
        assert (
            call(capsys, monkeypatch, *words, "--seed", len(name) + (name == "two"), "--out", tmp_path / name)[0] == 0
        )
    with np.load(tmp_path / "one" / "pictures.npz") as saved:
        assert saved["images"].shape == (12, 28, 28) and saved["images"].dtype == np.uint8
    assert (tmp_path / "one" / "prompts.txt").read_text().split() == [str(i % 10) for i in range(12)]
    files = [str(tmp_path / name / "pictures.npz") for name in ("one", "two")]
    monkeypatch.setattr("sys.argv", ["specsim", "metrics", "--images", files[0], "--reference", files[1], "--json"])
    from specsim import cli

    with pytest.raises(SystemExit) as stop:
        cli.main()
    content = json.loads(capsys.readouterr().out)
    assert not stop.value.code and content["schema"].startswith("specsim.metrics/")


def test_a_model_in_colour_is_shown_in_colour(capsys, monkeypatch, tmp_path):
    own = load_pair(OWN, None, None, CPU, None).target
    red = replace(
        own, paint=lambda tokens: torch.tensor([1.0, 0.0, 0.0])[None, :, None, None].expand(len(tokens), 3, 4, 4)
    )
    monkeypatch.setattr("gpu_eval.run_command.load_pair", lambda *_: Pair(red))
    words = ("--decoder", "Jacobi(window=4)", "--images", 2, "--prompts", "a cat", "--save-images", "--out", tmp_path)
    assert call(capsys, monkeypatch, *words)[0] == 0
    picture = matplotlib.image.imread(tmp_path / "images.png")
    assert tuple(picture[9, 9, :3]) == (1, 0, 0) and tuple(picture[0, 0, :3]) == (1, 1, 1)
    with np.load(tmp_path / "pictures.npz") as saved:
        assert saved["images"].shape == (2, 4, 4, 3) and (saved["images"][..., 0] == 255).all()


def own(**changes):
    """The pair of the example with something changed."""
    return Pair(replace(load_pair(OWN, None, None, CPU, None).target, **changes))


TURNED = torch.zeros(1, 2, 4, 4)
WRONG = {
    "a larger grid": ({"grid": (9, 9)}, "its network writes 16 tokens of 24, and its grid (9, 9) has 81"),
    "pixels beyond 1": ({"paint": lambda t: torch.full((len(t), 1, 4, 4), 1.5)}, "pixels from 1.5 to 1.5; give 0 to 1"),
    "pixels of NaN": ({"paint": lambda t: torch.full((len(t), 1, 4, 4), torch.nan)}, "pixels from nan to nan"),
    "two channels": ({"paint": lambda t: TURNED.expand(len(t), 2, 4, 4)}, "paint makes [1, 2, 4, 4] of 1 images"),
    "no channel": ({"paint": lambda t: torch.zeros(len(t), 4, 4)}, "paint makes [1, 4, 4] of 1 images"),
    "fewer images": ({"paint": lambda t: torch.zeros(0, 1, 4, 4)}, "paint makes [0, 1, 4, 4] of 1 images"),
}


@pytest.mark.parametrize(("changes", "named"), WRONG.values(), ids=list(WRONG))
def test_a_model_that_does_not_fit_is_refused_before_the_first_image(capsys, monkeypatch, tmp_path, changes, named):
    monkeypatch.setattr("gpu_eval.run_command.load_pair", lambda *_: own(**changes))
    words = ("--decoder", "Jacobi(window=4)", "--images", 2, "--prompts", "a cat", "--out", tmp_path / "o")
    status, out, err = call(capsys, monkeypatch, *words)
    assert status == 2 and out == "" and named in err and err.count("\n") == 1 and not list((tmp_path / "o").glob("*"))


def test_laws_of_a_model_without_a_codebook_can_be_read(capsys, monkeypatch, tmp_path):
    laws = tmp_path / "laws.npz"
    words = ("--model", OWN, "--prompts", "a cat", "--decoder", "Jacobi(window=4)", "--images", 2)
    assert call(capsys, monkeypatch, *words, "--save-laws", laws, "--out", tmp_path)[0] == 0
    monkeypatch.setattr("sys.argv", ["specsim", "check", "Strict", "--laws", str(laws), "--expect", "lossless"])
    from specsim import cli

    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert not stop.value.code


def test_files_of_another_run_do_not_stay_beside_this_ones(capsys, monkeypatch, tmp_path):
    words = ("--decoder", "Jacobi(window=8)", "--images", 2, "--out", tmp_path)
    assert call(capsys, monkeypatch, *words, "--save-images")[0] == 0
    before = (tmp_path / "result.json").read_bytes()
    status, _, err = call(capsys, monkeypatch, *words)
    assert status == 2 and "holds pictures.npz and prompts.txt of another run" in err
    assert (tmp_path / "result.json").read_bytes() == before
    assert call(capsys, monkeypatch, *words, "--save-images")[0] == 0


def test_the_right_option_is_named(capsys, monkeypatch, tmp_path):
    words = ("--model", OWN, "--prompts", "a cat", "--decoder", "Chain(lookahead=2)", "--out", tmp_path)
    assert "--draft-weights nope: no such folder" in call(capsys, monkeypatch, *words, "--draft-weights", "nope")[2]
    assert "images = 0 must be from 1" in call(capsys, monkeypatch, *words, "--images", 0)[2]
