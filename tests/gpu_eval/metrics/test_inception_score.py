"""Inception score: known values, the formula against torchmetrics, what torchmetrics makes of edges."""

import math

import numpy as np
import pytest
import torch
from torchmetrics.image.inception import InceptionScore

from gpu_eval.metrics.frechet import Given
from gpu_eval.metrics.inception_score import inception_score, shuffled, split_scores, torchmetrics_score
from specsim.errors import SpecsimError

ROUNDING = 1e-12
CLASSES = 7


def logs(rows, seed=0):
    return torch.randn(rows, CLASSES, generator=torch.Generator().manual_seed(seed)).double().mul(2).log_softmax(-1)


def test_known_scores():
    """Images that are all alike score 1, images that are sure and spread over K classes score K."""
    same = logs(1).expand(40, -1)
    assert inception_score(same)["value"] == pytest.approx(1, abs=ROUNDING)
    sure = torch.eye(CLASSES).repeat(3, 1).log()
    assert split_scores(sure.numpy(), 3) == pytest.approx(np.full(3, CLASSES), abs=ROUNDING)
    split_in_two = split_scores(np.concatenate([sure[:4].numpy(), sure[:2].numpy(), sure[:2].numpy()]), 2)
    assert split_in_two == pytest.approx([4, 2], abs=ROUNDING)


def test_the_score_is_torchmetrics():
    found = inception_score(logs(60))
    mean, deviation = torchmetrics_score(logs(60), 10)
    assert found["torchmetrics"] == mean == pytest.approx(found["value"], abs=ROUNDING)
    assert deviation == pytest.approx(found["std"] * math.sqrt(10 / 9), abs=ROUNDING)
    assert deviation > 1.01 * found["std"] > 0


def wrong_scores():
    """Formulas that are nearly right, of shuffled images."""
    parts = np.array_split(logs(60).numpy()[shuffled(60).numpy()], 10)
    whole = np.exp(np.concatenate(parts)).mean(0)
    yield "mean law of all images", [np.exp((np.exp(x) * (x - np.log(whole))).sum(1).mean()) for x in parts]
    mean_law = [np.log(np.exp(x).mean(0)) for x in parts]
    pairs = list(zip(parts, mean_law, strict=True))
    yield "divergence the other way", [np.exp((np.exp(m) * (m - x)).sum(1).mean()) for x, m in pairs]
    yield "mean of exponentials", [np.exp((np.exp(x) * (x - m)).sum(1)).mean() for x, m in pairs]
    yield "unshuffled", split_scores(logs(60).numpy(), 10)


@pytest.mark.parametrize(
    ("name", "scores"), [*wrong_scores()], ids=lambda value: value if isinstance(value, str) else ""
)
def test_torchmetrics_tells_wrong_formulas(name, scores):
    assert abs(np.mean(scores) - torchmetrics_score(logs(60), 10)[0]) > 100 * ROUNDING


def test_the_global_generator_is_left_alone_and_decides_nothing():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    one = inception_score(logs(30))
    assert torch.equal(torch.rand(3), expected)
    torch.manual_seed(2)
    assert inception_score(logs(30)) == one


def test_torchmetrics_shuffles_by_the_global_generator():
    scores = set()
    for seed in range(3):
        torch.manual_seed(seed)
        with pytest.warns(UserWarning, match="save all extracted features"):
            metric = InceptionScore(feature=Given(CLASSES))
        metric.update(logs(30))
        scores.add(float(metric.compute()[0]))
    assert len(scores) == 3


def test_torchmetrics_makes_fewer_splits_than_asked_for():
    assert len(torch.arange(11).chunk(10)) == 6 and len(np.array_split(np.arange(11), 10)) == 10
    assert inception_score(logs(11))["torchmetrics"] is None
    assert abs(torchmetrics_score(logs(11), 10)[0] - inception_score(logs(11))["value"]) > 100 * ROUNDING


def test_a_class_that_never_occurs_is_nan_for_torchmetrics_only():
    sure = torch.eye(CLASSES)[:2].repeat(10, 1).log()
    found = inception_score(sure, splits=2)
    assert math.isnan(torchmetrics_score(sure, 2)[0]) and found["torchmetrics"] is None
    assert 1 < found["value"] <= 2


def test_too_few_images():
    with pytest.raises(SpecsimError, match="images = 9 must be at least 10"):
        inception_score(logs(9))
