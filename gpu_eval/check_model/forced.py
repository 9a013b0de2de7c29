"""Forced tokens: ends of lines are read where the model wants them, and nobody is asked for their laws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from gpu_eval.check_model.looks import FAILS, HOLDS, NOT_APPLICABLE, Look, compare, counted, pair
from gpu_eval.check_model.subject import PLAIN, Subject
from gpu_eval.models.lined import Lined
from gpu_eval.processing import law


def forced(subject: Subject) -> Iterator[Look]:
    """Widths and lengths, the laws of a sequence with its ends written out, and where an end is seen."""
    network = subject.network()
    if not isinstance(network, Lined):
        yield Look("forced tokens", NOT_APPLICABLE, "nothing", note="the network is not Lined")
        return
    sizes = lines(subject, network)
    yield sizes
    if sizes.verdict == HOLDS:
        tokens = subject.tokens(111)
        yield written_out(subject, network, tokens)
        yield from seen(subject, network, tokens)


def lines(subject: Subject, network: Lined) -> Look:
    """As many tokens between two ends as the grid has columns."""
    rows, columns = subject.loaded.grid
    found = (network.width, network.length, network.network.length)
    wanted = (columns, rows * columns, rows * columns + rows - 1)
    names = ("width", "length", "inner length")
    wrong = [f"{n} {a}, must be {b}" for n, a, b in zip(names, found, wanted, strict=True) if a != b]
    note = "; ".join(wrong) + f" for a grid of {rows} x {columns}" if wrong else ""
    return Look("lines are the grid's", FAILS if wrong else HOLDS, counted(rows, "line"), note=note)


@torch.no_grad()
def written_out(subject: Subject, network: Lined, tokens: Tensor) -> Look:
    """The inner network on the whole sequence, line after line with its end, asked before every image token."""
    rows, columns = subject.loaded.grid
    ends = tokens.new_full((subject.rows, rows, 1), network.end)
    whole = torch.cat([tokens.view(-1, rows, columns), ends], dim=2).flatten(1)
    slots = torch.arange(whole.shape[1] - 1, device=subject.device).expand(subject.rows, -1)
    inner = network.network.logits(whole[:, :-2], slots)
    image = torch.arange(whole.shape[1] - 1, device=subject.device) % (columns + 1) < columns
    found = subject.model()(tokens, subject.first, subject.length)
    what, note = "as the sequence written out", "ends are read at other places, or laws are of other tokens"
    return compare(what, [pair(found, law(inner[:, image], PLAIN), subject.first)], subject.number, note)


def seen(subject: Subject, network: Lined, tokens: Tensor) -> Iterator[Look]:
    """Another id as the end: laws of the first line stay, the first after it changes."""
    before = logits(subject, network, tokens)
    after = logits(subject, replace(network, end=0 if network.end else 1), tokens)
    width = network.width
    stays = torch.arange(subject.length, device=subject.device).expand(subject.rows, -1) < width
    pairs = [pair(law(after, PLAIN), law(before, PLAIN), subject.first, stays)]
    yield compare("another end: the first line", pairs, subject.number, "an end is seen before it is there")
    if subject.length > width:
        least = float((after - before)[:, width].abs().amax(-1).min())
        note = "" if least > 0 else "the law after the first line does not see the end"
        looked = counted(subject.rows, "law")
        yield Look("another end: the law after it", HOLDS if least > 0 else FAILS, looked, least, None, note)


@torch.no_grad()
def logits(subject: Subject, network: Lined, tokens: Tensor) -> Tensor:
    """Logits [B, N, V] of a network."""
    slots = torch.arange(subject.length, device=subject.device).expand(subject.rows, -1)
    return network.logits(tokens[:, :-1], slots)
