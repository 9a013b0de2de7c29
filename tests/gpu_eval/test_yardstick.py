"""The yardstick on synthetic data: a known answer is found, and where the data cannot tell, it says so."""

import numpy as np
import pytest
import torch
from scipy import stats
from torchmetrics.image.kid import maximum_mean_discrepancy, poly_kernel

from gpu_eval.quality.frechet import frechet_distance, statistics
from gpu_eval.yardstick import kernel, power, ranks, verdict
from gpu_eval.yardstick.judging import Judged
from gpu_eval.yardstick.matching import to_levels
from gpu_eval.yardstick.measures import Weights, diversity, measured, sample_of, yard_of
from gpu_eval.yardstick.tuning import climbing, strength_at

RESAMPLES = 300
GROUPS = power.level_groups([level for level in (1.0, 2.0, 3.0, 4.0) for _ in range(10)])


def seen(truth, noise, rng):
    """A measure of quality whose truth is known: its value and resamples, with the noise of finite images."""
    value = truth + noise * rng.standard_normal(len(truth))
    return value, value + noise * rng.standard_normal((RESAMPLES, len(truth)))


def scores_of(truth, noise, yardsticks, rng):
    value, again = seen(truth, noise, rng)
    return {
        name: verdict.Score(float(ranks.within(value, yard, GROUPS)), ranks.within(again, yard, GROUPS))
        for name, yard in yardsticks.items()
    }


@pytest.fixture
def world():
    """Quality follows `right`, not `wrong`; cost moves all three, so over all settings even `wrong` correlates."""
    rng = np.random.default_rng(0)
    cost = np.repeat([0.0, 10.0, 20.0, 30.0], 10)
    right, wrong = rng.standard_normal(40), rng.standard_normal(40)
    return cost + right, {"right": cost + right, "wrong": cost + wrong}, rng


NAMES = {"right": "Right", "wrong": "Wrong", "close": "Close"}


def test_only_correlation_within_levels_tells_yardsticks_apart(world):
    truth, yards, _ = world
    everything = [np.arange(40)]
    assert ranks.within(truth, yards["wrong"], everything) > 0.9
    assert ranks.within(truth, yards["right"], GROUPS) == 1 > abs(ranks.within(truth, yards["wrong"], GROUPS)) + 0.5


def test_the_right_one_wins_when_images_are_many(world):
    truth, yards, rng = world
    found = verdict.judge(scores_of(truth, 0.05, yards, rng), "quality", NAMES)
    assert (found.kind, found.best, found.behind) == (verdict.ORDERS, "right", ["wrong"])
    assert found.text.startswith("Right orders them best")


def test_near_ones_cannot_be_told_apart(world):
    truth, yards, rng = world
    yards = yards | {"close": yards["right"] + 0.02 * rng.standard_normal(40)}
    found = verdict.judge(scores_of(truth, 0.2, yards, rng), "quality", NAMES)
    assert found.kind == verdict.TIED and {found.best, *found.tied} == {"right", "close"} and found.behind == ["wrong"]
    assert "cannot be told from" in found.text and "worse: Wrong" in found.text


def test_noise_alone_gives_no_yardstick(world):
    truth, yards, rng = world
    found = verdict.judge(scores_of(truth, 30.0, {"wrong": yards["wrong"]}, rng), "quality", NAMES)
    assert found.kind == verdict.NONE and found.text.startswith("None does")


@pytest.mark.parametrize("noise", [0.3, 0.9])
def test_intervals_cover_the_true_correlations(noise):
    """Quality in 16 blocks of images: of 100 worlds the intervals of a correlation and of a difference of two hold
    those of the truth in at least 88: fewer have a chance below 1 % if 95 % are covered."""
    rng, covered = np.random.default_rng(1), np.zeros(2)
    for _ in range(100):
        truth, *yards = rng.standard_normal((3, 40))
        yards = [truth + size * yard for size, yard in zip((0.7, 1.0), yards, strict=True)]
        blocks = truth + 4 * noise * rng.standard_normal((16, 40))
        value, again = blocks.mean(0), blocks.mean(0) + noise * rng.standard_normal((100, 40))
        orders = [rng.permutation(16) for _ in range(10)]
        halves = [(blocks[order[:8]].mean(0), blocks[order[8:]].mean(0)) for order in orders]
        factor = ranks.noise_factor(ranks.reliability(halves, GROUPS))
        right = [float(ranks.within(truth, yard, GROUPS)) for yard in yards]
        found = [
            verdict.Score(*(factor * ranks.within(some, yard, GROUPS) for some in (value, again))) for yard in yards
        ]
        one, gap = ranks.interval(*found[0]), verdict.lead(*found)
        covered += one.low <= right[0] <= one.high, gap.low <= right[0] - right[1] <= gap.high
    assert covered.min() >= 88


