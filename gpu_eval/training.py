"""One training loop with a fixed number of steps and a seed, for every network that the package trains."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from rich.progress import track
from torch import Tensor, nn

from gpu_eval.resuming import Course, go_on, keep

CHUNK = 500  # rows a batch when measuring
BETAS = (0.9, 0.95)  # AdamW, as LlamaGen
CLIP = 1.0  # gradient norm, as LlamaGen
KEPT = 100  # steps after which the state is kept: seconds to a minute of work
LOGGED = 20  # means of losses kept in a file's header

LossAt = Callable[[Tensor, torch.Generator], Tensor]  # (row numbers, generator) -> scalar loss


@dataclass(frozen=True)
class Recipe:
    steps: int
    batch: int
    rate: float
    warmup: int
    decay: float
    seed: int
    flips: bool = False  # mirror half the images


def fit(
    name: str, module: nn.Module, loss_at: LossAt, size: int, recipe: Recipe, state: Path, given: str = ""
) -> dict[str, Any]:
    """AdamW on random rows of 0 .. size - 1. Gives the recipe, the seconds and the course of the loss.

    state: a file kept while training, every KEPT steps; where it is there, a training that was stopped goes on, if it
    had this recipe, size and `given`: what else the loss depends on. All randomness of `loss_at` must come from the
    generator it is given.
    """
    weights, generator = list(module.parameters()), torch.Generator().manual_seed(recipe.seed)
    optimiser = torch.optim.AdamW(weights, lr=recipe.rate, betas=BETAS, weight_decay=recipe.decay)
    course = Course(module, optimiser, generator, [], [])
    training = {"recipe": asdict(recipe), "size": size, "given": given}
    go_on(state, training, course)
    done, begun = len(course.losses), time.perf_counter()
    for step in track(range(recipe.steps), description=name):
        if step < done:
            continue
        optimiser.param_groups[0]["lr"] = rate_at(step, recipe)
        loss = loss_at(torch.randint(size, (recipe.batch,), generator=generator), generator)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(weights, CLIP)
        optimiser.step()
        course.losses.append(loss.item())
        if (step + 1) % KEPT == 0:
            course.seconds.append(time.perf_counter() - begun)
            keep(state, training, course)
            begun = time.perf_counter()
    seconds = round(sum(course.seconds) + time.perf_counter() - begun)
    return {"recipe": asdict(recipe), "seconds": seconds, "losses": thinned(course.losses)}


def rate_at(step: int, recipe: Recipe) -> float:
    """Linear warm-up to `rate`, then half a cosine down to 0."""
    if step < recipe.warmup:
        return recipe.rate * (step + 1) / recipe.warmup
    share = (step - recipe.warmup) / max(1, recipe.steps - recipe.warmup)
    return recipe.rate * (1 + math.cos(math.pi * share)) / 2


def thinned(losses: list[float]) -> list[float]:
    """Means of LOGGED (or fewer) stretches of equal length; the last stretch may be shorter."""
    size = -(-len(losses) // LOGGED)
    stretches = (losses[i : i + size] for i in range(0, len(losses), size))
    return [round(sum(stretch) / len(stretch), 4) for stretch in stretches]


def shown(images: Tensor, recipe: Recipe, generator: torch.Generator) -> Tensor:
    """The images [B, 1, side, side] of one step; with `flips` each is mirrored with probability one half."""
    if not recipe.flips:
        return images
    flip = torch.rand(len(images), 1, 1, 1, generator=generator) < 0.5
    return torch.where(flip, images.flip(-1), images)


def in_chunks(function: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    """function(*inputs) computed CHUNK rows at a time, without gradients."""
    with torch.no_grad():
        parts = zip(*(rows.split(CHUNK) for rows in inputs), strict=True)
        return torch.cat([function(*part) for part in parts])
