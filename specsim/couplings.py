"""Couplings: how a window token is redrawn when its law changes, and which law is then stored for it.

Each redraw is a law for the new token given the old one; drawing from it must leave the new token with the new law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from array_api_compat import array_namespace

from specsim.arrays import Array, at, hits, number, point
from specsim.rules.strict import Strict

Redraw = Callable[[Any, Array, Array, Array, Array, tuple], tuple[Array, tuple]]


def independent(choose: Any, old: Array, new: Array, token: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
    """Y ~ new, whatever the old token was (SJD)."""
    return new, live


def maximal(choose: Any, old: Array, new: Array, token: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
    """Modified rejection sampling of the old token: P(Y = X) = 1 - TV(old, new), the most any coupling has (SCD-MC).

    old, new [B, W, V], token [B, W] -> law of Y [B, W, V]: b(x) 1[y = x] + (1 - b(x)) norm[new - old]+(y).
    """
    verdict = Strict()(old, new, position)
    keep = at(verdict.accept, token)[..., None]
    xp = array_namespace(old, new)
    return xp.where(hits(token, new.shape[-1]), keep, number(0, new)) + (1 - keep) * verdict.residual, live


def gumbel(choose: Any, old: Array, new: Array, token: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
    """Y = winner of the race under the new law, with the noise of the absolute position (SCD-GS)."""
    winner, (new, *rest) = choose.race(new, position, (new, *live))
    return point(winner, new), tuple(rest)


def new_law(old: Array, new: Array, same: Array) -> Array:
    """The law the surviving token now has: the honest record, which makes the decoder lossless."""
    return new


def stale_law(old: Array, new: Array, same: Array) -> Array:
    """The old law wherever the token did not change: what the released SCD code stores.  Biased."""
    return array_namespace(old, new).where(same[..., None], old, new)


@dataclass(frozen=True)
class Coupling:
    """A way to continue a window.  redraw: the law of the new token; stored: the law recorded for it."""

    redraw: Redraw
    stored: Callable[[Array, Array, Array], Array] = new_law
    lossless: bool = True


COUPLINGS: dict[str, Coupling] = {
    "independent": Coupling(independent),
    "maximal": Coupling(maximal),
    "gumbel": Coupling(gumbel),
    "maximal_stale": Coupling(maximal, stale_law, lossless=False),
}
