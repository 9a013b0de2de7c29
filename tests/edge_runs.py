"""Scripted runs: models, uniforms and race noise from rows of data, on any array backend, with every number watched.

All rows of one vocabulary, length and end of sequence are one batch, each once for every script of uniforms.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import array_api_strict
import numpy as np
import torch

from specsim import Chain, Jacobi, Race
from specsim.arrays import Array, arange, namespace, to_numpy
from specsim.decoders import Autoregressive, DynamicTree, RelaxedBonus, Tree
from specsim.files import read_json
from specsim.interpreters import pick
from specsim.interpreters.sampling import winner
from specsim.sampling import run
from specsim.tasks import make_task
from specsim.verification import Block, Drafted

EDGES = Path(__file__).parent / "edges"
BACKENDS = {"numpy": np, "torch": torch, "array_api_strict": array_api_strict}
JACOBI = [
    Jacobi(2, continuation, tail)
    for continuation in ("independent", "maximal", "gumbel", "maximal_stale")
    for tail in ("uniform", "onehot")
]
TREES = (Tree(((0,), (1,), (0, 0))), DynamicTree(2, 2, 3))
RULED = (Chain(1), Chain(6), RelaxedBonus(2), *TREES, *JACOBI)
"""Decoders that a rule decides for; lookahead 6 lies beyond the end of every scripted run."""
RULELESS = (
    Autoregressive(),
    *(
        Race(inner)
        for inner in (Autoregressive(), Chain(6), RelaxedBonus(2), *TREES, Jacobi(2), Jacobi(2, tail="onehot"))
    ),
)
ROUNDINGS = 64
"""A law of a few tokens takes a few dozen roundings of numbers up to about 1, half an epsilon each."""
SCRIPTS = [*itertools.product((0.0, 1.0), repeat=3), (0.5,) * 3]
"""Uniforms of one row, draw after draw, over again: for Chain(1) draft, verdict and replacement. 1: just below it."""


def read_rows(name: str) -> list[dict[str, Any]]:
    """The rows of one file; decimals are read exactly."""
    return read_json(EDGES / f"{name}.json", exact=True)


def value(entry: Any, dtype: type) -> Any:
    """One number in `dtype`: a decimal, a fraction such as "1/3", or a neighbour such as {"ulp_above": 0.5}."""
    if isinstance(entry, dict):
        [(name, base)] = entry.items()
        return np.nextafter(value(base, dtype), dtype({"ulp_above": 2, "ulp_below": -2}[name]))
    return dtype(float(entry) if isinstance(entry, str) and entry in ("nan", "inf", "-inf") else float(Fraction(entry)))


def law(entries: list, dtype: type) -> np.ndarray:
    """A law, or a list of them."""
    if isinstance(entries[0], list):
        return np.stack([law(row, dtype) for row in entries])
    return np.array([value(entry, dtype) for entry in entries], dtype=dtype)


def laws_of(written: Any, length: int, dtype: type) -> np.ndarray:
    """[N, V, V], by position and the token before: one law, or {"by_position": [..]}, or {"after": [law for each]}."""
    if isinstance(written, list):
        written = {"by_position": [written] * length}
    [(form, rows)] = written.items()
    found, vocab = law(rows, dtype), len(rows[0])
    whole = found[:, None] if form == "by_position" else found[None]
    return np.broadcast_to(whole, (length, vocab, vocab))


@dataclass(frozen=True)
class Rowwise:
    """Every row of the batch has a model of its own: laws [B, N, V, V] by row, position and the token before."""

    laws: Array
    checked: bool = False

    @property
    def vocab(self) -> int:
        return self.laws.shape[-1]

    @property
    def length(self) -> int:
        return self.laws.shape[1]

    @property
    def codebook(self) -> Any:
        return [[token / 2] for token in range(self.vocab)]

    @property
    def uniform(self) -> Array:
        return namespace(self.laws).ones_like(self.laws[0, 0, 0, :]) / self.vocab

    def __call__(self, tokens: Array, start: Array, count: int) -> Array:
        xp = namespace(tokens)
        position = xp.clip(start[:, None] + arange(count, start), 0, self.length - 1)
        before = xp.take_along_axis(tokens, xp.clip(position - 1, 0, tokens.shape[1] - 1), axis=1)
        row = arange(tokens.shape[0], tokens)[:, None]
        where = (row * self.length + position) * self.vocab + xp.where(position > 0, before, 0)
        flat = xp.reshape(self.laws, (-1, self.vocab))
        return xp.reshape(xp.take(flat, xp.reshape(where, (-1,)), axis=0), (*where.shape, self.vocab))


class Batch(NamedTuple):
    """Rows that run together, each once a script: laws [B, N, V, V] in numpy, uniforms [B, K], noise [B, N, V]."""

    rows: list[dict[str, Any]]
    target: np.ndarray
    draft: np.ndarray
    scripts: np.ndarray
    noise: np.ndarray
    eos: int | None


def batches(rows: Iterable[dict[str, Any]], dtype: type, scripts: Any = SCRIPTS) -> list[Batch]:
    """The rows by vocabulary, length and end of sequence."""
    groups = defaultdict(list)
    for row in rows:
        length = row.get("length", 3)
        target, draft = (laws_of(row[name], length, dtype) for name in ("target", "draft"))
        for script in row.get("scripts", scripts):
            groups[target.shape, row.get("eos")].append((row, target, draft, script))
    found = []
    for (_, eos), members in groups.items():
        row, target, draft, script = zip(*members, strict=True)
        below_one = np.nextafter(dtype(1), dtype(0))
        uniforms = np.minimum(law(list(map(list, script)), dtype), below_one)
        laws = np.stack(target)
        found.append(Batch(list(row), laws, np.stack(draft), uniforms, race_noise(laws), eos))
    return found


def race_noise(laws: np.ndarray) -> np.ndarray:
    """[B, N, V]: every token in turn gets the least noise that a sampler gives."""
    count, length, vocab = laws.shape[:3]
    least = (np.arange(count)[:, None] + np.arange(length)) % vocab
    return np.where(least[..., None] == np.arange(vocab), np.finfo(np.float32).tiny, 1).astype(laws.dtype)


class Scripted:
    """`choose` that follows the scripts, one uniform a row for all slots of a draw, and notes what is wrong."""

    def __init__(self, batch: Batch, to: Any, pick: Any = pick, winner: Any = winner) -> None:
        self.scripts, self.shared = to(batch.scripts), to(batch.noise)
        self.pick, self.winner, self.asked, self.faults = pick, winner, 0, list[tuple[int, str]]()

    def __call__(self, weights: Array, live: tuple) -> tuple[Array, tuple]:
        self.note("weights of a draw", weights_are_bad(to_numpy(weights)))
        uniform = self.scripts[:, self.asked % self.scripts.shape[1]]
        self.asked += 1
        uniform = uniform if weights.ndim == 2 else uniform[:, None]
        return self.pick(weights, namespace(weights).broadcast_to(uniform, weights.shape[:-1])), live

    def token(self, weights: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        return self(weights, live)

    def race(self, weights: Array, position: Array, live: tuple) -> tuple[Array, tuple]:
        xp, (count, length, vocab) = namespace(weights), self.shared.shape
        row = arange(count, position) * length
        where = xp.clip(position, 0, length - 1) + (row if position.ndim == 1 else row[:, None])
        noise = xp.take(xp.reshape(self.shared, (-1, vocab)), xp.reshape(where, (-1,)), axis=0)
        return self.winner(xp.reshape(noise, weights.shape), weights), live

    def forget(self, position: Array) -> None:
        """Scripts are never forgotten."""

    def note(self, what: str, bad: np.ndarray) -> None:
        """bad: bool [B, ...]."""
        self.faults += [(int(row), what) for row in np.flatnonzero(bad.reshape(len(bad), -1).any(axis=1))]

    def watch(self, task: Any, slack: np.ndarray) -> Any:
        """The task, whose verified blocks are looked at."""

        def verify(choose: Any, drafted: Drafted, live: tuple) -> tuple[Block, tuple]:
            block, live = task.verify(choose, drafted, live)
            stop, residual = to_numpy(block.stop), to_numpy(block.residual)
            self.note("stop", weights_are_bad(stop) | (abs(stop.sum(axis=-1) - 1) > slack))
            law = ~weights_are_bad(residual) & (abs(residual.sum(axis=-1) - 1) <= slack[:, None])
            self.note("residual", (stop > 0) & ~law | ~np.isfinite(residual).all(axis=-1))
            return block, live

        return task._replace(verify=verify)


def weights_are_bad(weights: np.ndarray) -> np.ndarray:
    """Not finite, negative, or nothing to draw: bool over all but the last axis."""
    return ~((weights >= 0).all(axis=-1) & np.isfinite(weights.sum(axis=-1)) & (weights.sum(axis=-1) > 0))


class Outcome(NamedTuple):
    """tokens [B, N], drafted tokens accepted [B], target calls [B], and what was wrong on the way."""

    tokens: np.ndarray
    accepted: np.ndarray
    calls: np.ndarray
    faults: list[tuple[int, str]]


def decode(batch: Batch, decoder: Any, rule: Any, backend: str, **parts: Any) -> Outcome:
    """Run a batch on a backend; `parts` replaces the sampler's functions."""
    to = BACKENDS[backend].asarray
    target, draft = Rowwise(to(batch.target)), Rowwise(to(batch.draft))
    task = make_task(decoder, target, draft, rule, None, batch.eos)
    choose = Scripted(batch, to, **parts)
    off = np.maximum(*(abs(laws.sum(axis=-1) - 1).max(axis=(1, 2)) for laws in (batch.target, batch.draft)))
    slack = ROUNDINGS * np.finfo(batch.target.dtype).eps + off
    done = run(decoder, choose.watch(task, slack), choose, len(batch.rows))
    return Outcome(to_numpy(done.tokens), done.accepted, done.calls, choose.faults)
