"""Where a rule lies against the limit: its block put to every drafted path, all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from specsim.arrays import Array, number
from specsim.laws import target_mass
from specsim.rules.codebooks import bind_codebook
from specsim.tables import Table
from specsim.verification import Block, Drafted, verifier


class Placed(NamedTuple):
    """accepted: E[accepted drafts]; out [V**L]: the law of L tokens, corrections followed by the target; local: the
    sum of the local errors, sum_i sum_x A_(i-1) TV(out_i, p_i)."""

    accepted: Any
    out: Array
    local: Any


class Slot(NamedTuple):
    """One slot: accepted [V**(i+1)] and corrected [V**(i+1)], masses of paths; before [V**i], of their prefixes."""

    accepted: Array
    corrected: Array
    before: Array


def place(rule: Any, target: Table, draft: Table, lookahead: int) -> Placed:
    """One block of L drafts under a rule, Fractions or float64 as the tables are."""
    vocab, count = target.vocab, target.vocab**lookahead
    powers = vocab ** np.arange(lookahead - 1, -1, -1)
    tokens = np.arange(count)[:, None] // powers % vocab
    start = np.zeros(count, dtype=np.int64)
    drawn, wanted = draft(tokens, start, lookahead), target(tokens, start, lookahead)
    real = np.broadcast_to(np.arange(lookahead + 1) < lookahead, (count, lookahead + 1))
    ids = np.concatenate([tokens, 0 * tokens[:, :1]], axis=1)
    position = np.broadcast_to(np.arange(lookahead + 1), ids.shape)
    drafted = Drafted(padded(drawn), padded(wanted), ids, real, position)
    block, _ = verifier(bind_codebook(rule, target.codebook))(None, drafted, ())
    return read_off(block, target_mass(draft, lookahead), target, lookahead)


def padded(laws: Array) -> Array:
    """One slot more, which holds no draft and whose laws nobody reads."""
    return np.concatenate([laws, laws[:, -1:]], axis=1)


def read_off(block: Block, weight: Array, target: Table, lookahead: int) -> Placed:
    """The figures of a block judged on every drafted path [V**L], weight being the paths' draft masses."""
    accepted = sum((weight * block.stop[:, i]).sum() * i for i in range(1, lookahead + 1))
    out, local = weight * block.stop[:, lookahead], number(0, weight)
    for i, slot in enumerate(slots(block, weight, target.vocab, lookahead)):
        wanted = (slot.before[:, None] * target.at_length(i)).reshape(-1)
        local = local + abs(slot.accepted + slot.corrected - wanted).sum() / number(2, weight)
        mass = slot.corrected
        for n in range(i + 1, lookahead):  # a correction is followed by the target
            mass = (mass[:, None] * target.at_length(n)).reshape(-1)
        out = out + mass
    return Placed(accepted, out, local)


def slots(block: Block, weight: Array, vocab: int, lookahead: int) -> Iterator[Slot]:
    """What every slot does to the mass of every path, gathered from all drafted paths."""
    before = np.array([weight.sum()])
    for i in range(lookahead):
        corrected = (weight * block.stop[:, i])[:, None] * block.residual[:, i, :]
        corrected = corrected.reshape(vocab**i, -1, vocab).sum(axis=1).reshape(-1)
        passed = (weight * block.stop[:, i + 1 :].sum(axis=1)).reshape(vocab ** (i + 1), -1).sum(axis=1)
        yield Slot(passed, corrected, before)
        before = passed
