"""Where a training that was stopped goes on: weights, optimiser, random numbers, losses, as if it had not stopped."""

from __future__ import annotations

import io
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import torch
from torch import Generator, Tensor, nn
from torch.optim import Optimizer

from specsim.errors import SpecsimError
from specsim.files import require_regular, write_bytes

PARTS = {"training", "module", "optimiser", "generator", "losses", "seconds"}
"""Of a state."""


class Course(NamedTuple):
    """What a training changes.  losses: of every step so far; seconds: that it took."""

    module: nn.Module
    optimiser: Optimizer
    generator: Generator
    losses: list[float]
    seconds: list[float]


def keep(path: Path, training: dict[str, Any], course: Course) -> None:
    """Write all that the next step depends on beside the file and rename: a stop while writing loses nothing.

    training: what it is of; only the same one goes on with it.
    """
    content = {
        "training": training,
        "module": tensors_of(course.module),
        "optimiser": course.optimiser.state_dict(),
        "generator": course.generator.get_state(),
        "losses": course.losses,
        "seconds": course.seconds,
    }
    whole = io.BytesIO()
    torch.save(content, whole)
    write_bytes(path, whole.getvalue())


def go_on(path: Path, training: dict[str, Any], course: Course) -> None:
    """Bring the course to where it was kept, if it was; a file of another training is never gone on with."""
    if not path.exists():
        return
    content = read(path)
    if content["training"] != training:
        raise SpecsimError(f"{path} is the state of a training by another recipe: delete it, or finish that one")
    now, kept = tensors_of(course.module), content["module"]
    if {name: some.shape for name, some in now.items()} != {name: some.shape for name, some in kept.items()}:
        raise SpecsimError(f"{path} is the state of a training of another network: delete it, or finish that one")
    for name, some in now.items():
        some.copy_(kept[name])
    course.optimiser.load_state_dict(content["optimiser"])
    course.generator.set_state(content["generator"])
    course.losses[:], course.seconds[:] = content["losses"], content["seconds"]


def tensors_of(module: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers, also those that a state dict leaves out, as the moving averages of a codebook."""
    every = chain(module.named_parameters(), module.named_buffers())
    return {name: some.detach() for name, some in every}


def read(path: Path) -> dict[str, Any]:
    """What `keep` wrote; of anything else a one-line error."""
    require_regular(path)
    try:
        with ZipFile(path) as file:  # torch itself does not look at the check sums
            if damaged := file.testzip():
                raise BadZipFile(f"{damaged} is damaged")
        content = torch.load(path, weights_only=True)
        if not isinstance(content, dict) or content.keys() != PARTS:
            raise ValueError("it holds something else")
    except Exception as error:  # what a foreign file makes torch raise is not said anywhere
        why = (" ".join(str(error).split()) or type(error).__name__)[:160]
        raise SpecsimError(f"{path} is no whole state of a training ({why}): delete it to begin anew") from None
    return content
