"""The law of token t depends on the tokens before t only, and is the same whatever window it is asked in."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from gpu_eval.check_model.loading import last_line
from gpu_eval.check_model.looks import FAILS, INCONCLUSIVE, Look, Pair, compare, counted, differences, pair
from gpu_eval.check_model.subject import Subject

WINDOWS = 6
"""Windows at random places, each compared with one forward over all."""
WIDEST = 8


def prefix(subject: Subject) -> Iterator[Look]:
    """Later tokens changed, junk beyond the window, other windows, token by token."""
    tokens = subject.tokens(41)
    whole = subject.model()(tokens, subject.first, subject.span)
    yield from later_tokens(subject, tokens, whole)
    yield unread(subject, tokens)
    windows = [window(subject, tokens, whole, salt) for salt in range(WINDOWS)]
    yield compare("window by window", windows, subject.number, "a window's laws are not those of one forward")
    steps = token_by_token(subject, tokens, whole)
    yield compare("token by token, with a cache", steps, subject.number, "a single token's laws are not a window's")


def later_tokens(subject: Subject, tokens: Tensor, whole: Tensor) -> Iterator[Look]:
    """Tokens from a place on are changed: laws up to that place stay, and later ones should not."""
    pairs, moved = [], 0.0
    for salt in range(WINDOWS):
        places = torch.randint(subject.span, (subject.rows, 1), generator=subject.generator(42 + salt))
        position = torch.arange(subject.length, device=subject.device)
        before = position < places.to(subject.device)
        changed = torch.where(before, tokens, subject.other(tokens, 50 + salt))
        laws = subject.model()(changed, subject.first, subject.span)
        same = position[: subject.span] <= places.to(subject.device)
        pairs.append(pair(laws, whole, subject.first, same))
        moved = max(moved, float(differences(laws, whole).max()))
    yield compare("later tokens changed", pairs, subject.number, "laws depend on tokens that come later")
    if not moved:
        note = "laws do not depend on image tokens at all: is `embed` given them?"
        yield Look("earlier tokens changed", INCONCLUSIVE, counted(len(pairs), "call"), 0.0, None, note)


def unread(subject: Subject, tokens: Tensor) -> Look:
    """Tokens beyond the window may hold anything."""
    what = "junk beyond the window"
    try:
        return compare(what, junk(subject, tokens), subject.number, "laws depend on tokens beyond the window")
    except (IndexError, RuntimeError) as error:  # the same calls went well with tokens of the vocabulary
        note = f"it is read, and may hold anything: {last_line(error)}"
        return Look(what, FAILS, "one call", note=note)


def junk(subject: Subject, tokens: Tensor) -> Iterator[Pair]:
    """Other tokens from the end of the window on, and ids that do not exist; a cache is given them too."""
    count = min(WIDEST, subject.span)
    starts = torch.randint(subject.length, (subject.rows,), generator=subject.generator(60)).to(subject.device)
    beyond = torch.arange(subject.length, device=subject.device) >= starts[:, None] + count - 1
    expected = subject.model()(tokens, starts, count)
    for fill in fills(subject, tokens):
        for cached in (False, True):
            found = subject.model(cached=cached)(torch.where(beyond, fill, tokens), starts, count)
            yield pair(found, expected, starts)


def fills(subject: Subject, tokens: Tensor) -> Iterator[Tensor]:
    """An id that does not exist stops a wrapper that reads it; but on CUDA it would end the process, so not there."""
    yield subject.other(tokens, 61)
    if subject.device.type == "cpu":
        yield torch.full_like(tokens, -1 - subject.vocab)


def window(subject: Subject, tokens: Tensor, whole: Tensor, salt: int) -> Pair:
    """Laws of a window at another start in every row."""
    generator = subject.generator(70 + salt)
    count = int(torch.randint(1, WIDEST + 1, (1,), generator=generator).clamp(max=subject.span))
    starts = torch.randint(subject.span - count + 1, (subject.rows,), generator=generator).to(subject.device)
    found = subject.model()(tokens, starts, count)
    return pair(found, window_of(whole, starts, count), starts)


def window_of(whole: Tensor, starts: Tensor, count: int) -> Tensor:
    """Of laws [B, K, V] those of positions starts[b] .. starts[b] + count - 1."""
    wanted = starts[:, None] + torch.arange(count, device=starts.device)
    return whole.gather(1, wanted[..., None].expand(-1, -1, whole.shape[-1]))


def token_by_token(subject: Subject, tokens: Tensor, whole: Tensor) -> Iterator[Pair]:
    """One position after the other, as plain decoding asks."""
    model = subject.model(cached=True)
    for position in range(subject.span):
        start = subject.first + position
        yield pair(model(tokens, start, 1), whole[:, position : position + 1], start)
