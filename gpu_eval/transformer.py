"""The autoregressive image transformer of LlamaGen (Sun et al. 2024, arXiv 2406.06525), at any size.

One sequence is [prompt, x_0, x_1, ... x_{N-1}] with N = grid * grid; the prompt is P vectors, one for a class and
120 for a caption. Slot 0 is the prompt's last vector, slot t >= 1 holds image token t - 1, and the logits at slot
t are the law of image token t; slot t is at place P - 1 + t of the sequence, so for a class slots and places are
the same. Slot N would hold the last token, whose logits nobody asks for, so a memory has P - 1 + N places.
Sub-modules are named so that the state dict has the keys of the released checkpoints. Dropout, which the release
trains with, is left out: inference has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_eval.attention import Attention, Pair, Place, visible
from gpu_eval.conditions import CaptionEmbedding, ClassEmbedding
from gpu_eval.nodes import Nodes
from gpu_eval.rotary import Rotation
from specsim.errors import SpecsimError

INITIAL_DEVIATION = 0.02  # standard deviation of every fresh matrix, as released

Memory = list[Pair]  # of every layer


@dataclass(frozen=True)
class Config:
    """Sizes of one transformer. `class_rotation` says how the prompt is rotated.

    "zero": cos = sin = 0 there, as in the released code. Its queries and keys become 0, so every later place
    scores the prompt's with exactly 0 (weight exp 0 before the softmax divides), and the prompt acts through
    its values only. "identity": the prompt is left unrotated (cos = 1, sin = 0). `kv_heads` below `heads` shares
    each key/value head among heads / kv_heads query heads; None means `heads`. With a `caption_width` the prompt
    is a caption of `prompt` vectors of that width, and `classes` is not read.
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
    prompt: int = 1
    caption_width: int | None = None

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
        if self.prompt < 1 or (self.caption_width is None and self.prompt > 1):
            raise SpecsimError(f"prompt is {self.prompt}: a class is 1 vector, a caption has a caption_width too")

    @property
    def length(self) -> int:
        return self.grid * self.grid

    @property
    def places(self) -> int:
        """Of a memory."""
        return self.prompt - 1 + self.length

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


class Norm(nn.Module):
    """x / rms(x) in float32 or better, rounded to the type of x before the weight multiplies, as released.

    `nn.RMSNorm` rounds after it: the same bits in float32, other ones at every fourth number in half precision.
    """

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        precise = x.to(torch.promote_types(x.dtype, torch.float32))
        return F.rms_norm(precise, self.weight.shape, eps=self.eps).to(x.dtype) * self.weight


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
        self.attention = Attention(config.width, config.heads, config.groups)
        self.feed_forward = FeedForward(config)
        self.attention_norm = Norm(config.width, config.norm_eps)
        self.ffn_norm = Norm(config.width, config.norm_eps)

    def forward(self, x: Tensor, place: Place, memory: Pair | None) -> Tensor:
        x = x + self.attention(self.attention_norm(x), place, memory)
        return x + self.feed_forward(self.ffn_norm(x))


class Transformer(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.cls_embedding = (
            ClassEmbedding(config.classes, config.width)
            if config.caption_width is None
            else CaptionEmbedding(config.prompt, config.caption_width, config.width)
        )
        self.tok_embeddings = nn.Embedding(config.vocab, config.width)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = Norm(config.width, config.norm_eps)
        self.output = nn.Linear(config.width, config.vocab, bias=False)
        self.rotation = Rotation(config.grid, config.head_dim, config.rope_base, config.class_rotation, config.prompt)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=INITIAL_DEVIATION)

    def embed(self, tokens: Tensor, labels: Tensor, slots: Tensor) -> Tensor:
        """Input vectors [B, K, D] of slots [B, K]: the class at slot 0, tokens[:, t - 1] at slot t."""
        return self.after(self.cls_embedding(labels), tokens, slots)

    def after(self, last: Tensor, tokens: Tensor, slots: Tensor) -> Tensor:
        """The same with any vector `last` [B, D] at slot 0, the last of a prompt."""
        held = self.tok_embeddings(F.pad(tokens, (1, 0)).gather(1, slots))
        return torch.where((slots == 0)[..., None], last[:, None], held)

    def forward(
        self,
        x: Tensor,
        places: Tensor,
        memory: Memory | None = None,
        present: Tensor | None = None,
        nodes: Nodes | None = None,
    ) -> Tensor:
        """Logits [B, K, V] of places [B, K] with input vectors x [B, K, D]: `hidden`, and the output layer.

        Of nodes of a tree, M, too: [B, K + M, V]. They need a memory with so much more room.
        """
        return self.logits(self.hidden(self.with_tokens(x, nodes), places, memory, present, nodes))

    def with_tokens(self, x: Tensor, nodes: Nodes | None) -> Tensor:
        """Input vectors x [B, K, D], and those of nodes after them."""
        return x if nodes is None else torch.cat([x, self.tok_embeddings(nodes.tokens)], dim=1)

    def logits(self, hidden: Tensor) -> Tensor:
        return self.output(self.norm(hidden))

    def hidden(
        self,
        x: Tensor,
        places: Tensor,
        memory: Memory | None = None,
        present: Tensor | None = None,
        nodes: Nodes | None = None,
    ) -> Tensor:
        """What the layers make [B, K, D] of input vectors x [B, K, D] at places [B, K].

        Without a memory the places see each other only. With one (see `blank_memory`) they are written to it
        first and see all of its places up to their own, so those before must have been written already. No place
        sees those that are not `present` [B, places of a memory], but for itself; None: all are.
        """
        keys = places if memory is None else torch.arange(self.config.places, device=places.device)[None]
        place = self.standing(places, keys, present)
        if nodes is not None:
            place = self.with_nodes(place, nodes, keys, present)
        if memory is not None:  # nobody sees room that no node takes
            place = place._replace(mask=F.pad(place.mask, (0, memory[0][0].shape[1] - place.mask.shape[-1])))
        for number, layer in enumerate(self.layers):
            x = layer(x, place, memory[number] if memory else None)
        return x

    def standing(self, places: Tensor, keys: Tensor, present: Tensor | None) -> Place:
        """Where vectors at places [B, K] stand, and what they see of keys."""
        return Place(places, self.rotation(places), visible(places, keys, present))

    def with_nodes(self, place: Place, nodes: Nodes, keys: Tensor, present: Tensor | None) -> Place:
        """The same with nodes after them: a node is turned as its slot would be, and kept beyond all places."""
        before = self.config.places - self.config.length
        start = visible(before + nodes.start[:, None], keys, present)
        turned = self.rotation((before + nodes.slots).clamp(max=self.config.places - 1))
        turn = tuple(torch.cat(pair, dim=1) for pair in zip(place.turn, turned, strict=True))
        number = torch.cat([place.number, nodes.places(self.config.places)], dim=1)
        return Place(number, turn, nodes.mask(place.mask, start))  # type: ignore[arg-type]


def blank_memory(config: Config, rows: int, like: Tensor, extra: int = 0) -> Memory:
    """Zeroed keys and values for `rows` sequences and as many nodes of a tree as `extra`, in the dtype and on the
    device of `like`."""
    shape = (rows, config.places + extra, config.groups, config.head_dim)
    return [(like.new_zeros(shape), like.new_zeros(shape)) for _ in range(config.layers)]
