"""The sampling interpreter: `choose` draws, row by row, from streams that only the seed and the row decide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from array_api_compat import device

from specsim.arrays import Array, at, namespace, slot

DRAWS_AHEAD = 64
"""Uniforms are made this many draws at a time, so that a step costs no random-number call of its own."""
LEAST = 1e-36
"""Probabilities below it race as if they were it: E / p stays a number in float32, E being below 50."""
SHARED_NOISE, UNIFORMS = 0, 1
"""Streams of a row: the race noise never meets the uniforms that accept and replace tokens."""


def pick(law: Array, uniform: Array) -> Array:
    """Inverse transform: weights law [..., V], uniform [...] in [0, 1) -> index [...].

    Index i owns [F(i-1), F(i)) of the cumulative weights F, scaled to their total; an index of weight 0 owns nothing.
    Where a parallel cumulative sum rounds unevenly an index of weight 0 could be hit: the likeliest takes its place.
    """
    xp = namespace(law)
    cumulative = xp.cumulative_sum(law, axis=-1)
    passed = xp.count_nonzero(cumulative <= uniform[..., None] * cumulative[..., -1:], axis=-1)
    index = xp.clip(passed, 0, law.shape[-1] - 1)
    return xp.where(at(law, index) > 0, index, xp.argmax(law, axis=-1))


def winner(noise: Array, law: Array) -> Array:
    """Winner of the exponential race, argmin_v E_v / p(v): noise, law [..., V] -> index [...].

    The same as argmax_v log p(v) + Gumbel_v.  A token of probability 0 never wins, whatever its noise.
    """
    xp = namespace(noise)
    return xp.argmin(xp.where(law > 0, noise / xp.clip(law, LEAST, None), float("inf")), axis=-1)


def below_one(uniform: np.ndarray, dtype: str) -> np.ndarray:
    """Float64 uniforms in [0, 1) cut to the precision of `dtype`; cutting, not rounding, keeps them below 1."""
    if dtype == "float64":
        return uniform
    return (np.floor(uniform * 2.0**24) / 2.0**24).astype(np.float32)


class Sampling:
    """`choose` for sampling.

    rows: the identity of each row; a row's draws depend on (seed, row) alone, never on the batch it is in.
    length: positions that have race noise, Exp(1) numbers of (seed, row, absolute position).
    like: a law [V] whose namespace, device and dtype (float32 or float64) the draws take.
    """

    def __init__(self, seed: int, rows: Sequence[int], length: int, like: Array) -> None:
        self.seed, self.rows, self.length, self.like = seed, list(rows), length, like
        self.dtype = str(like.dtype).rsplit(".", 1)[-1]
        self.streams = [self.stream(UNIFORMS, row) for row in self.rows]
        self.ahead: dict[tuple[int, ...], list[Array]] = {}
        self.shared: Array | None = None

    def stream(self, kind: int, row: int) -> np.random.Generator:
        """An independent counter-based generator for one row."""
        return np.random.Generator(np.random.Philox(np.random.SeedSequence([self.seed, kind, row])))

    def __call__(self, law: Array, live: tuple) -> tuple[Array, tuple]:
        """Draw one index per row (and slot) from weights [B, V] or [B, S, V]."""
        return pick(law, self.uniform(law.shape[:-1])), live

    def token(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """A token is drawn like anything else."""
        return self(law, live)

    def race(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """Winner under law [B, V] or [B, S, V] with the noise of absolute position [B] or [B, S]."""
        return winner(self.noise(position), law), live

    def noise(self, position: Array) -> Array:
        """Exp(1) noise of absolute positions [B] or [B, S] -> [B, V] or [B, S, V]."""
        xp = namespace(position)
        if self.shared is None:
            self.shared = self.to_device(np.stack([self.exponentials(row) for row in self.rows]))
        index = xp.clip(position, 0, self.length - 1)
        return slot(self.shared, index[:, None])[:, 0, :] if position.ndim == 1 else slot(self.shared, index)

    def forget(self, position: Array) -> None:
        """Noise is a function of its position: nothing to forget."""

    def exponentials(self, row: int) -> np.ndarray:
        """Exp(1) noise of one row, [length, V]; never exactly 0, so no race is decided by a rounded-down noise."""
        noise = self.stream(SHARED_NOISE, row).standard_exponential((self.length, self.like.shape[-1]))
        return np.maximum(noise, np.finfo(np.float32).tiny).astype(self.dtype)

    def uniform(self, shape: tuple[int, ...]) -> Array:
        """The next uniforms for draws of this shape ([B] or [B, S])."""
        waiting = self.ahead.setdefault(tuple(shape), [])
        if not waiting:
            block = np.stack([stream.random((DRAWS_AHEAD, *shape[1:])) for stream in self.streams], axis=1)
            values = self.to_device(below_one(block, self.dtype))
            waiting.extend(values[i, ...] for i in reversed(range(DRAWS_AHEAD)))
        return waiting.pop()

    def to_device(self, values: np.ndarray) -> Array:
        """A numpy array beside `like`."""
        return namespace(self.like).asarray(values, device=device(self.like))
