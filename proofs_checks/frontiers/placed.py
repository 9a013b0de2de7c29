"""Where a rule lies against the limit: its block put to every drafted path, all of them at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from specsim.arrays import Array
from specsim.laws import target_mass
from specsim.tables import Table
from specsim.verification import Block, Drafted, verifier


class Placed(NamedTuple):
    """accepted: E[accepted drafts]; out [V**L]: the law of L tokens, corrections followed by the target."""

    accepted: Any
    out: Array


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
    block, _ = verifier(rule)(None, drafted, ())
    return read_off(block, target_mass(draft, lookahead), target, lookahead)


def padded(laws: Array) -> Array:
    """One slot more, which holds no draft and whose laws nobody reads."""
    return np.concatenate([laws, laws[:, -1:]], axis=1)


def read_off(block: Block, weight: Array, target: Table, lookahead: int) -> Placed:
    """The figures of a block judged on every drafted path [V**L], weight being the paths' draft masses."""
    vocab = target.vocab
    accepted = sum((weight * block.stop[:, i]).sum() * i for i in range(1, lookahead + 1))
    out = weight * block.stop[:, lookahead]
    for i in range(lookahead):
        # Corrections at slot i: gathered by (prefix, new token), then continued with the target.
        mass = (weight * block.stop[:, i])[:, None] * block.residual[:, i, :]
        mass = mass.reshape(vocab**i, -1, vocab).sum(axis=1).reshape(-1)
        for n in range(i + 1, lookahead):
            mass = (mass[:, None] * target.at_length(n)).reshape(-1)
        out = out + mass
    return Placed(accepted, out)
