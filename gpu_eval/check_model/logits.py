"""The network itself: V finite logits for every slot asked, with a memory or without, whatever the image tokens."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from gpu_eval.check_model.loading import last_line
from gpu_eval.check_model.looks import FAILS, Look, counted, require_that
from gpu_eval.check_model.subject import Subject


def logits(subject: Subject) -> Iterator[Look]:
    """Shapes, and NaN or infinity; the laws cannot be looked at before both are in order."""
    for what, memory in (("logits [rows, slots, vocab]", False), ("the same with a memory", True)):
        try:
            found = all_slots(subject, every_id(subject, subject.rows), memory)
        except (IndexError, RuntimeError) as error:  # with ids of 0 the same call went well
            note = f"image tokens 0 to {subject.vocab - 1} cannot all be read: {last_line(error)}"
            yield Look(what, FAILS, "one call", note=note)
            return
        shape, wanted = tuple(found.shape), (subject.rows, subject.span, subject.vocab)
        yield require_that(what, shape == wanted, str(wanted), f"{shape}, must be {wanted}")
        yield finite(found)


@torch.no_grad()
def all_slots(subject: Subject, tokens: Tensor, memory: bool) -> Tensor:
    """Logits [R, K, V] of the first slots."""
    network, slots = subject.network(), torch.arange(subject.span, device=subject.device)
    return network.logits(tokens[:, :-1], slots.expand(subject.rows, -1), network.memory() if memory else None)


def finite(found: Tensor) -> Look:
    """The first NaN or infinity is named, as attention may spread it."""
    bad, note = ~found.isfinite().all(-1), ""
    if bool(bad.any()):
        row, position = bad.nonzero()[0].tolist()
        note = f"{counted(int(bad.sum()), 'law')} of NaN or infinity, the first at row {row}, position {position}"
    return require_that("finite", not note, counted(found.numel(), "logit"), note)


def every_id(subject: Subject, rows: int) -> Tensor:
    """Tokens [rows, N] with every id, or with as many as they can hold, from 0 to V - 1."""
    places = rows * subject.length
    ids = torch.arange(places) % subject.vocab
    if places < subject.vocab:
        ids = torch.linspace(0, subject.vocab - 1, places, dtype=torch.float64).round().long()
    return ids.view(rows, -1).to(subject.device)
