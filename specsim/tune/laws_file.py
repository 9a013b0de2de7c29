"""The file of laws along the target's own sequences: an npz, checked before it is used."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from specsim.checking.met_file import check_codebook, check_laws, read_arrays
from specsim.errors import SpecsimError
from specsim.tasks import require_numbers
from specsim.tune.sequences import Sequences

KEYS = ("tokens", "target", "draft")
FEWEST = 4
"""Sequences: two halves, and two in each for a standard error."""
SHORTEST = 2
"""Tokens of a sequence: one draft, and one that is left for the bonus."""
MADE_BY = "make it with: specsim run --decoder 'Autoregressive()' --save-sequences"


def read_sequences(path: str | Path) -> Sequences:
    """Read and check a file; laws in float64, each summing to 1 there.  Whatever is wrong is one line that names it."""
    try:
        arrays = read_arrays(path, KEYS)
    except SpecsimError as error:
        raise SpecsimError(f"{error}; {MADE_BY}") from None
    check_shapes(path, arrays)
    for key in ("target", "draft"):
        require_numbers(f"{path}: {key}", arrays[key])
        for row, laws in enumerate(arrays[key]):
            check_laws(path, f"{key}[{row}]", laws)
    codebook = check_codebook(path, arrays.get("codebook"), arrays["target"].shape[-1])
    target, draft = (whole(arrays[key]) for key in ("target", "draft"))
    tokens = arrays["tokens"].astype(np.int64)
    check_tokens(path, tokens, target)
    return Sequences(str(path), tokens, target, draft, codebook)


def check_shapes(path: str | Path, arrays: dict[str, np.ndarray]) -> None:
    """tokens [B, N] whole numbers, laws [B, N, V] floats, enough of both."""
    shapes = {key: arrays[key].shape for key in KEYS}
    whole_numbers, laws = arrays["tokens"].dtype.kind in "iu", all(arrays[key].dtype.kind == "f" for key in KEYS[1:])
    fit = (
        len(shapes["target"]) == 3 and shapes["target"] == shapes["draft"] and shapes["target"][:2] == shapes["tokens"]
    )
    if not (whole_numbers and laws and fit and 0 not in shapes["target"]):
        found = ", ".join(f"{key} {arrays[key].dtype} {list(shapes[key])}" for key in KEYS)
        raise SpecsimError(f"{path}: {found}; must be tokens [B, N] integers, target and draft [B, N, V] laws")
    if shapes["tokens"][0] < FEWEST:
        raise SpecsimError(f"{path}: {shapes['tokens'][0]} sequences; give {FEWEST} or more: half of them are held out")
    if shapes["tokens"][1] < SHORTEST:
        raise SpecsimError(
            f"{path}: sequences have 1 token; at least {SHORTEST} are needed: a draft, and the bonus token"
        )


def check_tokens(path: str | Path, tokens: np.ndarray, target: np.ndarray) -> None:
    """Token ids, each one that the target's law can give."""
    bad = (tokens < 0) | (tokens >= target.shape[-1])
    if bad.any():
        where = tuple(map(int, np.argwhere(bad)[0]))
        raise SpecsimError(f"{path}: tokens{list(where)} = {tokens[where]}, must be from 0 to {target.shape[-1] - 1}")
    never = np.take_along_axis(target, tokens[..., None], axis=-1)[..., 0] == 0
    if never.any():
        where = tuple(map(int, np.argwhere(never)[0]))
        raise SpecsimError(
            f"{path}: tokens{list(where)} = {tokens[where]} has target probability 0; the sequences must be the "
            "target's own"
        )


def whole(laws: np.ndarray) -> np.ndarray:
    """Laws [..., V] in float64, each summing to 1 there."""
    laws = laws.astype(np.float64)
    return laws / laws.sum(axis=-1, keepdims=True)
