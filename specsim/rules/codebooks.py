"""Rules that look at a model's codebook: how one is bound to a rule, and each code's nearest others.

A rule that needs a codebook has `codes`, 0 while it waits for one and then the number of codes it is bound to, and
`bind(codebook [V, d]) -> rule`.  A rule without `codes`, or with None, needs none.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Protocol

import numpy as np
from array_api_compat import device

from specsim.arrays import Array, namespace, to_numpy
from specsim.errors import SpecsimError, asked, require, shown

LARGEST_CODE = 1e100
"""Largest number in a code: squared distances stay far from overflow."""


class NeedsCodebook(Protocol):
    """A rule that is bound to a codebook before it is asked anything."""

    @property
    def codes(self) -> int | None:
        """Number of codes it is bound to, 0 while unbound; None: it needs no codebook."""

    def bind(self, codebook: Any) -> Any:
        """The rule bound to a codebook, [V, d] array-like of floats."""


class Fixed:
    """An array that a rule carries and nobody changes: equal by content, put on each device once."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = np.ascontiguousarray(values)
        self.content = (self.values.dtype.str, self.values.shape, sha256(self.values.tobytes()).digest())
        self.copies: dict[Any, Array] = {}

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)

    def beside(self, like: Array) -> Array:
        """The array in the namespace and on the device of `like`."""
        xp, where = namespace(like), device(like)
        if (xp, where) not in self.copies:
            self.copies[xp, where] = xp.asarray(self.values, device=where)
        return self.copies[xp, where]


def codes_of(rule: Any) -> int | None:
    """The codes a rule is bound to, 0 if it waits for a codebook, None if it needs none."""
    return getattr(rule, "codes", None)


def bind_codebook(rule: Any, codebook: Any) -> Any:
    """The rule bound to `codebook` [V, d]; a rule that needs none, or has one already, is returned as it is."""
    if codes_of(rule) != 0:
        return rule
    if codebook is None:
        raise SpecsimError(f"{rule!r} needs a codebook for its neighbours, and this model has none")
    if not hasattr(rule, "bind"):
        raise SpecsimError(f"{rule!r} has codes = 0, so it waits for a codebook; give it bind(codebook), or no codes")
    return asked(f"{rule!r}.bind", rule.bind, codebook)


def require_unbound(owner: str, field: str, value: Any) -> None:
    """What a rule takes from a codebook is filled in by `bind` alone."""
    free = value is None or isinstance(value, Fixed)
    require(free, owner, field, value, "left out: specsim.bind_codebook(rule, codebook) fills it in")


def held(rule: Any, name: str, vocab: int) -> Fixed:
    """What a rule took from its codebook, if it is bound and has a row for every token of the laws."""
    found: Fixed | None = getattr(rule, name)
    if found is None:
        raise SpecsimError(f"{rule!r} has no {name} yet: bind a codebook (specsim.bind_codebook) before using it")
    if len(found) != vocab:
        raise SpecsimError(f"the codebook has {len(found)} codes, the laws have {vocab} tokens")
    return found


def vectors(codebook: Any) -> np.ndarray:
    """A copy of the codebook as finite float64 vectors [V, d]; arrays of any namespace and device, or lists."""
    try:
        found = to_numpy(codebook)
        if found.dtype.kind not in "fiuO":
            raise TypeError(f"it holds {found.dtype}")
        with np.errstate(all="ignore"):
            codes = np.array(found, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:160]
        raise SpecsimError(f"codebook {shown(codebook)} is no [V, d] array of numbers: {reason}") from error
    if codes.ndim != 2 or not codes.size or not (abs(codes) <= LARGEST_CODE).all():
        raise SpecsimError(
            f"codebook: shape {codes.shape} or its values are not V finite vectors; give a [V, d] array of numbers of "
            f"at most {LARGEST_CODE:g}"
        )
    return codes


def nearest(codebook: Any, count: int) -> np.ndarray:
    """For every code its `count` nearest others, nearest first (L2, the code itself left out, ties by lower id).

    codebook: [V, d] array-like of floats -> ids [V, min(count, V - 1)].
    """
    codes = vectors(codebook)
    codes = np.ldexp(codes, -np.frexp(abs(codes).max())[1])  # a power of 2 rounds nothing, and no square underflows
    return np.stack([nearest_to(code, codes, count) for code in range(len(codes))])


def nearest_to(code: int, codes: np.ndarray, count: int) -> np.ndarray:
    """One code's nearest others.  Differences are squared: |a|^2 + |b|^2 - 2ab would break ties by rounding."""
    distance = ((codes - codes[code]) ** 2).sum(-1)
    distance[code] = np.inf
    return np.argsort(distance, kind="stable")[: min(count, len(codes) - 1)]
