"""A draft model made of a trained head: it reads the target's features of final tokens, and its own guesses after them.

So its laws depend on where a round began: a decoder says so by `since(length)` (`specsim.decoding.drafting`).  Asked
plainly it is in the first step of a round at every position: all features are the target's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from gpu_eval.cache import Cached, put, slots_before, unchanged, wide
from gpu_eval.head import Head, shifted
from gpu_eval.labelled import Labelled
from gpu_eval.network import fit, require_rows
from gpu_eval.nodes import Nodes
from gpu_eval.transformer import blank_memory
from specsim.errors import SpecsimError


class Guessed(NamedTuple):
    """Nodes of the last tree: tokens, parent [B, S], start [B], levels, and the guess of each [R, S, D]."""

    tokens: Tensor
    parent: Tensor
    start: Tensor
    depth: int
    guesses: Tensor

    def begins(self, tokens: Tensor, parent: Tensor, level: Tensor, start: Tensor) -> bool:
        """Whether a tree is this one with deeper nodes after it."""
        size = self.tokens.shape[1]
        if tokens.shape[1] < size or not torch.equal(start, self.start):
            return False
        same = torch.equal(tokens[:, 1:size], self.tokens[:, 1:]) and torch.equal(parent[:, :size], self.parent)
        return same and bool((level[:, size:] > self.depth).all())


class Eagle:
    """`model(tokens [B, T], start [B], count) -> laws [B, count, V]`, guided and processed as the target's.

    target: the one that verifies these drafts, whose cache the features come from.  Holds state, as `Cached` does.
    """

    def __init__(self, head: Head, target: Cached) -> None:
        network = target.model.network
        if not isinstance(network, Labelled) or network.net.config != head.config:
            raise SpecsimError("a head drafts for the network whose features it was trained on, and for no other")
        self.head, self.target, self.network, self.model = head, target, network, target.model
        self.vocab, self.length, self.uniform = target.vocab, target.length, target.uniform
        self.codebook, self.checked = target.codebook, target.checked
        self.forget()

    def forget(self, room: int = 0) -> None:
        """Know nothing, as when new; room for so many nodes of a tree."""
        like, rows, self.room = self.network.like, self.model.rows, room
        [self.memory] = blank_memory(self.head.config, self.network.rows, like, room)[:1]
        self.seen = torch.zeros(rows, self.length - 1, dtype=torch.int64, device=like.device)
        self.known = self.seen.new_zeros(rows)  # slots 0 .. known - 1 hold guesses after the seen tokens,
        self.final = self.seen.new_zeros(rows)  # made while so many of them were final
        self.guesses = like.new_zeros(self.network.rows, self.length, self.head.config.width)
        self.nodes: Guessed | None = None

    def __call__(self, tokens: Tensor, start: Tensor, count: int) -> Tensor:
        """Each law as the first one of a round that begins there."""
        return torch.cat([self.laws(tokens, start + i, start + i, 1) for i in range(count)], dim=1)

    def since(self, length: Tensor) -> Since:
        """How it drafts while the first length [B] tokens are final."""
        return Since(self, length)

    def laws(self, tokens: Tensor, length: Tensor, start: Tensor, count: int) -> Tensor:
        """Laws [B, count, V] while the first length [B] tokens are final."""
        require_rows(self.model.rows, tokens, start)
        self.read(tokens, length, start + count)
        slots = (start[:, None] + torch.arange(count, device=start.device)).clamp(max=self.length - 1)
        (every,) = self.model.every(slots)
        return self.model.laws(self.model.read(self.guesses.gather(1, wide(every, self.guesses))), start)

    def tree(self, tokens: Tensor, start: Tensor, nodes: Tensor, branches: Any) -> Tensor:
        """Laws [B, S, V] of what comes after each node (see `Cached.read_tree`): a forward for each new level."""
        require_rows(self.model.rows, tokens, start)
        if self.room < branches.size - 1:
            self.forget(branches.size - 1)
        features = self.read(tokens, start, start + 1)
        level, parent = (branches.of(name, nodes) for name in ("level", "parent"))
        last = start.clamp(max=self.length - 1)
        sees, (held, depth) = branches.of("sees", nodes)[:, 1:, 1:], self.held(nodes, parent, level, start)
        new = self.nodes.tokens.shape[1] if self.nodes is not None and depth else 1  # the first node without a guess
        asked = Nodes(nodes[:, new:], last[:, None] + level[:, new:], last, sees[:, new - 1 :])
        (up,) = self.model.every(parent[:, new:])
        for _ in range(depth, branches.depth):  # deeper nodes read nothing yet: their guess is made again
            found = self.guess(last[:, None], features, asked, held.gather(1, wide(up, held)))
            held = torch.cat([held[:, :new], found[:, 1:]], dim=1)
        self.nodes = Guessed(nodes.clone(), parent.clone(), start.clone(), branches.depth, held)
        return self.model.laws(self.model.read(held), start)

    def held(self, nodes: Tensor, parent: Tensor, level: Tensor, start: Tensor) -> tuple[Tensor, int]:
        """Guesses of nodes [R, S, D], node 0 being slot `start`, and how many levels of them are known already."""
        (slot,) = self.model.every(start[:, None].clamp(max=self.length - 1))
        before, size = self.nodes, nodes.shape[1]
        if before is not None and before.begins(nodes, parent, level, start):
            return F.pad(before.guesses, (0, 0, 0, size - before.guesses.shape[1])), before.depth
        return F.pad(self.guesses.gather(1, wide(slot, self.guesses)), (0, 0, 0, size - 1)), 0

    def read(self, tokens: Tensor, length: Tensor, end: Tensor) -> Tensor:
        """Know the guesses of all slots before end [B]: at once up to the first draft's, then one after another.  Gives
        the target's features [R, N, D]."""
        features = self.target.final_features(tokens, length.clamp(max=self.length))
        tokens = fit(tokens, self.length - 1)
        self.known = valid = self.valid(tokens, length)
        self.seen, self.final = tokens, length.clone()  # a caller may reuse its arrays
        first = (length + 1).clamp(max=self.length)
        missing = torch.where(valid < self.length, first - valid, -self.length)  # a row known to its end misses nothing
        behind, deepest = torch.stack([missing, end - length - 1]).amax(1).tolist()
        if behind > 0:
            self.nodes = None
            self.guess(slots_before(first, behind, self.length), features)
        for step in range(1 + max(0, -behind), deepest + 1):
            self.guess(slots_before(length + 1 + step, 1, self.length), features)
        self.known = torch.maximum(valid, torch.maximum(length + 1, end))
        return features

    def valid(self, tokens: Tensor, length: Tensor) -> Tensor:
        """[B]: slots whose guesses hold.  After slot `length` they do if the same tokens were final then."""
        valid = torch.minimum(self.known, unchanged(tokens, self.seen) + 1)
        return torch.where(self.final == length, valid, torch.minimum(valid, torch.minimum(self.final, length) + 1))

    def before(self, slots: Tensor, features: Tensor) -> Tensor:
        """What the head reads of the slots before all rows' slots [R, K], [R, K, D]: a feature of a final token, or a
        guess."""
        (final,) = self.model.every(self.final)
        made, guessed = (shifted(some).gather(1, wide(slots, some)) for some in (features, self.guesses))
        return torch.where(slots[..., None] <= final[:, None, None], made, guessed)

    @torch.no_grad()
    def guess(self, slots: Tensor, features: Tensor, nodes: Nodes | None = None, above: Tensor | None = None) -> Tensor:
        """Guesses of slots [B, K], and of nodes from those above them [R, M, D]: [R, K + M, D]."""
        net, keys = self.network.net, torch.arange(self.head.config.places, device=slots.device)[None]
        slots, tokens = self.model.every(slots, self.seen)
        before, place = self.before(slots, features), net.standing(slots, keys, None)
        if nodes is not None and above is not None:
            nodes = nodes.doubled() if self.model.processing.guided else nodes
            before, place = torch.cat([before, above], dim=1), net.with_nodes(place, nodes, keys, None)
        place = place._replace(mask=F.pad(place.mask, (0, self.memory[0].shape[1] - place.mask.shape[-1])))
        vectors = net.with_tokens(self.network.embed(tokens, slots), nodes)
        found = self.head(vectors, before, place, self.memory)
        self.guesses = put(self.guesses, slots, found[:, : slots.shape[1]])
        return found


@dataclass(frozen=True)
class Since:
    """The drafts of one round: the first `length` [B] tokens are final."""

    eagle: Eagle
    length: Tensor

    def __call__(self, tokens: Tensor, start: Tensor, count: int) -> Tensor:
        return self.eagle.laws(tokens, self.length, start, count)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.eagle, name)
