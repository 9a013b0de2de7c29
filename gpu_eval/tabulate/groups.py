"""A partition of a codebook into groups of near codes of about equal use."""

from __future__ import annotations

import numpy as np


def partition(codebook: np.ndarray, use: np.ndarray, count: int) -> list[np.ndarray]:
    """codebook [K, d], use [K] > 0 -> `count` arrays of code ids, each in increasing order, none empty.

    A set that must become k groups is ordered along its own principal axis, weighted by use, and cut where its first
    part holds a share of the use as near as can be to floor(k/2)/k; both parts are treated alike.  No randomness.
    Weighted k-means makes groups a little nearer, and some of them many times smaller than others.
    """
    return [np.sort(ids) for ids in _split(np.arange(len(codebook)), codebook, use, count)]


def centroids(codebook: np.ndarray, use: np.ndarray, groups: list[np.ndarray]) -> np.ndarray:
    """The mean vector of each group, weighted by use, [count, d]."""
    return np.stack([np.average(codebook[ids], axis=0, weights=use[ids]) for ids in groups])


def _split(ids: np.ndarray, codebook: np.ndarray, use: np.ndarray, count: int) -> list[np.ndarray]:
    if count == 1:
        return [ids]
    ids = ids[np.argsort(_along_axis(codebook[ids], use[ids]), kind="stable")]
    first = count // 2
    low, high = first, len(ids) - (count - first)  # either side keeps a code for each of its groups
    share = np.cumsum(use[ids]) / use[ids].sum()
    cut = low + int(np.argmin(abs(share[low - 1 : high] - first / count)))
    return _split(ids[:cut], codebook, use, first) + _split(ids[cut:], codebook, use, count - first)


def _along_axis(vectors: np.ndarray, use: np.ndarray) -> np.ndarray:
    """Coordinates [n] along the principal axis, whose largest entry is made positive: an axis has no sign."""
    centred = vectors - np.average(vectors, axis=0, weights=use)
    axis = np.linalg.eigh((centred * use[:, None]).T @ centred)[1][:, -1]
    return centred @ (axis * np.sign(axis[np.argmax(abs(axis))]))
