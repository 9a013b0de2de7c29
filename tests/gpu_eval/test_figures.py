"""Intervals of the quality figures: simulated worlds whose true figures are known."""

import numpy as np
import pytest
import torch
from scipy import stats

from gpu_eval.figures import normal_interval, resampled_counts
from gpu_eval.quality.frechet import frechet_distance, frechet_distances
from gpu_eval.quality.measures import distance_figure, mean_figure, resampled

TRIALS, RESAMPLES = 200, 100
FALSE_ALARM = 1e-3  # chance that exact 95 % intervals miss more often than this allows
MOST_MISSES = int(stats.binom.isf(FALSE_ALARM, TRIALS, 0.05))
MOST_WIDE = 2.0  # resamples of a distance near its noise see that noise twice: 1.4 and 1.5 here
LABELS = np.arange(120) % 3
WIDTH = 16


def test_resamples_keep_the_classes():
    """As many images of each class as there are, every image about once; another seed, other resamples."""
    labels = np.array([0, 1, 1, 0, 1, 2, 2, 2, 2])
    counts = resampled_counts(labels, 0)
    for label, size in enumerate(np.bincount(labels)):
        assert (counts[:, labels == label].sum(-1) == size).all()
    assert counts.mean(0) == pytest.approx(np.ones(9), abs=5 / np.sqrt(len(counts)))
    assert not np.array_equal(counts, resampled_counts(labels, 1))


def test_an_interval_that_nothing_supports_is_none():
    two, again = np.array([0, 0, 1, 1]), np.array([1.0, 2.0, 3.0])
    assert normal_interval(2.0, again, two) is not None
    assert normal_interval(2.0, again, np.array([0, 0, 0, 1])) is None  # one image of class 1
    assert normal_interval(2.0, np.ones(3), two) is None
    assert normal_interval(0.9, again, two, (0.0, 1.0)) == [0.0, 1.0]


def means_missed(corrected: bool) -> int:
    """How many intervals of a mean miss it: two images of each of 20 classes, whose means differ a lot."""
    labels, rng, missed = np.arange(40) % 20, np.random.default_rng(0), 0
    for _ in range(TRIALS):
        values = 10.0 * labels + rng.normal(size=40)
        counts = resampled_counts(labels, 0, RESAMPLES)
        low, high = mean_figure(values, counts, labels, (-np.inf, np.inf))["interval"]
        half = (high - low) / 2 * (1 if corrected else np.sqrt(1 / 2))
        missed += abs(values.mean() - 95) > half
        assert half < 1  # the classes' means are not drawn: 2.1 for images drawn from all classes
    return missed


def test_intervals_of_means_cover_them_for_small_classes_too():
    assert means_missed(corrected=True) <= MOST_MISSES < means_missed(corrected=False)


def class_means() -> torch.Tensor:
    return torch.randn(3, WIDTH, generator=torch.Generator().manual_seed(1)).double()


def draw(generator: torch.Generator, scale: float) -> torch.Tensor:
    """Features of LABELS: normal about the mean of the class, with standard deviation `scale`."""
    noise = torch.randn(len(LABELS), WIDTH, generator=generator).double()
    return class_means()[LABELS] + scale * noise


def truth(scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and covariance of endlessly many features of `draw`."""
    means = class_means()
    return means.mean(0), means.T.cov(correction=0) + scale**2 * torch.eye(WIDTH).double()


@pytest.fixture(scope="module", params=["against given statistics", "against a pool"])
def world(request):
    """TRIALS figures of a world, percentile intervals of the same resamples, and the true distance."""
    generator, figures, percentiles = torch.Generator().manual_seed(0), [], []
    for _ in range(TRIALS):
        own = resampled(draw(generator, 1.3), resampled_counts(LABELS, 0, RESAMPLES))
        one = (truth(1.0), truth(1.0))
        if request.param == "against a pool":
            one = resampled(draw(generator, 1.0), resampled_counts(LABELS, 1, RESAMPLES))
        figures.append(distance_figure(one, own, LABELS))
        percentiles.append(np.quantile(frechet_distances(one[1], own[1]).numpy(), [0.025, 0.975]))
    return figures, percentiles, frechet_distance(truth(1.0), truth(1.3))


def misses(intervals, true: float) -> int:
    return sum(not low <= true <= high for low, high in intervals)


def test_intervals_cover_the_distance_of_as_many_images(world):
    """And percentiles would not."""
    figures, percentiles, _ = world
    values = np.array([figure["value"] for figure in figures])
    intervals = [figure["interval"] for figure in figures]
    assert misses(intervals, values.mean()) <= MOST_MISSES < misses(percentiles, values.mean())
    halves = np.diff(intervals).mean() / 2
    assert halves < MOST_WIDE * stats.norm.isf(0.025) * values.std(ddof=1)  # nor cover it by being endless


def test_less_the_bias_they_cover_the_distance_of_endlessly_many(world):
    """And without that correction they would not."""
    figures, _, true = world
    intervals = [figure["interval"] for figure in figures]
    moved = [np.array(figure["interval"]) - figure["bias"] for figure in figures]
    assert misses(moved, true) <= MOST_MISSES < misses(intervals, true)
