"""specsim metrics: sets in, figures out, by the shipped classifier; what is refused, and before any network runs."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

import specsim.cli.metrics  # noqa: F401  its command enters the application
from gpu_eval.fashion import load_fashion
from gpu_eval.metrics import command
from gpu_eval.metrics.command import metrics_of, metrics_view
from gpu_eval.quality.frechet import frechet_distance, statistics
from specsim.cli.options import app
from specsim.errors import SpecsimError

COUNT = 30
ROUNDING = 1e-4  # float32 features, distances of hundreds


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """Real test images through the tokenizer, as bytes: a folder of pictures and an .npz."""
    where = tmp_path_factory.mktemp("sets")
    fashion = load_fashion()
    with torch.no_grad():
        pixels = fashion.decode(fashion.reference.tokens[: 2 * COUNT])[:, 0]
    levels = np.round(pixels.clamp(0, 1).numpy() * 255).astype(np.uint8)
    (where / "own").mkdir()
    for index, level in enumerate(levels[:COUNT]):
        Image.fromarray(level).save(where / "own" / f"{index}.png")
    np.savez(where / "own.npz", images=levels[:COUNT])
    np.savez(where / "real.npz", arr_0=levels[COUNT:])
    return where


@pytest.fixture(scope="module")
def content(sets):
    return metrics_of(sets / "own", sets / "real.npz")


def features(path, key):
    with torch.no_grad():
        return load_fashion().classifier.features(torch.from_numpy(np.load(path)[key])[:, None].float() / 255)


def test_figures_of_two_sets(sets, content):
    steps = []
    wanted = frechet_distance(
        statistics(features(sets / "real.npz", "arr_0")), statistics(features(sets / "own.npz", "images"))
    )
    assert content["fid"]["value"] == pytest.approx(wanted, abs=ROUNDING) and wanted > 1
    assert content["fid"]["torchmetrics"] == pytest.approx(wanted, abs=ROUNDING)
    assert (content["images"], content["reference_images"], content["features"]) == (COUNT, COUNT, 64)
    score = content["inception_score"]
    assert 1 < score["value"] < 10 and score["torchmetrics"] == pytest.approx(score["value"], abs=ROUNDING)
    assert content["clip_score"] is None and content["device"] in ("cpu", "cuda")
    again = metrics_of(sets / "own.npz", sets / "real.npz", progress=lambda done, total: steps.append((done, total)))
    same = {"images_from": content["images_from"]}
    assert again | same == content and steps == [(COUNT, COUNT)] * 2


def test_what_few_images_mean_is_said(content):
    said = "\n".join(content["warnings"])
    for line in ("30 images: below 10,000", "30 reference images for 64", "are no FID", "30 images in 10 splits"):
        assert line in said


def test_without_an_interval(sets, content):
    found = metrics_of(sets / "own", sets / "real.npz", resamples=0)
    assert found["fid"]["value"] == content["fid"]["value"] and found["fid"]["interval"] is None
    assert "of which bias" in shown(content) and "of which bias" not in shown(found)


def test_a_set_against_itself(sets):
    assert metrics_of(sets / "own", sets / "own", resamples=0)["fid"]["value"] == pytest.approx(0, abs=ROUNDING)


def test_given_statistics(sets, content, tmp_path):
    mean, spread = statistics(features(sets / "real.npz", "arr_0"))
    np.savez(tmp_path / "real.npz", mu=mean, sigma=spread)
    given = metrics_of(sets / "own", tmp_path / "real.npz")
    assert given["fid"]["value"] == pytest.approx(content["fid"]["value"], abs=ROUNDING)
    assert given["reference_images"] is None and "statistics" in shown(given)


def test_too_few_images_for_a_score(sets, tmp_path):
    np.savez(tmp_path / "few.npz", images=np.load(sets / "own.npz")["images"][:9])
    content = metrics_of(tmp_path / "few.npz", sets / "real.npz", resamples=0)
    assert content["inception_score"] is None and any("9 images are too few" in line for line in content["warnings"])


def shown(content):
    from rich.console import Console

    console = Console(width=200)
    with console.capture() as captured:
        console.print(metrics_view(content))
    return captured.get()


def test_the_view_holds_the_figures(content):
    text = shown(content | {"clip_score": {"value": 31.25, "interval": [30.0, 32.5]}})
    for figure in (
        f"{content['fid']['value']:.3f}",
        f"{content['inception_score']['std']:.3f}",
        "31.250  [30.000, 32.500]",
    ):
        assert figure in text
    assert all(line[:40] in text for line in content["warnings"])


def test_the_command_prints_json(sets, capsys):
    arguments = ["metrics", "--images", str(sets / "own"), "--reference", str(sets / "real.npz"), "--json"]
    app(arguments, standalone_mode=False)
    content = json.loads(capsys.readouterr().out)
    assert content["schema"] == "specsim.metrics/1" and content["fid"]["value"] > 1 and content["warnings"]


def test_a_clip_score_through_the_command(sets, tmp_path, monkeypatch):
    """Which images and prompts are scored; the score itself has tests of its own."""
    (tmp_path / "prompts.txt").write_text("\n".join(f"picture {index}" for index in range(COUNT)))
    monkeypatch.setattr(command, "load_clip", lambda folder, device: folder)
    monkeypatch.setattr(command, "clip_score", lambda *given: given)
    texts = tmp_path / "prompts.txt"
    content = metrics_of(sets / "own", sets / "real.npz", clip=tmp_path, prompts=texts, resamples=0)
    model, images, prompts = content["clip_score"]
    assert (model, images.name, images.count) == (tmp_path, str(sets / "own"), COUNT)
    assert [prompt.text for prompt in prompts] == [f"picture {index}" for index in range(COUNT)]


def never(*given):
    raise AssertionError("a network was looked at")


def test_what_is_refused_is_refused_first(sets, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "judged", never)
    (tmp_path / "prompts.txt").write_text("a cat\n")
    own, real = sets / "own", sets / "real.npz"
    for given, said in (
        ({"clip": tmp_path}, "both --clip and --prompts"),
        ({"prompts": tmp_path / "prompts.txt"}, "both --clip and --prompts"),
        ({"clip": tmp_path, "prompts": tmp_path / "prompts.txt"}, "1 for 30 images"),
        ({"extractor": tmp_path / "no.pt"}, "is no file"),
    ):
        with pytest.raises(SpecsimError, match=said):
            metrics_of(own, real, **given)
    np.savez(tmp_path / "one.npz", images=np.zeros((1, 28, 28), np.uint8))
    with pytest.raises(SpecsimError, match="images = 1 must be at least 2"):
        metrics_of(tmp_path / "one.npz", real)
    with pytest.raises(SpecsimError, match="does not exist"):
        metrics_of(own, tmp_path / "no.npz")
