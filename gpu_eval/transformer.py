"""The autoregressive image transformer of LlamaGen (Sun et al. 2024, arXiv 2406.06525), at any size.

One sequence is [class, x_0, x_1, ... x_{N-1}] with N = grid * grid. Slot 0 holds the class, slot t >= 1
holds image token t - 1, and the logits at slot t are the law of image token t. Slot N would hold the last
token, whose logits nobody asks for, so a memory has N slots. Sub-modules are named so that the state dict
has the keys of the released checkpoints. Dropout, which the release trains with, is left out: inference has
none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_eval.rotary import Rotation, rotate
from specsim.errors import SpecsimError

INITIAL_DEVIATION = 0.02  # standard deviation of every fresh matrix, as released

Pair = tuple[Tensor, Tensor]  # keys and values of one layer, each [B, N, kv_heads, head_dim]
Memory = list[Pair]


@dataclass(frozen=True)
class Config:
    """Sizes of one transformer. `class_rotation` says how slot 0 is rotated.

    "zero": cos = sin = 0 there, as in the released code. Its query and key become 0, so every later slot
    scores the class with exactly 0 (weight exp 0 before the softmax divides), and the class acts through
    its value only. "identity": slot 0 is left unrotated (cos = 1, sin = 0). `kv_heads` below `heads` shares
    each key/value head among heads / kv_heads query heads; None means `heads`.
    """

    vocab: int
    grid: int
    classes: int
    layers: int
    heads: int
    width: int
    ffn_multiple: int = 256
    norm_eps: float = 1e-5
    rope_base: float = 10000
    class_rotation: Literal["zero", "identity"] = "zero"
    kv_heads: int | None = None

    def __post_init__(self) -> None:
        if self.width % (4 * self.heads):
            raise SpecsimError(
                f"width {self.width} is not a multiple of 4 * heads = {4 * self.heads}: "
                "a head needs pairs of numbers for the row and for the column"
            )
        if self.heads % self.groups:
            raise SpecsimError(f"kv_heads {self.kv_heads} does not divide heads {self.heads}: choose a divisor")
        if self.class_rotation not in ("zero", "identity"):
            raise SpecsimError(f'class_rotation is {self.class_rotation!r}: use "zero" or "identity"')

    @property
    def length(self) -> int:
        return self.grid * self.grid

    @property
    def groups(self) -> int:
        """Number of key/value heads."""
        return self.heads if self.kv_heads is None else self.kv_heads

    @property
    def head_dim(self) -> int:
        return self.width // self.heads

    @property
    def hidden(self) -> int:
        """2/3 * 4 * width, rounded up to a multiple of ffn_multiple."""
        return -(-int(2 * 4 * self.width / 3) // self.ffn_multiple) * self.ffn_multiple


def _published(layers: int, heads: int, width: int) -> Config:
    return Config(vocab=16384, grid=24, classes=1000, layers=layers, heads=heads, width=width)


# Published class-to-image sizes at 384 pixels: layout read from the code, not run on published weights.
LLAMAGEN = {
    "B": _published(12, 12, 768),
    "L": _published(24, 16, 1024),
    "XL": _published(36, 20, 1280),
    "XXL": _published(48, 24, 1536),
    "3B": _published(24, 32, 3200),
}


class Place(NamedTuple):
    """Where the vectors of one forward stand: what is the same in every layer."""

    slots: Tensor  # [B, K]
    turn: tuple[Tensor, Tensor]  # cos and sin, each [B, K, 1, head_dim]
    mask: Tensor  # [B, 1, K, keys], true where a query may see a key


class Attention(nn.Module):
    """Causal self-attention by slot number: a query at slot t sees the keys of slots <= t."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.wqkv = nn.Linear(config.width, (config.heads + 2 * config.groups) * config.head_dim, bias=False)
        self.wo = nn.Linear(config.width, config.width, bias=False)

    def forward(self, x: Tensor, place: Place, memory: Pair | None) -> Tensor:
        heads, groups = self.config.heads, self.config.groups
        mixed = self.wqkv(x).unflatten(-1, (heads + 2 * groups, -1))
        turned = rotate(mixed[:, :, : heads + groups], *place.turn)
        query, key, value = turned[:, :, :heads], turned[:, :, heads:], mixed[:, :, heads + groups :]
        if memory is not None:
            key, value = remember(memory, place.slots, key, value)
        if groups != heads:
            key, value = (part.repeat_interleave(heads // groups, dim=2) for part in (key, value))
        query, key, value = (part.transpose(1, 2) for part in (query, key, value))
        seen = F.scaled_dot_product_attention(query, key, value, attn_mask=place.mask)
        return self.wo(seen.transpose(1, 2).flatten(2))


def remember(memory: Pair, slots: Tensor, key: Tensor, value: Tensor) -> Pair:
    """Write key and value [B, K, H, d] at slots [B, K] of the memory, in place; returns all of it."""
    rows = torch.arange(len(slots), device=slots.device)[:, None]
    for whole, part in zip(memory, (key, value), strict=True):
        whole[rows, slots] = part.to(whole.dtype)
    return memory


class FeedForward(nn.Module):
    """SwiGLU: w2(silu(w1 x) * w3 x)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.w1 = nn.Linear(config.width, config.hidden, bias=False)
        self.w3 = nn.Linear(config.width, config.hidden, bias=False)
        self.w2 = nn.Linear(config.hidden, config.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Layer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.attention = Attention(config)
        self.feed_forward = FeedForward(config)
        self.attention_norm = nn.RMSNorm(config.width, eps=config.norm_eps)
        self.ffn_norm = nn.RMSNorm(config.width, eps=config.norm_eps)

    def forward(self, x: Tensor, place: Place, memory: Pair | None) -> Tensor:
        x = x + self.attention(self.attention_norm(x), place, memory)
        return x + self.feed_forward(self.ffn_norm(x))


class ClassEmbedding(nn.Module):
    """classes + 1 vectors; the last one is the unconditional class."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embedding_table = nn.Embedding(config.classes + 1, config.width)

    def forward(self, labels: Tensor) -> Tensor:
        return self.embedding_table(labels)


class Transformer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.cls_embedding = ClassEmbedding(config)
        self.tok_embeddings = nn.Embedding(config.vocab, config.width)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = nn.RMSNorm(config.width, eps=config.norm_eps)
        self.output = nn.Linear(config.width, config.vocab, bias=False)
        self.rotation = Rotation(config.grid, config.head_dim, config.rope_base, config.class_rotation)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=INITIAL_DEVIATION)

    def embed(self, tokens: Tensor, labels: Tensor, slots: Tensor) -> Tensor:
        """Input vectors [B, K, D] of slots [B, K]: the class at slot 0, tokens[:, t - 1] at slot t."""
        held = self.tok_embeddings(F.pad(tokens, (1, 0)).gather(1, slots))
        return torch.where((slots == 0)[..., None], self.cls_embedding(labels)[:, None], held)

    def forward(self, x: Tensor, slots: Tensor, memory: Memory | None = None) -> Tensor:
        """Logits [B, K, V] of slots [B, K] with input vectors x [B, K, D].

        Without a memory the slots see each other only. With one (see `blank_memory`) they are written to it
        first and see all of its slots up to their own, so the slots before must have been written already.
        """
        keys = slots if memory is None else torch.arange(self.config.length, device=slots.device)[None]
        mask = (keys[:, None, :] <= slots[:, :, None])[:, None]
        place = Place(slots, self.rotation(slots), mask)
        for number, layer in enumerate(self.layers):
            x = layer(x, place, memory[number] if memory else None)
        return self.output(self.norm(x))


def blank_memory(config: Config, rows: int, like: Tensor) -> Memory:
    """Zeroed keys and values for `rows` sequences, in the dtype and on the device of `like`."""
    shape = (rows, config.length, config.groups, config.head_dim)
    return [(like.new_zeros(shape), like.new_zeros(shape)) for _ in range(config.layers)]
