"""Weight files: safetensors with JSON notes in the header, written whole or not at all, checked when read."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from specsim.errors import SpecsimError

Weights = dict[str, Tensor]


def write(path: Path, kind: str, tensors: Weights, notes: dict[str, Any]) -> None:
    """Write beside the target and rename, so that a reader never meets half a file."""
    header = {"kind": kind, "notes": json.dumps(notes, sort_keys=True)}
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    draft.write_bytes(save({name: tensor.contiguous() for name, tensor in tensors.items()}, header))
    os.replace(draft, path)


def read(path: Path, kind: str) -> tuple[Weights, dict[str, Any]]:
    """Tensors and notes of a file that `write` made with the same kind; anything else is a one-line error."""
    if not path.is_file():
        raise SpecsimError(
            f"no file {path}: train it with `python -m gpu_eval.train_fashion` (a head: gpu_eval.train_head)"
        )
    try:
        with safe_open(path, "pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except SafetensorError as error:
        raise SpecsimError(f"{path} is not a whole safetensors file ({error}): fetch or train it again") from None
    if header.get("kind") != kind or "notes" not in header:
        raise SpecsimError(
            f"{path} is of kind {header.get('kind')!r}, need {kind!r}: a file of another program or model"
        )
    return tensors, json.loads(header["notes"])


def half(module: nn.Module) -> Weights:
    """The state dict in float16, the precision of the shipped files."""
    return {name: tensor.detach().half() for name, tensor in module.state_dict().items()}


def fill(module: nn.Module, tensors: Weights, path: Path) -> None:
    """Load tensors into the module after checking every key and shape; `path` is for the error only."""
    wanted = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            have, need = found.get(name, "missing"), wanted.get(name, "no such key")
            raise SpecsimError(f"{path}: key {name!r} has shape {have}, need {need}: a file of another configuration")
    module.load_state_dict(tensors)


def configured(config_type: type, notes: dict[str, Any], path: Path) -> Any:
    """The frozen configuration stored in the notes, or an error naming the file."""
    try:
        return config_type(**notes["config"])
    except (KeyError, TypeError) as error:
        raise SpecsimError(f"{path}: no readable {config_type.__name__} in the header ({error})") from None


def load_module(module_type: type, config_type: type, path: Path, kind: str) -> tuple[Any, dict[str, Any]]:
    """A frozen float32 module built from the stored configuration and filled with the stored weights."""
    tensors, notes = read(path, kind)
    module = module_type(configured(config_type, notes, path))
    fill(module, tensors, path)
    return module.eval().requires_grad_(False), notes


def save_module(path: Path, kind: str, module: nn.Module, notes: dict[str, Any]) -> None:
    write(path, kind, half(module), {"config": asdict(module.config), **notes})  # type: ignore[call-overload]


def fingerprint(codebook: Tensor) -> str:
    """Short hash of a codebook: models trained on other tokens than a tokenizer's are recognised by it."""
    return hashlib.sha256(codebook.detach().to("cpu", torch.float16).numpy().tobytes()).hexdigest()[:16]
