"""An image transformer as specsim sees a model: (tokens, start, count) -> laws, a pure function."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from gpu_eval.processing import Processing, at_least_float32, guide, law, require_finite
from gpu_eval.transformer import Memory, Transformer, blank_memory
from specsim.errors import SpecsimError


@dataclass(frozen=True)
class ImageModel:
    """`model(tokens [B, T], start [B], count) -> laws [B, count, V]`; row b has the class labels[b].

    laws[b, j] is the processed law of image token start[b] + j given tokens[b, : start[b] + j]. Later
    tokens are ignored and may hold anything. At and beyond `length` there is nothing to know: the law of
    the last token stands in. This plain form recomputes the whole sequence at every call;
    `gpu_eval.cache.Cached` is faster.
    """

    net: Transformer
    labels: Tensor  # [B] int64
    processing: Processing
    codebook: Tensor  # [V, latent]
    checked: bool = True  # stop at NaN or infinite logits; costs one wait for the device a call

    def __post_init__(self) -> None:
        classes, labels = self.net.config.classes, self.labels
        if labels.ndim != 1 or not len(labels) or int(labels.min()) < 0 or int(labels.max()) >= classes:
            raise SpecsimError(f"labels are {labels.tolist()}: give one class of 0..{classes - 1} for each row")

    @property
    def vocab(self) -> int:
        return self.net.config.vocab

    @property
    def length(self) -> int:
        return self.net.config.length

    @property
    def uniform(self) -> Tensor:
        """The uniform law [V], in the type and on the device of the laws."""
        weight = self.net.output.weight
        dtype = torch.promote_types(weight.dtype, torch.float32)
        return torch.full((self.vocab,), 1 / self.vocab, dtype=dtype, device=weight.device)

    def __call__(self, tokens: Tensor, start: Tensor, count: int) -> Tensor:
        require_rows(self.labels, tokens, start)
        end = start + count
        require_width(tokens, min(int(end.max()), self.length))
        ids = torch.arange(self.length - 1, device=tokens.device)
        tokens = torch.where(ids < end[:, None] - 1, fit(tokens, self.length - 1), 0)
        slots = torch.arange(self.length, device=tokens.device).expand(len(tokens), -1)
        wanted = (start[:, None] + torch.arange(count, device=tokens.device)).clamp_max(self.length - 1)
        logits = self.logits(tokens, slots)
        return self.laws(logits.gather(1, wanted[..., None].expand(-1, -1, self.vocab)), start)

    @torch.no_grad()
    def logits(self, tokens: Tensor, slots: Tensor, memory: Memory | None = None) -> Tensor:
        """Guided logits [B, K, V] of slots [B, K]; unconditional rows join as one doubled batch."""
        labels = self.labels
        if self.processing.guided:
            labels = torch.cat([labels, torch.full_like(labels, self.net.config.classes)])
            tokens, slots = tokens.repeat(2, 1), slots.repeat(2, 1)
        logits = self.net(self.net.embed(tokens, labels, slots), slots, memory)
        if not self.processing.guided:
            return logits
        # Guidance multiplies: in half precision a large logit would overflow.
        conditional, unconditional = at_least_float32(logits).chunk(2)
        return guide(conditional, unconditional, self.processing.guidance)

    def laws(self, logits: Tensor, start: Tensor) -> Tensor:
        if self.checked:
            require_finite(logits, start)
        return law(logits, self.processing)

    def memory(self) -> Memory:
        """Room for the keys and values of every row, unconditional rows included."""
        rows = len(self.labels) * (2 if self.processing.guided else 1)
        return blank_memory(self.net.config, rows, self.net.output.weight)


def fit(tokens: Tensor, width: int) -> Tensor:
    """tokens [B, T] cut or filled with 0 to [B, width]: what is cut or filled is never read."""
    return F.pad(tokens, (0, width - tokens.shape[1]))


def require_rows(labels: Tensor, tokens: Tensor, start: Tensor) -> None:
    if tokens.ndim != 2 or start.ndim != 1 or not len(tokens) == len(start) == len(labels):
        raise SpecsimError(
            f"tokens {tuple(tokens.shape)} and start {tuple(start.shape)} for {len(labels)} labels: "
            "give one row of tokens and one start for each label"
        )


def require_width(tokens: Tensor, end: int) -> None:
    """Laws before position `end` need the tokens before position end - 1."""
    if tokens.shape[1] < end - 1:
        raise SpecsimError(
            f"laws up to position {end - 1} need {end - 1} tokens a row, got {tokens.shape[1]}: give longer rows"
        )
