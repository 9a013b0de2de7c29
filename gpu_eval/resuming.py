"""Where a training that was stopped goes on: weights, optimiser, random numbers, losses, as if it had not stopped."""

from __future__ import annotations

import os
import pickle
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Generator, nn
from torch.optim import Optimizer

from specsim.errors import SpecsimError


class Course(NamedTuple):
    """What a training changes.  losses: of every step so far; seconds: that it took."""

    module: nn.Module
    optimiser: Optimizer
    generator: Generator
    losses: list[float]
    seconds: list[float]


def keep(path: Path, recipe: Any, course: Course) -> None:
    """Write everything beside the file and rename, so that a stop while writing loses nothing."""
    content = {
        "recipe": asdict(recipe),
        "module": course.module.state_dict(),
        "optimiser": course.optimiser.state_dict(),
        "generator": course.generator.get_state(),
        "losses": course.losses,
        "seconds": course.seconds,
    }
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    torch.save(content, part)
    os.replace(part, path)


def go_on(path: Path, recipe: Any, course: Course) -> None:
    """Bring the course to where it was kept, if it was; a file of another recipe is never gone on with."""
    if not path.exists():
        return
    try:
        content = torch.load(path, weights_only=True)
        same = content["recipe"] == asdict(recipe)
    except (OSError, RuntimeError, EOFError, KeyError, TypeError, pickle.UnpicklingError) as error:
        raise SpecsimError(f"{path} is no state of a training ({str(error).splitlines()[0]}): delete it") from None
    if not same:
        raise SpecsimError(f"{path} is the state of a training by another recipe: delete it, or finish that one")
    course.module.load_state_dict(content["module"])
    course.optimiser.load_state_dict(content["optimiser"])
    course.generator.set_state(content["generator"])
    course.losses[:], course.seconds[:] = content["losses"], content["seconds"]
