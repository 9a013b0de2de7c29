"""Couplings: how a window token is redrawn when its law changes, and which law is then stored for it.

Each redraw is a law for the new token given the old one; drawing from it must leave the new token with the new law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specsim.arrays import Array, at, hits, namespace, number, point, positive_part
from specsim.verification import capped_ratio

Redraw = Callable[[Any, Array, Array, Array, Array, tuple], tuple[Array, tuple]]


def independent(choose: Any, old: Array, new: Array, token: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
    """Y ~ new, whatever the old token was (SJD)."""
    return new, live


def maximal(choose: Any, old: Array, new: Array, token: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
    """Modified rejection sampling of the old token: P(Y = X) = 1 - TV(old, new), the most any coupling has (SCD-MC).

    old, new [B, W, V], token [B, W] -> weights of Y [B, W, V]: b(x) 1[y = x] + (1 - b(x)) norm[new - old]+(y), times
    the sum of [new - old]+ (nothing is normalised here: `choose` does not need it).  Where that is empty Y = X.
    """
    xp = namespace(new)
    keep, missing = capped_ratio(at(new, token), at(old, token)), positive_part(new - old)
    total = xp.sum(missing, axis=-1)
    stay = xp.where(total > 0, keep * total, number(1, new))
    return xp.where(hits(token, new.shape[-1]), stay[..., None], (1 - keep)[..., None] * missing), live


def gumbel(choose: Any, old: Array, new: Array, token: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
    """Y = winner of the race under the new law, with the noise of the absolute position (SCD-GS)."""
    winner, (new, *rest) = choose.race(new, position, (new, *live))
    return point(winner, new), tuple(rest)


def new_law(old: Array, new: Array, before: Array, after: Array) -> Array:
    """The law the surviving token now has: the honest record, which makes the decoder lossless."""
    return new


def stale_law(old: Array, new: Array, before: Array, after: Array) -> Array:
    """The old law wherever the token did not change: what the released SCD code stores.  Biased."""
    return namespace(old).where((before == after)[..., None], old, new)


@dataclass(frozen=True)
class Coupling:
    """A way to continue a window.

    redraw(choose, old law, new law, token, position, live) -> law of the new token, live;
    stored(old law, new law, token before, token after) -> the law recorded for it.
    """

    redraw: Redraw
    stored: Callable[[Array, Array, Array, Array], Array] = new_law
    lossless: bool = True


COUPLINGS: dict[str, Coupling] = {
    "independent": Coupling(independent),
    "maximal": Coupling(maximal),
    "gumbel": Coupling(gumbel),
    "maximal_stale": Coupling(maximal, stale_law, lossless=False),
}
