"""Attention of LlamaGen's transformer: which places see which, and where their keys and values are kept."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_eval.rotary import rotate

Pair = tuple[Tensor, Tensor]  # keys and values of one layer, each [B, places, kv_heads, head_dim]


class Place(NamedTuple):
    """Where the vectors of one forward stand: what is the same in every layer."""

    number: Tensor  # [B, K]
    turn: tuple[Tensor, Tensor]  # cos and sin, each [B, K, 1, head_dim]
    mask: Tensor  # [B, 1, K, keys], true where a query may see a key


class Attention(nn.Module):
    """Causal self-attention by place (see `visible`); `groups` key/value heads for `heads` query heads."""

    def __init__(self, width: int, heads: int, groups: int) -> None:
        super().__init__()
        self.heads, self.groups = heads, groups
        self.wqkv = nn.Linear(width, (heads + 2 * groups) * (width // heads), bias=False)
        self.wo = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, place: Place, memory: Pair | None) -> Tensor:
        heads, groups = self.heads, self.groups
        mixed = self.wqkv(x).unflatten(-1, (heads + 2 * groups, -1))
        turned = rotate(mixed[:, :, : heads + groups], *place.turn)
        query, key, value = turned[:, :, :heads], turned[:, :, heads:], mixed[:, :, heads + groups :]
        if memory is not None:
            key, value = remember(memory, place.number, key, value)
        if groups != heads:
            key, value = (part.repeat_interleave(heads // groups, dim=2) for part in (key, value))
        query, key, value = (part.transpose(1, 2) for part in (query, key, value))
        seen = F.scaled_dot_product_attention(query, key, value, attn_mask=place.mask)
        return self.wo(seen.transpose(1, 2).flatten(2))


def remember(memory: Pair, places: Tensor, key: Tensor, value: Tensor) -> Pair:
    """Write key and value [B, K, H, d] at places [B, K] of the memory, in place; returns all of it."""
    rows = torch.arange(len(places), device=places.device)[:, None]
    for whole, part in zip(memory, (key, value), strict=True):
        whole[rows, places] = part.to(whole.dtype)
    return memory


def visible(places: Tensor, keys: Tensor, present: Tensor | None) -> Tensor:
    """Which keys [B or 1, keys] a place [B, K] sees, [B, 1, K, keys]: those up to its own that are `present`.

    present [B, places of a memory]. Every place sees itself, there or not: a row of no keys at all would be NaN.
    """
    seen = keys[:, None, :] <= places[:, :, None]
    if present is not None:
        there = present.gather(1, keys.expand(len(present), -1))
        seen = seen & there[:, None] | (keys[:, None, :] == places[:, :, None])
    return seen[:, None]
