"""Array helpers shared by every rule and decoder, for any array-API namespace and for arrays of Fractions.

Exact arrays are numpy object arrays whose every entry is a ``Fraction``.  Python integers are exact in them, but
``0 / 1`` of two integers is a float, so constants that may end up inside an exact array come from :func:`number`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

Array = Any
LEAST = 1e-37
"""About the smallest number that float32 holds with all its digits."""
SHARED = 4096
"""Index arrays up to this length are made once and shared."""


_NAMESPACES: dict[type, Any] = {}


def namespace(array: Array) -> Any:
    """The array-API namespace of an array, looked up once per array type: the question is asked at every operation."""
    found = _NAMESPACES.get(type(array))
    if found is None:
        found = _NAMESPACES[type(array)] = array_namespace(array)
    return found


def is_exact(array: Array) -> bool:
    """True for an object array, the carrier of Fractions."""
    return array.dtype == object


def number(value: Any, like: Array) -> Any:
    """`value` as a scalar fit for `like`: a Fraction (decimals read as written, 1.1 is 11/10) or the number itself."""
    if not is_exact(like):
        return float(value) if isinstance(value, Fraction) else value
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


def to_numpy(array: Array) -> np.ndarray:
    """A copy on the CPU, whatever the namespace."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        array = array.float() if "bfloat16" in str(array.dtype) else array  # numpy has no bfloat16
    return np.asarray(array)


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
    return namespace(index).astype(index, like.dtype)


def arange(count: int, like: Array) -> Array:
    """0..count-1 on the device of `like`.  Short ones are shared: no array is ever written in place."""
    if count > SHARED:
        return namespace(like).arange(count, device=device(like))
    return shared_arange(count, 1, namespace(like), device(like))


@lru_cache(maxsize=512)
def shared_arange(count: int, step: int, xp: Any, where: Any) -> Array:
    """0, step, .., made once per namespace and device."""
    return xp.arange(count, device=where) * step


def row_starts(count: int, width: int, like: Array) -> Array:
    """0, width, 2 width, .. [count]: where the rows of a flattened table begin."""
    if count > SHARED:
        return arange(count, like) * width
    return shared_arange(count, width, namespace(like), device(like))


def at(table: Array, index: Array) -> Array:
    """table [..., V], index [...] -> table[..., index], shape [...]."""
    xp, width = namespace(table), table.shape[-1]
    flat = xp.reshape(index, (-1,))
    return xp.reshape(xp.take(xp.reshape(table, (-1,)), flat + row_starts(flat.shape[0], width, index)), index.shape)


def slot(table: Array, index: Array) -> Array:
    """table [B, S] or [B, S, V], index [B, J] -> the named slots, [B, J] or [B, J, V].

    Slots are taken as whole rows of the flattened table: copying rows is far faster than gathering single numbers.
    """
    xp = namespace(table)
    rows, width = table.shape[0], table.shape[1]
    flat = xp.reshape(table, (rows * width, *table.shape[2:]))
    where = xp.reshape(index + row_starts(rows, width, index)[:, None], (-1,))
    return xp.reshape(xp.take(flat, where, axis=0), (*index.shape, *table.shape[2:]))


def hits(index: Array, vocab: int) -> Array:
    """index [...] -> bool [..., V], True at the index."""
    return index[..., None] == arange(vocab, index)


def point(index: Array, like: Array) -> Array:
    """The point mass on `index` [...] -> [..., V], in the number type of `like` [..., V]."""
    xp = namespace(index)
    one = xp.ones_like(like[..., :1]) if not is_exact(like) else number(1, like)
    return xp.where(hits(index, like.shape[-1]), one, number(0, like))


def column(values: Any, like: Array) -> Array:
    """values [...] -> [..., 1], to stand beside laws; numpy makes scalars of Fractions without dimensions."""
    return (np.asarray(values) if is_exact(like) else values)[..., None]


def indicator(condition: Array, like: Array) -> Array:
    """bool [...] -> 1 or 0 in the number type of `like`."""
    xp = namespace(condition)
    if is_exact(like):
        return np.where(condition, np.array(Fraction(1)), np.array(Fraction(0)))
    return xp.astype(condition, like.dtype)


def support(mass: Array) -> Array:
    """1 where mass > 0 and 0 where it is 0, mass >= 0, in its number type: on a CPU a fifth of the time to compare."""
    xp = namespace(mass)
    return xp.ceil(xp.minimum(mass, constant(1, mass)))


def positive_part(array: Array) -> Array:
    """[x]+ = max(0, x), entry by entry."""
    return namespace(array).maximum(array, nothing(array))


def nothing(like: Array) -> Any:
    """0 to stand beside `like`."""
    return constant(0, like)


def constant(value: Any, like: Array) -> Any:
    """`value` to stand beside `like`; a shared array where that spares making one of the number at every operation."""
    if is_exact(like) or like.ndim == 0:
        return number(value, like)
    return shared_constant(float(value), like.dtype, namespace(like), like.device)


@lru_cache(maxsize=512)
def shared_constant(value: float, dtype: Any, xp: Any, where: Any) -> Array:
    """[value], made once per number, number type, namespace and device."""
    return xp.full((1,), value, dtype=dtype, device=where)


def ratio(numerator: Array, denominator: Array) -> Array:
    """numerator / denominator, and the numerator itself where the denominator is 0."""
    xp = namespace(denominator)
    return numerator / xp.where(denominator > 0, denominator, number(1, denominator))


def portion(part: Array, whole: Array) -> Array:
    """part / whole, both >= 0, and 0 where both are 0; in floats a whole below LEAST is taken for LEAST."""
    if is_exact(whole):
        return ratio(part, whole)
    return part / namespace(whole).maximum(whole, constant(LEAST, whole))


def divide(numerator: Array, denominator: Array, otherwise: Any) -> Array:
    """numerator / denominator where the denominator is positive, else `otherwise`; never divides by 0."""
    xp = namespace(numerator)
    usable = denominator > 0
    return xp.where(usable, numerator / xp.where(usable, denominator, number(1, denominator)), otherwise)


def normalise(weights: Array, fallback: Array) -> Array:
    """norm(w) = w / sum w over the last axis; `fallback` where the sum is 0 (an empty residual).

    In arithmetic: to choose between whole laws takes ten times as long as to add them.
    """
    total = namespace(weights).sum(weights, axis=-1, keepdims=True)
    empty = indicator(total <= 0, total)
    return (weights + empty * fallback) / (total + empty)


def total_variation(first: Array, second: Array) -> Array:
    """TV(a, b) = 1/2 sum |a - b| over the last axis."""
    xp = namespace(first)
    return xp.sum(xp.abs(first - second), axis=-1) / number(2, first)


def entropy(law: Array) -> Array:
    """H(p) = -sum p log p in nats, 0 log 0 = 0; exact laws give the float64 value as a Fraction."""

    def nats(values: Array) -> Array:
        xp = namespace(values)
        logs = xp.log(xp.where(values > 0, values, xp.ones_like(values)))
        return -xp.sum(values * logs, axis=-1)

    return from_floats(nats, law)


def place(tokens: Array, start: Array, values: Array) -> Array:
    """Write values [B, K] into tokens [B, N] at start [B] .. start + K - 1; what falls beyond N is dropped."""
    if values.shape[1] == 0:
        return tokens
    xp = namespace(tokens)
    offset = arange(tokens.shape[1], tokens)[None, :] - start[:, None]
    inside = (offset >= 0) & (offset < values.shape[1])
    return xp.where(inside, slot(values, xp.clip(offset, 0, values.shape[1] - 1)), tokens)
