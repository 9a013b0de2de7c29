"""Decoded images of a contender, seed by seed, and what they cost and are worth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch

from gpu_eval.fashion import Fashion
from gpu_eval.figures import ratio_interval
from gpu_eval.processing import Processing
from gpu_eval.quality import Pool, Seen, pool_of, quality_from, seen_of
from gpu_eval.run import Decoded, Plan, decode, require_judged
from specsim.decoders import Autoregressive
from specsim.decoding import Decoder
from specsim.errors import require

MOST_SEED = 2**32
"""Seeds of reported images lie below; those of the pilot and of the pools above: no reported image has tuned a rule."""
PILOT_SEED = 2**33
POOL_SEED = 2**34
"""Added to a seed: the pool of plain decoding that its images are compared with."""
FEWEST_IMAGES = 30
"""Three of each class: intervals resample images within a class.  Of two, an accuracy of 0.9 is falsely separated in
2.1 % of the pairs where 0.8 % are meant (six pairs); of three in 1.1 %."""


class Means(NamedTuple):
    """Averages over images: target calls, drafted tokens kept, tokens."""

    calls: float
    accepted: float
    tokens: float


@dataclass(frozen=True)
class Setting:
    """What every contender decodes.  seeds: of the reported images; pilot: images a seed of its own tunes on."""

    model: str = "fashion"
    images: int = 100
    seeds: tuple[int, ...] = (0,)
    pilot: int = 100
    batch: int = 100
    label: int | None = None
    processing: Processing = Processing()

    def __post_init__(self) -> None:
        require_judged(self.model)
        require(self.images >= FEWEST_IMAGES, "compare", "images", self.images, f"at least {FEWEST_IMAGES}")
        require(self.pilot >= 1, "compare", "pilot", self.pilot, "at least 1 image")
        fit = all(0 <= seed < MOST_SEED for seed in self.seeds) and len(set(self.seeds)) == len(self.seeds) > 0
        require(fit, "compare", "seeds", list(self.seeds), f"different whole numbers from 0 to {MOST_SEED - 1}")
        self.plan(Autoregressive(), None, 0)

    def plan(self, decoder: Decoder, rule: Any, seed: int) -> Plan:
        """The run of a system with one seed."""
        return Plan(self.model, decoder, rule, self.images, seed, self.batch, self.label, self.processing)

    def pilot_plan(self, decoder: Decoder, rule: Any) -> Plan:
        """The run that tuning looks at: always the same seed, so all strengths meet the same random numbers."""
        return replace(self.plan(decoder, rule, PILOT_SEED), images=self.pilot)


def means(done: Decoded) -> Means:
    """What decoding these images cost."""
    return Means(float(done.calls.mean()), float(done.accepted.mean()), float(done.lengths.mean()))


class PerImage(NamedTuple):
    """Figures of each image of all seeds, [n], for resampling.  features [n, 64]; log_chances: mean over its tokens."""

    labels: np.ndarray
    calls: np.ndarray
    accepted: np.ndarray
    lengths: np.ndarray
    right: np.ndarray
    log_chances: np.ndarray
    features: torch.Tensor


def images_of(done: Decoded, seen: Seen) -> PerImage:
    """One seed's images."""
    costs = done.calls, done.accepted, done.lengths
    return PerImage(seen.labels, *costs, seen.right, seen.chances.mean(-1), seen.features)


def together(parts: list[PerImage]) -> PerImage:
    """All seeds, one after the other."""
    columns: list[Any] = list(zip(*parts, strict=True))
    return PerImage._make([*(np.concatenate(some) for some in columns[:-1]), torch.cat(columns[-1])])


def pools(fashion: Fashion, setting: Setting) -> dict[int, Pool]:
    """For each seed, plain decoding with another seed."""
    return {
        seed: pool_of(fashion, decode(setting.plan(Autoregressive(), None, POOL_SEED + seed), fashion))
        for seed in setting.seeds
    }


def measure(
    fashion: Fashion, setting: Setting, decoder: Decoder, rule: Any, seed: int, pool: Pool
) -> tuple[dict[str, Any], PerImage]:
    """Decode with one seed -> its figures with intervals, and each image's."""
    done = decode(setting.plan(decoder, rule, seed), fashion)
    seen = seen_of(fashion, setting.processing, done)
    figures = {
        "seed": seed,
        "calls_per_image": ratio_interval(done.calls, np.ones(setting.images)),
        "tokens_per_call": ratio_interval(done.lengths, done.calls),
        **quality_from(fashion, seen, pool).as_json(),
    }
    return figures, images_of(done, seen)
