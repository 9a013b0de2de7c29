"""Nodes of a tree of drafts in one forward: after the slots of a sequence, at places of a memory that no slot has."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F


class Nodes(NamedTuple):
    """tokens [R, M] that nodes hold; slots [R, M]: where each would stand, were it kept; start [R]: the last slot
    before all of them; sees [R, M, M]: which nodes a node comes after, itself included."""

    tokens: Tensor
    slots: Tensor
    start: Tensor
    sees: Tensor

    @property
    def many(self) -> int:
        """M."""
        return self.tokens.shape[1]

    def places(self, first: int) -> Tensor:
        """Places of their keys and values from `first` on, [R, M]."""
        return first + torch.arange(self.many, device=self.tokens.device).expand(len(self.tokens), -1)

    def mask(self, slots: Tensor, start: Tensor) -> Tensor:
        """What slots and nodes see, [R, 1, K + M, keys + M], from what slots see of the keys of slots, [R, 1, K, keys],
        and what the slot before the nodes sees, [R, 1, 1, keys]: no slot sees a node."""
        before = F.pad(slots, (0, self.many))
        after = torch.cat([start.expand(-1, -1, self.many, -1), self.sees[:, None]], dim=-1)
        return torch.cat([before, after], dim=2)

    def doubled(self) -> Nodes:
        """For rows that come twice, as guidance has them."""
        return Nodes(self.tokens.repeat(2, 1), self.slots.repeat(2, 1), self.start.repeat(2), self.sees.repeat(2, 1, 1))
