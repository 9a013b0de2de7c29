"""Nodes of a tree of drafts in one forward: after the slots of a sequence, at places of a memory that no slot has."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F


class Nodes(NamedTuple):
    """tokens [R, M] that nodes hold; slots [R, M]: where each would stand, were it kept; start [R]: the last slot
    before all of them; sees [R, M, T]: which nodes a node comes after, itself included.

    T may be more than M: the last M nodes of a tree then, whose others are in the memory already.
    """

    tokens: Tensor
    slots: Tensor
    start: Tensor
    sees: Tensor

    @property
    def many(self) -> int:
        """M."""
        return self.tokens.shape[1]

    def places(self, first: int) -> Tensor:
        """Places of their keys and values, [R, M]; `first`: of the tree's first node."""
        known = self.sees.shape[-1] - self.many
        return first + known + torch.arange(self.many, device=self.tokens.device).expand(len(self.tokens), -1)

    def mask(self, slots: Tensor, start: Tensor) -> Tensor:
        """What slots and nodes see, [R, 1, K + M, keys + T], from what slots see of the keys of slots, [R, 1, K, keys],
        and what the slot before the nodes sees, [R, 1, 1, keys]: no slot sees a node."""
        before = F.pad(slots, (0, self.sees.shape[-1]))
        after = torch.cat([start.expand(-1, -1, self.many, -1), self.sees[:, None]], dim=-1)
        return torch.cat([before, after], dim=2)

    def doubled(self) -> Nodes:
        """For rows that come twice, as guidance has them."""
        return Nodes(self.tokens.repeat(2, 1), self.slots.repeat(2, 1), self.start.repeat(2), self.sees.repeat(2, 1, 1))
