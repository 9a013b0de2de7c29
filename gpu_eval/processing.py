"""From logits to the law that is drawn from: guidance, temperature, top-k, top-p, softmax, in this order.

Only after all of them are a draft law and a target law defined, so every model of the package ends here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from specsim.errors import SpecsimError

NONE = float("-inf")  # logit of a token that cannot be drawn


@dataclass(frozen=True)
class Processing:
    """guidance 1: the conditional model alone; temperature 0: the argmax; top_k 0, top_p 1: every token."""

    guidance: float = 1.0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.guidance):
            raise SpecsimError(f"guidance is {self.guidance}: give a finite number, 1 for none")
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise SpecsimError(f"temperature is {self.temperature}: give a number of at least 0, 0 for the argmax")
        if not isinstance(self.top_k, int) or self.top_k < 0:
            raise SpecsimError(f"top_k is {self.top_k!r}: give a whole number of at least 1, or 0 for every token")
        if not 0 < self.top_p <= 1:
            raise SpecsimError(f"top_p is {self.top_p}: give a share above 0 and at most 1, 1 for every token")

    @property
    def guided(self) -> bool:
        """Whether the unconditional logits are needed."""
        return self.guidance != 1


def guide(conditional: Tensor, unconditional: Tensor, guidance: float) -> Tensor:
    """g (c - u) + u."""
    return guidance * (conditional - unconditional) + unconditional


def law(logits: Tensor, processing: Processing) -> Tensor:
    """The law [..., V] of guided logits [..., V], in float32 or better whatever the logits' type."""
    logits = at_least_float32(logits)
    if processing.temperature == 0:
        return point_mass(logits)
    # The largest logit becomes 0 first, and the temperature stays a normal number: nothing becomes 0/0 or inf - inf.
    temperature = max(processing.temperature, torch.finfo(logits.dtype).tiny)
    logits = (logits - logits.amax(-1, keepdim=True)) / temperature
    if 0 < processing.top_k < logits.shape[-1]:
        logits = keep_top_k(logits, processing.top_k)
    if processing.top_p < 1:
        logits = keep_top_p(logits, processing.top_p)
    return logits.softmax(-1)


def at_least_float32(logits: Tensor) -> Tensor:
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def point_mass(logits: Tensor) -> Tensor:
    """All mass on the largest logit; among equals on the lowest id."""
    ids = torch.arange(logits.shape[-1], device=logits.device)
    largest = logits == logits.amax(-1, keepdim=True)
    first = torch.where(largest, ids, logits.shape[-1]).amin(-1, keepdim=True)
    return (ids == first).to(logits.dtype)


def keep_top_k(logits: Tensor, count: int) -> Tensor:
    """Exactly `count` tokens stay; of those equal to the last one kept, the lowest ids."""
    bar = logits.topk(count, dim=-1).values[..., -1:]
    above, equal = logits > bar, logits == bar
    room = count - above.sum(-1, keepdim=True)
    return logits.masked_fill(~(above | (equal & (equal.cumsum(-1) <= room))), NONE)


def keep_top_p(logits: Tensor, share: float) -> Tensor:
    """The fewest tokens, likeliest first and lower ids first among equals, whose mass reaches `share`."""
    ranked, order = logits.sort(dim=-1, descending=True, stable=True)
    mass = ranked.softmax(-1)
    enough = mass.cumsum(-1) - mass >= share  # the mass before a token is already enough
    enough[..., 0] = False
    return logits.masked_fill(torch.zeros_like(enough).scatter(-1, order, enough), NONE)


def require_finite(logits: Tensor, start: Tensor) -> None:
    """Error naming the first row and position with a NaN or infinite logit. logits [B, count, V], start [B].

    Within a window attention may spread a NaN to earlier positions too (0 * NaN), so the first one is named.
    Costs one wait for the device; without it a broken network would show only as odd images.
    """
    if bool(logits.isfinite().all()):
        return
    row, offset = (~logits.isfinite().all(-1)).nonzero()[0].tolist()
    bad = logits[row, offset]
    value = bad[~bad.isfinite()][0].item()
    position = int(start[row]) + offset
    raise SpecsimError(f"logits of row {row}, position {position} hold {value}: check the weights and the number type")
