"""`specsim frontier --model`: the line of one token, estimates of runs, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from gpu_eval import frontier
from gpu_eval.along import paths_along
from gpu_eval.fashion import Fashion, load_fashion
from gpu_eval.frontier import LOSSLESS, MOST_DRAFTS, Contexts, Sampled, frontier_of_images, on_runs, strengths, verified
from gpu_eval.frontier_show import markdown, picture, table
from gpu_eval.run import decode
from specsim import Chain, Ensemble, Lenient, SpecsimError, Strict, Typical
from specsim.cli.options import app
from specsim.comparing.frontier_picture import FILES
from specsim.decoders import Autoregressive
from specsim.divergences import MEASURES, mean

FLOAT32 = 1e-4  # laws of the decoder's cache against those of one pass


@pytest.fixture(scope="module")
def fashion() -> Fashion:
    return load_fashion()


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    """One draft a call."""
    return frontier_of_images(Sampled(images=3, batch=3, points=1), [Strict(), Lenient(1.5), Typical()])


# One context, p = (1/2, 1/2, 0), q = (1/4, 1/4, 1/2), for a token with another after it: TV 1/2.  Ensemble(w = 1/2):
# b = 1/2 + 1/2 min(1, p/q), kept 1/4 + 1/4 + 1/4, out = (p + q)/2, TV 1/4 = 3/4 - 1/2: on the line.
def test_one_token_by_hand(fashion: Fashion) -> None:
    laws = torch.tensor([[[0.5, 0.5, 0.0]] * 2]).double(), torch.tensor([[[0.25, 0.25, 0.5]] * 2]).double()
    some = [Contexts(*laws, torch.zeros((1, 2), dtype=torch.int64))]
    assert [float(part[0]) for part in verified(fashion, Strict(), some)] == [0.5, 0]
    assert [float(part[0]) for part in verified(fashion, Ensemble(0.5), some)] == [0.75, 0.25]


def test_the_line_of_one_token(content: dict[str, Any]) -> None:
    """Slope 1 from strict verification to TV(p, q); rules with the best residual lie on it, others above."""
    (line,) = content["limits"]
    (start, end), strict = line["points"], content["rules"][0]["points"][0]
    assert start == {"cost": strict["cost"]["value"], "value": 0} and end["cost"] == 1
    assert end["value"] == pytest.approx(1 - start["cost"]) and content["problems"] == []
    lenient, typical = (rule["points"] for rule in content["rules"][1:])
    assert len(lenient) == 2 and lenient[0]["strength"] is None and lenient[1]["strength"] > 1
    for point in lenient:
        assert abs(point["above_line"]["value"]) < LOSSLESS
        assert point["value"]["value"] == pytest.approx(point["cost"]["value"] - start["cost"])
        low, high = point["value"]["interval"]
        assert low < point["value"]["value"] < high
    assert all(point["above_line"]["interval"][0] > 0.02 for point in typical)


def test_a_rule_below_the_line_is_said_to_be(fashion: Fashion, monkeypatch: pytest.MonkeyPatch) -> None:
    real = frontier.verified

    def boast(fashion: Fashion, rule: Any, some: Any) -> Any:
        token = real(fashion, rule, some)
        return token if rule == Strict() else token._replace(accepted=token.accepted + 0.01)

    monkeypatch.setattr(frontier, "verified", boast)
    found = frontier_of_images(Sampled(images=2, batch=2, points=0), [Lenient(2.0)])
    assert found["problems"] == ["Lenient(omega=2.0) lies 0.01 below the line"] and "BELOW" in markdown(found)


def test_runs_are_judged_by_the_estimator(fashion: Fashion) -> None:
    """KL from a run's own images, TV from plain decoding's; calls are the expected ones."""
    rule, lookahead = Lenient(2.0), 3
    for name in ("kl", "tv"):
        sampled = Sampled(lookahead=lookahead, divergence=name, images=2, batch=2)
        plain = decode(sampled.plan(Autoregressive(), None, 7), fashion)
        mark = on_runs(fashion, sampled, rule, None, plain)
        own = decode(sampled.plan(Chain(lookahead), rule, 0), fashion)
        [paths], [along] = (paths_along(fashion, sampled.processing, [rule], lookahead, d) for d in (own, plain))
        assert mark.value == mean(MEASURES[name].values(paths if name == "kl" else along))
        assert mark.cost.value == pytest.approx(float(paths.calls.mean())) and mark.above is None
        assert 49 / 4 <= mark.cost.value < 49 and mark.value.value > 0


def test_strengths_spread_over_the_acceptance(fashion: Fashion) -> None:
    torch.manual_seed(0)
    laws = (torch.rand((2, 4, 6)).double() for _ in range(2))
    pilot = [Contexts(*(law / law.sum(-1, keepdim=True) for law in laws), torch.zeros((2, 4), dtype=torch.int64))]
    found = [verified(fashion, rule, pilot).accepted.mean() for rule, _ in strengths(fashion, Lenient(1.5), pilot, 3)]
    least = verified(fashion, Strict(), pilot).accepted.mean()
    assert np.allclose(found[1:], [least + (1 - least) * share for share in (0.25, 0.5, 0.75)], atol=0.02)
    assert strengths(fashion, Strict(), pilot, 3) == [(Strict(), None)]


def test_no_limit_is_drawn_beyond_one_draft() -> None:
    found = frontier_of_images(Sampled(lookahead=2, divergence="local", images=2, batch=2, points=0), [Strict()])
    assert found["limits"] == [] and "none is known with a lookahead above 1" in found["notes"][0]
    assert found["cost"]["name"] == "calls" and found["rules"][0]["points"][0]["value"]["value"] < LOSSLESS
    assert picture(found).reverse and table(found)[0] == ["rule", "calls", "local"]


def test_the_command_writes_its_files(tmp_path: Path) -> None:
    words = ["--model", "fashion", "--lookahead", "1", "--images", "2", "--points", "0", "--rules", "Lenient(2.0)"]
    done = CliRunner().invoke(app, ["frontier", *words, "--out", str(tmp_path / "out"), "--json"])
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)
    assert json.loads((tmp_path / "out" / "frontier.json").read_text()) == json.loads(done.stdout)
    assert "TV = accepted - " in (tmp_path / "out" / "frontier.md").read_text()


BAD = {
    "ratio": (["--divergence", "ratio"], "a sample knows no largest ratio"),
    "divergence": (["--divergence", "js"], "divergence = 'js' must be one of tv, kl"),
    "model": (["--model", "faces"], "frontier: model = 'faces' must be one of fashion"),
    "lookahead": (["--lookahead", "0"], "lookahead = 0 must be"),
    "lookahead 60": (["--lookahead", "60"], "frontier: lookahead = 60 must be a whole number from 1 to 48"),
    "images": (["--images", "1"], "images = 1 must be at least 2"),
    "points": (["--points", "-1"], "points = -1 must be"),
    "length": (["--length", "3"], "--length says nothing with --model"),
    "exact": (["--exact"], "--exact says nothing with --model"),
    "top-p": (["--top-p", "0"], "top_p is 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case: str) -> None:
    words, wanted = BAD[case]
    done = CliRunner().invoke(app, ["frontier", "--model", "fashion", *words])
    assert isinstance(done.exception, SpecsimError) and wanted in str(done.exception), done.exception


def test_the_longest_block_leaves_one_token_of_an_image(fashion: Fashion) -> None:
    assert fashion.length - 1 == MOST_DRAFTS


def test_images_say_nothing_of_tables() -> None:
    done = CliRunner().invoke(app, ["frontier", "--images", "3"])
    assert isinstance(done.exception, SpecsimError) and "--images says nothing without --model" in str(done.exception)
