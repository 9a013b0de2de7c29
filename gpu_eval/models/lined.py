"""Forced ends of lines: a model whose sequence has a token after every row of an image that nobody draws.

Decoders see image tokens only, so what is forced is never drafted, never verified and never counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gpu_eval.network import Memory, Network


@dataclass(frozen=True)
class Lined:
    """`network` reads lines of `width` image tokens with the token `end` between two of them; this one has none.

    The inner network's length is that with the ends between lines, and its embedding knows `end`.  In its sequence the
    law of image token t is at slot t + t // width; where t begins a line, the end of the last one is read there.
    """

    network: Network
    width: int
    end: int
    length: int

    @property
    def rows(self) -> int:
        return self.network.rows

    @property
    def vocab(self) -> int:
        return self.network.vocab

    @property
    def like(self) -> Tensor:
        return self.network.like

    def memory(self) -> Memory:
        """The inner network's."""
        return self.network.memory()

    def logits(self, tokens: Tensor, slots: Tensor, memory: Memory | None = None) -> Tensor:
        """tokens [R, length - 1], slots [R, K] -> logits [R, K, V] at the inner slots of these tokens' laws.

        With a memory every inner slot since the one before slots[:, 0] is written: K and the ends among them.
        """
        inner, count = self.inner(slots), slots.shape[1]
        depth = count + -(-count // self.width) if memory is not None else int(inner[0, -1]) + 1
        first = inner[:, -1:] - depth + 1
        asked = first + torch.arange(depth, device=slots.device)
        logits = self.network.logits(self.with_ends(tokens), asked.clamp(min=0), memory)
        return logits.gather(1, (inner - first)[..., None].expand(-1, -1, logits.shape[-1]))

    def inner(self, slots: Tensor) -> Tensor:
        """Inner slots of slots [R, K]."""
        return slots + slots // self.width

    def with_ends(self, tokens: Tensor) -> Tensor:
        """tokens [R, length - 1] -> the inner network's, [R, inner length - 1]."""
        place = torch.arange(self.network.length - 1, device=tokens.device)
        held = tokens[:, (place - place // (self.width + 1)).clamp(max=tokens.shape[1] - 1)]
        return torch.where(place % (self.width + 1) == self.width, self.end, held)
