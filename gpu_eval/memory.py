"""Too little memory: known from other errors, and answered by smaller batches."""

from __future__ import annotations

import gc
from collections.abc import Callable

import torch

from specsim.errors import SpecsimError

WORDS = ("out of memory", "can't allocate memory", "cannot allocate memory", "not enough memory")
"""What torch says on a CPU, and some libraries on a GPU, without an error of their own kind."""


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory is too small."""
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or any(
        words in str(error).lower() for words in WORDS
    )


def halved(size: int, rows: int, notice: Callable[[str], None] | None) -> int:
    """Half of a batch that did not fit; SpecsimError when it was one image."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    size = min(size, rows)
    if size == 1:
        raise SpecsimError("run: out of memory with one image at a time; give a smaller model, or --dtype bfloat16")
    if notice is not None:
        notice(f"out of memory with {size} images side by side: going on with {size // 2}")
    return size // 2
