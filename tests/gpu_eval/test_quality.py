"""Quality figures against values known in advance, brute force and other libraries."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import torch
from torchmetrics.image.fid import FrechetInceptionDistance

from gpu_eval.fashion import load_fashion
from gpu_eval.figures import resampled_counts
from gpu_eval.processing import Processing
from gpu_eval.quality import Pool, frechet_distance, pool_of, quality_of, statistics
from gpu_eval.quality.__main__ import law_figures, main, sample
from gpu_eval.quality.frechet import frechet_distances, resampled_statistics
from gpu_eval.quality.measures import distance_figure, resampled
from gpu_eval.run import Plan, decode
from specsim import Autoregressive, Chain, Lenient
from specsim.errors import SpecsimError

ROUNDING = 1e-6  # an eigenvalue 0 is seen as some 1e-15, and its square root is taken
DEAD_UNITS = 1e-4  # 19 of the 64 features are always 0; variances are in the hundreds, so 0 is seen as some 1e-12
FLOAT32 = 1e-4  # log of a float32 law, with a cache and without
IMAGES = 20


def test_frechet_distance_of_commuting_covariances():
    """For diagonal covariances it is |m1 - m2|^2 + sum (sqrt c1 - sqrt c2)^2, variance 0 included."""
    turn = torch.linalg.qr(torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)))[0]
    one = torch.tensor([1.0, 2.0, 3.0]).double(), turn @ torch.diag(torch.tensor([4.0, 0.0, 9.0]).double()) @ turn.T
    two = torch.tensor([1.0, 0.0, 3.0]).double(), turn @ torch.diag(torch.tensor([1.0, 4.0, 9.0]).double()) @ turn.T
    assert frechet_distance(one, two) == pytest.approx(4 + 1 + 4, abs=ROUNDING)
    assert frechet_distance(one, one) == pytest.approx(0, abs=ROUNDING)


def test_frechet_distance_of_covariances_that_do_not_commute():
    """tr (C1 C2)^(1/2) of 2 x 2 matrices is sqrt(tr C1 C2 + 2 sqrt(det C1 C2))."""
    one, two = torch.tensor([[2.0, 1.0], [1.0, 2.0]]).double(), torch.tensor([[3.0, -1.0], [-1.0, 1.0]]).double()
    root = ((one @ two).trace() + 2 * torch.det(one @ two).sqrt()).sqrt()
    expected = float(one.trace() + two.trace() - 2 * root)
    zero = torch.zeros(2).double()
    assert frechet_distance((zero, one), (zero, two)) == pytest.approx(expected, abs=ROUNDING)


def test_statistics_are_the_unbiased_ones():
    mean, covariance = statistics(torch.tensor([[0.0, 0.0], [2.0, 4.0]]))
    assert mean.tolist() == [1, 2] and covariance.tolist() == [[2, 4], [4, 8]]


def test_acceptance_is_one_minus_the_distance_of_the_laws():
    fashion = load_fashion()
    labels, tokens = fashion.reference.labels[:4], fashion.reference.tokens[:4]
    entropy, top, acceptance = law_figures(fashion, Processing(), labels, tokens)
    target, draft = (
        make(labels, cached=False)(tokens, torch.zeros(4, dtype=torch.int64), 49)
        for make in (fashion.target, fashion.draft)
    )
    assert float(acceptance) == pytest.approx(1 - float((target - draft).abs().sum(-1).mean()) / 2, abs=1e-5)
    assert 0 < float(top) < 1 and 0 < float(entropy) < 9


def test_samples_at_temperature_zero_are_the_greedy_path():
    fashion, labels = load_fashion(), torch.tensor([1, 7])
    model = fashion.target(labels, Processing(temperature=0.0))
    tokens = sample(model, 2, torch.Generator())
    laws = fashion.target(labels, cached=False)(tokens, torch.zeros(2, dtype=torch.int64), 49)
    assert torch.equal(laws.argmax(-1), tokens)


def test_command_prints_one_object_for_each_guidance(capsys):
    assert main(["--images", "12", "--guidance", "1", "2"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["guidance"] for line in lines] == [1, 2] and all(line["frechet"] > 0 for line in lines)
    assert main(["--images", "1"]) == 2


@pytest.fixture(scope="module")
def fashion():
    return load_fashion()


@pytest.fixture(scope="module")
def done(fashion):
    return decode(Plan("fashion", Chain(4), Lenient(1.3), IMAGES, 0, IMAGES), fashion)


@pytest.fixture(scope="module")
def pool(fashion):
    return pool_of(fashion, decode(Plan("fashion", Autoregressive(), None, IMAGES, 1, IMAGES), fashion))


def matrix_root_distance(one, other):
    """The formula as it is written, with scipy's square root of the product."""
    (mean, spread), (other_mean, other_spread) = ([part.double().numpy() for part in pair] for pair in (one, other))
    root = scipy.linalg.sqrtm(spread @ other_spread)
    return np.square(mean - other_mean).sum() + np.trace(spread + other_spread - 2 * root.real)


