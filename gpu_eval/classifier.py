"""A small classifier of 28 x 28 images; its 64 features stand in for an Inception network's."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class ClassifierConfig:
    classes: int = 10
    features: int = 64
    channels: int = 32
    side: int = 28


class Classifier(nn.Module):
    """images [B, 1, 28, 28] in [0, 1] -> logits [B, classes]; `features` gives the layer before, [B, 64]."""

    def __init__(self, config: ClassifierConfig) -> None:
        super().__init__()
        self.config = config
        width = config.channels
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(2 * width, 2 * width, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(2 * width * (config.side // 4) ** 2, config.features),
        )
        self.head = nn.Linear(config.features, config.classes)

    def features(self, images: Tensor) -> Tensor:
        return F.relu(self.body(2 * images - 1))

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.features(images))
