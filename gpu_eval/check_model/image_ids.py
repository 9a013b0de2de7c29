"""Laws are laws of the V image tokens, ids 0 to V - 1, and every one of them can be painted."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from gpu_eval.check_model.loading import last_line
from gpu_eval.check_model.logits import every_id
from gpu_eval.check_model.looks import FAILS, Look, counted, require_that
from gpu_eval.check_model.subject import Subject

MOST_IMAGES = 4
"""Images that are painted; where they cannot hold every id, ids evenly apart are taken, the last among them."""


def image_ids(subject: Subject) -> Iterator[Look]:
    """Grid, codebook, laws and `paint` are of the same length and vocabulary."""
    loaded, vocab, length = subject.loaded, subject.vocab, subject.length
    grid = tuple(loaded.grid)
    note = f"grid {grid}, the network has {length} tokens"
    yield require_that("length is the grid's", grid[0] * grid[1] == length, f"grid {grid}", note)
    if loaded.codebook is not None:
        rows, finite = len(loaded.codebook), bool(torch.as_tensor(loaded.codebook).isfinite().all())
        note = f"{rows} codes, vocab {vocab}" + ("" if finite else ", some of them NaN or infinite")
        yield require_that("one code a token", rows == vocab and finite, counted(rows, "code"), note)
    for what, cached in (("laws [rows, count, vocab]", False), ("the same with a cache", True)):
        found = tuple(subject.model(cached=cached)(subject.tokens(1), subject.first, subject.span).shape)
        wanted = (subject.rows, subject.span, vocab)
        yield require_that(what, found == wanted, str(wanted), f"{found}, must be {wanted}")
    yield painted(subject)


def painted(subject: Subject) -> Look:
    """Images [B, channels, H, W] in [0, 1] of tokens with every id."""
    rows = min(MOST_IMAGES, -(-subject.vocab // subject.length))
    what, looked = "paint", counted(rows, "image")
    try:
        with torch.no_grad():
            images = subject.loaded.paint(every_id(subject, rows))
    except Exception as error:
        return Look(what, FAILS, looked, note=f"of ids 0 to {subject.vocab - 1}: {last_line(error)}")
    if not isinstance(images, Tensor) or images.ndim != 4 or len(images) != rows or images.shape[1] not in (1, 3):
        found = tuple(images.shape) if isinstance(images, Tensor) else type(images).__name__
        return Look(what, FAILS, looked, note=f"gives {found}, must be images [{rows}, 1 or 3, H, W]")
    low, high = float(images.min()), float(images.max())
    return require_that(what, low >= 0 and high <= 1, looked, f"pixels from {low:.4g} to {high:.4g}, must be in [0, 1]")
