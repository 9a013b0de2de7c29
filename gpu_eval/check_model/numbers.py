"""Number types: laws in float32 or better, whatever type the network computes in, and no overflow on the way."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from gpu_eval.check_model.looks import FAILS, HOLDS, Look, counted, name_of, require_that
from gpu_eval.check_model.subject import Subject
from gpu_eval.processing import at_least_float32, guide
from specsim.tasks import NUMBERS

STRONGEST = 15.0
"""Guidance that logits must survive: twice the usual 7.5."""
HALVES = (torch.bfloat16, torch.float16)


def number_range(subject: Subject) -> Iterator[Look]:
    """The type of the laws, that they were never rounded to half precision, and the range of logits and laws."""
    tokens = subject.tokens(11)
    laws = subject.model()(tokens, subject.first, subject.span)
    looked = f"{counted(laws.numel(), 'entry').replace('entrys', 'entries')}"
    kind = name_of(laws.dtype)
    yield require_that("laws are float32 or better", kind in NUMBERS, kind, f"laws are {kind}: take softmax in float32")
    yield not_rounded(laws, looked)
    yield overflow(subject, tokens)
    yield tail(laws, looked)


def not_rounded(laws: Tensor, looked: str) -> Look:
    """Laws converted from half precision are laws that a shorter type can hold, every entry."""
    spreads = bool((laws != laws[..., :1]).any())  # uniform laws may be such by themselves
    short = [
        name_of(half) for half in HALVES if laws.dtype in HALVES or bool((laws.to(half).to(laws.dtype) == laws).all())
    ]
    note = f"every entry is a {short[0]} number: take softmax in float32, then nothing is lost" if short else ""
    return require_that("laws keep their tail", not (short and spreads), looked, note)


def overflow(subject: Subject, tokens: Tensor) -> Look:
    """Finite logits stay finite under guidance; the largest |logit| is reported."""
    network = subject.network(guided=subject.guided)
    slots = torch.arange(subject.span, device=subject.device)
    twice = 2 if subject.guided else 1
    with torch.no_grad():
        logits = network.logits(tokens[:, :-1].repeat(twice, 1), slots.expand(network.rows, -1))
    kept = at_least_float32(logits)
    if subject.guided:
        conditional, unconditional = kept.chunk(2)
        kept = guide(conditional, unconditional, STRONGEST)
    finite = logits[logits.isfinite()].abs()
    largest = float(finite.max()) if len(finite) else 0.0
    made = int((~kept.isfinite()).sum()) if bool(logits.isfinite().all()) else 0
    setting = f"guidance {STRONGEST:g}" if subject.guided else "no guidance"
    note = f"largest |logit|, in {name_of(logits.dtype)}"
    if made:
        note = f"{counted(made, 'logit')} overflow under {setting}; " + note
    return Look(
        "logits stay finite", FAILS if made else HOLDS, f"{logits.numel():,} logits, {setting}", largest, None, note
    )


def tail(laws: Tensor, looked: str) -> Look:
    """The smallest positive entry, for information; entries that are 0 can never be drawn."""
    positive = laws[laws > 0]
    least = float(positive.min()) if len(positive) else 0.0
    return Look("smallest positive entry", HOLDS, looked, least, None, f"{int((laws == 0).sum()):,} entries are 0")
