"""Remembering keys and values between calls. The laws stay those of the plain model; only the time changes.

Nobody tells the cache what a decoder kept or threw away: it compares the tokens with those it has seen, row
by row, and recomputes from the first difference. A window that moved on costs exactly `count` slots,
because the slots before its start are known and those from its start on are asked for anyway. Nodes of a tree that
became final are found in the same way, and their keys are moved to the slots of the sequence (`gpu_eval.leaves`).

How many slots a call must compute is known on the device only, so to make a shape of it the host waits.  A decoder
that asks in its own order never needs more than `ahead` before those it asks for: 0 where the model verifies, 1 where
it drafts (the last draft kept was never read).  Told so, a call waits for nothing; the promise is checked on the device
and read with the laws' own checks (`broken`).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gpu_eval.leaves import Leaves, leaves
from gpu_eval.network import ImageModel, fit, given, require_rows, require_width
from gpu_eval.nodes import Nodes


class Cached:
    """Same call and attributes as the model it wraps. Holds state: one for each run and each thread.

    ahead: most slots before `start` that a call may have to compute; None: any number, and each call waits for it.
    """

    def __init__(self, model: ImageModel, ahead: int | None = None) -> None:
        self.model, self.ahead = model, ahead
        self.vocab, self.length = model.vocab, model.length
        self.codebook, self.uniform, self.checked = model.codebook, model.uniform, model.checked
        self.keeps = False
        if getattr(model.network, "reads_trees", False):
            self.tree = self.read_tree
        self.forget()

    def forget(self, room: int = 0) -> None:
        """Know nothing, as when new; room for so many nodes of a tree."""
        network: Any = self.model.network
        rows, self.room = self.model.rows, room
        self.memory = network.memory(room) if room else network.memory()
        # Token of slot t at index t - 1.
        self.seen = torch.zeros(rows, self.length - 1, dtype=torch.int64, device=network.like.device)
        self.broken = torch.zeros(rows, dtype=torch.bool, device=network.like.device)
        self.known = self.seen.new_zeros(rows)  # slots 0 .. known - 1 of the memory belong to the seen tokens
        self.leaves: Leaves | None = None
        self.features: Tensor | None = None  # [R, length, D] of slots, then those of nodes, if they are kept at all
        self.grown: Tensor | None = None

    def __call__(self, tokens: Tensor, start: Tensor, count: int) -> Tensor:
        """laws [B, count, V]. Waits for the device at most once, for the number of slots to compute (a shape)."""
        require_rows(self.model.rows, tokens, start)
        logits = self.read(tokens, start, count)
        return self.model.laws(logits[:, logits.shape[1] - count :], start)

    def read_tree(self, tokens: Tensor, start: Tensor, nodes: Tensor, branches: Any) -> Tensor:
        """Laws [B, S, V] of what comes after each node of a tree: node 0 is the tokens before `start` [B], nodes [B, S]
        the token of every other.  One forward.

        The nodes' keys go to places of their own, until a call has tokens that went the way of some of them.
        """
        require_rows(self.model.rows, tokens, start)
        if self.room < branches.size - 1:
            self.forget(branches.size - 1)
        level, last = branches.of("level", nodes)[:, 1:], start.clamp(max=self.length - 1)
        sees = branches.of("sees", nodes)[:, 1:, 1:]
        logits = self.read(tokens, start, 1, Nodes(nodes[:, 1:], last[:, None] + level, last, sees))
        self.leaves = leaves(nodes, start, branches)
        return self.model.laws(logits[:, logits.shape[1] - branches.size :], start)

    def final_features(self, tokens: Tensor, length: Tensor) -> Tensor:
        """Features [R, N, D] of the slots of tokens [B, T]: right up to slot length - 1, for length [B] of them.

        In a decoder's order the target has read all of them before; asked for others it reads them now.
        """
        if not self.keeps:
            self.keeps, self.known, self.leaves = True, 0 * self.known, None  # what was read before left no features
        tokens = fit(tokens, self.length - 1)
        self.settle(tokens)
        if bool((self.valid(tokens) < length).any()):
            self.read(tokens, (length - 1).clamp(min=0), 1)
        return self.features if self.features is not None else self.blank()

    def read(self, tokens: Tensor, start: Tensor, count: int, nodes: Nodes | None = None) -> Tensor:
        """Logits [B, .. + count + M, V]: of slots before `start` too where those had to be computed."""
        given, tokens = tokens, fit(tokens, self.length - 1)
        self.settle(tokens)
        end, valid = start + count, self.valid(tokens)
        missing = (end - valid).clamp(min=count)
        if self.ahead is None:
            depth = self.looked_up(given, missing, end)
        else:  # laws at and beyond the end tell nothing, so a finished row need not be known
            depth, late = count + self.ahead, missing > count + self.ahead
            self.broken = self.broken | (late & (start < self.length))
        slots = slots_before(end, depth, self.length)
        # While the new keys are written only what lies before is known, so an error leaves nothing stale.
        self.seen, self.known, self.leaves = tokens, torch.minimum(valid, slots[:, 0]), None
        logits = self.logits(tokens, slots, nodes)
        self.known = torch.where(slots[:, 0] <= valid, torch.maximum(valid, end), valid)
        return logits

    def logits(self, tokens: Tensor, slots: Tensor, nodes: Nodes | None) -> Tensor:
        """Logits [B, K + M, V], the features behind them kept if they are asked for."""
        if not self.keeps:
            return self.model.logits(tokens, slots, self.memory, *given(nodes))
        found = self.model.features(tokens, slots, self.memory, nodes)
        if self.features is None:
            self.features = self.blank()
        (slots,) = self.model.every(slots)
        self.features = put(self.features, slots, found[:, : slots.shape[1]])
        self.grown = found[:, slots.shape[1] :]
        return self.model.read(found)

    def blank(self) -> Tensor:
        """Room for the features of every slot, [R, N, D]."""
        network: Any = self.model.network
        return network.like.new_zeros(network.rows, self.length, network.width)

    def settle(self, tokens: Tensor) -> None:
        """What the last tree's nodes left behind belongs to the slots, where tokens [B, N - 1] went their way."""
        if self.leaves is None:
            return
        (nodes, count), start = self.leaves.kept(tokens, self.length), self.leaves.start
        step = torch.arange(nodes.shape[1], device=nodes.device)
        slots = torch.where(nodes > 0, start[:, None] + 1 + step, 0)  # node 0: slot 0 stays as it is
        network: Any = self.model.network
        (every_node, every_slot), self.leaves = self.model.every(nodes, slots), None
        network.move(self.memory, every_node, every_slot)
        if self.features is not None and self.grown is not None:
            whole = torch.cat([self.features[:, :1], self.grown], dim=1)
            self.features = put(self.features, every_slot, whole.gather(1, wide(every_node, whole)))
        place = torch.arange(self.seen.shape[1], device=nodes.device)
        became = (place >= start[:, None]) & (place < (start + count)[:, None])
        self.seen = torch.where(became, tokens, self.seen)
        self.known = torch.where(count > 0, start + 1 + count, self.known)

    def looked_up(self, tokens: Tensor, missing: Tensor, end: Tensor) -> int:
        """Slots to compute, as the row that misses most needs them."""
        depth, last = torch.stack([missing, end]).amax(1).tolist()
        require_width(tokens, min(last, self.length))
        return int(depth)

    def valid(self, tokens: Tensor) -> Tensor:
        """[B]: slots whose keys and values still hold; slot t needs its first t tokens unchanged."""
        return torch.minimum(self.known, unchanged(tokens, self.seen) + 1)


def unchanged(tokens: Tensor, seen: Tensor) -> Tensor:
    """First tokens of rows [B, N] that are those seen, [B]."""
    return (tokens == seen).long().cumprod(1).sum(1)


def slots_before(end: Tensor, depth: int, length: int) -> Tensor:
    """[B, depth]: the slots before end [B] of a sequence, in every row as many as the one that needs most.

    A slot that is computed again, or twice at either edge of the sequence, gets the same keys again.
    """
    ages = torch.arange(depth, 0, -1, device=end.device)
    return (end[:, None] - ages).clamp(0, length - 1)


def wide(index: Tensor, like: Tensor) -> Tensor:
    """index [R, K] for the features of `like` [R, .., D], [R, K, D]."""
    return index[..., None].expand(-1, -1, like.shape[-1])


def put(features: Tensor, slots: Tensor, found: Tensor) -> Tensor:
    """features [R, N, D] with those found [R, K, D] at slots [R, K]."""
    return features.scatter(1, wide(slots, found), found)
