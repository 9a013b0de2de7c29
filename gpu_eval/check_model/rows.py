"""Rows of a batch do not influence each other: batched, permuted or alone, the laws of a row are its own."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from gpu_eval.check_model.looks import INCONCLUSIVE, Look, Pair, compare, counted, differences, pair
from gpu_eval.check_model.subject import Subject


def rows(subject: Subject) -> Iterator[Look]:
    """Alone, permuted, and with other tokens and other prompts in the other rows."""
    tokens = subject.tokens(81)
    laws = subject.model(subject.strongest)(tokens, subject.first, subject.span)
    alone_note = "are positions and masks those without the filling?"
    yield compare("alone as in a batch", alone(subject, tokens, laws), subject.number, alone_note)
    yield compare("rows in another order", [permuted(subject, tokens, laws)], subject.number)
    yield compare("other tokens in other rows", others_tokens(subject, tokens, laws), subject.number)
    yield compare("other prompts in other rows", others_prompts(subject, tokens, laws), subject.number)
    yield from prompts_matter(subject)


def alone(subject: Subject, tokens: Tensor, laws: Tensor) -> Iterator[Pair]:
    """Each row in a batch of its own."""
    for row in range(subject.rows):
        some = slice(row, row + 1)
        model = subject.model(subject.strongest, prompts=subject.prompts[some])
        made = pair(model(tokens[some], subject.first[some], subject.span), laws[some], subject.first[some])
        yield made._replace(row=made.row + row)


def permuted(subject: Subject, tokens: Tensor, laws: Tensor) -> Pair:
    """Every row moves one on."""
    order = [(row + 1) % subject.rows for row in range(subject.rows)]
    model = subject.model(subject.strongest, prompts=[subject.prompts[row] for row in order])
    return pair(model(tokens[order], subject.first, subject.span), laws[order], subject.first)


def others_tokens(subject: Subject, tokens: Tensor, laws: Tensor) -> Iterator[Pair]:
    """Every second row is changed, then the other ones."""
    for kept in halves(subject):
        changed = torch.where(kept[:, None], tokens, subject.other(tokens, 82))
        found = subject.model(subject.strongest)(changed, subject.first, subject.span)
        yield pair(found, laws, subject.first, kept[:, None].expand(-1, subject.span))


def others_prompts(subject: Subject, tokens: Tensor, laws: Tensor) -> Iterator[Pair]:
    """The same with prompts: those of other rows, so that labels are known to the model."""
    for kept in halves(subject):
        mixed = [
            p if k else subject.prompts[row - 1] for row, (p, k) in enumerate(zip(subject.prompts, kept, strict=True))
        ]
        found = subject.model(subject.strongest, prompts=mixed)(tokens, subject.first, subject.span)
        yield pair(found, laws, subject.first, kept[:, None].expand(-1, subject.span))


def halves(subject: Subject) -> tuple[Tensor, Tensor]:
    """Bool [B] of every second row, and of the others."""
    even = torch.arange(subject.rows, device=subject.device) % 2 == 0
    return even, ~even


def prompts_matter(subject: Subject) -> Iterator[Look]:
    """Where all prompts give the same laws, rows that were mixed up would not show."""
    tokens = subject.tokens(83)[:1].expand(subject.rows, -1)
    laws = subject.model()(tokens, subject.first, 1)
    if not float(differences(laws, laws[:1].expand_as(laws)).max()):
        note = "every prompt gives the same laws: rows that were mixed up would not show"
        yield Look("prompts tell rows apart", INCONCLUSIVE, counted(subject.rows, "prompt"), 0.0, None, note)
