"""The divergences of one block from the target's, by name: one number a block, of mean the divergence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from specsim.arrays import positive_part
from specsim.errors import SpecsimError
from specsim.tune.blocks import Blocks


class Divergence(NamedTuple):
    """words: what it is; values(blocks) -> [B, M], one for each block, whose mean it is.

    averaged: False for a largest value, which has no standard error.
    """

    words: str
    values: Callable[[Blocks], np.ndarray]
    averaged: bool = True


def tv(blocks: Blocks) -> np.ndarray:
    """[1 - ratio]+: nothing has to be known off the target's support."""
    return positive_part(1 - blocks.ratio)


def kl(blocks: Blocks) -> np.ndarray:
    """ratio log ratio - ratio + 1, which is never negative and has the mean of ratio log ratio, as E ratio = 1; inf
    where the block can leave the target's support."""
    ratio = blocks.ratio.astype(np.float64)
    safe = np.where(ratio > 0, ratio, 1.0)
    return beyond(blocks, ratio * np.log(safe) - ratio + 1)


def kl_reverse(blocks: Blocks) -> np.ndarray:
    """ratio - 1 - log ratio + off: E ratio = 1 - E off, so its mean is that of -log ratio; inf where ratio is 0."""
    ratio, off = blocks.ratio.astype(np.float64), blocks.off.astype(np.float64)
    safe = np.where(ratio > 0, ratio, 1.0)
    return np.where(ratio > 0, ratio - 1 - np.log(safe) + off, np.inf)


def chi2(blocks: Blocks) -> np.ndarray:
    """(ratio - 1)^2; inf where the block can leave the target's support.  Heavy tailed."""
    return beyond(blocks, (blocks.ratio - 1) ** 2)


def local(blocks: Blocks) -> np.ndarray:
    """The sum of the local errors."""
    return blocks.local


def ratio(blocks: Blocks) -> np.ndarray:
    """The largest ratio of all, for every block the same: the least that the maximum can be."""
    return np.full(blocks.ratio.shape, np.max(beyond(blocks, blocks.ratio)))


def beyond(blocks: Blocks, values: np.ndarray) -> np.ndarray:
    """The values, inf for blocks that can leave the target's support."""
    return np.where(blocks.off > 0, np.inf, values)


DIVERGENCES: Mapping[str, Divergence] = MappingProxyType(
    {
        "tv": Divergence("TV(out, target) of a block", tv),
        "kl": Divergence("KL(out || target) of a block, nats", kl),
        "kl_reverse": Divergence("KL(target || out) of a block, nats", kl_reverse),
        "chi2": Divergence("chi2(out || target) of a block", chi2),
        "local": Divergence("sum of the local errors of a block", local),
        "ratio": Divergence("largest out/target of a block", ratio, averaged=False),
    }
)
"""One row for each `--divergence`."""


def divergence_of(name: str) -> Divergence:
    """The row; SpecsimError for a name that is none."""
    if name not in DIVERGENCES:
        raise SpecsimError(f"tune: divergence {name!r} must be one of {', '.join(DIVERGENCES)}")
    return DIVERGENCES[name]
