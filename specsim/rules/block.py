"""Block verification: the whole drafted block is judged at once, and the longest prefix that passes is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from specsim.arrays import Array, at, divide, namespace, normalise, number, positive_part, ratio
from specsim.verification import Block, Drafted


@dataclass(frozen=True)
class BlockVerification:
    """w_0 = 1, w_i = min(1, w_(i-1) p_i/q_i); keep the longest prefix i with u_i < h_i.  Lossless.

    S_i = sum_v [w_i p(v) - q(v)]+, h_i = S_i / (S_i + 1 - w_i) (0/0 = 1), h_L = w_L, the u_i independent; the token
    after i kept drafts comes from norm[w_i p - q]+, after all of them from p.  Never fewer tokens a call than Strict.
    It is joint over the block: a Jacobi window may only be redrawn independently of it.
    Source: block verification (arXiv 2403.10444).
    """

    independent_only: ClassVar[bool] = True

    def block(self, drafted: Drafted) -> Block:
        """Laws [B, S, V] -> stop [B, S], residual [B, S, V]."""
        xp, zero = namespace(drafted.target), number(0, drafted.target)
        draft = xp.where(drafted.real[..., None], drafted.draft, zero)
        weight = prefix_weights(drafted)
        missing = positive_part(weight[..., None] * drafted.target - draft)
        total = xp.sum(missing, axis=-1)
        passes = divide(total, total + (1 - weight), number(1, total))
        return Block(longest(xp.where(reachable(drafted.real), passes, zero)), normalise(missing, drafted.target))


def prefix_weights(drafted: Drafted) -> Array:
    """w_i of the prefix before each slot, [B, S]: w_0 = 1, w_i = min(1, w_(i-1) p_i/q_i)."""
    xp, one = namespace(drafted.target), number(1, drafted.target)
    likely, drawn = at(drafted.target, drafted.tokens), at(drafted.draft, drafted.tokens)
    weights = [0 * likely[:, 0] + one]
    for slot in range(likely.shape[1] - 1):
        weights.append(xp.minimum(ratio(weights[-1] * likely[:, slot], drawn[:, slot]), one))
    return xp.stack(weights, axis=1)


def reachable(real: Array) -> Array:
    """Slots [B, S] where a block can end: those with a draft, and the first without."""
    xp = namespace(real)
    return xp.concat([real[:, :1] | True, real[:, :-1]], axis=1)


def longest(passes: Array) -> Array:
    """passes [B, S] -> law [B, S] of the last slot that passes; slot 0 where none does."""
    xp = namespace(passes)
    fails = xp.flip(xp.cumulative_prod(xp.flip(1 - passes, axis=-1), axis=-1), axis=-1)
    later = xp.concat([fails[:, 1:], 0 * fails[:, :1] + 1], axis=1)
    return xp.concat([later[:, :1], (passes * later)[:, 1:]], axis=1)
