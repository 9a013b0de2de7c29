"""Images to be judged, one at a time: a folder of pictures or an .npz, always as 8-bit grey levels or colours.

Sets may be large (COCO's 5,000 validation pictures are 4.6 GB once decoded), so a folder is read as it is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from specsim.errors import SpecsimError
from specsim.files import require_regular

KINDS = (".png", ".jpg", ".jpeg")
KEYS = ("images", "arr_0")
"""What an array of images may be called; arr_0 is numpy's own name, and that of the ADM sample files."""
OPAQUE = 255


@dataclass(frozen=True)
class Images:
    """A set of images.  read(i): uint8 [3, H, W] of image i; sizes may differ between images."""

    name: str
    count: int
    read: Callable[[int], np.ndarray]

    def batches(self, most: int) -> Iterator[Tensor]:
        """uint8 [B, 3, H, W] in order, B at most `most`; a batch ends where the size changes."""
        waiting: list[np.ndarray] = []
        for index in range(self.count):
            image = self.read(index)
            if waiting and (len(waiting) == most or image.shape != waiting[0].shape):
                yield torch.from_numpy(np.stack(waiting))
                waiting = []
            waiting.append(image)
        yield torch.from_numpy(np.stack(waiting))


def images_of(path: str | Path) -> Images:
    """The images of a folder (.png, .jpg) or of an .npz with uint8 or [0, 1] float images [n, H, W] or [n, H, W, 3]."""
    path = Path(path)
    return of_folder(path) if path.is_dir() else of_npz(path)


def of_folder(folder: Path) -> Images:
    """Pictures in the order of their names, numbers in names counted as numbers: 2.png comes before 10.png."""
    files = sorted((file for file in folder.iterdir() if file.suffix.lower() in KINDS), key=by_number)
    if not files:
        raise SpecsimError(f"{folder} holds no picture ({', '.join(KINDS)}): give a folder with at least one")
    return Images(str(folder), len(files), lambda index: read_picture(files[index]))


def by_number(file: Path) -> list[tuple[int, str]]:
    """Name parts, numbers before words and in the order of their values."""
    parts = re.findall(r"\d+|\D+", file.stem)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in [*parts, file.suffix]]


def read_picture(file: Path) -> np.ndarray:
    """A picture of 8 bits a channel -> uint8 [3, H, W]; a see-through one is refused: it has no colour of its own."""
    from PIL import Image, UnidentifiedImageError

    require_regular(file)
    try:
        with Image.open(file) as picture:
            picture.load()
    except (OSError, UnidentifiedImageError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SpecsimError(f"cannot read picture {file}: {' '.join(str(error).split())}") from error
    if picture.mode.startswith(("I", "F")):
        raise SpecsimError(f"{file} has pixels of mode {picture.mode}: save it with 8 bits a channel")
    if picture.has_transparency_data and picture.convert("RGBA").getchannel("A").getextrema() != (OPAQUE, OPAQUE):
        raise SpecsimError(f"{file} is partly transparent: save it on a background")
    return np.array(picture.convert("RGB")).transpose(2, 0, 1)


def load_npz(path: Path, wanted: tuple[str, ...]) -> tuple[list[str], dict[str, np.ndarray]]:
    """The names in an .npz, and those of its arrays that are wanted; objects, which would be pickles, are refused."""
    require_regular(path)
    if not path.exists():
        raise SpecsimError(f"{path} does not exist: give a folder of pictures or an .npz file")
    try:
        found: Any = np.load(path, allow_pickle=False)
        if isinstance(found, np.ndarray):
            raise SpecsimError(f"{path} is a single array: save it as an .npz, named {' or '.join(KEYS)}")
        with found:
            return sorted(found.files), {key: found[key] for key in wanted if key in found.files}
    except SpecsimError:
        raise
    except Exception as error:  # numpy raises what zipfile, zlib and its own header reader raise
        # numpy's own words advise to load pickles.
        raise SpecsimError(
            f"cannot read {path} ({type(error).__name__}): it must be an .npz of plain arrays"
        ) from error


def of_npz(path: Path) -> Images:
    """The array of images among its arrays."""
    names, arrays = load_npz(path, KEYS)
    if not arrays:
        raise SpecsimError(f"{path} holds {names}, no array named {' or '.join(KEYS)}")
    key = next(iter(arrays))
    images = as_bytes(arrays[key], f"{path}: {key}")
    images = images[..., None] if images.ndim == 3 else images
    if images.ndim != 4 or images.shape[-1] not in (1, 3) or 0 in images.shape:
        shape = arrays[key].shape
        raise SpecsimError(f"{path}: {key} has shape {shape}; it must be [n, H, W], [n, H, W, 1] or [n, H, W, 3]")
    wide = np.broadcast_to(images, (*images.shape[:-1], 3))
    return Images(str(path), len(images), lambda index: wide[index].transpose(2, 0, 1))


def as_bytes(images: np.ndarray, name: str) -> np.ndarray:
    """uint8 as it is; floats in [0, 1] rounded to the nearest of 255 levels, as a picture file would."""
    if images.dtype == np.uint8:
        return images
    if not np.issubdtype(images.dtype, np.floating):
        raise SpecsimError(f"{name} has type {images.dtype}; it must be uint8, or floats from 0 to 1")
    low, high = (float(end(images)) if images.size else 0.0 for end in (np.min, np.max))
    if not (low >= 0 and high <= 1):  # NaN too
        raise SpecsimError(f"{name} holds floats from {low:g} to {high:g}; they must be from 0 to 1")
    return np.round(images * 255.0).astype(np.uint8)
