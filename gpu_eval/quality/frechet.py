"""The Frechet distance of two sets of features, and of many resamples of them at once.

The square root's trace comes from symmetric eigenvalues, which never leave the real numbers and run in batches;
`torchmetrics.image.fid` takes the eigenvalues of a product that is not symmetric, one pair at a time. Tests hold this
one to torchmetrics and to scipy's matrix square root.
"""

from __future__ import annotations

import torch
from torch import Tensor

Moments = tuple[Tensor, Tensor]
"""Mean [..., D] and covariance [..., D, D]."""


def statistics(features: Tensor) -> Moments:
    """Mean [D] and unbiased covariance [D, D] of features [n, D], in float64."""
    features = features.double()
    return features.mean(0), features.T.cov()


def resampled_statistics(features: Tensor, counts: Tensor) -> Moments:
    """Mean [R, D] and covariance [R, D, D] of R resamples; counts [R, n]: how often each row of features is in it."""
    features, counts = features.double(), counts.double()
    size = counts.sum(-1)
    mean = counts @ features / size[:, None]
    spread = torch.stack([((features - m) * c[:, None]).T @ (features - m) for m, c in zip(mean, counts, strict=True)])
    return mean, spread / (size - 1)[:, None, None]


def frechet_distances(one: Moments, other: Moments) -> Tensor:
    """|m1 - m2|^2 + tr(C1 + C2 - 2 (C1 C2)^(1/2)) of (mean, covariance) pairs, as in FID (Heusel et al. 2017) -> [...].

    The square root's trace is that of the symmetric C1^(1/2) C2 C1^(1/2); rounding below 0 is cut.
    """
    (mean, spread), (other_mean, other_spread) = ((m.double(), c.double()) for m, c in (one, other))
    values, vectors = torch.linalg.eigh(spread)
    root = (vectors * values.clamp_min(0).sqrt()[..., None, :]) @ vectors.mT
    cross = torch.linalg.eigvalsh(root @ other_spread @ root).clamp_min(0).sqrt().sum(-1)
    return (mean - other_mean).square().sum(-1) + trace(spread) + trace(other_spread) - 2 * cross


def trace(matrices: Tensor) -> Tensor:
    """[..., D, D] -> [...]."""
    return matrices.diagonal(dim1=-2, dim2=-1).sum(-1)


def frechet_distance(one: Moments, other: Moments) -> float:
    """`frechet_distances` of a single pair."""
    return float(frechet_distances(one, other))
