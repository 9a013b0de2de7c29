"""Array helpers shared by every rule and decoder, for any array-API namespace and for arrays of Fractions.

Exact arrays are numpy object arrays whose every entry is a ``Fraction``.  Python integers are exact in them, but
``0 / 1`` of two integers is a float, so constants that may end up inside an exact array come from :func:`number`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

Array = Any


def is_exact(array: Array) -> bool:
    """True for an object array, the carrier of Fractions."""
    return array.dtype == object


def number(value: Any, like: Array) -> Any:
    """`value` as a scalar fit for `like`: a Fraction (decimals read as written, 1.1 is 11/10) or the number itself."""
    if not is_exact(like):
        return float(value) if isinstance(value, Fraction) else value
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


def from_floats(function: Any, array: Array) -> Array:
    """`function` of float arrays, applied to `array`; an exact array goes through float64 once, there and back."""
    if not is_exact(array):
        return function(array)
    values = np.asarray(function(array.astype(np.float64)), dtype=np.float64)
    return np.frompyfunc(Fraction, 1, 1)(values) if values.ndim else Fraction(float(values))


def as_numbers(index: Array, like: Array) -> Array:
    """Integers [...] in the number type of `like`."""
    if is_exact(like):
        return np.frompyfunc(Fraction, 1, 1)(index)
    return array_namespace(index, like).astype(index, like.dtype)


def arange(count: int, like: Array) -> Array:
    """0..count-1 on the device of `like`."""
    return array_namespace(like).arange(count, device=device(like))


def at(table: Array, index: Array) -> Array:
    """table [..., V], index [...] -> table[..., index], shape [...]."""
    xp = array_namespace(table, index)
    return xp.take_along_axis(table, index[..., None], axis=-1)[..., 0]


def slot(table: Array, index: Array) -> Array:
    """table [B, S] or [B, S, V], index [B, J] -> the named slots, [B, J] or [B, J, V]."""
    xp = array_namespace(table, index)
    if table.ndim == 3:
        index = xp.broadcast_to(index[..., None], (*index.shape, table.shape[-1]))
    return xp.take_along_axis(table, index, axis=1)


def hits(index: Array, vocab: int) -> Array:
    """index [...] -> bool [..., V], True at the index."""
    return index[..., None] == arange(vocab, index)


def point(index: Array, like: Array) -> Array:
    """The point mass on `index` [...] -> [..., V], in the number type of `like` [..., V]."""
    xp = array_namespace(index, like)
    one = xp.ones_like(like[..., :1]) if not is_exact(like) else number(1, like)
    return xp.where(hits(index, like.shape[-1]), one, number(0, like))


def indicator(condition: Array, like: Array) -> Array:
    """bool [...] -> 1 or 0 in the number type of `like`."""
    xp = array_namespace(condition, like)
    if is_exact(like):
        return np.where(condition, np.array(Fraction(1)), np.array(Fraction(0)))
    return xp.astype(condition, like.dtype)


def positive_part(array: Array) -> Array:
    """[x]+ = max(0, x), entry by entry."""
    return array_namespace(array).maximum(array, number(0, array))


def divide(numerator: Array, denominator: Array, otherwise: Any) -> Array:
    """numerator / denominator where the denominator is positive, else `otherwise`; never divides by 0."""
    xp = array_namespace(numerator, denominator)
    usable = denominator > 0
    return xp.where(usable, numerator / xp.where(usable, denominator, number(1, denominator)), otherwise)


def normalise(weights: Array, fallback: Array) -> Array:
    """norm(w) = w / sum w over the last axis; `fallback` where the sum is 0 (an empty residual)."""
    xp = array_namespace(weights)
    return divide(weights, xp.sum(weights, axis=-1, keepdims=True), fallback)


def total_variation(first: Array, second: Array) -> Array:
    """TV(a, b) = 1/2 sum |a - b| over the last axis."""
    xp = array_namespace(first, second)
    return xp.sum(xp.abs(first - second), axis=-1) / number(2, first)


def entropy(law: Array) -> Array:
    """H(p) = -sum p log p in nats, 0 log 0 = 0; exact laws give the float64 value as a Fraction."""

    def nats(values: Array) -> Array:
        xp = array_namespace(values)
        logs = xp.log(xp.where(values > 0, values, xp.ones_like(values)))
        return -xp.sum(values * logs, axis=-1)

    return from_floats(nats, law)


def place(tokens: Array, start: Array, values: Array) -> Array:
    """Write values [B, K] into tokens [B, N] at start [B] .. start + K - 1; what falls beyond N is dropped."""
    xp = array_namespace(tokens)
    offset = arange(tokens.shape[1], tokens)[None, :] - start[:, None]
    inside = (offset >= 0) & (offset < values.shape[1])
    return xp.where(inside, slot(values, xp.clip(offset, 0, values.shape[1] - 1)), tokens)
