"""What the networks say of each image: features, the classifier's verdict, likelihoods under two models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from gpu_eval import store
from gpu_eval.fashion import Fashion
from gpu_eval.labelled import class_model
from gpu_eval.processing import Processing
from gpu_eval.transformer import Transformer
from gpu_eval.yardstick.images import Work, load, save, tokens_of
from gpu_eval.yardstick.settings import Setting

CHUNK = 50
"""Images that go through a network together: 5 MB of laws, which a cache of a CPU holds."""


class Judges(NamedTuple):
    """The networks: the image model with its classifier, and the independent model of the same data."""

    fashion: Fashion
    independent: Transformer


class Judged(NamedTuple):
    """n images: features [n, 64], error [n] (1 where the classifier disagrees with the label), doubt [n] (-log of the
    classifier's probability of the label), surprise, independent [n]: -log-likelihood under the target and under the
    independent model, nats per token."""

    features: np.ndarray
    error: np.ndarray
    doubt: np.ndarray
    surprise: np.ndarray
    independent: np.ndarray


def judged_block(work: Work, judges: Judges, setting: Setting, seed: int) -> Judged:
    """One block's judgement, kept in a file beside it, which names the independent model."""
    path = work.path(setting, seed, f"judged_{store.fingerprint(judges.independent.output.weight)[:8]}")
    if not path.exists():
        found = tokens_of(work, setting, seed)
        save(path, setting, judge(judges, found.tokens, found.labels)._asdict())
    arrays = load(path, setting, work.images)
    return Judged(*(arrays[name] for name in Judged._fields))


def together(parts: list[Judged]) -> Judged:
    """Blocks one after the other."""
    return Judged(*(np.concatenate(column) for column in zip(*parts, strict=True)))


@torch.no_grad()
def features_of(fashion: Fashion, tokens: np.ndarray) -> np.ndarray:
    """The classifier's features of images as tokens [n, N] -> [n, 64]."""
    chunks = torch.from_numpy(tokens).split(CHUNK)
    return torch.cat([fashion.classifier.features(fashion.decode(some)) for some in chunks]).numpy()


@torch.no_grad()
def judge(judges: Judges, tokens: np.ndarray, labels: np.ndarray) -> Judged:
    """tokens [n, N], labels [n]."""
    chunks = zip(torch.from_numpy(tokens).split(CHUNK), torch.from_numpy(labels).split(CHUNK), strict=True)
    return together([judge_chunk(judges, some, classes) for some, classes in chunks])


def judge_chunk(judges: Judges, tokens: Tensor, labels: Tensor) -> Judged:
    """The same for as many as go through a network together."""
    fashion = judges.fashion
    features = fashion.classifier.features(fashion.decode(tokens))
    chances = fashion.classifier.head(features).log_softmax(-1)
    error = (chances.argmax(-1) != labels).float()
    doubt = -chances.gather(1, labels[:, None])[:, 0]
    pair = (surprise(net, fashion.codebook, tokens, labels) for net in (fashion.target_net, judges.independent))
    return Judged(*(each.numpy() for each in (features, error, doubt, *pair)))


def surprise(net: Transformer, codebook: Tensor, tokens: Tensor, labels: Tensor) -> Tensor:
    """-log-likelihood of images [B], nats per token; guidance 1."""
    model = class_model(net, labels, Processing(), codebook)
    laws = model(tokens, torch.zeros_like(labels), net.config.length)
    return -laws.gather(-1, tokens[..., None])[..., 0].log().mean(-1)
