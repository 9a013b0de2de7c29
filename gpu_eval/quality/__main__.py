"""Figures of the shipped model without a data set: python -m gpu_eval.quality --images 2000 --guidance 1 2.

Samples are drawn token by token from the target. Printed as JSON, one object for each guidance: entropy of
the laws (bits), probability of the likeliest token, acceptance sum min(target, draft) on the target's
samples, share of images that the classifier gives their label, Frechet distance of their features to those
of real test images.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import Any

import torch
from torch import Tensor

from gpu_eval.fashion import Fashion, load_fashion
from gpu_eval.processing import Processing
from gpu_eval.quality.frechet import frechet_distance, statistics
from specsim.errors import SpecsimError

CHUNK = 250  # images sampled at a time


def sample(model: Any, rows: int, generator: torch.Generator) -> Tensor:
    """Tokens [rows, N] drawn one position at a time."""
    tokens = torch.zeros(rows, model.length, dtype=torch.int64)
    for position in range(model.length):
        law = model(tokens, torch.full((rows,), position), 1)[:, 0]
        tokens[:, position] = torch.multinomial(law, 1, generator=generator)[:, 0]
    return tokens


@torch.no_grad()
def measure(fashion: Fashion, processing: Processing, images: int, seed: int = 0) -> dict[str, float]:
    generator, features, sums = torch.Generator().manual_seed(seed), [], torch.zeros(4, dtype=torch.float64)
    for first in range(0, images, CHUNK):
        labels = torch.arange(first, min(first + CHUNK, images)) % 10
        tokens = sample(fashion.target(labels, processing), len(labels), generator)
        pictures = fashion.decode(tokens)
        right = (fashion.classifier(pictures).argmax(-1) == labels).double().mean()
        sums += len(labels) * torch.stack([*law_figures(fashion, processing, labels, tokens), right])
        features.append(fashion.classifier.features(pictures))
    names = ("entropy_bits", "top_probability", "acceptance", "label_accuracy")
    figures = {name: round(float(value), 4) for name, value in zip(names, sums / images, strict=True)}
    real = (fashion.reference.mean, fashion.reference.covariance)
    return figures | {"frechet": round(frechet_distance(statistics(torch.cat(features)), real), 1)}


def law_figures(fashion: Fashion, processing: Processing, labels: Tensor, tokens: Tensor) -> list[Tensor]:
    """Means over rows and positions of entropy (bits), largest probability and sum min(target, draft)."""
    start = torch.zeros_like(labels)
    target, draft = (
        make(labels, processing, cached=False)(tokens, start, fashion.length).double()
        for make in (fashion.target, fashion.draft)
    )
    entropy = torch.special.entr(target).sum(-1).mean() / math.log(2)
    return [entropy, target.amax(-1).mean(), torch.minimum(target, draft).sum(-1).mean()]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m gpu_eval.quality", description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--guidance", type=float, nargs="+", default=[1.0])
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    if chosen.images < 2:
        print(f"error: --images is {chosen.images}: a covariance needs at least 2", file=sys.stderr)
        return 2
    try:
        fashion = load_fashion()
        for guidance in chosen.guidance:
            figures = measure(fashion, Processing(guidance=guidance), chosen.images, chosen.seed)
            print(json.dumps({"guidance": guidance, "images": chosen.images, "seed": chosen.seed} | figures))
    except SpecsimError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
