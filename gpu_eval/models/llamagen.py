"""LlamaGen: class labels or captions to a grid of tokens of the VQ-16 tokenizer, which paints 16 pixels a side each.

Source: FoundationVision/LlamaGen, autoregressive/models/gpt.py, generate.py, sample/sample_c2i.py, sample_t2i.py.
Layout read, not run on published weights. The architecture is `gpu_eval.transformer`'s. A folder holds one
transformer, `c2i_*` or `t2i_*` as it was released (c2i_L_384.pt, t2i_XL_stage2_512.pt, ...; .safetensors too), the
tokenizer's `vq_ds16_c2i.pt` or `vq_ds16_t2i.pt`, and for captions a folder `flan-t5-xl`.

The release samples with guidance 4 and top-k 2000 (c2i), 7.5 and 1000 (t2i), in bfloat16. It can stop the guidance
after some tokens (`cfg_interval`, off by default); this is left out.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from gpu_eval.labelled import Captioned, Labelled, class_network
from gpu_eval.models.captions import Captions, load_captions
from gpu_eval.models.checkpoints import Weights, fill, folder, read_weights, require_content
from gpu_eval.models.loaded import Build, Loaded
from gpu_eval.models.vq16 import VQ16, VQ_16, VQConfig, load_vq16
from gpu_eval.prompts import Prompt
from gpu_eval.transformer import LLAMAGEN, Config, Transformer
from specsim.errors import SpecsimError, shown

KINDS = ("c2i", "t2i")
ENDINGS = (".pt", ".pth", ".safetensors")
TEXT_ENCODER = "flan-t5-xl"
FILES = {"c2i": ("c2i_*", "vq_ds16_c2i.*"), "t2i": ("t2i_*", "vq_ds16_t2i.*", TEXT_ENCODER)}
"""What a folder needs, by the kind of model."""

PIXELS = re.compile(r"(?<!\d)(256|384|512)(?!\d)")
"""In a file's name: an image's side. Weights for different sides have the same shapes."""
PIXELS_PER_TOKEN = 16
IGNORED = ("freqs_cis",)  # the rotation, which is computed

TOKENS = "tok_embeddings.weight"
CONDITIONS = {"c2i": "cls_embedding.embedding_table.weight", "t2i": "cls_embedding.uncond_embedding"}


def load(path: Path, device: torch.device | str, dtype: torch.dtype, tokenizer: VQConfig = VQ_16) -> Loaded:
    """The model of a folder with `FILES`: the transformer and text encoder in `dtype`, the tokenizer in float32."""
    file = transformer_file(path)
    kind = file.name[: len(KINDS[0])]
    folder(path, FILES[kind])
    net = load_transformer(file, kind, device, dtype)
    vq = load_vq16(only(path, f"vq_ds16_{kind}."), tokenizer).to(device)
    require_codes(vq, net, path)
    build = of_labels(net) if kind == "c2i" else of_captions(net, text_encoder(path, net, device, dtype))
    side = net.config.grid
    return Loaded(file.stem, "label" if kind == "c2i" else "text", build, (side, side), vq.codebook, vq.decode)


def transformer_file(path: Path) -> Path:
    """The one transformer of a folder."""
    return only(folder(path, ()), *(f"{kind}_" for kind in KINDS))


def only(path: Path, *starts: str) -> Path:
    """The one file of weights in a folder whose name has one of these starts."""
    found = sorted(file for file in path.iterdir() if file.name.startswith(starts) and file.suffix in ENDINGS)
    wanted = " or ".join(f"{start}*" for start in starts)
    if not found:
        raise SpecsimError(f"{path} has no {wanted} of type {', '.join(ENDINGS)}: fetch the model's files into it")
    if len(found) > 1:
        raise SpecsimError(f"{path} has {' and '.join(file.name for file in found)}: keep one {wanted} in a folder")
    return found[0]


def load_transformer(file: Path, kind: str, device: torch.device | str, dtype: torch.dtype) -> Transformer:
    """A frozen transformer of the size that the tensors have, for the grid that the file says."""
    tensors = read_weights(file)
    config = config_of(tensors, kind, pixels_of(file) // PIXELS_PER_TOKEN, file)
    with torch.device("meta"):
        net = Transformer(config)
    net = net.to(dtype)
    fill(net, tensors, file, IGNORED)
    return net.eval().requires_grad_(False).to(device)


def config_of(tensors: Weights, kind: str, grid: int, file: Path) -> Config:
    """Sizes from shapes; the number of heads, which no shape shows, from the published size."""
    (vocab, width), (rows, condition) = matrix(tensors, TOKENS, file), matrix(tensors, CONDITIONS[kind], file)
    size = published(len({name.split(".")[1] for name in tensors if name.startswith("layers.")}), width, file)
    if kind == "c2i":
        return replace(size, vocab=vocab, grid=grid, classes=rows - 1)
    return replace(size, vocab=vocab, grid=grid, classes=0, prompt=rows, caption_width=condition)


def matrix(tensors: Weights, key: str, file: Path) -> tuple[int, int]:
    """The shape of a tensor of two dimensions."""
    if key not in tensors or tensors[key].ndim != 2:
        found = f"of shape {list(tensors[key].shape)}" if key in tensors else "missing"
        raise SpecsimError(f"{file}: key {key} is {found}: no {file.name[:3]} transformer of LlamaGen")
    rows, columns = tensors[key].shape
    return rows, columns


def published(layers: int, width: int, file: Path) -> Config:
    """The published size of so many layers of this width."""
    for size in LLAMAGEN.values():
        if (size.layers, size.width) == (layers, width):
            return size
    sizes = ", ".join(f"{name} {size.layers} x {size.width}" for name, size in LLAMAGEN.items())
    raise SpecsimError(f"{file} has {layers} layers of width {width}, the published sizes are {sizes}: another model")


def pixels_of(file: Path) -> int:
    """An image's side, from the file's name, or from the arguments that a training checkpoint keeps."""
    named, trained = sorted({int(digits) for digits in PIXELS.findall(file.stem)}), trained_pixels(file)
    if len(named) > 1 or not (named or trained):
        said = "no" if not named else "more than one"
        raise SpecsimError(
            f"{file} has {said} image size in its name: rename it, with 256, 384 or 512 as it was trained"
        )
    if named and trained and named[0] != trained:
        raise SpecsimError(f"{file} is named for {named[0]} pixels and was trained for {trained}: rename it")
    return trained or named[0]


def trained_pixels(file: Path) -> int | None:
    """`image_size` of the arguments in a training checkpoint, None without them."""
    if not require_content(file).startswith(b"PK"):  # no file of torch.save
        return None
    with torch.serialization.safe_globals([Namespace]):
        loaded = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
    pixels = getattr(loaded.get("args"), "image_size", None)
    if pixels is not None and (type(pixels) is not int or pixels < 1 or pixels % PIXELS_PER_TOKEN):
        raise SpecsimError(f"{file} was trained for {shown(pixels)} pixels, need a multiple of {PIXELS_PER_TOKEN}")
    return pixels


def require_codes(vq: VQ16, net: Transformer, path: Path) -> None:
    if vq.config.codes != net.config.vocab:
        raise SpecsimError(
            f"{path}: the transformer has {net.config.vocab} tokens, the tokenizer {vq.config.codes} codes: "
            "files of two models"
        )


def text_encoder(path: Path, net: Transformer, device: torch.device | str, dtype: torch.dtype) -> Captions:
    assert net.config.caption_width is not None
    return load_captions(path / TEXT_ENCODER, device, dtype, net.config.prompt, net.config.caption_width)


def of_labels(net: Transformer) -> Build:
    """Rows of classes; the unconditional ones have none."""

    def build(prompts: Sequence[Prompt], guided: bool) -> Labelled:
        labels = [label_of(prompt, net.config.classes) for prompt in prompts]
        return class_network(net, torch.tensor(labels, device=net.output.weight.device), guided)

    return build


def label_of(prompt: Prompt, classes: int) -> int:
    if prompt.label is None or not 0 <= prompt.label < classes:
        raise SpecsimError(f"prompt from {prompt.source}: label {prompt.label} must be from 0 to {classes - 1}")
    return prompt.label


def of_captions(net: Transformer, encode: Captions) -> Build:
    """Rows of captions; the unconditional ones have learnt vectors, as many as their captions."""

    @torch.no_grad()
    def build(prompts: Sequence[Prompt], guided: bool) -> Captioned:
        vectors, present = encode([prompt.text or "" for prompt in prompts])
        if guided:
            none: Tensor = net.get_buffer("cls_embedding.uncond_embedding").expand_as(vectors)
            vectors, present = torch.cat([vectors, none]), present.repeat(2, 1)
        return Captioned(net, net.cls_embedding(vectors), present)

    return build
