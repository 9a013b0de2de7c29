"""The exact limit of one drafted token, at any vocabulary: what the best verifier pays for keeping more of a draft.

One slot in a context: whatever a verifier does, the law `out` of the token decides its divergence, and it keeps at most
sum_v min(q, out) of the draft.  For D(out) = sum_v p f(out/p), f convex, the least divergence at a given share kept has

    out = max(low p, min(q, high p)),  low <= 1 <= high

and is reached by keeping min(q, high p).  Over many contexts the prices f'(high) - f'(low) of all of them are equal:
one more kept draft costs the same wherever it is bought.  Proof: docs/theory.md, "The limit of one slot".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from specsim.errors import SpecsimError

LEAST_LEVEL = 1e-280
"""Levels below are 0: of KL(p, out) a high level is dear in a low one that is nearly 0."""
HALVINGS = 64
"""Bisections of a level, and of a price, in their logarithms: they are known to the last bit but a few."""
LEAST_PRICE, MOST_PRICE = 1e-12, 1e250
STEEP = 500
"""Largest exponent: exp of it keeps all there is, and float64 stays far from overflow."""


Levels = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Shape:
    """f of D(out) = sum p f(out/p), f(x) >= 0 = f(1), and the levels at a price, f'(high) = f'(low) + price.

    levels(t, price) -> (low, high), both rising with t from `least` to `greatest`: t is the one of them from which the
    other follows without loss of digits.
    """

    f: Callable[[np.ndarray], np.ndarray]
    levels: Callable[[np.ndarray, float], Levels]
    least: float = LEAST_LEVEL
    greatest: float = 1.0


def x_log_x(x: np.ndarray) -> np.ndarray:
    """x log x - x + 1, whose sum with weights p is KL(out || p)."""
    return x * np.log(np.where(x > 0, x, 1)) - x + 1


def minus_log(x: np.ndarray) -> np.ndarray:
    """x - 1 - log x, whose sum with weights p is KL(p || out)."""
    with np.errstate(divide="ignore"):
        return x - 1 - np.log(x)


SHAPES: dict[str, Shape] = {
    "kl": Shape(x_log_x, lambda low, price: (low, low * np.exp(min(price, STEEP)))),
    "kl_reverse": Shape(minus_log, lambda high, price: (1 / (1 / high + price), high), 1.0, 1 / LEAST_LEVEL),
    "chi2": Shape(lambda x: (x - 1) ** 2, lambda low, price: (low, low + price / 2)),
}
"""TV is not here: any law between p and q has the same price, 1, so its limit is a line (see `tv_limit`)."""


class OneSlot(NamedTuple):
    """accepted: mean share of the draft that is kept; value: mean divergence of the token's law; price: of more."""

    accepted: float
    value: float
    price: float


def tv_limit(draft: np.ndarray, target: np.ndarray, accepted: float) -> float:
    """Least mean TV(out, p) at a mean share kept: accepted - mean sum_v min(p, q), never below 0.  Laws [M, V]."""
    reach(draft, target, accepted)
    return max(0.0, accepted - kept_by_strict(draft, target))


def kept_by_strict(draft: np.ndarray, target: np.ndarray) -> float:
    """mean sum_v min(p, q): what is kept without bias."""
    return float(np.minimum(draft, target).sum(axis=-1).mean())


def reach(draft: np.ndarray, target: np.ndarray, accepted: float) -> float:
    """The most that can be kept where nothing is put off the target's support; SpecsimError for more."""
    most = float(np.where(target > 0, draft, 0).sum(axis=-1).mean())
    if not 0 <= accepted <= most:
        raise SpecsimError(
            f"one slot: no verifier keeps {accepted:g} of a draft on the target's support; 0 to {most:g}"
        )
    return most


def at_price(shape: Shape, draft: np.ndarray, target: np.ndarray, price: float) -> OneSlot:
    """The best verifier for which one more kept draft costs `price`, in every context.  Laws [M, V]."""
    out = best_laws(shape, draft, target, price)
    share = out / np.where(target > 0, target, 1)
    value = np.where(target > 0, target * shape.f(np.where(target > 0, share, 1)), 0).sum(axis=-1).mean()
    return OneSlot(float(np.minimum(draft, out).sum(axis=-1).mean()), float(value), price)


def best_laws(shape: Shape, draft: np.ndarray, target: np.ndarray, price: float) -> np.ndarray:
    """max(low p, min(q, high p)) [M, V] with the levels that make each a law."""
    low, high = (np.full((len(draft), 1), end) for end in (shape.least, shape.greatest))
    for _ in range(HALVINGS):
        middle = np.sqrt(low) * np.sqrt(high)
        full = clipped(draft, target, shape.levels(middle, price)).sum(axis=-1, keepdims=True) >= 1
        low, high = np.where(full, low, middle), np.where(full, middle, high)
    return clipped(draft, target, shape.levels(high, price))


def clipped(draft: np.ndarray, target: np.ndarray, levels: Levels) -> np.ndarray:
    """max(low p, min(q, high p))"""
    low, high = levels
    return np.maximum(low * target, np.minimum(draft, high * target))


def limit(name: str, draft: np.ndarray, target: np.ndarray, accepted: float) -> float:
    """Least mean divergence `name` of one verified token at a mean share kept; laws [M, V] of M contexts, float64.

    Where all that can be kept is asked for and KL(p, out) is infinite, a large number is given: the least share that is
    put elsewhere is a rounding.
    """
    if name == "tv":
        return tv_limit(draft, target, accepted)
    reach(draft, target, accepted)
    if accepted <= kept_by_strict(draft, target):
        return 0.0
    low, high = np.log(LEAST_PRICE), np.log(MOST_PRICE)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = at_price(SHAPES[name], draft, target, float(np.exp(middle))).accepted >= accepted
        low, high = (low, middle) if enough else (middle, high)
    return at_price(SHAPES[name], draft, target, float(np.exp(high))).value
