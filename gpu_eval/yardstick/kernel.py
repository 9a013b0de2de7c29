"""Kernel distance (KID): the squared maximum mean discrepancy with the kernel (x.y / D + 1)^3, estimated without bias.

Its value does not depend on the number of images on average, as a Frechet distance's does, and it varies less.
Tests hold it to torchmetrics.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

ROWS = 1000
"""Rows of a kernel matrix held at a time: 160 MB against 20,000 others, in float64."""
DEGREE = 3


class Sample(NamedTuple):
    """features [n, D], classes [n]: every class counts alike, and its images were chosen for it, not drawn."""

    features: Tensor
    classes: Tensor

    @property
    def shares(self) -> Tensor:
        """Weight of each image [n]: 1 / (classes * images of its class)."""
        _, which, counts = self.classes.unique(return_inverse=True, return_counts=True)
        return 1 / (len(counts) * counts[which].double())


class Side(NamedTuple):
    """Mean kernel of each of n images with the others of its set, own [n], and with the other set, other [n]; weights
    [n] of the images; rest: the mean kernel of the other set with itself."""

    own: Tensor
    other: Tensor
    weights: Tensor
    rest: float


def kernel(one: Tensor, other: Tensor) -> Tensor:
    """features [n, D], [m, D] -> [n, m]."""
    return (one @ other.T / one.shape[-1] + 1) ** DEGREE


def row_means(features: Tensor, pool: Sample) -> Tensor:
    """Mean kernel of each image with another set, [n]."""
    return torch.cat([kernel(rows, pool.features) @ pool.shares for rows in features.split(ROWS)])


def own_means(some: Sample) -> Tensor:
    """Mean kernel of each image with the others of its set, [n].

    An image is left out of its own class, whose others stand for it: left out of the whole set, pairs of one class
    would be rarer within a set than between two, and sets of one law would have a distance below 0.
    """
    means, parts = row_means(some.features, some), some.features.square().sum(1) / some.features.shape[1]
    for label in some.classes.unique():
        rows = (some.classes == label).nonzero()[:, 0]
        inside, diagonal = some.features[rows], (parts[rows] + 1) ** DEGREE
        share, count = some.shares[rows], len(rows)
        within = kernel(inside, inside).sum(1)
        means[rows] += share * ((within - diagonal) * count / (count - 1) - within)
    return means


def side(some: Sample, pool: Sample, rest: float) -> Side:
    """Everything the distance of a set to the pool needs; rest = mean_within(pool)."""
    return Side(own_means(some), row_means(some.features, pool), some.shares, rest)


def mean_within(some: Sample) -> float:
    """Mean kernel of two different images of a set."""
    return float(own_means(some) @ some.shares)


def distance(found: Side) -> float:
    """mean k(x, x') + mean k(y, y') - 2 mean k(x, y) over different x, x' of one set, y, y' of the other."""
    return float((found.own - 2 * found.other) @ found.weights) + found.rest


def influence(found: Side) -> Tensor:
    """How far the distance moves with each image's weight, [n], mean 0: 2 (k(x, own) - k(x, other)), centred.

    To first order the distance of a resample is the distance + mean of the influence over it.  A resample itself would
    be biased: an image that is in it twice is near itself.
    """
    pull = 2 * (found.own - found.other)
    return pull - pull @ found.weights
