"""Compiled verification: the block of any rule, its own source turned into a few kernels by torch.compile.

A rule that follows the drafted path does some fifty small operations a slot.  One by one each costs microseconds to
start, whatever its size; compiled, all slots of a block take less than strict verification does uncompiled.  Compiled
numbers may differ in the last bits, since sums are taken in another order.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch._dynamo.exc import TorchDynamoException

from specsim.errors import SpecsimError
from specsim.rules.wrapping import around_a_rule
from specsim.verification import Block, Drafted, verify

# The caches are of constants and namespaces: what is computed again while tracing is the same.
warnings.filterwarnings("ignore", r"Dynamo detected a call to a `functools\.lru_cache`-wrapped function")


@around_a_rule
@dataclass(frozen=True)
class Compiled:
    """The block of `rule`, compiled when the first one of a shape is verified (seconds).

    Keep the object: another one compiles anew.  A rule that waits for a codebook is bound first (bind_codebook).
    """

    rule: Any

    @property
    def independent_only(self) -> bool:
        """As the rule inside says."""
        return getattr(self.rule, "independent_only", False)

    @cached_property
    def compiled(self) -> Callable[..., tuple[Any, Any]]:
        """(draft, target, tokens, real, position) -> (stop, residual)."""
        return torch.compile(lambda *arrays: tuple(verify(self.rule, Drafted(*arrays))))

    def block(self, drafted: Drafted) -> Block:
        """Laws [B, S, V] of torch -> stop [B, S], residual [B, S, V]."""
        try:
            return Block(*self.compiled(*drafted))
        except TorchDynamoException as error:
            reason = str(error).strip().splitlines()[0]
            raise SpecsimError(
                f"torch.compile failed on {self.rule!r}: {reason}; on a CPU it needs a C++ compiler such as g++"
            ) from None
