"""The model under test: prompts for its rows, random image tokens, and models made afresh for every test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gpu_eval.processing import Processing
from gpu_eval.prompts import Prompt
from specsim.errors import SpecsimError

MOST_POSITIONS = 256
"""Positions from the first on that long tests look at: a large model has thousands."""
GUIDANCE = 3.0
"""Strength of guidance in the tests: between the published ones, and far from the 0 and 1 that hide mistakes."""
PLAIN = Processing()
THINGS = ("a red cup", "rain", "an old stone bridge over a river", "two small dogs on a lawn", "a blue door at night")


@dataclass(frozen=True)
class Subject:
    """loaded: see `gpu_eval.models.loaded.Loaded`; number: the type it computes in; unguided: why it has no guidance.

    unguided is "" where it has; doubled: rows of the network with guidance, None without.
    """

    loaded: Any
    prompts: tuple[Prompt, ...]
    seed: int
    vocab: int
    length: int
    device: torch.device
    number: torch.dtype
    unguided: str
    doubled: int | None

    @property
    def rows(self) -> int:
        return len(self.prompts)

    @property
    def span(self) -> int:
        """Positions that long tests look at."""
        return min(self.length, MOST_POSITIONS)

    @property
    def guided(self) -> bool:
        """Whether guidance can be used in other tests."""
        return not self.unguided and self.doubled == 2 * self.rows

    @property
    def strongest(self) -> Processing:
        """With guidance where the model has it, so that its unconditional rows are looked at too."""
        return Processing(guidance=GUIDANCE) if self.guided else PLAIN

    @property
    def first(self) -> Tensor:
        """start [B] of the whole image."""
        return torch.zeros(self.rows, dtype=torch.int64, device=self.device)

    def model(self, processing: Processing = PLAIN, cached: bool = False, prompts: Sequence[Prompt] = ()) -> Any:
        """A fresh model, of the subject's prompts or of others."""
        return self.loaded.model(prompts or self.prompts, processing, cached)

    def network(self, guided: bool = False) -> Any:
        """A fresh network."""
        return self.loaded.network(self.prompts, guided)

    def generator(self, salt: int) -> torch.Generator:
        """Randomness of one test."""
        return torch.Generator().manual_seed(1000 * self.seed + salt)

    def tokens(self, salt: int, rows: int | None = None) -> Tensor:
        """Random image tokens [B, N]."""
        shape = (rows or self.rows, self.length)
        return torch.randint(self.vocab, shape, generator=self.generator(salt)).to(self.device)

    def other(self, tokens: Tensor, salt: int) -> Tensor:
        """Tokens of the same shape, each different from the one given."""
        steps = torch.randint(1, self.vocab, tuple(tokens.shape), generator=self.generator(salt))
        return (tokens + steps.to(self.device)) % self.vocab


def some_prompts(kind: str, count: int, skip: int = 0) -> tuple[Prompt, ...]:
    """Prompts of a kind; texts differ in length, so that a batch of them has to be filled up."""
    numbers = range(skip, skip + count)
    if kind == "label":
        return tuple(Prompt(None, number, "check-model") for number in numbers)
    return tuple(Prompt(text(number), None, "check-model") for number in numbers)


def text(number: int) -> str:
    """A text of one to three things."""
    return " and ".join(THINGS[(number + step) % len(THINGS)] for step in range(1 + number // len(THINGS) % 3))


def subject_of(loaded: Any, rows: int, seed: int) -> Subject:
    """Ask the model for its networks; SpecsimError for one that says of itself what cannot be."""
    prompts = some_prompts(loaded.prompts, rows)
    network = loaded.network(prompts, False)
    for name, kind in (("rows", int), ("vocab", int), ("length", int), ("like", Tensor)):
        if not isinstance(getattr(network, name, None), kind):
            raise SpecsimError(f"{type(network).__name__} has no {name} of type {kind.__name__}: see gpu_eval.network")
    if network.rows != rows or network.vocab < 2 or network.length < 2:
        found = f"{network.rows} rows, vocab {network.vocab}, length {network.length}"
        raise SpecsimError(f"the network of {rows} prompts has {found}: a row for each, 2 or more of the others")
    unguided, doubled = doubled_rows(loaded, prompts)
    sizes = (network.vocab, network.length, network.like.device, coarsest(network))
    return Subject(loaded, prompts, seed, *sizes, unguided, doubled)


def doubled_rows(loaded: Any, prompts: tuple[Prompt, ...]) -> tuple[str, int | None]:
    """Why there is no guidance, or "" and the rows of the network with it."""
    try:
        return "", loaded.network(prompts, True).rows
    except SpecsimError as error:
        return str(error), None


def coarsest(network: Any) -> torch.dtype:
    """The type that the network computes in; where its logits are of a coarser one, that."""
    tokens = torch.zeros(network.rows, network.length - 1, dtype=torch.int64, device=network.like.device)
    logits = network.logits(tokens, tokens[:, :1])
    return max(network.like.dtype, logits.dtype, key=lambda number: torch.finfo(number).eps)
