"""A cache changes no law, whatever was asked before and however far each row is rolled back."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from gpu_eval.check_model.looks import Look, Pair, compare, pair
from gpu_eval.check_model.subject import PLAIN, Subject
from gpu_eval.processing import Processing

CALLS = 12
"""Calls of a random history."""
WIDEST = 8
"""Most positions of a call."""


def rollback(subject: Subject) -> Iterator[Look]:
    """Random histories without guidance and with it."""
    note = "keys or values of tokens that are gone are still seen"
    yield compare("a random history", history(subject, PLAIN), subject.number, note)
    if subject.guided:
        guided = history(subject, subject.strongest)
        yield compare("a random history with guidance", guided, subject.number, note)


def history(subject: Subject, processing: Processing) -> Iterator[Pair]:
    """Windows that move on, stay or go back, by another amount in every row; tokens are drafted anew from there."""
    generator, tokens = subject.generator(91), subject.tokens(92)
    cached, plain = subject.model(processing, cached=True), subject.model(processing)
    start = subject.first
    for call in range(CALLS):
        count = int(torch.randint(1, WIDEST + 1, (1,), generator=generator))
        yield pair(cached(tokens, start, count), plain(tokens, start, count), start)
        if call % 3 == 2:  # tokens far back are changed, and the next window may lie far behind them
            kept, start = (below(start + count, generator) for _ in range(2))
        else:
            kept = start - 1 + below(start.new_full(start.shape, count + 1), generator)
            start = kept + 1
        kept, start = (places.clamp(0, subject.length - 1) for places in (kept, start))
        before = torch.arange(subject.length, device=subject.device) < kept[:, None]
        tokens = torch.where(before, tokens, subject.other(tokens, 93 + call))


def below(ends: Tensor, generator: torch.Generator) -> Tensor:
    """[B]: a random whole number from 0 to ends[b] - 1."""
    shares = torch.rand(len(ends), generator=generator, dtype=torch.float64)
    return (shares.to(ends.device) * ends).long()
