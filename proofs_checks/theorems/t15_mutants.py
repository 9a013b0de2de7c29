"""Block verification with one of its parts wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from specsim.arrays import Array, at, divide, normalise, positive_part, ratio
from specsim.rules.block import longest, prefix_weights, reachable
from specsim.verification import Block, Drafted, first_rejection

ONE: Any = Fraction(1)


def own_residual(weight: Array, target: Array, draft: Array) -> Array:
    """[w p - q]+"""
    return positive_part(weight[..., None] * target - draft)


def published(weight: Array, total: Array) -> Array:
    """h = S / (S + 1 - w), 0/0 = 1."""
    return divide(total, total + (1 - weight), ONE)


def emptied(drafted: Drafted) -> Array:
    """q, 0 where a slot holds no draft."""
    return np.where(drafted.real[..., None], drafted.draft, 0 * drafted.draft)


@dataclass(frozen=True)
class Judging:
    """weights(drafted) [B, S], passes(w, S) [B, S], stop(passes) [B, S], residual(w, p, q) [B, S, V], all replaceable;
    drafts: the law of a slot as the rule sees it."""

    weights: Callable[[Drafted], Array] = prefix_weights
    passes: Callable[[Array, Array], Array] = published
    stop: Callable[[Array], Array] = longest
    residual: Callable[[Array, Array, Array], Array] = own_residual
    drafts: Callable[[Drafted], Array] = emptied

    def block(self, drafted: Drafted) -> Block:
        """Laws [B, S, V] -> stop [B, S], residual [B, S, V]."""
        draft, weight = self.drafts(drafted), self.weights(drafted)
        total = own_residual(weight, drafted.target, draft).sum(axis=-1)
        passes = np.where(reachable(drafted.real), np.minimum(self.passes(weight, total), ONE), 0 * total)
        missing = self.residual(weight, drafted.target, draft)
        return Block(self.stop(passes), normalise(missing, drafted.target))


def ratios(drafted: Drafted) -> Array:
    """p_i/q_i of the drafts, [B, S]."""
    return ratio(at(drafted.target, drafted.tokens), at(drafted.draft, drafted.tokens))


def delayed(values: Array) -> Array:
    """Before every slot: 1, then the values of the slots before it."""
    return np.concatenate([0 * values[:, :1] + 1, values[:, :-1]], axis=1)


def unclipped(drafted: Drafted) -> Array:
    """w_i = p_1/q_1 .. p_i/q_i"""
    return np.cumprod(delayed(ratios(drafted)), axis=1)


def clipped_once(drafted: Drafted) -> Array:
    """w_i = min(1, p_1/q_1 .. p_i/q_i)"""
    return np.minimum(unclipped(drafted), ONE)


def forgetful(drafted: Drafted) -> Array:
    """w_i = min(1, p_i/q_i)"""
    return delayed(np.minimum(ratios(drafted), ONE))


def token_by_token(drafted: Drafted) -> Array:
    """w_i = min(1, p_1/q_1) .. min(1, p_i/q_i)"""
    return np.cumprod(forgetful(drafted), axis=1)


def first_failure(passes: Array) -> Array:
    """Stop before the first prefix that fails."""
    return first_rejection(np.concatenate([passes[:, 1:], 0 * passes[:, :1]], axis=1))


def one_uniform(passes: Array) -> Array:
    """The longest prefix i with u < h_i, one u for all: at least i are kept with probability max_(j >= i) h_j."""
    first = np.concatenate([0 * passes[:, :1] + 1, passes[:, 1:]], axis=1)
    kept = np.flip(np.maximum.accumulate(np.flip(first, axis=1), axis=1), axis=1)
    return kept - np.concatenate([kept[:, 1:], 0 * kept[:, :1]], axis=1)


def surely_last(weight: Array, total: Array) -> Array:
    """h_L = 1: S = w where nothing is drafted, so the last slot always passes."""
    return np.where(total == weight, 0 * weight + 1, published(weight, total))


def with_one(weight: Array, total: Array) -> Array:
    """h = S / (S + 1)"""
    return divide(total, total + 1, ONE)


def plain_weight(weight: Array, total: Array) -> Array:
    """h = w at every slot: what the last slot has."""
    return weight


def strict_residual(weight: Array, target: Array, draft: Array) -> Array:
    """[p - q]+"""
    return positive_part(target - draft)


def undrawn(drafted: Drafted) -> Array:
    """The laws of empty slots are left in: a block that was cut off is judged as the start of a whole one."""
    return drafted.draft


def with_part(**part: Any) -> Judging:
    """One part wrong."""
    return replace(Judging(), **part)
