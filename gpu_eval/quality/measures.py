"""What a set of decoded images is worth, each figure with a 95 % interval.

pool = pool_of(fashion, decode(plan of plain decoding with another seed, fashion))
quality = quality_of(fashion, plan.processing, decode(plan, fashion), pool)

A Frechet distance of n images is biased upwards, the more the fewer images there are (64 features: at 200 images by
several units), so figures are compared at equal n only: another n in the pool is an error. Value and interval are those
of the distance of n images; value - bias estimates the distance of infinitely many.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from gpu_eval.fashion import Fashion
from gpu_eval.figures import normal_interval, resampled_counts
from gpu_eval.processing import Processing
from gpu_eval.quality.frechet import Moments, frechet_distance, frechet_distances, resampled_statistics, statistics
from gpu_eval.run import Decoded
from specsim.errors import require

CHUNK = 250  # images that go through a network together
CLASSES = 10
OWN_SEED, POOL_SEED = 0, 1
"""Two sets vary independently, so their resamples must."""
Resampled = tuple[Moments, Moments]
"""Statistics of a set, and of its resamples."""


@dataclass(frozen=True)
class Pool:
    """Images of plain decoding that others are compared with: features [n, 64], labels [n]."""

    features: Tensor
    labels: np.ndarray


class Seen(NamedTuple):
    """Each image: labels [n] asked for, features [n, 64], right [n] (1 where the classifier agrees), chances [n, N]
    (log of the target's probability of every token)."""

    labels: np.ndarray
    features: Tensor
    right: np.ndarray
    chances: np.ndarray


@dataclass(frozen=True)
class Quality:
    """Figures {"value", "interval"} of n images, Frechet distances with "bias" too.

    frechet_real: to the real test images, whose statistics are taken as given; frechet_pool: to plain decoding;
    label_accuracy: share of images that the classifier gives the label asked for; log_likelihood: of the tokens under
    the target's processed laws, nats per token; None if some token has probability 0 (-inf): impossible_tokens.
    """

    images: int
    frechet_real: dict[str, Any]
    frechet_pool: dict[str, Any]
    label_accuracy: dict[str, Any]
    log_likelihood: dict[str, Any]
    impossible_tokens: int

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


def pool_of(fashion: Fashion, done: Decoded) -> Pool:
    """The pool that these images are."""
    return Pool(judged(fashion, done.images)[0], done.labels)


def seen_of(fashion: Fashion, processing: Processing, done: Decoded) -> Seen:
    """What the networks say of each image: the dear part, done once."""
    features, classes = judged(fashion, done.images)
    chances = log_chances(fashion, processing, done.tokens, done.labels)
    return Seen(done.labels, features, (classes == done.labels).astype(float), chances)


def quality_of(fashion: Fashion, processing: Processing, done: Decoded, pool: Pool) -> Quality:
    """Every figure of decoded images; error unless the pool holds as many images of each class."""
    return quality_from(fashion, seen_of(fashion, processing, done), pool)


def quality_from(fashion: Fashion, seen: Seen, pool: Pool) -> Quality:
    """The same, of images that were looked at already."""
    labels = seen.labels
    found, wanted = (np.bincount(some, minlength=CLASSES).tolist() for some in (pool.labels, labels))
    require(found == wanted, "quality", "images of each class in the pool", found, f"{wanted}, as in the set")
    require(len(labels) > 1, "quality", "images", len(labels), "at least 2, for a covariance")
    counts = resampled_counts(labels, OWN_SEED)
    own, plain = resampled(seen.features, counts), resampled(pool.features, resampled_counts(pool.labels, POOL_SEED))
    real = (fashion.reference.mean, fashion.reference.covariance)
    return Quality(
        len(labels),
        distance_figure((real, real), own, labels),
        distance_figure(plain, own, labels),
        mean_figure(seen.right, counts, labels, (0.0, 1.0)),
        mean_figure(seen.chances.mean(-1), counts, labels, (-np.inf, 0.0)),
        int(np.isneginf(seen.chances).sum()),
    )


def resampled(features: Tensor, counts: np.ndarray) -> Resampled:
    """Features [n, D] as they are, and resampled by counts [R, n]."""
    return statistics(features), resampled_statistics(features, torch.from_numpy(counts))


def distance_figure(one: Resampled, other: Resampled, labels: np.ndarray) -> dict[str, Any]:
    """Frechet distance of two sets; one that does not vary has its statistics in place of resamples."""
    value = frechet_distance(one[0], other[0])
    again = frechet_distances(one[1], other[1]).numpy()
    interval = normal_interval(value, again, labels, (0.0, np.inf))
    return {"value": value, "interval": interval, "bias": float(again.mean() - value)}


def mean_figure(
    values: np.ndarray, counts: np.ndarray, labels: np.ndarray, bounds: tuple[float, float]
) -> dict[str, Any]:
    """Mean of one number an image; no value where it is not finite."""
    if not np.isfinite(values).all():
        return {"value": None, "interval": None}
    value = float(values.mean())
    return {"value": value, "interval": normal_interval(value, counts @ values / len(values), labels, bounds)}


@torch.no_grad()
def judged(fashion: Fashion, images: np.ndarray) -> tuple[Tensor, np.ndarray]:
    """Images [n, 28, 28] -> the classifier's features [n, 64] and its labels [n]."""
    device = fashion.tokenizer.codebook.device
    parts = torch.from_numpy(images).to(device)[:, None].split(CHUNK)
    features = torch.cat([fashion.classifier.features(part) for part in parts])
    return features.cpu(), fashion.classifier.head(features).argmax(-1).cpu().numpy()


def log_chances(fashion: Fashion, processing: Processing, tokens: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """log of the target's probability of every token given those before it [n, N], one forward pass without a cache."""
    device, parts = fashion.target_net.output.weight.device, []
    for some, classes in zip(torch.from_numpy(tokens).split(CHUNK), torch.from_numpy(labels).split(CHUNK), strict=True):
        some, start = some.to(device), torch.zeros(len(some), dtype=torch.int64, device=device)
        laws = fashion.target(classes, processing, cached=False)(some, start, fashion.length)
        parts.append(laws.gather(-1, some[..., None])[..., 0].double().log().cpu())
    return torch.cat(parts).numpy()