def test_correction_stops_where_reliability_is_not_known():
    assert ranks.noise_factor(0.64) == 1.25 and ranks.noise_factor(0.0) == ranks.noise_factor(0.25) == 2
    assert ranks.interval(1.3, np.array([1.0, 1.6])) == (1, pytest.approx(1.3 - 2.6 * 0.6 / 2**0.5), 1)


def test_reliability_is_the_correlation_with_a_replicate():
    """Halves have twice the variance of noise; Spearman and Brown's step leads back to whole sets."""
    rng, truth, pairs = np.random.default_rng(2), np.random.default_rng(3).standard_normal(40), []
    for _ in range(200):
        pairs.append(tuple(truth + 0.7 * 2**0.5 * rng.standard_normal(40) for _ in range(2)))
    whole = np.mean(
        [ranks.within(*(truth + 0.7 * rng.standard_normal(40) for _ in range(2)), GROUPS) for _ in range(400)]
    )
    assert ranks.reliability(pairs, GROUPS) == pytest.approx(whole, abs=0.06)
    assert ranks.reliability([(truth, -truth)], GROUPS) == 0


def test_trust_names_what_does_not_repeat_itself():
    assert "at least 0.5" in verdict.trust({"a": 0.6}) and "b (0.20)" in verdict.trust({"a": 0.6, "b": 0.2})


def test_correlations_are_scipys():
    rng = np.random.default_rng(4)
    one, other = rng.integers(0, 5, (2, 6, 12)).astype(float)  # with ties
    for name, mine in (("spearmanr", ranks.spearman), ("kendalltau", ranks.kendall)):
        wanted = [getattr(stats, name)(a, b).statistic for a, b in zip(one, other, strict=True)]
        assert np.allclose(mine(one, other), wanted, atol=1e-12)
    assert ranks.spearman(np.ones(4), np.arange(4.0)) == ranks.kendall(np.ones(4), np.arange(4.0)) == 0


def test_power_counts_shared_random_numbers():
    """Noise that two settings share does not blur their difference."""
    rng = np.random.default_rng(5)
    shared, own = rng.standard_normal((4000, 1)), rng.standard_normal((4000, 2))
    found = power.power_of(np.array([0.0, 1.0]), 3 * shared + own, [np.arange(2)], 100, 0.5)
    assert found["paired"] == pytest.approx(2**0.5, rel=0.05) and found["unpaired"] == pytest.approx(20**0.5, rel=0.05)
    assert found["correlation"] == pytest.approx(0.9, abs=0.02)
    assert found["visible"] == pytest.approx(2.8016 * 2**0.5, rel=0.05)
    assert found["images_for_effect"] == pytest.approx(100 * (found["visible"] / 0.5) ** 2, rel=0.01)


def test_a_difference_of_the_visible_size_is_found_in_four_of_five():
    rng = np.random.default_rng(6)
    shift = power.REACH + rng.standard_normal(20_000)
    assert (shift > 1.959964).mean() == pytest.approx(0.8, abs=0.01)


def test_spread_between_seeds_is_what_the_bootstrap_expects():
    rng = np.random.default_rng(7)
    blocks = 0.4 * rng.standard_normal((30, 50))
    found = power.between_seeds(blocks, np.full(50, 0.4 / 30**0.5))
    assert found["spread"] == pytest.approx(0.4, rel=0.1) and found["ratio"] == pytest.approx(1, abs=0.1)
    assert power.between_seeds(blocks[:1], np.ones(50)) == {"spread": None, "ratio": None}


def test_halves_split_every_class():
    labels = np.arange(40) % 10
    found = power.halves(labels, 3)
    assert found.shape == (6, 40) and (found[::2] + found[1::2] == 1).all()
    assert all((found[:, labels == label].sum(1) == 2).all() for label in range(10))
    assert (found[0] != found[2]).any()


def features(rows, shift=0.0, seed=0):
    return shift + np.abs(np.random.default_rng(seed).standard_normal((rows, 64)))


def sample(rows, shift=0.0, seed=0, classes=1):
    """A set whose classes differ strongly: pairs of one class are nearer than others."""
    labels = np.arange(rows) % classes
    return sample_of(features(rows, shift, seed) + 3 * labels[:, None], labels)


def test_kernel_distance_is_torchmetrics():
    """With a single class nothing is weighted."""
    one, other = sample(30, 0.3, 0), sample(30, 0.0, 1)
    side = kernel.side(one, other, kernel.mean_within(other))
    kernels = [poly_kernel(a.features, b.features) for a, b in ((one, one), (one, other), (other, other))]
    assert kernel.distance(side) == pytest.approx(float(maximum_mean_discrepancy(*kernels)), rel=1e-9)


