"""What the transformer of LlamaGen is asked for, as vectors: a class or a caption. Keys are those of the release."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class ClassEmbedding(nn.Module):
    """classes + 1 vectors; the last one is the unconditional class."""

    def __init__(self, classes: int, width: int) -> None:
        super().__init__()
        self.embedding_table = nn.Embedding(classes + 1, width)

    def forward(self, labels: Tensor) -> Tensor:
        """[B] -> [B, width]."""
        return self.embedding_table(labels)


class CaptionEmbedding(nn.Module):
    """Vectors of a text encoder, brought to the transformer's width; `uncond_embedding` are those of no caption."""

    uncond_embedding: Tensor

    def __init__(self, prompt: int, caption_width: int, width: int) -> None:
        super().__init__()
        self.cap_proj = Projection(caption_width, width)
        self.register_buffer("uncond_embedding", torch.randn(prompt, caption_width) / caption_width**0.5)

    def forward(self, captions: Tensor) -> Tensor:
        """[B, prompt, caption_width] -> [B, prompt, width]."""
        return self.cap_proj(captions)


class Projection(nn.Module):
    """fc2(gelu(fc1 x)), with the tanh form of gelu."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(inputs, width, bias=False)
        self.fc2 = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(F.gelu(self.fc1(x), approximate="tanh"))
