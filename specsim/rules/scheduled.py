"""Lenience with a factor of its own for every slot of a block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from specsim.arrays import Array, as_numbers, column, namespace, number
from specsim.errors import require, require_number
from specsim.rules.lenient import MOST
from specsim.strength import Shape, Strength
from specsim.verification import Verdict, capped_ratio, optimal_residual

MOST_FACTORS = 1024
"""Factors of a schedule: more slots than a block is worth having."""
WIDEST = 8.0
"""Largest of the later factors worth trying beside a first of about 2: a block that heats can be the best."""


@dataclass(frozen=True)
class Scheduled:
    """b = min(1, omega_i p/q), omega_i = 1 + scale (omegas[i] - 1) at slot i; G_i = norm[p - q b]+.

    Biased, on the line; strict for scale = 0.  Slots beyond the last factor take that one.  Lenience, COOL-SD's
    annealing and its reverse are all schedules.  No factor is below 1, where a slot is dominated.
    Source: lenience (arXiv 2211.17192) slot by slot; schedules that need not be exponential are this project's.
    [leviathan2023]
    """

    strength: ClassVar[Strength] = Strength("scale", 0.0, MOST)
    omegas: tuple[float, ...] = (2.0, 1.5, 1.0, 1.0)
    scale: float = 1.0

    def __post_init__(self) -> None:
        fit = isinstance(self.omegas, tuple) and 1 <= len(self.omegas) <= MOST_FACTORS
        require(fit, "Scheduled", "omegas", self.omegas, f"a tuple of 1 to {MOST_FACTORS} numbers, such as (2.0, 1.5)")
        for i, omega in enumerate(self.omegas):
            require_number("Scheduled", f"omegas[{i}]", omega, 1, MOST)
        require_number("Scheduled", "scale", self.scale, 0, MOST)

    @property
    def shape(self) -> tuple[Shape, ...]:
        """All factors but the first: how they stand to each other is what the scale leaves open."""
        return tuple(Shape(f"omegas[{i}]", 1.0, WIDEST) for i in range(1, len(self.omegas)))

    def omega(self, position: Array, like: Array) -> Array:
        """omega_i for slots `position` [...], in the number type of `like`; at most 1e9, where all is accepted."""
        xp, scale, one = namespace(like), number(self.scale, like), number(1, like)
        factors = [min(one + scale * (number(omega, like) - one), number(MOST, like)) for omega in self.omegas]
        omega = as_numbers(0 * position, like) + factors[-1]
        for i, factor in enumerate(factors[:-1]):
            omega = xp.where(position == i, factor, omega)
        return omega

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        accept = capped_ratio(column(self.omega(position, target), target) * target, draft)
        return Verdict(accept, optimal_residual(draft, target, accept))
