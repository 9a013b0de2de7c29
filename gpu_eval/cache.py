"""Remembering keys and values between calls. The laws stay those of the plain model; only the time changes.

Nobody tells the cache what a decoder kept or threw away: it compares the tokens with those it has seen, row
by row, and recomputes from the first difference. A window that moved on costs exactly `count` slots,
because the slots before its start are known and those from its start on are asked for anyway.

How many slots a call must compute is known on the device only, so to make a shape of it the host waits.  A decoder
that asks in its own order never needs more than `ahead` before those it asks for: 0 where the model verifies, 1 where
it drafts (the last draft kept was never read).  Told so, a call waits for nothing; the promise is checked on the device
and read with the laws' own checks (`broken`).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gpu_eval.network import ImageModel, fit, require_rows, require_width
from gpu_eval.nodes import Nodes


class Cached:
    """Same call and attributes as the model it wraps. Holds state: one for each run and each thread.

    ahead: most slots before `start` that a call may have to compute; None: any number, and each call waits for it.
    """

    def __init__(self, model: ImageModel, ahead: int | None = None) -> None:
        self.model, self.ahead = model, ahead
        self.vocab, self.length = model.vocab, model.length
        self.codebook, self.uniform, self.checked = model.codebook, model.uniform, model.checked
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

    def __call__(self, tokens: Tensor, start: Tensor, count: int) -> Tensor:
        """laws [B, count, V]. Waits for the device at most once, for the number of slots to compute (a shape)."""
        require_rows(self.model.rows, tokens, start)
        given, tokens = tokens, fit(tokens, self.length - 1)
        end, valid = start + count, self.valid(tokens)
        missing = (end - valid).clamp(min=count)
        if self.ahead is None:
            depth = self.looked_up(given, missing, end)
        else:  # laws at and beyond the end tell nothing, so a finished row need not be known
            depth, late = count + self.ahead, missing > count + self.ahead
            self.broken = self.broken | (late & (start < self.length))
        slots = self.slots(end, depth)
        # While the new keys are written only what lies before is known, so an error leaves nothing stale.
        self.seen, self.known = tokens, torch.minimum(valid, slots[:, 0])
        logits = self.model.logits(tokens, slots, self.memory)
        self.known = torch.where(slots[:, 0] <= valid, torch.maximum(valid, end), valid)
        return self.model.laws(logits[:, depth - count :], start)

    def read_tree(self, tokens: Tensor, start: Tensor, nodes: Tensor, branches: Any) -> Tensor:
        """Laws [B, S, V] of what comes after each node of a tree: node 0 is the tokens before `start` [B], nodes [B, S]
        the token of every other.  One forward.

        The nodes' keys go to places of their own and nothing of them is kept: what becomes final is read again.
        """
        level = branches.of("level", nodes)[:, 1:]
        if self.room < branches.size - 1:
            self.forget(branches.size - 1)
        tokens, end = fit(tokens, self.length - 1), start + 1
        valid = self.valid(tokens)
        depth = self.looked_up(tokens, (end - valid).clamp(min=1), end)
        slots = self.slots(end, depth)
        sees = branches.of("sees", nodes)[:, 1:, 1:]
        last = start.clamp(max=self.length - 1)
        tree = Nodes(nodes[:, 1:], last[:, None] + level, last, sees)
        self.seen, self.known = tokens, torch.minimum(valid, slots[:, 0])
        logits = self.model.logits(tokens, slots, self.memory, tree)
        self.known = torch.maximum(valid, end)
        return self.model.laws(logits[:, depth - 1 :], start)

    def looked_up(self, tokens: Tensor, missing: Tensor, end: Tensor) -> int:
        """Slots to compute, as the row that misses most needs them."""
        depth, last = torch.stack([missing, end]).amax(1).tolist()
        require_width(tokens, min(last, self.length))
        return int(depth)

    def valid(self, tokens: Tensor) -> Tensor:
        """[B]: slots whose keys and values still hold; slot t needs its first t tokens unchanged."""
        unchanged = (tokens == self.seen).long().cumprod(1).sum(1)
        return torch.minimum(self.known, unchanged + 1)

    def slots(self, end: Tensor, depth: int) -> Tensor:
        """[B, depth]: the slots before `end`, in every row as many as the one that needs most.

        A slot that is computed again, or twice at either edge of the sequence, gets the same keys again.
        """
        ages = torch.arange(depth, 0, -1, device=end.device)
        return (end[:, None] - ages).clamp(0, self.length - 1)
