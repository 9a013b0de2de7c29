"""Merging equal rows: the states of an enumeration that coincide are one state with the sum of their weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specsim.arrays import Array, is_exact

MIXERS = np.random.default_rng(7).integers(1, 2**63, size=3, dtype=np.uint64) | np.uint64(1)
"""Fixed odd multipliers of the row key; the key only brings equal rows together, equality itself is checked."""


def value_codes(array: Array) -> np.ndarray:
    """An object array as integers, equal exactly where the values are equal."""
    flat = array.reshape(-1)
    identities = np.array([id(value) for value in flat.tolist()], dtype=np.int64)
    _, first, inverse = np.unique(identities, return_index=True, return_inverse=True)
    known: dict[Any, int] = {}
    codes = np.array([known.setdefault(flat[i], len(known)) for i in first], dtype=np.int64)
    return codes[inverse].reshape(array.shape)


def as_words(array: Array) -> np.ndarray:
    """[R, ...] -> [R, words] of 64-bit integers, equal exactly where the rows are equal (0.0 and -0.0 are one)."""
    values = value_codes(array) if is_exact(array) else array
    if values.dtype.kind == "f":
        values = np.ascontiguousarray(values + 0.0, dtype=np.float64).view(np.int64)
    return values.reshape(len(values), math.prod(values.shape[1:])).astype(np.int64)


def row_keys(words: np.ndarray) -> np.ndarray:
    """A 64-bit key for each row of [R, words]."""
    key = np.zeros(len(words), dtype=np.uint64)
    for column in np.ascontiguousarray(words.T).view(np.uint64):
        key = (key ^ ((column + MIXERS[0]) * MIXERS[1])) * MIXERS[2]
        key ^= key >> np.uint64(31)
    return key


def merge(arrays: tuple[Array, ...], weight: Array) -> tuple[tuple[Array, ...], Array]:
    """Rows that agree in every array [R, ...] become one -> arrays of the distinct rows, and their summed weights.

    Two rows are merged only when they are equal; a clash of keys can at worst leave two equal rows apart.
    """
    words = np.concatenate([as_words(array) for array in arrays], axis=1)
    order = np.argsort(row_keys(words), kind="stable")
    ordered = words[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    firsts = np.flatnonzero(starts)
    kept = order[firsts]
    return tuple(array[kept] for array in arrays), np.add.reduceat(weight[order], firsts)
