"""The head of EAGLE-1 (Li et al. 2024, arXiv 2401.15077): one layer that drafts in the target's own features.

The feature of slot t, D numbers, is what the target's output layer reads there.  The head makes a guess of it from the
feature of slot t - 1 and the input vector of slot t, the embedding of image token t - 1; the target's output layer
turns the guess into a law of image token t.  Embedding and output layer are the target's: a head holds neither.

Differs from the release: its layer keeps the norm before attention, which the released first layer leaves out, and slot
0, the prompt, is guessed too, with 0 for the feature before it, so that a first token can be drafted.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_eval.attention import Pair, Place
from gpu_eval.transformer import INITIAL_DEVIATION, Config, Layer

REGRESSION = 1.0
"""Weight of the features' smooth L1 distance in the loss, as published."""
TOKENS = 0.1
"""Weight of the cross-entropy of the two laws, as published."""
NOISE = 0.1
"""Features are disturbed by uniform noise from -NOISE to NOISE in training: the head meets its own guesses later.  As
the paper says; the release multiplies it by 512 and divides by the length of the sequence."""


class Losses(NamedTuple):
    """Means over rows and slots: smooth L1 distance of guess and feature, cross-entropy of the laws in nats."""

    regression: Tensor
    tokens: Tensor

    @property
    def total(self) -> Tensor:
        return REGRESSION * self.regression + TOKENS * self.tokens


class Head(nn.Module):
    """config: of the target whose features it reads."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.fuse = nn.Linear(2 * config.width, config.width)
        self.layer = Layer(config)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=INITIAL_DEVIATION)

    def forward(self, vectors: Tensor, before: Tensor, place: Place, memory: Pair | None = None) -> Tensor:
        """Guesses [R, K, D] from input vectors [R, K, D] and the features of the slots before them [R, K, D]."""
        return self.layer(self.fuse(torch.cat([vectors, before], dim=-1)), place, memory)


def shifted(features: Tensor) -> Tensor:
    """features [R, N, D] of slots -> of the slot before each, 0 before slot 0."""
    return F.pad(features, (0, 0, 1, 0))[:, :-1]


def losses(guess: Tensor, feature: Tensor, output: nn.Module) -> Losses:
    """Of guesses [R, K, D] beside the target's features [R, K, D]; output: the target's output layer."""
    law = output(feature).float().softmax(-1)
    likely = output(guess).float().log_softmax(-1)
    return Losses(F.smooth_l1_loss(guess.float(), feature.float()), -(law * likely).sum(-1).mean())
