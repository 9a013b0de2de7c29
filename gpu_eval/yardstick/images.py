"""Images of every setting, seed by seed, each block a file of its own: stopping at any time leaves a balanced set."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpu_eval.fashion import Fashion
from gpu_eval.yardstick.decoding import Tokens, decode_rows
from gpu_eval.yardstick.settings import PLAIN, Setting
from specsim.errors import SpecsimError
from specsim.files import write_bytes

POOL_SEEDS = 2**32
"""The pool of plain decoding has seeds from here on: no setting shares a random number with it."""
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Work:
    """Where blocks lie and how large they are: images of one (setting, seed)."""

    folder: Path
    images: int

    def path(self, setting: Setting, seed: int, what: str = "tokens") -> Path:
        """The file of one block."""
        name = "".join(c if c.isalnum() or c in ".-" else "_" for c in setting.name)
        return self.folder / name / f"{seed}.{what}.npz"

    def has(self, setting: Setting, seed: int) -> bool:
        """Whether the block is decoded."""
        return self.path(setting, seed).exists()


def missing(work: Work, settings: Sequence[Setting], seeds: int, pool: int) -> Iterator[tuple[Setting, int]]:
    """Blocks still to be decoded: seed by seed over all settings, each seed followed by its share of the pool."""
    for seed in range(seeds):
        yield from ((setting, seed) for setting in settings if not work.has(setting, seed))
        for number in range(seed * pool // seeds, (seed + 1) * pool // seeds):
            if not work.has(PLAIN, POOL_SEEDS + number):
                yield PLAIN, POOL_SEEDS + number


def decode_missing(
    work: Work,
    fashion: Callable[[], Fashion],
    todo: Sequence[tuple[Setting, int]],
    progress: Callable[[int, int], None],
) -> None:
    """Decode and write block after block; progress(blocks done, all)."""
    for done, (setting, seed) in enumerate(todo):
        found = decode_rows(fashion(), setting.decoder, setting.rule, list(range(work.images)), seed)
        save(work.path(setting, seed), setting, found._asdict())
        progress(done + 1, len(todo))


def save(path: Path, setting: Setting, arrays: Arrays) -> None:
    """Arrays of one block, with what they were made by."""
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    everything: dict[str, Any] = {"made": np.array(made_by(setting)), **{k: slim(v) for k, v in arrays.items()}}
    np.savez_compressed(buffer, **everything)
    write_bytes(path, buffer.getvalue())


def slim(array: np.ndarray) -> np.ndarray:
    """Token ids, labels and calls fit 16 bits."""
    return array.astype(np.uint16) if array.dtype == np.int64 else array


def made_by(setting: Setting) -> str:
    """What a block depends on beside its seed and size."""
    return f"{setting.decoder!r} {setting.rule!r}"


def load(path: Path, setting: Setting, images: int) -> Arrays:
    """Arrays of one block; SpecsimError where it is of another rule or size."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays: dict[str, Any] = {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise SpecsimError(f"{path} is no block of images ({error}): delete it and decode it again") from None
    made, sizes = str(arrays.pop("made", "")), {len(array) for array in arrays.values()}
    if made != made_by(setting) or sizes != {images}:
        raise SpecsimError(
            f"{path} holds {sizes} images of {made!r}, need {images} of {made_by(setting)!r}: "
            "delete it, or choose another --images"
        )
    return arrays


def tokens_of(work: Work, setting: Setting, seed: int) -> Tokens:
    """One decoded block."""
    arrays = load(work.path(setting, seed), setting, work.images)
    return Tokens(*(arrays[name].astype(np.int64) for name in Tokens._fields))


def complete_seeds(work: Work, settings: Sequence[Setting], seeds: int) -> list[int]:
    """Seeds that every setting has: the balanced set."""
    return [seed for seed in range(seeds) if all(work.has(setting, seed) for setting in settings)]


def pool_seeds(work: Work, pool: int) -> list[int]:
    """Blocks of the pool that are there."""
    return [POOL_SEEDS + number for number in range(pool) if work.has(PLAIN, POOL_SEEDS + number)]
