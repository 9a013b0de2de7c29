"""Published weight files, read safely: tensors alone, no pickled code, and all checked before a value is copied.

The layouts of training checkpoints are those of FoundationVision/LlamaGen (layout read, not run on published
weights). Whatever is wrong with a file or a folder is a one-line SpecsimError that names it.
"""

from __future__ import annotations

import json
import pickle
import re
import warnings
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from specsim.errors import SpecsimError, shown

TORCH_ENDINGS = (".pt", ".pth", ".bin")
WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"
STATES = ("model", "module", "state_dict", "ema")  # DDP, DeepSpeed, Lightning; an average is the last resort
LISTED, LONGEST = 3, 120  # names of a kind in an error, and characters of a name
WEB_PAGES = (b"<!doctype", b"<html", b"<head", b"<?xml")
SHARD_NAME = re.compile(r"[\w.\-]+\.safetensors")  # a plain name: no way out of the folder
REFUSED_NAME = re.compile(r"GLOBAL (\S+)")  # in torch's words about what it will not load

Weights = dict[str, Tensor]


def read_weights(path: Path) -> Weights:
    """Tensors by key, on the CPU and mapped from disk where the format allows.

    path: a torch.save file (.pt, .pth, .bin), a .safetensors file, or a folder with model.safetensors or
    with model.safetensors.index.json and its shards. A torch.save file is a state dict, or a training
    checkpoint that has one under "model", "module", "state_dict" or, if it has none of these, "ema"; the
    rest of it (optimizer, arguments, ...) is left out. The file must stay in place while the tensors live.
    """
    if path.is_dir():
        return _read_folder(path)
    head = require_content(path)
    if path.suffix == ".safetensors":
        return _plain(_read_safetensors(path), str(path))
    if path.suffix in TORCH_ENDINGS:
        return _state(_load(path, mapped=head.startswith(b"PK")), path)
    raise SpecsimError(f"{path} ends in {path.suffix!r}: need .safetensors, {', '.join(TORCH_ENDINGS)} or a folder")


def fill(module: nn.Module, tensors: Weights, source: Path | str, ignore: tuple[str, ...] = ()) -> None:
    """Load tensors into the module, in the module's types; `source` is for the errors only.

    ignore: keys that a release has and the module has not; one that ends in "." stands for all that start
    with it. Keys, shapes, kinds and values are checked before anything is copied: a refused file leaves the
    module as it was. A module on the meta device takes the tensors themselves, without a second copy of
    those already of its types; buffers outside its state dict are the caller's to make.
    """
    wanted = module.state_dict()
    found = {name: tensor for name, tensor in tensors.items() if name in wanted or not _ignored(name, ignore)}
    _require_match(wanted, found, source)
    for name, need in wanted.items():
        _require_values(name, found[name], need.dtype, source)
    if any(need.is_meta for need in wanted.values()):
        cast = {name: found[name].to(need.dtype).contiguous() for name, need in wanted.items()}
        module.load_state_dict(cast, assign=True)
    else:
        module.load_state_dict(found)


def folder(path: Path, wanted: tuple[str, ...]) -> Path:
    """The folder itself, if it has a file for each name or glob in `wanted` and no file among them is a stand-in."""
    if not path.is_dir():
        raise SpecsimError(f"no folder {path}: fetch the model's files into it")
    files = {pattern: [file for file in path.glob(pattern) if file.exists()] for pattern in wanted}
    missing = [pattern for pattern in wanted if not files[pattern]]
    if missing:
        raise SpecsimError(f"{path} lacks {', '.join(missing)}; it has {_there(path)}: fetch what is missing")
    for file in sorted({file for matches in files.values() for file in matches if file.is_file()}):
        require_content(file)
    return path


def require_content(path: Path) -> bytes:
    """The first bytes of a file, which is neither missing nor empty nor a git-lfs pointer nor a web page."""
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except FileNotFoundError:
        raise SpecsimError(f"no file {path}: fetch it, or name another") from None
    except OSError as error:
        raise SpecsimError(f"{path} cannot be read: {error.strerror}") from None
    if not head:
        raise SpecsimError(f"{path} is empty: fetch it again")
    if head.startswith(b"version https://git-lfs"):
        raise SpecsimError(f"{path} is a git-lfs pointer, not the file: run `git lfs pull` where it was cloned")
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(WEB_PAGES):
        raise SpecsimError(f"{path} is a web page, not weights: fetch the file, not the page about it")
    return head


def _load(path: Path, mapped: bool) -> Any:
    """What torch.save wrote, without running any of it; a file of before torch 1.6 is no zip, so cannot be mapped."""
    try:
        with torch.serialization.safe_globals([Namespace]), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of pickles that it then refuses
            return torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except Exception as error:  # on bytes that anyone may have made, torch's readers raise almost anything
        raise SpecsimError(f"{path} {_refusal(error)}") from None


def _refusal(error: Exception) -> str:
    """torch's own words advise to load the pickle after all, so they are not passed on."""
    refused = REFUSED_NAME.search(str(error)) if isinstance(error, pickle.UnpicklingError) else None
    if refused:
        return f"needs {shown(refused[1])} to be loaded, and pickles are never loaded: use a .safetensors file"
    return "is not a whole file of tensors made by torch.save: fetch it again, or use a .safetensors file"


