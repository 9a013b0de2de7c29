"""Decoding many images on a CPU: rows that are finished leave the batch.

The tokens are those of `gpu_eval.run.decode`: a row's draws depend on (seed, row) alone.  A batch there runs until its
slowest row is full, which is a third longer than the average row takes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from gpu_eval.cache import Cached
from gpu_eval.fashion import Fashion
from specsim.decoding import Decoder, Rows, empty_rows
from specsim.interpreters.sampling import Sampling
from specsim.sampling import to_numpy
from specsim.tasks import make_task
from specsim.watching import Judged

CLASSES = 10
LEAVING = 0.85
"""A batch is made smaller when no more than this share of its rows is unfinished: every time costs a copy."""


class Tokens(NamedTuple):
    """Images as tokens: tokens [n, N], labels [n], calls [n]."""

    tokens: np.ndarray
    labels: np.ndarray
    calls: np.ndarray


def decode_rows(fashion: Fashion, decoder: Decoder, rule: Any, rows: list[int], seed: int) -> Tokens:
    """Row r has class r mod 10; guidance 1."""
    labels = torch.tensor([row % CLASSES for row in rows])
    target = fashion.target(labels)
    draft = fashion.draft(labels) if decoder.needs_draft else None
    task = make_task(decoder, target, draft, rule, None, None)
    draws = Sampling(seed, rows, task.length, task.fresh)
    choose = Judged(draws)
    task = choose.watch(task)
    state = decoder.start(task, empty_rows(len(rows), task), choose)
    found, calls = np.zeros((len(rows), task.length), np.int64), np.zeros(len(rows), np.int64)
    place = np.arange(len(rows))
    while len(place):
        calls[place] += to_numpy(state.length) < task.length
        state, _ = decoder.step(state, choose, task)
        choose.stop_if_bad()
        going = state.length < task.length
        if int(going.sum()) <= LEAVING * len(place):
            found[place] = to_numpy(state.tokens)
            place, state = place[to_numpy(going)], Rows(state.tokens[going], state.length[going])
            thin_out(draws, (target, draft), going)
    return Tokens(found, labels.numpy(), calls)


def thin_out(draws: Sampling, models: tuple[Any, ...], going: Tensor) -> None:
    """Rows that are no longer `going` [B] are forgotten by the draws and by both models."""
    kept = going.nonzero()[:, 0].tolist()
    draws.rows, draws.streams = [draws.rows[i] for i in kept], [draws.streams[i] for i in kept]
    draws.ahead = {shape_of(shape, kept): [some[going] for some in waiting] for shape, waiting in draws.ahead.items()}
    for model in models:
        if isinstance(model, Cached) and kept:
            forget_rows(model, going)


def shape_of(shape: tuple[int, ...], kept: list[int]) -> tuple[int, ...]:
    """The shape of draws for the rows that are left."""
    return (len(kept), *shape[1:])


def forget_rows(cached: Cached, going: Tensor) -> None:
    """The cache without the other rows; guidance 1, so it holds one row for each image."""
    network: Any = cached.model.network
    cached.model = replace(cached.model, network=replace(network, labels=network.labels[going]))
    cached.memory = [(keys[going], values[going]) for keys, values in cached.memory]
    cached.seen, cached.known = cached.seen[going], cached.known[going]
