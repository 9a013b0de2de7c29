"""T18: groupings that go wrong, as plausible bugs would."""

from __future__ import annotations

import numpy as np

from proofs_checks.theorems.t20_rules import Altered
from specsim import Partitioned, Strict
from specsim.arrays import Array, indicator
from specsim.verification import capped_ratio, standard_residual


def usual(draft: Array, target: Array, accept: Array) -> Array:
    """norm[p - q]+."""
    return standard_residual(draft, target)


def own_mass(size: int) -> Altered:
    """The token's own p against the draft's mass of its run: b Q(C) = min(p, ..)."""

    def accept(draft: Array, target: Array, grouped: Array) -> Array:
        return capped_ratio(target, draft) * grouped

    return Altered(Partitioned(size), usual, accept)


def likeliest_first(size: int) -> Altered:
    """Runs cut from the likeliest token on."""

    def accept(draft: Array, target: Array, grouped: Array) -> Array:
        order = np.argsort(target, axis=-1, kind="stable")[..., ::-1]
        run = np.argsort(order, axis=-1) // size
        same = run[..., :, None] == run[..., None, :]
        member = indicator(same, target)
        return capped_ratio((member * target[..., None, :]).sum(axis=-1), (member * draft[..., None, :]).sum(axis=-1))

    return Altered(Partitioned(size), usual, accept)


def only_strict(size: int) -> Strict:
    """Groups of one."""
    return Strict()


def redrawn_from_target(size: int) -> Altered:
    """A refused token replaced from p."""
    return Altered(Partitioned(size), lambda draft, target, accept: target)
