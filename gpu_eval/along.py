"""Both image models' laws along given images, and the divergences of a decoder's runs that follow from them.

plain = decode(Plan("fashion", Autoregressive(), images=200), fashion)
runs = decode(Plan("fashion", Chain(4), rule, images=200, seed=1), fashion)
figures = divergences(fashion, Processing(), rule, 4, plain, runs)

The classes of images are chosen, not drawn, so standard errors over images are on the high side: they count the
differences between classes too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from gpu_eval.fashion import Fashion
from gpu_eval.processing import Processing
from specsim import bind_codebook
from specsim.divergences import Estimate, Paths, along, estimates, join
from specsim.errors import SpecsimError

CHUNK = 50
"""Images whose laws are held at a time: 20 MB a model at 49 tokens of 512 codes."""
ALONG = ("fashion",)
"""Shipped models whose draft's laws depend on the tokens alone; a head's depend on where each round began too."""
Progress = Callable[[int, int], None]
"""Called with the images done, and all."""


class Drawn(Protocol):
    """Images as tokens [n, N], each of a class, labels [n]: `gpu_eval.run.Decoded` is one."""

    @property
    def tokens(self) -> np.ndarray: ...

    @property
    def labels(self) -> np.ndarray: ...


def laws_along(fashion: Fashion, processing: Processing, tokens: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Processed laws of the target and of the draft at every token of images [B, N]: [B, N, V] each, float64.

    One forward pass of each network without a cache; they sum to 1 in float64, so a lossless rule shows no divergence
    above its rounding.  A decoder with a cache meets the same laws up to float32 rounding.
    """
    if fashion.head is not None:
        raise SpecsimError("a head's laws depend on where each round began: use the model with the small draft")
    device = fashion.target_net.output.weight.device
    tokens, labels = tokens.to(device), labels.to(device)
    start = torch.zeros(len(tokens), dtype=torch.int64, device=device)
    models = (make(labels, processing, cached=False) for make in (fashion.target, fashion.draft))
    target, draft = (whole(model(tokens, start, fashion.length)) for model in models)
    return target, draft


def whole(laws: Tensor) -> Tensor:
    """Laws [..., V] in float64, each summing to 1 there."""
    laws = laws.double()
    return laws / laws.sum(-1, keepdim=True)


def paths_along(
    fashion: Fashion,
    processing: Processing,
    rules: Sequence[Any],
    lookahead: int,
    drawn: Drawn,
    progress: Progress | None = None,
) -> list[Paths]:
    """What each rule's run of Chain(lookahead) makes of the same images, rule by rule; the laws are asked once."""
    bound = [bind_codebook(rule, fashion.codebook) for rule in rules]
    tokens, labels = torch.from_numpy(drawn.tokens), torch.from_numpy(drawn.labels)
    if tokens.shape[1:] != (fashion.length,) or len(tokens) != len(labels) or not len(tokens):
        raise SpecsimError(
            f"tokens {tuple(tokens.shape)} for {len(labels)} labels: give [n, {fashion.length}] tokens and n labels"
        )
    parts: list[list[Paths]] = []
    for first in range(0, len(tokens), CHUNK):
        some = tokens[first : first + CHUNK]
        laws = laws_along(fashion, processing, some, labels[first : first + CHUNK])
        parts.append([along(rule, *laws, some.to(laws[0].device), lookahead) for rule in bound])
        if progress is not None:
            progress(first + len(some), len(tokens))
    return [join(list(of_rule)) for of_rule in zip(*parts, strict=True)]


def divergences(
    fashion: Fashion,
    processing: Processing,
    rule: Any,
    lookahead: int,
    plain: Drawn,
    runs: Drawn,
    progress: Progress | None = None,
) -> dict[str, Estimate]:
    """Every measure of specsim.divergences.  plain: images of plain decoding with this processing; runs: images that
    Chain(lookahead) with this rule decoded.  The two need not be of the same seeds or sizes, but of the same classes.
    """
    found = [paths_along(fashion, processing, [rule], lookahead, drawn, progress)[0] for drawn in (plain, runs)]
    return estimates(*found)
