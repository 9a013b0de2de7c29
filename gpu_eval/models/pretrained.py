"""Models and tokenizers of the transformers library from a folder on disk: checked first, loaded without a word.

Nothing is fetched, no pickle is read, no code of a folder is run, and keys that do not match are errors.
transformers 5.17 to 5.24, imported when something is loaded.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor

from gpu_eval.models.checkpoints import INDEX, LISTED, SHARD_NAME, folder
from specsim.errors import SpecsimError, shown
from specsim.files import require_regular

FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "*.safetensors")
"""What a folder needs; with an index, every shard that it names too."""
LONGEST = 240  # characters of what the library says of a failure


def load_model(architecture: str, path: Path, device: torch.device | str, dtype: torch.dtype) -> Any:
    """A frozen model of the class `architecture`, with attention that takes masks of its caller's."""
    require_files(path)
    require_architecture(path / "config.json", architecture)
    kind = getattr(library(), architecture)
    given: dict[str, Any] = {"dtype": dtype, "attn_implementation": "sdpa", "local_files_only": True}
    # Shapes that differ are reported with the keys, and then refused with them.
    given |= {"use_safetensors": True, "output_loading_info": True, "ignore_mismatched_sizes": True}
    with quiet(), one_line(path):
        model, report = kind.from_pretrained(path, **given)
    require_match(path, report)
    require_numbers(path, model)
    return model.to(device).eval().requires_grad_(False)


def require_numbers(path: Path, model: Any) -> None:
    """Weights that are floating in the files, as in the model, and all finite."""
    floating = {name for name, tensor in model.state_dict().items() if tensor.is_floating_point()}
    for file in sorted(path.glob("*.safetensors")):
        with safe_open(file, "pt") as opened:
            for key in floating.intersection(opened.keys()):
                kind = opened.get_slice(key).get_dtype()
                if not kind.startswith(("F", "BF")):
                    raise SpecsimError(f"{file}: key {key!r} has numbers of type {kind}: weights are floating")
    for key, tensor in model.state_dict().items():
        if key in floating and not bool(tensor.isfinite().all()):
            raise SpecsimError(f"{path}: key {key!r} holds NaN or infinite numbers: fetch it again")


def load_tokenizer(path: Path) -> Any:
    with quiet(), one_line(path):
        return library().AutoTokenizer.from_pretrained(path, local_files_only=True)


def token_id(tokenizer: Any, token: str | None, path: Path) -> int:
    """The id of a special token that the prompts of a model are made of."""
    found = tokenizer.get_vocab().get(token)
    if found is None:
        raise SpecsimError(f"the tokenizer in {path} lacks {shown(token)}: a tokenizer of another model")
    return int(found)


def left_padded(rows: Sequence[Sequence[int]], pad: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows of ids, filled up on the left -> ids [R, P], and which of them are there, bool [R, P]."""
    width = max(len(row) for row in rows)
    ids = torch.tensor([[pad] * (width - len(row)) + list(row) for row in rows], device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return ids, torch.arange(width, device=device) >= width - lengths[:, None]


def library() -> Any:
    try:
        return importlib.import_module("transformers")
    except ImportError:
        raise SpecsimError("this model needs the transformers library: pip install 'transformers>=5.17'") from None


def require_files(path: Path) -> None:
    """The folder has all of `FILES` and every shard of its index."""
    folder(path, FILES)
    index = path / INDEX
    if index.exists():
        places = read_object(index).get("weight_map")
        shards = set(places.values()) if isinstance(places, dict) else set()
        if not shards or not all(isinstance(shard, str) and SHARD_NAME.fullmatch(shard) for shard in shards):
            raise SpecsimError(f"{index} has no weight_map of .safetensors files: fetch it again")
        folder(path, tuple(sorted(shards)))


def require_architecture(config: Path, architecture: str) -> None:
    found = read_object(config).get("architectures")
    if found != [architecture]:
        raise SpecsimError(
            f"{config} has architectures {shown(found)}, need [{architecture!r}]: another model's folder"
        )


def read_object(path: Path) -> dict[str, Any]:
    """A file of a JSON object."""
    require_regular(path)
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise SpecsimError(f"{path} is no JSON object: fetch it again")
    return content


def require_match(path: Path, report: dict[str, Any]) -> None:
    """What the library says of keys: it would fill what is missing with random numbers."""
    kinds = {"missing": "missing_keys", "unexpected": "unexpected_keys", "of wrong shape": "mismatched_keys"}
    faults = {said: sorted(map(key_name, report.get(kind) or ())) for said, kind in kinds.items()}
    if any(faults.values()):
        words = [f"{len(keys)} keys {said} ({few(keys)})" for said, keys in faults.items() if keys]
        raise SpecsimError(f"{path}: {'; '.join(words)}: weights of another model or size")


def key_name(key: str | tuple[Any, ...]) -> str:
    """A key; where shapes differ it comes with that of the file and that of the model."""
    return key if isinstance(key, str) else f"{key[0]} {list(key[1])} for {list(key[2])}"


def few(names: Sequence[str]) -> str:
    return ", ".join(names[:LISTED]) + (", ..." if len(names) > LISTED else "")


@contextmanager
def one_line(path: Path) -> Iterator[None]:
    """Whatever the library raises, in a line that names the folder."""
    try:
        yield
    except Exception as error:  # on files that anyone may have made, its readers raise almost anything
        reason = " ".join(str(error).split())[:LONGEST]
        raise SpecsimError(f"{path} cannot be loaded ({type(error).__name__}: {reason}): check its files") from None


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings and no progress bars of the library, only in here."""
    logging = library().utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