def test_frechet_distance_is_scipys():
    generator = torch.Generator().manual_seed(0)
    one, other = (statistics(s * torch.randn(50, 8, generator=generator).double() + s) for s in (1, 2))
    assert frechet_distance(one, other) == pytest.approx(matrix_root_distance(one, other), abs=ROUNDING)


@pytest.mark.filterwarnings("ignore:Matrix is singular:scipy.linalg.LinAlgWarning")  # it is: units that are always 0
def test_quality_has_scipys_distances(fashion, done, pool):
    """Of the right sets, and with unbiased covariances."""
    features = fashion.classifier.features(torch.from_numpy(done.images)[:, None]).detach().double()
    own = features.mean(0), torch.from_numpy(np.cov(features.numpy().T))
    quality = quality_of(fashion, Processing(), done, pool)
    real = fashion.reference.mean, fashion.reference.covariance
    assert quality.frechet_real["value"] == pytest.approx(matrix_root_distance(own, real), abs=DEAD_UNITS)
    assert quality.frechet_pool["value"] == pytest.approx(
        matrix_root_distance(own, statistics(pool.features)), abs=DEAD_UNITS
    )
    for figure in (quality.frechet_real, quality.frechet_pool):
        assert figure["interval"][0] < figure["value"] < figure["interval"][1] and figure["bias"] > 0


class Extractor(torch.nn.Module):
    """Images -> features in float64, which the metric's sums and result then are too; features stay what they are.

    The metric's own set_dtype would turn the shared classifier to float64.
    """

    num_features = 64

    def __init__(self, classifier):
        super().__init__()
        self.classifier = classifier

    def forward(self, given):
        return (self.classifier.features(given) if given.ndim == 4 else given).double()


def features_of(mean, covariance):
    """2 D features with exactly this mean and unbiased covariance: mean +- the columns of a root, scaled."""
    values, vectors = torch.linalg.eigh(covariance.double())
    columns = (vectors * (values.clamp_min(0) * (2 * len(values) - 1) / 2).sqrt()).T
    return torch.cat([mean.double() + columns, mean.double() - columns])


@torch.no_grad()
def test_quality_has_torchmetrics_distances(fashion, done, pool):
    """The metric takes no statistics, so it is given features that have them."""
    quality = quality_of(fashion, Processing(), done, pool)
    real = features_of(fashion.reference.mean, fashion.reference.covariance)
    for given, figure in ((real, quality.frechet_real), (pool.features, quality.frechet_pool)):
        metric = FrechetInceptionDistance(feature=Extractor(fashion.classifier))
        metric.update(given, real=True)
        metric.update(torch.from_numpy(done.images)[:, None], real=False)
        assert float(metric.compute()) == pytest.approx(figure["value"], abs=DEAD_UNITS)


