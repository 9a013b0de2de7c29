"""Measures of image quality, all of them losses.  Each with its resamples and its values on parts of the images.

Image i of a seed has the same class and the same random numbers in every setting, so all settings are resampled with
the same images: what the shared numbers have in common stays in common.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from gpu_eval.fashion import Reference
from gpu_eval.quality.frechet import Moments, frechet_distance, frechet_distances, resampled_statistics, statistics
from gpu_eval.yardstick import kernel
from gpu_eval.yardstick.judging import Judged

MEASURES = {
    "frechet_real": "Frechet distance to real images",
    "doubt": "classifier: -log probability of the label",
    "independent": "-log-likelihood, independent model",
    "kernel_real": "kernel distance to real images",
    "kernel_plain": "kernel distance to plain decoding",
    "frechet_plain": "Frechet distance to plain decoding",
    "error": "classifier error",
    "surprise": "-log-likelihood, target",
}
PRIMARY = ("frechet_real", "doubt", "independent")
"""What the verdict is about, fixed after a feasibility run and before any correlation was looked at: of each kind (set,
label, likelihood) the measure that repeated its own order best.  The likelihood under the target is left out:
KL(out, target) is nearly the same thing by definition."""


class Figure(NamedTuple):
    """A number of one setting: its value, its resamples [R], and its values on parts of the images [P]."""

    value: float
    again: np.ndarray
    parts: np.ndarray


class Weights(NamedTuple):
    """How often each of n images is in each resample [R, n], and in each part [P, n]."""

    again: np.ndarray
    parts: np.ndarray


class Yard(NamedTuple):
    """What images are measured against: features of plain decoding and of real images, as the tokenizer keeps them;
    mean kernels within each; statistics of plain decoding and of all real images."""

    plain: kernel.Sample
    real: kernel.Sample
    plain_rest: float
    real_rest: float
    plain_moments: Moments
    real_moments: Moments


def sample_of(features: np.ndarray, classes: np.ndarray) -> kernel.Sample:
    """features [n, 64], classes [n]."""
    return kernel.Sample(torch.from_numpy(features).double(), torch.from_numpy(classes))


def yard_of(plain: kernel.Sample, real: kernel.Sample, reference: Reference) -> Yard:
    """Against plain decoding and real images."""
    moments = (reference.mean, reference.covariance)
    rests = kernel.mean_within(plain), kernel.mean_within(real)
    return Yard(plain, real, *rests, statistics(plain.features), moments)


def measured(images: Judged, labels: np.ndarray, weights: Weights, yard: Yard) -> dict[str, Figure]:
    """Every measure of a setting's images of classes labels [n]."""
    own = sample_of(images.features, labels)
    again, parts = (resampled_statistics(own.features, torch.from_numpy(some)) for some in weights)
    moments, pull = statistics(own.features), kernel.own_means(own)
    against = {"kernel_plain": (yard.plain, yard.plain_rest), "kernel_real": (yard.real, yard.real_rest)}
    sides = {
        name: kernel.Side(pull, kernel.row_means(own.features, other), own.shares, rest)
        for name, (other, rest) in against.items()
    }
    return {
        **{name: kernel_figure(side, weights) for name, side in sides.items()},
        "frechet_plain": frechet_figure(moments, again, parts, yard.plain_moments),
        "frechet_real": frechet_figure(moments, again, parts, yard.real_moments),
        **{name: mean_of(getattr(images, name), weights) for name in ("error", "doubt", "independent", "surprise")},
    }


def mean_of(values: np.ndarray, weights: Weights) -> Figure:
    """Mean of one number an image; inf of every resample that holds an image of infinity."""
    finite = np.isfinite(values)
    again, parts = (
        np.where((some[:, ~finite] > 0).any(1), np.inf, some @ np.where(finite, values, 0) / some.sum(1))
        for some in weights
    )
    return Figure(float(values.mean()), again, parts)


def kernel_figure(side: kernel.Side, weights: Weights) -> Figure:
    """Kernel distance, of resamples and parts to first order."""
    value, pull = kernel.distance(side), kernel.influence(side).numpy()
    return Figure(value, *(value + some @ pull / some.sum(1) for some in weights))


def frechet_figure(own: Moments, again: Moments, parts: Moments, other: Moments) -> Figure:
    """Frechet distance less its bias, which the resamples estimate: their mean less the value.  Of parts with bias."""
    value, resampled = frechet_distance(other, own), frechet_distances(other, again).numpy()
    bias = float(resampled.mean()) - value
    return Figure(value - bias, resampled - 2 * bias, frechet_distances(other, parts).numpy())


def diversity(tokens: np.ndarray) -> dict[str, float]:
    """Entropy of the token at a position, averaged over positions (nats; of n images, biased downwards), and the share
    of images that another one of the set equals."""
    entropies = []
    for column in tokens.T:
        share = np.bincount(column) / len(tokens)
        entropies.append(-(share[share > 0] * np.log(share[share > 0])).sum())
    _, counts = np.unique(tokens, axis=0, return_counts=True)
    return {"token_entropy": float(np.mean(entropies)), "duplicates": float(counts[counts > 1].sum() / len(tokens))}