def _state(loaded: Any, path: Path) -> Weights:
    """The state dict that a loaded file is or holds."""
    for name in STATES:
        if isinstance(loaded, dict) and isinstance(loaded.get(name), dict):
            return _plain(loaded[name], f"{path}, under {name!r},")
    return _plain(loaded, str(path))


def _plain(loaded: Any, where: str) -> Weights:
    """Dense CPU tensors by key, and at least one; a parameter becomes its tensor."""
    if not isinstance(loaded, dict) or not loaded:
        raise SpecsimError(f"{where} holds {shown(loaded)}, need a state dict: a file of another kind")
    for name, value in loaded.items():
        dense = type(value) in (Tensor, nn.Parameter) and value.layout is torch.strided and value.device.type == "cpu"
        if not isinstance(name, str) or not dense or value.is_quantized:
            kind = type(value).__name__
            raise SpecsimError(f"{where} holds a {kind} at key {shown(name)}, need plain tensors: no state dict")
    return {name: tensor.detach() for name, tensor in loaded.items()}


def _read_safetensors(path: Path, names: Iterable[str] | None = None) -> Weights:
    """All tensors of a file, or those of the names, which must be there."""
    require_content(path)
    try:
        with safe_open(path, "pt") as file:
            there = list(file.keys())
            lacking = sorted(set(names or ()) - set(there))
            if lacking:
                raise SpecsimError(f"{path} lacks {_few(lacking)}, which the index places there: fetch both again")
            return {name: file.get_tensor(name) for name in (there if names is None else names)}
    except (SafetensorError, OSError) as error:
        reason = " ".join(str(error).split())[:160]
        raise SpecsimError(f"{path} is not a whole safetensors file ({reason}): fetch it again") from None


def _read_folder(path: Path) -> Weights:
    if (path / WHOLE).exists():
        return _plain(_read_safetensors(path / WHOLE), str(path / WHOLE))
    if not (path / INDEX).exists():
        raise SpecsimError(f"{path} has neither {WHOLE} nor {INDEX}; it has {_there(path)}: fetch the weights")
    shards = _shards(path / INDEX)
    missing = [shard for shard in shards if not (path / shard).exists()]
    if missing:
        raise SpecsimError(f"{path} lacks {_few(missing)}, named in {INDEX}: fetch the missing shards")
    tensors: Weights = {}
    for shard, names in shards.items():
        tensors |= _read_safetensors(path / shard, names)
    return _plain(tensors, str(path))


def _shards(index: Path) -> dict[str, list[str]]:
    """Keys by the shard that holds them, from an index's weight_map of shards by key."""
    require_content(index)
    try:
        places = json.loads(index.read_bytes())["weight_map"].items()
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise SpecsimError(f"{index} is no index of shards (JSON with a weight_map): fetch it again") from None
    shards: dict[str, list[str]] = {}
    for name, shard in places:
        if not isinstance(shard, str) or not SHARD_NAME.fullmatch(shard):
            raise SpecsimError(f"{index} names the shard {shown(shard)}: need the plain name of a .safetensors file")
        shards.setdefault(shard, []).append(name)
    return shards


def _ignored(name: str, ignore: tuple[str, ...]) -> bool:
    return any(name.startswith(entry) if entry.endswith(".") else name == entry for entry in ignore)


def _require_match(wanted: Weights, found: Weights, source: Path | str) -> None:
    """Keys and shapes are the module's."""
    pairs = [(name, found[name].shape, need.shape) for name, need in wanted.items() if name in found]
    faults = {
        "missing keys": _few(name for name in wanted if name not in found),
        "unexpected keys": _few(name for name in found if name not in wanted),
        "wrong shapes": _few(f"{name} {list(has)} for {list(need)}" for name, has, need in pairs if has != need),
    }
    if any(faults.values()):
        said = "; ".join(f"{kind} {names}" for kind, names in faults.items() if names)
        raise SpecsimError(f"{source}: {said}: a file of another model or size")


def _require_values(name: str, tensor: Tensor, dtype: torch.dtype, source: Path | str) -> None:
    """Real numbers for real numbers and integers for integers; finite, in the module's type too."""
    if tensor.is_complex() or tensor.is_floating_point() != dtype.is_floating_point:
        raise SpecsimError(f"{source}: key {shown(name)} holds {tensor.dtype}, need {dtype}: a file of another model")
    if dtype.is_floating_point and tensor.numel():
        bounds = torch.stack(torch.aminmax(tensor.detach().to(dtype)))  # NaN is carried into both
        if not bool(bounds.isfinite().all()):
            raise SpecsimError(f"{source}: key {shown(name)} holds NaN or infinity as {dtype}: a damaged file")


def _few(names: Iterable[str]) -> str:
    """'a, b, c and 4 more', on one line whatever a file calls its keys."""
    listed = [" ".join(name.split())[:LONGEST] for name in names]
    text = ", ".join(listed[:LISTED])
    return text if len(listed) <= LISTED else f"{text} and {len(listed) - LISTED} more"


def _there(path: Path) -> str:
    return _few(sorted(file.name for file in path.iterdir())) or "nothing"
