"""Laws are a function of prompts and tokens: the same call twice, whatever was asked between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from torch import Tensor

from gpu_eval.check_model.looks import HOLDS, INCONCLUSIVE, Look, compare, pair
from gpu_eval.check_model.subject import Subject

REPEATS = 3


def purity(subject: Subject) -> Iterator[Look]:
    """Bit for bit; a difference that rounding explains is inconclusive."""
    yield bits(asked_again(subject))
    yield bits(made_again(subject, False, "two models made alike"))
    yield bits(made_again(subject, True, "two caches made alike"))


def asked_again(subject: Subject) -> Look:
    """The same call again after calls about other tokens."""
    model, tokens = subject.model(subject.strongest), subject.tokens(31)
    first, pairs = ask(subject, model, tokens), []
    for repeat in range(REPEATS):
        model(subject.tokens(32 + repeat), subject.first, 1)
        pairs.append(pair(ask(subject, model, tokens), first, subject.first))
    return compare("asked again", pairs, subject.number, "the model remembers, or draws at random (dropout?)")


def made_again(subject: Subject, cached: bool, what: str) -> Look:
    """Two models of the same prompts share nothing that changes."""
    tokens = subject.tokens(36)
    one, two = (ask(subject, subject.model(subject.strongest, cached), tokens) for _ in range(2))
    return compare(what, [pair(one, two, subject.first)], subject.number, "models of the same prompts differ")


def ask(subject: Subject, model: Any, tokens: Tensor) -> Tensor:
    """Laws of the first positions; a copy, as a model may reuse its memory."""
    return model(tokens, subject.first, subject.span).clone()


def bits(look: Look) -> Look:
    """Within rounding but not equal bit for bit: the device's kernels do not repeat themselves."""
    if look.verdict != HOLDS or not look.measured:
        return look
    return replace(look, verdict=INCONCLUSIVE, note="not bit for bit: kernels that do not repeat themselves")
