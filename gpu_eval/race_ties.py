"""Race decoding must equal plain decoding with the same noise, token for token; only a measured tie excuses a mismatch.

A window forward and a single-token forward compute the same law with other rounding.  Where the two runs first differ,
the gap between the two best of log p - log E decides: below twice the measured difference of log p between the two
forwards at that position it is a tie, else it is a fault.  Laws that differ by more than rounding are a fault whatever
the tokens.  What follows a tie has another prefix and is not compared.
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

ROUNDING = 4096
"""Largest |d log p| that is rounding, in units of the number type's eps; `fashion` was measured to stay below 250."""


@dataclass(frozen=True)
class Agreement:
    """rows: compared; equal: rows equal token for token; ties: rows whose first mismatch is one; faults, in words."""

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


def race_agreement(
    decoder: Decoder, target: Any, draft: Any, rows: Sequence[int], seed: int, single: Any = None
) -> Agreement:
    """Decode rows by `Race(decoder)` and by plain race decoding, and compare.

    target, draft: functions without arguments that give a fresh model each, so that no cache is shared.  single: the
    same for the plain run; an uncached model there shows a cache that is wrong in the same way at every call.
    """
    plain, fast = Witnessed((single or target)(), len(rows)), Witnessed(target(), len(rows))
    one = sample(Race(Autoregressive()), plain, rows=rows, seed=seed).tokens
    two = sample(Race(decoder), fast, draft() if decoder.needs_draft else None, rows=rows, seed=seed).tokens
    noise = Sampling(seed, rows, plain.length, plain.uniform)
    position = torch.arange(plain.length, device=one.device).expand(len(rows), -1)
    scores = plain.laws.log() - noise.noise(position).log()
    faults, ties = [], 0
    for b in range(len(rows)):
        differ = (one[b] != two[b]).nonzero().flatten().tolist()
        last = differ[0] if differ else plain.length - 1
        wrong = fault(scores[b, last], plain.laws[b, : last + 1], fast.laws[b, : last + 1], bool(differ))
        ties += bool(differ) and wrong is None
        faults += [] if wrong is None else [f"row {rows[b]}, position {last}: {wrong}"]
    return Agreement(len(rows), int((one == two).all(dim=1).sum()), ties, tuple(faults))


def fault(score: Tensor, plain: Tensor, fast: Tensor, differ: bool) -> str | None:
    """What is wrong with a row whose prefixes agree: laws [n, V] of both runs, scores [V] at the last position.

    The laws must agree up to rounding everywhere, whether the tokens do or not: a wrong law would otherwise excuse
    its own mismatch by the large difference that it makes.
    """
    drift, limit = drifts(plain, fast), ROUNDING * torch.finfo(plain.dtype).eps
    if drift.max() > limit:
        return f"log p differs by {float(drift.max()):.3g}, rounding explains at most {limit:.3g}"
    best = score.topk(2).values
    gap, slack = float(best[0] - best[1]), 2 * float(drift[-1])
    return f"gap {gap:.3g} where rounding explains {slack:.3g}" if differ and gap >= slack else None


def drifts(plain: Tensor, fast: Tensor) -> Tensor:
    """Largest |d log p| of laws [n, V] where either is positive, [n].

    What is below the smallest number with all its digits counts as that: such entries have few digits or none left.
    """
    tiny = torch.finfo(plain.dtype).tiny
    return (plain.clamp(min=tiny).log() - fast.clamp(min=tiny).log()).abs().amax(dim=-1)
