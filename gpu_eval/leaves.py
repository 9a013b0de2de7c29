"""The last tree a cache read: which of its nodes became final, and so are slots of the sequence now."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F


class Leaves(NamedTuple):
    """tokens [B, S] of nodes, level [B, S], way [B, S, D] (see `specsim.trees.Branches`); start [B]: tokens before."""

    tokens: Tensor
    level: Tensor
    way: Tensor
    start: Tensor

    def kept(self, tokens: Tensor, length: int) -> tuple[Tensor, Tensor]:
        """The longest way that tokens [B, T] go after `start`, among tokens before `length` - 1, the last one that a
        slot holds -> (nodes [B, D], 0 beyond its end; its length [B]).

        A row whose tokens before `start` have changed learns nothing from it: its cache looks at those first.
        """
        depth = self.way.shape[-1]
        ahead = self.start[:, None] + torch.arange(depth, device=tokens.device)
        actual = F.pad(tokens, (0, 1)).gather(1, ahead.clamp(max=tokens.shape[1]))
        held = self.tokens.gather(1, self.way.flatten(1)).unflatten(1, self.way.shape[1:])
        same = (held == actual[:, None]) | (self.way == 0)
        fits = same.all(-1) & (self.start[:, None] + self.level < length)
        reach = torch.where(fits, self.level, 0)
        deepest = reach.argmax(1, keepdim=True)
        way = self.way.gather(1, deepest[..., None].expand(-1, -1, depth))[:, 0]
        count = reach.gather(1, deepest)[:, 0]
        return torch.where(count[:, None] > 0, way, 0), count


def leaves(nodes: Tensor, start: Tensor, branches: Any) -> Leaves:
    """Of a tree that was read: nodes [B, S].  Copies, as a caller may reuse its arrays."""
    return Leaves(nodes.clone(), branches.of("level", nodes).clone(), branches.of("way", nodes), start.clone())
