"""FID: the formula against torchmetrics on the same features, wrong formulas, intervals, statistics that are given."""

import numpy as np
import pytest
import torch
from scipy import linalg
from torchmetrics.image.fid import FrechetInceptionDistance

from gpu_eval.figures import resampled_counts
from gpu_eval.metrics import frechet
from gpu_eval.metrics.frechet import Given, fid, saved_moments, torchmetrics_fid, warnings_of
from gpu_eval.quality.frechet import statistics
from gpu_eval.quality.measures import distance_figure, resampled
from specsim.errors import SpecsimError

WIDTH = 12
ROUNDING = 1e-9  # float64, distances near 100
ROOTS = 1e-6  # torchmetrics' roots of a singular product: the square root of rounding
SINGLE = 1e-4  # float32 results near 100


def features(rows, seed, scale=1.0, shift=0.0, width=WIDTH):
    generator = torch.Generator().manual_seed(seed)
    mixing = torch.randn(width, width, generator=generator).double()
    return scale * torch.randn(rows, width, generator=generator).double() @ mixing + shift


OWN, OTHER = features(40, 1), features(55, 2, scale=1.3, shift=0.5)


def formula(own, other, ddof=1, root=linalg.sqrtm, times=2):
    """The definition in numpy and scipy; its parts can be got wrong."""
    (mean, spread), (other_mean, other_spread) = (
        (some.mean(0), np.cov(some, rowvar=False, ddof=ddof)) for some in (own.numpy(), other.numpy())
    )
    cross = np.trace(root(spread @ other_spread)).real
    return ((mean - other_mean) ** 2).sum() + np.trace(spread) + np.trace(other_spread) - times * cross


def test_the_figure_is_the_definition_and_torchmetrics():
    found = fid(OWN, OTHER)
    assert found["value"] == pytest.approx(formula(OWN, OTHER), abs=ROUNDING)
    assert found["torchmetrics"] == pytest.approx(found["value"], abs=ROUNDING)


@pytest.mark.parametrize("wrong", [{"ddof": 0}, {"root": np.asarray}, {"times": 1}])
def test_torchmetrics_tells_wrong_formulas(wrong):
    """Among them a covariance divided by n: torchmetrics divides by n - 1."""
    assert abs(formula(OWN, OTHER, **wrong) - torchmetrics_fid(OWN, OTHER)) > 100 * ROUNDING


def test_torchmetrics_rounds_its_result_to_the_features_but_adds_up_in_double():
    metric = FrechetInceptionDistance(feature=Given(WIDTH))
    metric.update(OWN.float(), real=True)
    metric.update(OTHER.float(), real=False)
    assert metric.real_features_cov_sum.dtype == torch.float64 and metric.compute().dtype == torch.float32
    assert float(metric.compute()) == pytest.approx(fid(OTHER, OWN)["value"], abs=SINGLE)


def test_torchmetrics_loses_digits_where_means_are_large():
    """A shift of both sets changes no distance."""
    far, shift = 1e6, fid(OWN, OTHER)["value"]
    assert fid(OWN + far, OTHER + far)["value"] == pytest.approx(shift, abs=ROOTS)
    assert abs(torchmetrics_fid(OWN + far, OTHER + far) - shift) > 10 * ROOTS


def test_fewer_images_than_features():
    few = features(6, 3)
    found = fid(few, OTHER)
    assert found["torchmetrics"] == pytest.approx(found["value"], abs=ROOTS)


def test_interval_and_bias_are_those_of_quality():
    sets = [
        resampled(some, resampled_counts(np.zeros(len(some)), seed))
        for some, seed in ((OTHER, frechet.REFERENCE_SEED), (OWN, frechet.OWN_SEED))
    ]
    wanted, found = distance_figure(*sets, np.zeros(len(OWN))), fid(OWN, OTHER)
    assert {name: pytest.approx(found[name], abs=ROUNDING) for name in wanted} == wanted
    assert found["interval"][0] < found["value"] < found["interval"][1] and found["bias"] > 0


def test_chunks_change_nothing(monkeypatch):
    whole = frechet.resampled_distances(OWN, OTHER, 20)
    monkeypatch.setattr(frechet, "CHUNK_NUMBERS", 7 * WIDTH**2)
    assert frechet.resampled_distances(OWN, OTHER, 20) == pytest.approx(whole, abs=ROUNDING)


def test_wide_features_have_fewer_resamples(monkeypatch):
    monkeypatch.setattr(frechet, "WIDE", WIDTH - 1)
    found = fid(OWN, OTHER)
    assert found["resamples"] == frechet.WIDE_RESAMPLES and found["interval"] is not None


def test_no_resamples_no_interval():
    found, whole = fid(OWN, OTHER, resamples=0), fid(OWN, OTHER)
    assert found == whole | {"interval": None, "bias": None, "resamples": 0}
    with pytest.raises(SpecsimError, match="resamples = -1"):
        fid(OWN, OTHER, resamples=-1)


def test_given_statistics_do_not_vary(tmp_path):
    mean, spread = statistics(OTHER)
    path = tmp_path / "real.npz"
    np.savez(path, mu=mean, sigma=spread)
    whole, fixed = fid(OWN, OTHER), fid(OWN, saved_moments(path))
    assert fixed["value"] == pytest.approx(whole["value"], abs=ROUNDING) and fixed["torchmetrics"] is None
    assert np.ptp(fixed["interval"]) < np.ptp(whole["interval"])


def test_an_npz_with_images_is_no_statistics(tmp_path):
    path = tmp_path / "both.npz"
    np.savez(path, mu=np.zeros(2), sigma=np.eye(2), arr_0=np.zeros((2, 4, 4), np.uint8))
    assert saved_moments(path) is None


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"mu": np.zeros(2), "sigma": np.eye(3)}, r"mu \[2\] and sigma \[3, 3\]"),
        ({"mu": [np.nan], "sigma": [[1.0]]}, "finite"),
        ({"mu": np.zeros(2), "sigma": -np.eye(2)}, "no covariance"),
        ({"mu": np.zeros(2), "sigma": np.array([[1.0, 0.5], [0.0, 1.0]])}, "no covariance"),
    ],
)
def test_statistics_that_are_none(tmp_path, arrays, said):
    path = tmp_path / "real.npz"
    np.savez(path, **arrays)
    with pytest.raises(SpecsimError, match=said):
        saved_moments(path)


@pytest.mark.parametrize(
    ("own", "other", "said"),
    [
        (OWN[:1], OTHER, "images = 1 must be at least 2"),
        (OWN, OTHER[:1], "reference images = 1 must be at least 2"),
        (OWN, OTHER[:, :5], "features of the reference = 5 must be 12"),
    ],
)
def test_sets_without_a_distance(own, other, said):
    with pytest.raises(SpecsimError, match=said):
        fid(own, other)


def test_few_images_are_said():
    assert warnings_of(10_000, None, 64) == []
    assert len(warnings_of(10_000, 9_999, 64)) == 1
    assert [line.split()[0] for line in warnings_of(64, 20_000, 64)] == ["64", "64"]
    assert "singular" in warnings_of(64, None, 64)[1] and len(warnings_of(65, None, 64)) == 1
