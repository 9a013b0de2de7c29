"""Race decoding must equal plain decoding with the same noise, token for token; only a measured tie excuses a mismatch.

A window forward and a single-token forward compute the same law with other rounding.  Where the two runs first differ,
the gap between the two best of log p - log E decides: below twice the measured difference of log p between the two
forwards at that position it is a tie, else it is a fault.  What follows a tie has another prefix and is not compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from specsim import Autoregressive, Race
from specsim.decoding import Decoder
from specsim.interpreters import Sampling
from specsim.sampling import sample


@dataclass(frozen=True)
class Agreement:
    """rows: compared; equal: rows equal token for token; ties, faults: rows whose first mismatch is one."""

    rows: int
    equal: int
    ties: int
    faults: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """No mismatch without a tie."""
        return not self.faults


class Witnessed:
    """A model that remembers, for every row and position, the law of the last call that covered it: it decided."""

    def __init__(self, model: Any, rows: int) -> None:
        self.model = model
        self.vocab, self.length, self.uniform, self.codebook = model.vocab, model.length, model.uniform, model.codebook
        self.laws = self.uniform.new_zeros((rows, model.length, model.vocab))

    def __call__(self, tokens: Tensor, start: Tensor, count: int) -> Tensor:
        laws = self.model(tokens, start, count)
        position = start[:, None] + torch.arange(count, device=start.device)
        row, slot = (position < self.length).nonzero(as_tuple=True)
        self.laws[row, position[row, slot]] = laws[row, slot]
        return laws


def race_agreement(decoder: Decoder, target: Any, draft: Any, rows: Sequence[int], seed: int) -> Agreement:
    """Decode rows by `Race(decoder)` and by plain race decoding, and compare.

    target, draft: functions without arguments that give a fresh model each, so that no cache is shared.
    """
    plain, fast = (Witnessed(target(), len(rows)) for _ in range(2))
    one = sample(Race(Autoregressive()), plain, rows=rows, seed=seed).tokens
    two = sample(Race(decoder), fast, draft() if decoder.needs_draft else None, rows=rows, seed=seed).tokens
    noise = Sampling(seed, rows, plain.length, plain.uniform)
    position = torch.arange(plain.length, device=one.device).expand(len(rows), -1)
    scores = plain.laws.log() - noise.noise(position).log()
    faults, ties = [], 0
    for b in (one != two).any(dim=1).nonzero().flatten().tolist():
        n = int((one[b] != two[b]).nonzero()[0])
        gap, slack = tie(scores[b, n], plain.laws[b, n], fast.laws[b, n])
        ties += gap < slack
        if gap >= slack:
            faults.append(f"row {rows[b]}, position {n}: gap {gap:.3g} where rounding explains {slack:.3g}")
    return Agreement(len(rows), int((one == two).all(dim=1).sum()), ties, tuple(faults))


def tie(score: Tensor, plain: Tensor, fast: Tensor) -> tuple[float, float]:
    """(gap between the two best scores, twice the largest |d log p| on the common support)."""
    best = score.topk(2).values
    common = (plain > 0) & (fast > 0)
    return float(best[0] - best[1]), 2 * float((plain.log() - fast.log())[common].abs().max())
