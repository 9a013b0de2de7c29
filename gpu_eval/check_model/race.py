"""Speculative decoding by race equals plain decoding with the same noise, token for token, but for measured ties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from gpu_eval.check_model.looks import FAILS, HOLDS, INCONCLUSIVE, Look, counted, name_of, rounding_limit
from gpu_eval.check_model.subject import Subject
from gpu_eval.race_ties import Agreement, race_agreement
from specsim import Chain, Jacobi
from specsim.decoding import Decoder
from specsim.tasks import widened

DECODERS: tuple[Decoder, ...] = (Jacobi(window=8), Chain(lookahead=3))
DRAFT_TEMPERATURE = 1.5
"""The model at another temperature is a draft that is always at hand; its drafts are often wrong, as they should be."""


@dataclass(frozen=True)
class First:
    """The first `length` positions of a model, in float32, as a float64 network may round to it inside.

    No entry is below the smallest normal number, where logs are not precise.
    """

    model: Any
    length: int

    @property
    def vocab(self) -> int:
        return self.model.vocab

    @property
    def uniform(self) -> Tensor:
        return self.model.uniform.float()

    @property
    def codebook(self) -> Tensor | None:
        return self.model.codebook

    def __call__(self, tokens: Tensor, start: Tensor, count: int) -> Tensor:
        laws = widened(self.model, self.length)(tokens, start, count).float()
        return laws.clamp(min=torch.finfo(laws.dtype).tiny)


def race(subject: Subject) -> Iterator[Look]:
    """A window and a chain, with guidance where there is one."""
    target = subject.strongest
    draft = replace(target, temperature=DRAFT_TEMPERATURE)
    for decoder in DECODERS:
        agreement = race_agreement(
            decoder,
            lambda: First(subject.model(target, cached=True), subject.span),
            lambda: First(subject.model(draft, cached=True), subject.span),
            range(subject.rows),
            subject.seed,
        )
        yield judged(repr(decoder), agreement, subject)


def judged(what: str, found: Agreement, subject: Subject) -> Look:
    """Rows that are not equal need a tie; in half precision they are reported."""
    said = f"{found.equal} of {found.rows} rows equal token for token, {counted(found.ties, 'tie')}"
    looked, unlike = f"{counted(found.rows, 'row')} of {subject.span} tokens", float(found.rows - found.equal)
    if found.equal == found.rows or (found.holds and rounding_limit(subject.number)):
        return Look(what, HOLDS, looked, unlike, float(found.ties), said)
    if rounding_limit(subject.number) is None:
        note = f"{said}; {name_of(subject.number)}: reported, not required"
        return Look(what, INCONCLUSIVE, looked, unlike, None, note)
    return Look(what, FAILS, looked, unlike, float(found.ties), f"{said}; {found.faults[0]}")