@pytest.mark.parametrize("classes", [1, 5])
def test_kernel_distance_is_unbiased(classes):
    """Two sets of one law: the mean over many pairs is 0 within 4 standard errors, at 20 images each, however far the
    classes lie apart."""
    values = []
    for seed in range(200):
        one, other = (sample(20, 0.0, 2 * seed + side, classes) for side in (0, 1))
        side = kernel.side(one, other, kernel.mean_within(other))
        values.append(kernel.distance(side))
    assert abs(np.mean(values)) < 4 * np.std(values, ddof=1) / 200**0.5
    assert abs(float(kernel.influence(side).sum())) < 1e-6


def test_influence_is_the_slope_of_the_distance():
    """Two sets that differ: the spread of the distance over sets is what the influence of one set says, within 20 %."""
    other, found, spread = sample(400, 0.0, 999), [], []
    rest = kernel.mean_within(other)
    for seed in range(200):
        side = kernel.side(sample(50, 0.5, seed), other, rest)
        found.append(kernel.distance(side))
        spread.append(float(kernel.influence(side).std()) / 50**0.5)
    assert np.std(found, ddof=1) == pytest.approx(np.mean(spread), rel=0.2)


class Reference:
    """Statistics of real images, made up."""

    def __init__(self):
        self.mean, self.covariance = statistics(torch.from_numpy(features(400, 0.0, 9)))


def judged(shift, seed, rows=200):
    rng = np.random.default_rng(seed)
    return Judged(features(rows, shift, seed), (rng.random(rows) < 0.2).astype(float), *rng.random((3, rows)))


def test_measures_rise_with_the_shift_and_keep_their_value_on_parts():
    yard = yard_of(sample(300, 0.0, 5), sample(100, 0.0, 6), Reference())
    labels = np.arange(200) % 10
    again = np.random.default_rng(0).multinomial(200, np.full(200, 1 / 200), 50).astype(float)
    weights = Weights(again, power.halves(labels, 2))
    near, far = (measured(judged(shift, 7), 0 * labels, weights, yard) for shift in (0.0, 0.5))
    for name in ("kernel_plain", "kernel_real", "frechet_plain", "frechet_real"):
        assert far[name].value > near[name].value + 4 * near[name].again.std()
        assert far[name].again.shape == (50,) and far[name].parts.shape == (4,)
    assert near["error"].value == near["error"].parts[:2].mean() == judged(0.0, 7).error.mean()
    raw = frechet_distance(statistics(torch.from_numpy(judged(0.0, 7).features)), yard.plain_moments)
    assert near["frechet_plain"].value < raw  # less its bias
    assert near["frechet_plain"].again.mean() == pytest.approx(near["frechet_plain"].value, rel=1e-9)


def test_diversity_of_equal_images():
    assert diversity(np.zeros((4, 3), int)) == {"token_entropy": 0, "duplicates": 1}
    assert diversity(np.arange(6).reshape(2, 3)) == {"token_entropy": pytest.approx(np.log(2)), "duplicates": 0}


def test_strengths_are_interpolated_only_inside_the_curve():
    curve = [(1.0, 2.0), (2.0, 3.0), (3.0, 2.9), (4.0, 4.0)]
    assert climbing(curve) == [(1.0, 2.0), (2.0, 3.0), (4.0, 4.0)]
    assert strength_at(curve, 3.0) == pytest.approx(2) and 2 < strength_at(curve, 3.5) < 4
    assert strength_at(curve, 1.9) is None and strength_at(curve, 4.1) is None
    falling = [(0.9, 2.0), (0.5, 3.0), (0.3, 4.0)]
    assert strength_at(falling, 3.0) == pytest.approx(0.5)


def test_figures_are_brought_to_their_levels():
    """Where a scheme's figure is linear in its cost, a missed level is put right exactly; one setting stays."""
    schemes, levels = ["a", "b", "a", "c", "b", "a"], [1.0, 1.0, 2.0, 2.0, 2.0, 3.0]
    costs = np.array([1.1, 0.9, 1.9, 2.2, 2.3, 3.4])
    slope, start = {"a": 2.0, "b": -1.0, "c": 5.0}, {"a": 7.0, "b": 0.0, "c": 1.0}
    lines = [(start[name], slope[name]) for name in schemes]
    at = [np.array([a + b * cost for (a, b), cost in zip(lines, x, strict=True)]) for x in (costs, levels)]
    found = to_levels(schemes, levels, costs) @ at[0]
    assert np.allclose(found[[0, 1, 2, 4, 5]], at[1][[0, 1, 2, 4, 5]], atol=1e-12) and found[3] == at[0][3]
