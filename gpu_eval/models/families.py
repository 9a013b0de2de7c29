"""The image models a run can decode: a row for each family, and any `FILE.py:function`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from gpu_eval.models.loaded import Loaded, Pair
from specsim.errors import SpecsimError

Load = Callable[[Path, torch.device, torch.dtype], Loaded]
READ = "layout read, not run on published weights"


@dataclass(frozen=True)
class Family:
    """A row of `specsim models`.

    tokens: of an image; reads: "label" or "text"; needs: what --weights holds; memory: of the weights in bfloat16, keys
    and values of one image beside; load: from that folder; status: how far it has been tried.
    """

    tokens: str
    reads: str
    needs: str
    memory: str
    load: Load
    status: str


def llamagen(folder: Path, device: torch.device, dtype: torch.dtype) -> Loaded:
    from gpu_eval.models.llamagen import load

    return load(folder, device, dtype)


def janus(folder: Path, device: torch.device, dtype: torch.dtype) -> Loaded:
    from gpu_eval.models.janus import load

    return load(folder, device, dtype)


def emu3(folder: Path, device: torch.device, dtype: torch.dtype) -> Loaded:
    from gpu_eval.models.emu3 import load

    return load(folder, device, dtype)


PRETRAINED = "config.json, *.safetensors, tokenizer files, as from save_pretrained"
FAMILIES = {
    "llamagen": Family(
        "256 to 1,024 of 16,384 codes",
        "label or text",
        "c2i_{B,L,XL,XXL,3B}_{256,384}.pt and vq_ds16_c2i.pt; "
        "or t2i_XL_stage{1_256,2_512}.pt, vq_ds16_t2i.pt and flan-t5-xl/",
        "B .2, L .7, XL 1.6, XXL 2.8, 3B 6.2 GB; text encoder 2.5 GB more",
        llamagen,
        READ,
    ),
    "janus-pro": Family(
        "576 of 16,384 codes", "text", PRETRAINED + " (Janus-Pro-1B, -7B)", "1B 4, 7B 15 GB", janus, READ
    ),
    "emu3": Family("8,100 of 32,768 codes", "text", PRETRAINED + " (Emu3-Gen-hf)", "17 GB", emu3, READ),
}


def load_family(name: str, weights: Path | None, device: torch.device, dtype: torch.dtype) -> Loaded:
    """A family's model from a folder, or what FILE.py:function makes of it."""
    if ".py:" in name:
        from gpu_eval.check_model.loading import load

        return load(name, weights)
    if name not in FAMILIES:
        raise SpecsimError(f"model {name!r}: choose fashion, fashion-eagle, {', '.join(FAMILIES)}, or FILE.py:function")
    if weights is None:
        raise SpecsimError(f"model {name} needs --weights DIR, a folder with: {FAMILIES[name].needs}")
    return FAMILIES[name].load(weights, device, dtype)


def load_pair(
    name: str, weights: Path | None, draft: Path | None, device: torch.device, dtype: torch.dtype | None
) -> Pair:
    """Target and draft of a run.  dtype None: float32 on a CPU, bfloat16 on a GPU; `fashion` is small: float32."""
    from gpu_eval.fashion import SHIPPED

    if name in SHIPPED:
        if weights is not None or draft is not None:
            raise SpecsimError(f"model {name} ships with its weights: leave --weights and --draft-weights out")
        return SHIPPED[name](device, dtype or torch.float32).pair()
    if ".py:" in name and dtype is not None:
        raise SpecsimError(f"--dtype beside --model {name}: the function decides what numbers its model computes with")
    dtype = dtype or (torch.bfloat16 if device.type == "cuda" else torch.float32)
    target = load_family(name, weights, device, dtype)
    return Pair(target, None if draft is None else load_family(name, draft, device, dtype))
