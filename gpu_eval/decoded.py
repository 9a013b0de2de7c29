"""What a run makes: images, and what each of them cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_eval.prompts import Prompt
from specsim.sampling import Samples


@dataclass(frozen=True)
class Failed:
    """An image that was given up: which, what was asked for, what was wrong and where."""

    image: int
    prompt: Prompt
    position: int | None
    what: str


@dataclass(frozen=True)
class Decoded:
    """A plan's images.

    tokens [n, N]; images [n, H, W] in [0, 1] of a grey model, bytes [n, H, W, 3] of another; labels (-1 for a text),
    calls, accepted, lengths [n]; seconds: all, in models; batch: the smallest that was decoded side by side;
    like: a tensor of the target network's numbers, where it was; failed: images whose other
    figures mean nothing.
    """

    tokens: np.ndarray
    images: np.ndarray
    labels: np.ndarray
    calls: np.ndarray
    accepted: np.ndarray
    lengths: np.ndarray
    batches: list[Samples]
    loop_seconds: float
    model_seconds: float
    batch: int = 0
    like: Any = None
    failed: tuple[Failed, ...] = ()


@dataclass
class Batches:
    """What was decoded so far."""

    samples: list[Samples] = field(default_factory=list)
    images: list[np.ndarray] = field(default_factory=list)
    like: Any = None
    loop_seconds: float = 0.0
    model_seconds: float = 0.0
    failed: list[Failed] = field(default_factory=list)
