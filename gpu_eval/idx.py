"""Reading the idx.gz files of the MNIST family (format: http://yann.lecun.com/exdb/mnist)."""

from __future__ import annotations

import gzip
import struct
import zlib
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from specsim.errors import SpecsimError

UNSIGNED_BYTES = 0x08  # type code in the third byte of an idx file


def read_idx(path: Path) -> Tensor:
    """uint8 tensor of the file's shape; errors name a missing, damaged or foreign file."""
    if not path.is_file():
        raise SpecsimError(f"no file {path}: give --data the folder with the four *-ubyte.gz files of Fashion-MNIST")
    try:
        raw = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise SpecsimError(f"{path} is not a whole gzip file ({error}): fetch it again") from None
    if len(raw) < 4 or raw[:3] != bytes([0, 0, UNSIGNED_BYTES]):
        raise SpecsimError(f"{path} starts with bytes {list(raw[:4])}, not with 0, 0, 8: not an idx file of bytes")
    head = 4 + 4 * raw[3]
    shape = struct.unpack(f">{raw[3]}I", raw[4:head]) if len(raw) >= head else ()
    if len(raw) < head or len(raw) - head != int(np.prod(shape)):
        raise SpecsimError(f"{path} has {len(raw)} bytes, its header says shape {shape}: fetch it again")
    return torch.from_numpy(np.frombuffer(raw, np.uint8, offset=head).reshape(shape).copy())


def read_split(folder: Path, split: str, side: int, classes: int) -> tuple[Tensor, Tensor]:
    """images [M, 1, side, side] float32 in [0, 1] and labels [M] int64 of the split "train" or "t10k"."""
    images = read_idx(folder / f"{split}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{split}-labels-idx1-ubyte.gz")
    if images.ndim != 3 or tuple(images.shape[1:]) != (side, side) or labels.shape != images.shape[:1]:
        raise SpecsimError(
            f"{folder}, split {split}: images {tuple(images.shape)} and labels {tuple(labels.shape)}; "
            f"need [M, {side}, {side}] and [M]"
        )
    if not len(labels) or int(labels.max()) >= classes:
        raise SpecsimError(f"{folder}, split {split}: need at least one image and labels 0..{classes - 1}")
    return images[:, None].float() / 255, labels.long()
