"""FID of images: the formula of `gpu_eval.quality.frechet` with an interval, and torchmetrics beside it.

Conventions, which differ: Heusel's code, torchmetrics and this one divide covariances by n - 1, NVIDIA's by n. What is
surprising in `torchmetrics.image.fid`: its sums are in float64 whatever its documentation says of float32, but the
result is rounded to the features' own dtype; a covariance is the difference of two sums, which loses digits where means
are large beside spreads; the root's trace is the sum of the real parts of the roots of the eigenvalues of a
product that is not symmetric, so rounding may leave it a little off where covariances are singular (n <= D).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gpu_eval.figures import CONFIDENCE, FEW_RESAMPLES, normal_interval, resampled_counts
from gpu_eval.metrics.images import KEYS, load_npz
from gpu_eval.quality.frechet import Moments, frechet_distance, frechet_distances, resampled_statistics, statistics
from specsim.errors import SpecsimError, require, require_whole

METHOD = (
    f"{CONFIDENCE:.0%} normal interval from bootstrap standard errors, resampling images; given statistics do not vary"
)
WIDE = 256
WIDE_RESAMPLES = 50
"""Resamples for features wider than that: the standard error is known within 10 %. At 2048 features one takes seconds
on a GPU, a quarter of a minute on two cores."""
MOST_RESAMPLES = 10_000
CHUNK_NUMBERS = 2**25
"""Numbers of the covariances that are held at a time, 256 MiB."""
OWN_SEED, REFERENCE_SEED = 0, 1
"""The two sets vary independently, so their resamples must."""
ENOUGH = 10_000
"""Images below which a distance of Inception features is mostly bias."""


class Given(nn.Module):
    """An extractor for torchmetrics that returns what it is given: features made before."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.num_features = width

    def forward(self, features: Tensor) -> Tensor:
        return features


def fid(own: Tensor, reference: Tensor | Moments, resamples: int | None = None) -> dict[str, Any]:
    """Frechet distance of features [n, D] to a reference's features [m, D], or to its (mean, covariance) as given.

    {"value", "interval", "method", "resamples", "bias", "torchmetrics"}: value - bias estimates the distance of
    infinitely many images; torchmetrics' own figure needs features of both sets, else it is None.
    resamples: None for 400, or 50 of more than 256 features; 0 for no interval and no bias.
    """
    width = own.shape[-1]
    resamples = (FEW_RESAMPLES if width <= WIDE else WIDE_RESAMPLES) if resamples is None else resamples
    require_whole("fid", "resamples", resamples, 0, MOST_RESAMPLES)
    for name, some in (("images", own), ("reference images", reference)):
        if isinstance(some, Tensor):
            require(len(some) > 1, "fid", name, len(some), "at least 2, for a covariance")
    moments = statistics(reference) if isinstance(reference, Tensor) else reference
    theirs = len(moments[0])
    require(width == theirs, "fid", "features of the reference", theirs, f"{width}, as of the images")
    value = frechet_distance(moments, statistics(own))
    again = resampled_distances(own, reference, resamples) if resamples else None
    return {
        "value": value,
        "interval": None if again is None else normal_interval(value, again, np.zeros(len(own)), (0.0, np.inf)),
        "method": METHOD,
        "resamples": resamples,
        "bias": None if again is None else float(again.mean() - value),
        "torchmetrics": torchmetrics_fid(own, reference) if isinstance(reference, Tensor) else None,
    }


def resampled_distances(own: Tensor, reference: Tensor | Moments, resamples: int) -> np.ndarray:
    """The distance of every resample [R], a few covariances at a time; given statistics do not vary."""
    size, found = max(1, CHUNK_NUMBERS // own.shape[-1] ** 2), []
    counts = counts_of(own, OWN_SEED, resamples).split(size)
    others = counts_of(reference, REFERENCE_SEED, resamples).split(size) if isinstance(reference, Tensor) else counts
    for some, other in zip(counts, others, strict=True):
        one = resampled_statistics(reference, other) if isinstance(reference, Tensor) else reference
        found.append(frechet_distances(one, resampled_statistics(own, some)))
    return torch.cat(found).cpu().numpy()


def counts_of(features: Tensor, seed: int, resamples: int) -> Tensor:
    """How often each image is in each resample [R, n]: all are of one class, so their labels vary too."""
    counts = resampled_counts(np.zeros(len(features)), seed, resamples)
    return torch.from_numpy(counts).to(features.device)


def torchmetrics_fid(own: Tensor, reference: Tensor) -> float:
    """The same of the same features by torchmetrics."""
    from torchmetrics.image.fid import FrechetInceptionDistance  # takes seconds to import

    metric = FrechetInceptionDistance(feature=Given(own.shape[-1])).to(own.device)
    metric.update(reference, real=True)
    metric.update(own, real=False)
    return float(metric.compute())


ASYMMETRY = 1e-6
"""What rounding in float32 leaves of symmetry, and of eigenvalues that are 0, in units of the largest one."""


def saved_moments(path: Path) -> Moments | None:
    """(mean, covariance) of an .npz with "mu" and "sigma" and no images, as FID programs save them; None of others.

    They must be of the same network as the images' features, which no file says.
    """
    names, arrays = load_npz(path, ("mu", "sigma"))
    if len(arrays) < 2 or {*KEYS} & {*names}:
        return None
    mean, spread = (torch.from_numpy(np.asarray(arrays[key], dtype=float)) for key in ("mu", "sigma"))
    if (
        mean.ndim != 1
        or spread.shape != (len(mean), len(mean))
        or not bool(mean.isfinite().all() & spread.isfinite().all())
    ):
        raise SpecsimError(
            f"{path}: mu {list(mean.shape)} and sigma {list(spread.shape)} must be finite, [D] and [D, D]"
        )
    least, most = torch.linalg.eigvalsh((spread + spread.T) / 2).aminmax()
    if float((spread - spread.T).abs().max()) > ASYMMETRY * float(most) or least < -ASYMMETRY * abs(float(most)):
        raise SpecsimError(f"{path}: sigma is no covariance: it must be symmetric, with no eigenvalue below 0")
    return mean, spread


def warnings_of(own: int, reference: int | None, width: int) -> list[str]:
    """What a reader must know of few images; reference None: its statistics are given."""
    said = []
    for name, count in (("images", own), ("reference images", reference)):
        if count is not None and count < ENOUGH:
            said.append(
                f"{count} {name}: below {ENOUGH:,} a Frechet distance is biased upwards; compare equal numbers only"
            )
        if count is not None and count <= width:
            said.append(f"{count} {name} for {width} features: the covariance is singular")
    return said
