"""The figures of every block of L drafts that can begin along sequences of the target, from laws along them alone.

A block begun at m accepts drafts, is corrected once or not at all, and the target goes on.  With x the tokens,

    alive_0 = 1, alive_(i+1) = alive_i kept_i(x_i) / target_i(x_i)
    ratio = out(x)/target(x) = sum_i alive_i corrected_i(x_i) / target_i(x_i) + alive_L

Sequences drawn from the target make every mean over them that of the block's own law, for rules of every form: given a
prefix, everything about the next token is summed and not sampled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from specsim.arrays import Array, at, divide, indicator, namespace, number, to_numpy
from specsim.divergences.paths import chunks
from specsim.divergences.rounds import Slot, slots_along
from specsim.divergences.whole import whole_law
from specsim.errors import SpecsimError

Rule = Any


class Blocks(NamedTuple):
    """One number a block, all numpy [B, M]: M = N - L blocks of each of B sequences, begun at its positions 0 .. M-1.

    ratio: out/target of the block's tokens.  accepted: sum_i alive_i sum_v kept_i(v).  local: sum_i alive_i
    TV(kept_i + corrected_i, target_i).  off: sum_i alive_i of what slot i puts where the target is 0.  Nothing is seen
    behind such a token, as the target's sequences have none: accepted and local may lack up to `unseen` in the mean.
    """

    ratio: Array
    accepted: Array
    local: Array
    off: Array
    unseen: Array


def blocks_along(rule: Rule, target: Array, draft: Array, tokens: Array, lookahead: int) -> Blocks:
    """Every full block along tokens [B, N]; laws [B, N, V], laws[b, n] given tokens[b, :n]; numpy, torch, Fractions.

    A rule that needs a codebook is bound first (bind_codebook).  One token of each sequence is left for the bonus.
    """
    if not 1 <= lookahead < tokens.shape[1]:
        most = tokens.shape[1] - 1
        raise SpecsimError(f"lookahead = {lookahead} must be from 1 to {most}: sequences have {most + 1} tokens")

    wide = whole_law(rule)
    parts = [blocks_of(wide, *some, lookahead) for some in chunks(wide, target, draft, tokens, lookahead)]
    return Blocks(*(np.concatenate(figure) for figure in zip(*parts, strict=True)))


def blocks_of(rule: Rule, target: Array, draft: Array, tokens: Array, lookahead: int) -> Blocks:
    """The blocks of sequences that are worked on together."""
    slots = slots_along(rule, target, draft, tokens, lookahead)
    blocks, likely = tokens.shape[1] - lookahead, at(target, tokens)
    nothing = 0 * likely[:, :blocks]
    alive, ratio, accepted, local, off, unseen = nothing + number(1, target), *[nothing] * 5
    for i, part in enumerate(slots):
        here = (slice(None), slice(i, i + blocks))
        own = likely[here]
        accepted, local = accepted + alive * part.keeps[here], local + alive * part.local[here]
        lost = alive * off_support(part, target)[here]
        off, unseen = off + lost, unseen + (lookahead - 1 - i) * lost
        ratio = ratio + alive * divide(part.corrected[here], own, number(0, own))
        alive = alive * divide(part.kept[here], own, number(0, own))
    return Blocks(*map(to_numpy, (ratio + alive, accepted, local, off, unseen)))


def off_support(part: Slot, target: Array) -> Array:
    """sum_v law(v) where the target is 0, [B, N-1]."""
    xp, law = namespace(target), part.law
    beyond = target[:, :-1, :] == 0
    if not bool(xp.any(beyond)):  # laws of a softmax have no zeros, and this is a pass over all of them
        return 0 * part.keeps
    return xp.sum(law * indicator(beyond, law), axis=-1)
