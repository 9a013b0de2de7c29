"""COOL-SD: lenience that cools down inside each block."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from specsim.arrays import Array, as_numbers, column, constant, is_exact, namespace, number
from specsim.errors import require, require_number
from specsim.rules.lenient import MOST
from specsim.strength import Shape, Strength
from specsim.verification import Verdict, capped_ratio, optimal_residual


def mean_mu(nu: float, lookahead: int) -> float:
    """The `mu` that makes the factors exp(-nu i - mu), i = 0 .. lookahead-1, average 1 (log of their mean at mu = 0).

    One reading of the paper, whose definition of mu was not seen; with it late factors fall below 1.
    """
    return math.log(sum(math.exp(-nu * i) for i in range(lookahead)) / lookahead)


STEEPEST = 1000
"""Largest |nu| and |mu|: beyond it exp is 0 or capped at every slot but the first."""
HOTTEST = 20
"""Cap of the exponent: a factor of exp(20) accepts all there is, and float32 stays far from overflow."""


@dataclass(frozen=True)
class Annealed:
    """b = min(1, omega_i p/q), omega_i = delta exp(-nu i - mu) at slot i, G_i = norm[p - q b]+.  Biased, on the line.

    COOL-SD.  With `clamp` omega_i is never below 1; without it late slots with omega_i < 1 are lossless but accept
    less than the strict rule (dominated).  nu < 0 heats instead; factors stop growing at exp(20).  Exact laws take
    exp in float64 and convert it once.
    Source: COOL-SD (arXiv 2601.09212); published nu = 0.7, delta = 1.1 and 2.  [li2026coolsd]
    """

    strength: ClassVar[Strength] = Strength("delta", 1.0, MOST)
    shape: ClassVar[tuple[Shape, ...]] = (Shape("nu", -1.0, 4.0),)
    delta: float = 1.1
    nu: float = 0.7
    mu: float = 0.0
    clamp: bool = True

    def __post_init__(self) -> None:
        require_number("Annealed", "delta", self.delta, 0, MOST, above=True)
        require_number("Annealed", "nu", self.nu, -STEEPEST, STEEPEST)
        require_number("Annealed", "mu", self.mu, -STEEPEST, STEEPEST)
        require(isinstance(self.clamp, bool), "Annealed", "clamp", self.clamp, "True or False")

    def omega(self, position: Array, like: Array) -> Array:
        """omega_i for slots `position` [...], in the number type of `like`."""
        xp, nu, mu = namespace(like), float(self.nu), float(self.mu)
        if is_exact(like):  # math.exp, once per slot: an array's exp may differ in the last bit between machines
            decay = np.frompyfunc(lambda i: Fraction(math.exp(min(-nu * i - mu, HOTTEST))), 1, 1)(position)
        else:
            decay = xp.exp(xp.clip(-nu * as_numbers(position, like) - mu, None, HOTTEST))
        omega = number(self.delta, like) * decay
        one = number(1, like) if is_exact(like) else constant(1, omega)
        return xp.maximum(omega, one) if self.clamp else omega

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        accept = capped_ratio(column(self.omega(position, target), target) * target, draft)
        return Verdict(accept, optimal_residual(draft, target, accept))
