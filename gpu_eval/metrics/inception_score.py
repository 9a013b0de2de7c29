"""Inception score: exp of the mean divergence of an image's class law from the mean law of its split.

Conventions, which differ: the standard deviation over splits is that of Salimans's code and of papers (divided by the
number of splits; torchmetrics divides by one less), and splits differ in size by one image at most. What is surprising
in `torchmetrics.image.inception`: it shuffles by torch's global generator, so the score changes from call to call; its
splits are torch's chunks, which may be fewer than asked for (11 images in 10 splits make 6); it takes logits,
so probabilities must be given as logarithms; a class whose mean probability is 0 in its dtype makes the score NaN,
which here adds 0; and with normalize=True it turns images to bytes also for a network of one's own.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gpu_eval.metrics.frechet import Given
from specsim.errors import require

SPLITS = 10
SEED = 0
"""Of the order in which images are dealt to splits: they often come class by class."""


def inception_score(log_probabilities: Tensor, splits: int = SPLITS) -> dict[str, Any]:
    """Of the logarithms of class probabilities [n, K]; {"value", "std", "splits", "torchmetrics"}.

    value and std: mean and standard deviation over splits; torchmetrics: its mean, None where that is NaN or where it
    would deal images differently. Only scores of equal n and splits compare. Error if n < splits.
    """
    count = len(log_probabilities)
    require(count >= splits, "inception score", "images", count, f"at least {splits}, one a split")
    order = shuffled(count)
    scores = split_scores(log_probabilities.double().cpu().numpy()[order.numpy()], splits)
    theirs = torchmetrics_score(log_probabilities, splits)[0] if count % splits == 0 else math.nan
    return {
        "value": float(scores.mean()),
        "std": float(scores.std()),
        "splits": splits,
        "torchmetrics": None if math.isnan(theirs) else theirs,
    }


def shuffled(count: int) -> Tensor:
    """The order of images; torch's own generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        return torch.randperm(count)


def split_scores(log_probabilities: np.ndarray, splits: int) -> np.ndarray:
    """exp of mean KL(p(y | x) || mean of p(y | x)) of each of the splits, in the order given; 0 log 0 is 0."""
    scores = []
    for part in np.array_split(log_probabilities, splits):
        chances = np.exp(part)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(chances > 0, chances * (part - np.log(chances.mean(0))), 0.0)
        scores.append(np.exp(terms.sum(1).mean()))
    return np.array(scores)


def torchmetrics_score(log_probabilities: Tensor, splits: int) -> tuple[float, float]:
    """(mean, standard deviation) by torchmetrics, of the same order."""
    from torchmetrics.image.inception import InceptionScore  # takes seconds to import

    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.filterwarnings("ignore", message="Metric `InceptionScore` will save all")
        metric = InceptionScore(feature=Given(log_probabilities.shape[-1]), splits=splits)
        metric.update(log_probabilities.double().cpu())
        torch.manual_seed(SEED)
        mean, deviation = metric.compute()
    return float(mean), float(deviation)
