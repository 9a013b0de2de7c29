"""How far the law of the next token is from the target's, position by position."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specsim.arrays import Array, divide, is_exact, namespace, number


def kl(law: Array, other: Array) -> Array:
    """KL(law || other) in nats over the last axis [..., V] -> [...]; inf where law has what other lacks.

    Summed as other phi(law / other), phi(r) = r log r - r + 1 >= 0: where the laws nearly agree every term is small,
    and laws of floats that do not sum to exactly 1 give no difference of first order.  Fractions go through float64.
    """
    law, other = floats(law), floats(other)
    xp = namespace(law)
    gap = divide(law - other, other, 0.0)
    positive = gap > -1
    terms = xp.where(positive, (1 + gap) * xp.log1p(xp.where(positive, gap, 0 * gap)) - gap, 1 + 0 * gap)
    return xp.sum(xp.where(other > 0, other * terms, beyond(law)), axis=-1)


def chi_square(law: Array, other: Array) -> Array:
    """sum (law - other)^2 / other over the last axis; inf where law has what other lacks."""
    xp, gap = namespace(law), law - other
    return xp.sum(xp.where(other > 0, divide(gap * gap, other, number(0, law)), beyond(law)), axis=-1)


def log_largest(law: Array, other: Array) -> Array:
    """max log(law / other) over the last axis; inf where law has what other lacks."""
    law, other = floats(law), floats(other)
    xp = namespace(law)
    largest = xp.max(xp.where(other > 0, divide(law, other, 0.0), beyond(law)), axis=-1)
    return xp.log(xp.where(largest > 0, largest, xp.ones_like(largest)))


def beyond(law: Array) -> Array:
    """inf where the law has mass, 0 elsewhere, [..., V]."""
    xp = namespace(law)
    nothing = 0 * law
    return xp.where(law > 0, nothing + math.inf if is_exact(law) else xp.full_like(law, math.inf), nothing)


def floats(array: Any) -> Array:
    """Fractions as float64, floats as they are."""
    return array.astype(np.float64) if is_exact(array) else array