def test_resampled_statistics_are_those_of_repeated_rows():
    generator = torch.Generator().manual_seed(0)
    features, counts = torch.randn(6, 3, generator=generator), torch.tensor([[2, 0, 1, 1, 1, 1], [0, 3, 0, 0, 2, 1]])
    means, spreads = resampled_statistics(features, counts)
    other = statistics(torch.randn(9, 3, generator=generator))
    for row, distance in enumerate(frechet_distances(other, (means, spreads))):
        mean, spread = statistics(features.repeat_interleave(counts[row], 0))
        assert torch.allclose(means[row], mean) and torch.allclose(spreads[row], spread)
        assert float(distance) == pytest.approx(frechet_distance(other, (mean, spread)), abs=ROUNDING)


def brute_force(fashion, done):
    """Accuracy image by image; nats per token and image, token by token."""
    right = [
        int(fashion.classifier(torch.from_numpy(image)[None, None]).argmax()) == label
        for image, label in zip(done.images, done.labels, strict=True)
    ]
    model, tokens = fashion.target(torch.from_numpy(done.labels)), torch.from_numpy(done.tokens)
    nats = 0.0
    for position in range(49):
        laws = model(tokens[:, :position], torch.full((len(tokens),), position), 1)[:, 0]
        nats += sum(np.log(float(law[token])) for law, token in zip(laws, tokens[:, position], strict=True))
    return sum(right) / len(right), nats / tokens.numel()


def agrees(quality, brute):
    accuracy, nats = brute
    return quality.label_accuracy["value"] == accuracy and abs(quality.log_likelihood["value"] - nats) < FLOAT32


SHIFTED = {
    "nothing": lambda f, p, d: (f, p, d),
    "laws of the draft": lambda f, p, d: (replace(f, target_net=f.draft_net), p, d),
    "laws of another guidance": lambda f, p, d: (f, replace(p, guidance=1.5), d),
    "labels": lambda f, p, d: (f, p, replace(d, labels=(d.labels + 1) % 10)),
    "tokens": lambda f, p, d: (f, p, replace(d, tokens=np.roll(d.tokens, 1, axis=1))),
    "images": lambda f, p, d: (f, p, replace(d, images=np.roll(d.images, 1, axis=0))),
}


@pytest.mark.parametrize("what", SHIFTED)
def test_accuracy_and_likelihood_are_those_of_brute_force(fashion, done, pool, what):
    """And of these labels, tokens and laws alone: with any of them shifted they are not."""
    quality = quality_of(*SHIFTED[what](fashion, Processing(), done), pool)
    assert agrees(quality, brute_force(fashion, done)) == (what == "nothing")


def test_the_pool_varies_too(fashion, done, pool):
    """Held still, or resampled with the images themselves, it would give other intervals."""
    features, (counts, others) = pool_of(fashion, done).features, (resampled_counts(done.labels, s) for s in (0, 1))
    own, still = resampled(features, counts), (statistics(pool.features),) * 2
    found = quality_of(fashion, Processing(), done, pool).frechet_pool
    assert found == distance_figure(resampled(pool.features, others), own, done.labels)
    fixed = distance_figure(still, own, done.labels)
    assert found["value"] == fixed["value"] and found["bias"] > fixed["bias"]
    assert found["interval"][1] > fixed["interval"][1]


@pytest.mark.parametrize("labels", [np.arange(30) % 10, np.zeros(IMAGES, dtype=int)], ids=["more", "other classes"])
def test_another_number_of_images_is_refused(fashion, done, labels):
    with pytest.raises(SpecsimError, match="images of each class in the pool"):
        quality_of(fashion, Processing(), done, Pool(torch.zeros(len(labels), 64), labels))


def test_a_token_that_the_target_never_draws_leaves_no_likelihood(fashion, done, pool):
    quality = quality_of(fashion, Processing(top_k=1), done, pool)
    assert quality.log_likelihood == {"value": None, "interval": None} and 0 < quality.impossible_tokens < 49 * IMAGES
    assert json.loads(json.dumps(quality.as_json(), allow_nan=False))["images"] == IMAGES
