"""Laws are laws: entries of at least 0 that sum to 1, and top-k and top-p leave what they say."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from gpu_eval.check_model.looks import FAILS, HOLDS, Look, counted, require_that
from gpu_eval.check_model.subject import PLAIN, Subject
from gpu_eval.processing import Processing
from specsim.tasks import SUM_SLACK

TOP_K, TOP_P = 5, 0.9


def validity(subject: Subject) -> Iterator[Look]:
    """The laws of each setting."""
    tokens = subject.tokens(21)
    plain = laws_of(subject, PLAIN, tokens)
    yield sums("entries >= 0, sum 1", plain)
    if subject.guided:
        yield sums("the same with guidance", laws_of(subject, subject.strongest, tokens))
    count = min(TOP_K, subject.vocab - 1)
    yield from top_k(laws_of(subject, Processing(top_k=count), tokens), plain, count)
    yield from top_p(laws_of(subject, Processing(top_p=TOP_P), tokens), plain)
    yield from top_k(laws_of(subject, Processing(temperature=0), tokens), plain, 1, "temperature 0")


def laws_of(subject: Subject, processing: Processing, tokens: Tensor) -> Tensor:
    """Laws [B, K, V] in float64, as they came."""
    return subject.model(processing)(tokens, subject.first, subject.span).double()


def sums(what: str, laws: Tensor) -> Look:
    """Entries and sums of laws [B, K, V]."""
    gaps, least = (laws.sum(-1) - 1).abs(), float(laws.min())
    worst = float(gaps.max().nan_to_num(nan=torch.inf))
    row, position = divmod(int(gaps.argmax()), gaps.shape[1])
    note = f"row {row}, position {position} sums to {float(laws[row, position].sum()):.6g}"
    if least < 0:
        note = f"the least entry is {least:.4g}"
    holds = worst <= SUM_SLACK and least >= 0
    looked = counted(gaps.numel(), "law")
    return Look(what, HOLDS if holds else FAILS, looked, worst, SUM_SLACK, "" if holds else note)


def top_k(laws: Tensor, plain: Tensor, count: int, what: str = "") -> Iterator[Look]:
    """`count` entries are positive, fewer only where the plain law has fewer, and none beside them is likelier."""
    what = what or f"top-k {count}"
    kept, there = laws > 0, (plain > 0).sum(-1).clamp(max=count)
    wrong = (kept.sum(-1) != there) | (least_kept(plain, kept) < most_dropped(plain, kept) * (1 - SUM_SLACK))
    yield sums(what, laws)
    note = f"{int(wrong.sum())} laws keep another number of tokens, or not the likeliest"
    yield require_that(f"{what} keeps {count}", not bool(wrong.any()), counted(wrong.numel(), "law"), note)


def top_p(laws: Tensor, plain: Tensor) -> Iterator[Look]:
    """What is kept has mass TOP_P, and without its least token it has not."""
    what, kept = f"top-p {TOP_P}", laws > 0
    mass, least = (plain * kept).sum(-1), least_kept(plain, kept)
    unlikely = least < most_dropped(plain, kept) * (1 - SUM_SLACK)
    wrong = unlikely | (mass < TOP_P - SUM_SLACK) | (mass - least > TOP_P + SUM_SLACK)
    yield sums(what, laws)
    note = f"{int(wrong.sum())} laws keep too many tokens, too few, or not the likeliest"
    yield require_that(f"{what} keeps the fewest", not bool(wrong.any()), counted(wrong.numel(), "law"), note)


def least_kept(plain: Tensor, kept: Tensor) -> Tensor:
    """[B, K]: the smallest plain probability that was kept."""
    return plain.masked_fill(~kept, 1.0).amin(-1)


def most_dropped(plain: Tensor, kept: Tensor) -> Tensor:
    """[B, K]: the largest plain probability that was not kept."""
    return plain.masked_fill(kept, 0.0).amax(-1)
