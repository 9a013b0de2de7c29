"""The replay interpreter: `choose` follows a script, to show a counterexample again or to compare two backends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from array_api_compat import device

from specsim.arrays import Array, at, namespace
from specsim.errors import SpecsimError


class Replay:
    """`choose` that takes its answers from `script`, one array [B] or [B, S] for each draw, in order."""

    def __init__(self, script: Iterable[Any]) -> None:
        self.script, self.asked = list(script), 0

    def __call__(self, law: Array, live: tuple) -> tuple[Array, tuple]:
        """The next scripted index; an index of weight 0 is refused, since no sampler could have drawn it."""
        index = namespace(law).asarray(np.asarray(self.next_entry()), device=device(law))
        if tuple(index.shape) != tuple(law.shape[:-1]):
            raise SpecsimError(f"replay: draw {self.asked} needs shape {tuple(law.shape[:-1])}, not {index.shape}")
        if bool(namespace(law).any(at(law, index) <= 0)):
            raise SpecsimError(f"replay: draw {self.asked} asks for an index of weight 0")
        return index, live

    def next_entry(self) -> Any:
        """One entry of the script."""
        if self.asked == len(self.script):
            raise SpecsimError(f"replay: the script ends after {self.asked} draws, and the decoder asks for one more")
        self.asked += 1
        return self.script[self.asked - 1]

    def token(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """A token is scripted like anything else."""
        return self(law, live)

    def race(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """So is the winner of a race."""
        return self(law, live)

    def forget(self, position: Array) -> None:
        """Nothing to forget."""


@dataclass(frozen=True)
class Recording:
    """`choose` that passes everything on and writes a script for `Replay`."""

    inner: Any
    script: list = field(default_factory=list)

    def __call__(self, law: Array, live: tuple) -> tuple[Array, tuple]:
        """The inner answer, noted."""
        index, live = self.inner(law, live)
        self.script.append(np.asarray(index))
        return index, live

    def token(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """The inner answer, noted."""
        index, live = self.inner.token(law, position, live)
        self.script.append(np.asarray(index))
        return index, live

    def race(self, law: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        """The inner winner, noted."""
        index, live = self.inner.race(law, position, live)
        self.script.append(np.asarray(index))
        return index, live

    def forget(self, position: Array) -> None:
        """Passed on."""
        self.inner.forget(position)
