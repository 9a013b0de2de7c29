"""A rule that carries an account along the path, put to every prefix of a block, in masses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from proofs_checks.theorems.blocks import Judge, Slot, walk
from specsim import Table
from specsim.arrays import Array, normalise
from specsim.rules.ledger import Account


class Booked(NamedTuple):
    """One slot after every prefix [R]: what the rule keeps of each token and the law it replaces it with [R, V], its
    account before the slot [R], the same two figures counted up from the masses [R], and which prefixes are alive."""

    accept: Array
    residual: Array
    account: Account
    counted: Account
    live: Array
    draft: Array
    target: Array


def all_tokens(laws: Array) -> Array:
    """Every token, for every prefix: [R, V]."""
    return np.broadcast_to(np.arange(laws.shape[-1]), laws.shape)


def carrying(rule: Any) -> Judge:
    """The judge of one walk over a block: the account follows the prefixes."""
    states: list[Any] = []

    def judge(draft: Array, target: Array, position: int, slot: int) -> tuple[Array, Array]:
        state = states.pop() if slot else rule.begin(draft[:, 0])
        step = rule.judge(state, draft, target, slot, all_tokens(draft))
        states.append(type(state)(*(field.reshape(-1) for field in step.state)))
        kept = draft * step.accept
        return kept, kept + (1 - kept.sum(axis=-1, keepdims=True)) * normalise(step.residual, target)

    return judge


def slots_of(rule: Any, target: Table, draft: Table, lookahead: int) -> list[Slot]:
    """The slots of a block in masses."""
    return walk(carrying(rule), target, draft, lookahead)


def books(rule: Any, target: Table, draft: Table, lookahead: int) -> Iterator[Booked]:
    """Every slot, with the accounts as the rule has them and as the masses have them.

    alive = A/T, owed = 1 - C/T: C(x v) = C(x) p(v) + R(x v), T the target's mass of the prefix.
    """
    state = rule.begin(target.laws[:1, 0])
    alive = mass = state.alive
    put = 0 * mass
    for slot in range(lookahead):
        q, p = draft.at_length(slot), target.at_length(slot)
        step = rule.judge(state, q, p, slot, all_tokens(q))
        residual, live = normalise(step.residual, p), alive > 0
        whole = np.where(live, mass, 0 * mass + 1)
        yield Booked(step.accept, residual, state, Account(alive / whole, 1 - put / whole), live, q, p)
        kept = alive[:, None] * q * step.accept
        refused = (alive[:, None] * q - kept).sum(axis=-1, keepdims=True)
        put = (put[:, None] * p + refused * residual).reshape(-1)
        alive, mass = kept.reshape(-1), (mass[:, None] * p).reshape(-1)
        state = type(state)(*(field.reshape(-1) for field in step.state))
