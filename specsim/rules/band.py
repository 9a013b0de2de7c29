"""The band: relaxed block verification that keeps the ratio of output to target within a band, path by path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from specsim.arrays import Array, at, column, divide, indicator, is_exact, namespace, number, positive_part, ratio
from specsim.errors import require_number
from specsim.flows import Flow
from specsim.rules.block import longest, reachable
from specsim.rules.lenient import MOST
from specsim.strength import Strength
from specsim.verification import Block, Drafted

STEPS = 3
"""Newton steps towards the level: a law then misses 1 by 1e-3 at most on average, and what it misses is made up for.
More gained nothing (docs/theory.md)."""
NEAR = 0.001
"""A token counts in full as beyond a level from this far before it on, and begins to count twice as far before: steps
often end at a token, so that rounding would decide, and the level shall be continuous in the laws."""
TINY = 1e-30
"""Nothing is divided by a smaller w, p or slope: less is as good as nothing, and what is divided by it no float32."""
ROUNDINGS = 16
"""In floats so many roundings of 1 are no mass left: a law that is kept whole must put nothing anywhere."""
LARGEST = 1e20
"""What c is held below in floats, so that nothing made of it passes float32: a path with a 1e-20th of its mass alive is
as good as dead."""


class Path(NamedTuple):
    """The drafted path, [B].  weight: w = P(all drafts so far are kept | these drafts); put: c, what earlier
    corrections have put on it, relative to the mass that is alive on it."""

    weight: Array
    put: Array


class Slot(NamedTuple):
    """One slot, relative to the mass alive before it.  kept [B, V]; left [B, 1]: 1 - sum kept, to be put back;
    missing [B, V], lack [B, 1]: the weights by which it is, and their sum; p and 1 where nothing is missing."""

    kept: Array
    left: Array
    missing: Array
    lack: Array


@dataclass(frozen=True)
class Band:
    """out/p of every token given its prefix is clamped to a band [low, omega low] as far as drafts allow.  Biased.

    Relative to the mass alive on the drafted path: c p put there by earlier corrections, d = q/w the drafts, w =
    P(all of them are kept | these drafts), held above 1e-30; so out/p = (c + kept/p + corrected/p)/(1 + c).  With n =
    (omega - 1)(1 + c):
        kept = min(d, (1 + up) p), over its sum where that is above 1;  G = norm[(1 - down) p - d]+, and where that sums
        to less than 1 - sum kept, so much of the rest of [p - d]+ in equal shares that it does not
        down = (n - up)/omega,  up in [0, n] such that g = sum_v clip(d - p, -down p, up p) is 0: three Newton steps
        from 0, up := clip(up - g/max(s, 1e-30), 0, n), s = sum_v p above(v) + p below(v)/omega
        above(v) = clip(2 - (up - t)/(e (1 + up)), 0, 1), below(v) = clip(2 - (down + t)/e, 0, 1), e = 1/1000,
        t = (d - p)/max(p, 1e-30)
    and the longest prefix is kept with h_i = S_i/(S_i + 1 - w_i), S_i = w (1 - sum kept), h_L = w_L, as in block
    verification, which it is for omega = 1 (lossless).  Of all laws with as many drafts kept, a clamped ratio has the
    least KL for one slot.  Joint over the block: a Jacobi window may only be redrawn independently of it.
    Source: this project, found with the program of the block limit of KL (proofs_checks/frontiers).
    """

    strength: ClassVar[Strength] = Strength("omega", 1.0, MOST)
    independent_only: ClassVar[bool] = True
    omega: float = 1.5

    def __post_init__(self) -> None:
        require_number("Band", "omega", self.omega, 1, MOST)

    def block(self, drafted: Drafted) -> Block:
        """Laws [B, S, V] -> stop [B, S], residual [B, S, V]; one pass along the slots, the last holding no draft."""
        xp, zero = namespace(drafted.target), number(0, drafted.target)
        path, passes, residuals = self.begin(drafted.target[:, 0, 0]), [], []
        for i in range(drafted.tokens.shape[1] - 1):
            target = drafted.target[:, i, :]
            draft = drafted.draft[:, i, :] * column(indicator(drafted.real[:, i], target), target)
            slot = judge(path, draft, target, number(self.omega, target))
            rest = path.weight * slot.left[:, 0]
            passes.append(divide(rest, rest + (1 - path.weight), number(1, rest)))
            residuals.append(slot.missing / slot.lack)
            path = carried(slot, path, draft, target, drafted.tokens[:, i])
        passes.append(path.weight)
        residuals.append(drafted.target[:, -1, :])
        stop = longest(xp.where(reachable(drafted.real), xp.stack(passes, axis=1), zero))
        return Block(stop, xp.stack(residuals, axis=1))

    def begin(self, like: Array) -> Path:
        """Before the first draft; like [B]."""
        return Path(0 * like + number(1, like), 0 * like)

    def flow(self, path: Path, draft: Array, target: Array, slot: int) -> tuple[Flow, Callable[[Array], Path]]:
        """path [B], laws [B, V] -> what goes on and what is corrected, averaged over the drafts to come."""
        found = judge(path, draft, target, number(self.omega, target))
        corrected = found.left * found.missing / found.lack
        return Flow(found.kept, corrected), lambda token: carried(found, path, draft, target, token)


def judge(path: Path, draft: Array, target: Array, omega: Any) -> Slot:
    """What a slot keeps and puts back: path [B], laws [B, V]."""
    xp = namespace(target)
    drawn = draft / column(xp.maximum(path.weight, whole(path.weight) * number(TINY, target)), target)
    over = drawn - target
    up, down = levels(over, target, (omega - 1) * (1 + column(path.put, target)), omega)
    kept = xp.minimum(drawn, (1 + up) * target)
    total = xp.sum(kept, axis=-1, keepdims=True)
    left = beyond_rounding(positive_part(1 - total))
    missing, lack = put_back(over, target, down, left)
    return Slot(kept / (1 + beyond_rounding(positive_part(total - 1))), left, missing, lack)


def beyond_rounding(mass: Array) -> Array:
    """A mass, 0 where it is no more than sums of floats lose."""
    if is_exact(mass):
        return mass
    return mass * indicator(mass > ROUNDINGS * namespace(mass).finfo(mass.dtype).eps, mass)


def put_back(over: Array, target: Array, down: Array, left: Array) -> tuple[Array, Array]:
    """The weights [B, V] by which `left` is put back, and their sum [B, 1]; nowhere more than [p - d]+ is."""
    xp, room, missing = namespace(target), positive_part(-over), positive_part(-over - down * target)
    lack, most = (xp.sum(some, axis=-1, keepdims=True) for some in (missing, room))
    more = xp.minimum(ratio(positive_part(left - lack), most - lack), whole(left))
    weights, total = missing + more * (room - missing), lack + more * (most - lack)
    none = indicator(total <= 0, total)
    return weights + none * target, total + none


def levels(over: Array, target: Array, width: Array, omega: Any) -> tuple[Array, Array]:
    """over = d - p [B, V], width = n [B, 1] -> up, down [B, 1].

    On whole laws only arithmetic and minima: to choose or to compare takes ten times as long on a CPU.
    """
    xp, near, up, one = namespace(target), number(NEAR, target), 0 * width, whole(width)
    tiny = one * number(TINY, target)
    rate = xp.minimum(over, (2 + 2 * width) * target) / xp.maximum(target, tiny)  # beyond any up, and no overflow
    scaled = rate / near
    for _ in range(STEPS if omega > 1 else 0):
        down = (width - up) / omega
        gained = xp.sum(target * xp.minimum(xp.maximum(rate, -down), up), axis=-1, keepdims=True)
        above = xp.minimum(positive_part((scaled - up / near) / (1 + up) + 2), one)
        below = xp.minimum(positive_part((2 - down / near) - scaled), one)
        slope = xp.sum(target * (above + below / omega), axis=-1, keepdims=True)
        slope = xp.maximum(slope, xp.maximum(xp.abs(gained) / width, tiny))  # no step is longer than the way
        up = xp.minimum(positive_part(up - gained / slope), width)
    return up, (width - up) / omega


def whole(like: Array) -> Array:
    """1 as an array of one row, to stand beside `like`: a bare number costs more than a whole law does."""
    return 0 * like[:1, ...] + number(1, like)


def carried(slot: Slot, path: Path, draft: Array, target: Array, token: Array) -> Path:
    """The path that goes on with `token` [B]."""
    xp, one = namespace(target), whole(target[:, 0])
    kept, drawn, wanted, missing = (at(law, token) for law in (slot.kept, draft, target, slot.missing))
    there = path.put * wanted + slot.left[:, 0] * missing / slot.lack[:, 0]
    # In floats no more than LARGEST: a quotient beyond the largest number would be a warning, or worse.
    put = ratio(there, kept if is_exact(target) else xp.maximum(kept, there / LARGEST))
    weight = ratio(path.weight * kept, drawn)
    return Path(xp.where(beyond_rounding(positive_part(1 - weight)) > 0, weight, one), put)
