"""The file of laws that a real model met: an npz with one row for each drafted token, checked before it is used."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from specsim.errors import SpecsimError
from specsim.files import require_regular
from specsim.tasks import require_numbers

KEYS = {"draft": 2, "target": 2, "token": 1, "slot": 1, "block": 1, "row": 1}
"""Arrays of the file and their dimensions: laws [M, V], the drafted token and where it stood [M]."""
SUM_SLACK = 1e-4
"""How far a stored law may be from summing to 1: a float32 softmax over 65,536 tokens is off by 1e-5 at most, logits
or cut-off laws by far more.  Within it laws are renormalised."""
UNREADABLE = (
    *(OSError, ValueError, EOFError, KeyError, TypeError, AttributeError, NotImplementedError, MemoryError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What numpy raises on files that are no npz archive of plain arrays."""
ROWS_AT_ONCE = 2**22
"""Numbers that are checked at a time."""


class Met(NamedTuple):
    """A checked file.  draft, target: [M, V] laws as they are stored; slot: [M]; name: the file.

    codebook: [V, d] where the file has the vectors of its tokens.
    """

    name: str
    draft: np.ndarray
    target: np.ndarray
    slot: np.ndarray
    codebook: np.ndarray | None = None


def read_laws(path: str | Path) -> Met:
    """Read and check a file of laws; whatever is wrong is one line that names it."""
    arrays = read_arrays(path)
    count, vocab = arrays["draft"].shape if arrays["draft"].ndim == 2 else (0, 0)
    for key, ndim in KEYS.items():
        shape, wanted = arrays[key].shape, (count, vocab)[:ndim]
        if shape != wanted or not count or not vocab:
            raise SpecsimError(f"{path}: {key} has shape {shape}; draft and target must be [M, V], the others [M]")
        if arrays[key].dtype.kind not in ("f" if ndim == 2 else "iu"):
            kind = "floating-point laws" if ndim == 2 else "integers"
            raise SpecsimError(f"{path}: {key} is {arrays[key].dtype}, must be {kind}")
    for key in ("draft", "target"):
        require_numbers(f"{path}: {key}", arrays[key])
        check_laws(path, key, arrays[key])
    check_indices(path, arrays)
    codebook = check_codebook(path, arrays.get("codebook"), vocab)
    return Met(str(path), arrays["draft"], arrays["target"], arrays["slot"].astype(np.int64), codebook)


def read_arrays(path: str | Path, keys: Iterable[str] = KEYS) -> dict[str, np.ndarray]:
    """The named arrays of an npz file, and its codebook where it has one."""
    try:
        require_regular(path)
        with open(path, "rb") as file:
            return pick_arrays(np.load(file, allow_pickle=False), list(keys))
    except UNREADABLE as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split()) or "it ends too early"
        if "pickle" in reason:
            reason = "it is not an npz archive of plain arrays"
        raise SpecsimError(f"cannot read laws from {path}: {reason}") from error


def pick_arrays(data: Any, keys: list[str]) -> dict[str, np.ndarray]:
    """What is needed of a loaded file; ValueError for what is missing."""
    if not isinstance(data, np.lib.npyio.NpzFile):
        raise ValueError("it holds one array, not an npz archive")
    with data:
        missing = [key for key in keys if key not in data.files]
        if missing:
            raise ValueError(f"no array {', '.join(missing)}; it must hold {', '.join(keys)}")
        return {key: data[key] for key in (*keys, "codebook") if key in data.files}


def check_codebook(path: str | Path, codebook: np.ndarray | None, vocab: int) -> np.ndarray | None:
    """The codebook of a file, one finite vector for each token, or None."""
    if codebook is None:
        return None
    if codebook.ndim != 2 or len(codebook) != vocab or codebook.dtype.kind not in "fiu":
        raise SpecsimError(
            f"{path}: codebook has shape {codebook.shape}, {codebook.dtype}; must be numbers [{vocab}, d]"
        )
    if not np.isfinite(codebook.astype(np.float64)).all():
        raise SpecsimError(f"{path}: codebook holds a value that is not a finite number")
    return codebook


def check_laws(path: str | Path, key: str, values: np.ndarray) -> None:
    """Stored laws [M, V] must be laws; the first bad one is named.  A few rows at a time, for the memory."""
    step = max(1, ROWS_AT_ONCE // values.shape[-1])
    for first in range(0, len(values), step):
        laws = values[first : first + step].astype(np.float64)
        total = laws.sum(axis=-1)
        for bad, problem in (
            (~np.isfinite(laws).all(axis=-1), "holds a value that is not a number"),
            ((laws < 0).any(axis=-1), "is negative at {low:.3g}"),
            (abs(total - 1) > SUM_SLACK, "sums to {total:.6g}, not to 1"),
        ):
            if bad.any():
                row = int(np.argmax(bad))
                what = problem.format(low=laws[row].min(), total=total[row])
                raise SpecsimError(f"{path}: {key}[{first + row}] {what}; store the laws after softmax")


def check_indices(path: str | Path, arrays: dict[str, np.ndarray]) -> None:
    """Tokens, slots, blocks and rows must be possible ones, and each token one that the draft law can give."""
    draft = arrays["draft"]
    for key, limit in (("token", draft.shape[-1]), ("slot", None), ("block", None), ("row", None)):
        bad = (arrays[key] < 0) | (arrays[key] >= limit if limit is not None else False)
        if bad.any():
            value = arrays[key][int(np.argmax(bad))]
            raise SpecsimError(f"{path}: {key}[{int(np.argmax(bad))}] = {value}, must be 0 or more, a token below V")
    never = np.take_along_axis(draft, arrays["token"][:, None].astype(np.int64), axis=-1)[:, 0] == 0
    if never.any():
        row = int(np.argmax(never))
        raise SpecsimError(
            f"{path}: token[{row}] = {arrays['token'][row]} has draft probability 0; store the law it was drawn from"
        )
