"""The band with one of its parts wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from specsim.arrays import Array, column, divide, indicator, normalise, positive_part
from specsim.flows import Flow
from specsim.rules.band import Band, Path, Slot, carried, judge
from specsim.rules.block import longest, reachable
from specsim.verification import Block, Drafted, first_rejection

ONE: Any = Fraction(1)


def unchanged(path: Path) -> Path:
    """The account as it is."""
    return path


@dataclass(frozen=True)
class Banding:
    """The band from its parts: path, what is remembered of a path; slot, what a slot keeps and puts back; stop, of the
    h_i; all replaceable."""

    omega: Any
    path: Callable[[Path], Path] = unchanged
    slot: Callable[[Path, Array, Array, Any], Slot] = judge
    stop: Callable[[Array], Array] = longest

    def begin(self, like: Array) -> Path:
        """As the band's."""
        return Band(self.omega).begin(like)

    def flow(self, path: Path, draft: Array, target: Array, slot: int) -> tuple[Flow, Callable[[Array], Path]]:
        """path [B], laws [B, V] -> what goes on and what is corrected."""
        found = self.slot(path, draft, target, self.omega)
        flow = Flow(found.kept, found.left * found.missing / found.lack)
        return flow, lambda token: self.path(carried(found, path, draft, target, token))

    def block(self, drafted: Drafted) -> Block:
        """Laws [B, S, V] -> stop [B, S], residual [B, S, V]."""
        path, passes, residuals = self.begin(drafted.target[:, 0, 0]), [], []
        for i in range(drafted.tokens.shape[1] - 1):
            real, target = column(indicator(drafted.real[:, i], drafted.target), drafted.target), drafted.target[:, i]
            flow, carry = self.flow(path, drafted.draft[:, i] * real, target, i)
            rest = path.weight * flow.corrected.sum(axis=-1)
            passes.append(divide(rest, rest + 1 - path.weight, ONE))
            residuals.append(normalise(flow.corrected, target))
            path = carry(drafted.tokens[:, i])
        every = np.stack([*passes, path.weight], axis=1)
        stop = self.stop(np.where(reachable(drafted.real), every, 0 * every))
        return Block(stop, np.stack([*residuals, drafted.target[:, -1]], axis=1))


def nothing_put(path: Path) -> Path:
    """A mistake: earlier corrections are forgotten, c = 0."""
    return path._replace(put=0 * path.put)


def never_lighter(path: Path) -> Path:
    """A mistake: w is not carried."""
    return path._replace(weight=0 * path.weight + ONE)


def first_failure(passes: Array) -> Array:
    """A mistake: stop before the first prefix that fails."""
    return first_rejection(np.concatenate([passes[:, 1:], 0 * passes[:, :1]], axis=1))


def rest_by_target(path: Path, draft: Array, target: Array, omega: Any) -> Slot:
    """A mistake: the residual norm[p - d]+ whatever the level."""
    found = judge(path, draft, target, omega)
    room = positive_part(target - draft / column(path.weight, target))
    total = room.sum(axis=-1, keepdims=True)
    none = indicator(total <= 0, total)
    return found._replace(missing=room + none * target, lack=total + none)


def at_once(path: Path, draft: Array, target: Array, omega: Any) -> Slot:
    """A mistake: low = 1, so up = n and down = 0."""
    drawn = draft / column(path.weight, target)
    kept = np.minimum(drawn, (omega + (omega - 1) * column(path.put, target)) * target)
    total = kept.sum(axis=-1, keepdims=True)
    kept = kept / np.maximum(total, 0 * total + ONE)
    return rest_by_target(path, draft, target, omega)._replace(kept=kept, left=positive_part(1 - total))


def by_target(path: Path, draft: Array, target: Array, omega: Any) -> Slot:
    """A mistake: the rest is put back along p."""
    found = judge(path, draft, target, omega)
    return found._replace(missing=target, lack=0 * found.lack + ONE)


def everywhere(path: Path, draft: Array, target: Array, omega: Any) -> Slot:
    """A mistake: the rest is put back along the draft as well, so where p = 0."""
    found = judge(path, draft, target, omega)
    return found._replace(missing=found.missing + draft, lack=found.lack + draft.sum(axis=-1, keepdims=True))


def with_part(**part: Any) -> Callable[[Any], Banding]:
    """A family with one part wrong."""
    return lambda omega: replace(Banding(omega), **part)
