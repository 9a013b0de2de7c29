"""An image transformer as specsim sees a model: (tokens, start, count) -> laws, a pure function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from gpu_eval.nodes import Nodes
from gpu_eval.processing import Processing, at_least_float32, guide, law, require_finite
from specsim.errors import SpecsimError

Memory = Any
"""Keys and values of every layer, of all rows; made by `Network.memory`, written in place by `Network.logits`."""


class Network(Protocol):
    """A transformer and the prompts of its rows: image tokens in, logits of image tokens out.

    Slot 0 is the end of the prompt and slot t >= 1 holds image token t - 1; the logits at slot t are those of image
    token t.  Where prompt and image stand in the transformer's own sequence, and in which ids, is its own business.

    rows: of the batch, unconditional ones included; vocab: image tokens; length: of an image; like: a tensor of the
    numbers and on the device that the network computes with.
    """

    @property
    def rows(self) -> int: ...

    @property
    def vocab(self) -> int: ...

    @property
    def length(self) -> int: ...

    @property
    def like(self) -> Tensor: ...

    def memory(self) -> Memory:
        """Room for keys and values, those of the prompt (but for slot 0) already in it.

        A network that reads trees has `reads_trees = True`, `memory(extra)` with room for so many nodes, and
        `move(memory, nodes [R, K], slots [R, K])`, which makes the keys and values of nodes, 1 .. M, those of slots;
        where the node is 0 nothing happens.

        A network whose features a head can draft from (`gpu_eval.eagle`) has `features`, as `logits` but before its
        output layer, [R, K, D]; `read`, features to logits; `embed(tokens, slots)`, its input vectors [R, K, D]; and
        `width`, D.
        """

    def logits(self, tokens: Tensor, slots: Tensor, memory: Memory | None = None) -> Tensor:
        """tokens [R, length - 1], slots [R, K], ascending in every row, -> logits [R, K, V].

        A network that reads trees takes `nodes`, M of them, too, and gives [R, K + M, V].

        Without a memory the slots must be 0 .. K - 1.  With one they are written to it first and see what it holds of
        the slots before, so those must have been written already; a slot that comes twice is written twice.
        """


@dataclass(frozen=True)
class ImageModel:
    """`model(tokens [B, T], start [B], count) -> laws [B, count, V]`, V image tokens.

    laws[b, j] is the processed law of image token start[b] + j given tokens[b, : start[b] + j]. Later
    tokens are ignored and may hold anything. At and beyond `length` there is nothing to know: the law of
    the last token stands in. This plain form recomputes the whole sequence at every call;
    `gpu_eval.cache.Cached` is faster.

    With guidance the network has 2 B rows: those with the prompts, then the same ones without.
    """

    network: Network
    processing: Processing
    codebook: Tensor | None = None  # [V, latent]
    checked: bool = True  # stop at NaN or infinite logits; costs one wait for the device a call

    def __post_init__(self) -> None:
        if self.processing.guided and self.network.rows % 2:
            raise SpecsimError(f"guidance needs as many unconditional rows as others, not {self.network.rows} in all")

    @property
    def rows(self) -> int:
        return self.network.rows // (2 if self.processing.guided else 1)

    @property
    def vocab(self) -> int:
        return self.network.vocab

    @property
    def length(self) -> int:
        return self.network.length

    @property
    def uniform(self) -> Tensor:
        """The uniform law [V], in the type and on the device of the laws."""
        like = self.network.like
        dtype = torch.promote_types(like.dtype, torch.float32)
        return torch.full((self.vocab,), 1 / self.vocab, dtype=dtype, device=like.device)

    def __call__(self, tokens: Tensor, start: Tensor, count: int) -> Tensor:
        require_rows(self.rows, tokens, start)
        end = start + count
        require_width(tokens, min(int(end.max()), self.length))
        ids = torch.arange(self.length - 1, device=tokens.device)
        tokens = torch.where(ids < end[:, None] - 1, fit(tokens, self.length - 1), 0)
        slots = torch.arange(self.length, device=tokens.device).expand(len(tokens), -1)
        wanted = (start[:, None] + torch.arange(count, device=tokens.device)).clamp_max(self.length - 1)
        logits = self.logits(tokens, slots)
        return self.laws(logits.gather(1, wanted[..., None].expand(-1, -1, logits.shape[-1])), start)

    @torch.no_grad()
    def logits(self, tokens: Tensor, slots: Tensor, memory: Memory | None = None, nodes: Nodes | None = None) -> Tensor:
        """Guided logits [B, K, V] of slots [B, K]; unconditional rows join as one doubled batch."""
        return self.guided(self.network.logits(*self.asked(tokens, slots, memory, nodes)))

    @torch.no_grad()
    def features(self, tokens: Tensor, slots: Tensor, memory: Memory, nodes: Nodes | None = None) -> Tensor:
        """Features [R, K + M, D] of all rows, unconditional ones too, of a network that has them."""
        network: Any = self.network
        return network.features(*self.asked(tokens, slots, memory, nodes))

    @torch.no_grad()
    def read(self, features: Tensor) -> Tensor:
        """Guided logits [B, K, V] of features [R, K, D]."""
        network: Any = self.network
        return self.guided(network.read(features))

    def asked(self, tokens: Tensor, slots: Tensor, memory: Memory | None, nodes: Nodes | None) -> tuple[Any, ...]:
        """What the network is asked: with guidance every row twice."""
        if not self.processing.guided:
            return tokens, slots, memory, *given(nodes)
        return *self.every(tokens, slots), memory, *given(None if nodes is None else nodes.doubled())

    def every(self, *some: Tensor) -> tuple[Tensor, ...]:
        """Tensors [B, ...] for all rows of the network, [R, ...]."""
        return tuple(torch.cat([one, one]) for one in some) if self.processing.guided else some

    def guided(self, logits: Tensor) -> Tensor:
        """logits [R, K, V] -> [B, K, V]."""
        if not self.processing.guided:
            return logits
        # Guidance multiplies: in half precision a large logit would overflow.
        conditional, unconditional = at_least_float32(logits).chunk(2)
        return guide(conditional, unconditional, self.processing.guidance)

    def laws(self, logits: Tensor, start: Tensor) -> Tensor:
        if self.checked:
            require_finite(logits, start)
        return law(logits, self.processing)


def given(nodes: Nodes | None) -> tuple[Any, ...]:
    """An argument for networks that read trees, none for others."""
    return () if nodes is None else (nodes,)


def fit(tokens: Tensor, width: int) -> Tensor:
    """tokens [B, T] cut or filled with 0 to [B, width]: what is cut or filled is never read."""
    return F.pad(tokens, (0, width - tokens.shape[1]))


def require_rows(rows: int, tokens: Tensor, start: Tensor) -> None:
    if tokens.ndim != 2 or start.ndim != 1 or not len(tokens) == len(start) == rows:
        raise SpecsimError(
            f"tokens {tuple(tokens.shape)} and start {tuple(start.shape)} for {rows} rows: "
            "give one row of tokens and one start for each"
        )


def require_width(tokens: Tensor, end: int) -> None:
    """Laws before position `end` need the tokens before position end - 1."""
    if tokens.shape[1] < end - 1:
        raise SpecsimError(
            f"laws up to position {end - 1} need {end - 1} tokens a row, got {tokens.shape[1]}: give longer rows"
        )
