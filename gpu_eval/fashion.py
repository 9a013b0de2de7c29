"""The shipped image model: Fashion-MNIST as 7 x 7 tokens of 512 codes, made by `gpu_eval.train_fashion`.

fashion = load_fashion()
labels = torch.arange(8)
target, draft = fashion.target(labels, Processing(guidance=1.5)), fashion.draft(labels)
images = fashion.decode(tokens)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gpu_eval import store
from gpu_eval.cache import Cached
from gpu_eval.classifier import Classifier, ClassifierConfig
from gpu_eval.head import Head
from gpu_eval.labelled import class_model
from gpu_eval.models.llamagen import of_labels
from gpu_eval.models.loaded import Headed, Loaded, Pair
from gpu_eval.network import ImageModel
from gpu_eval.processing import Processing
from gpu_eval.tokenizer import Tokenizer, TokenizerConfig
from gpu_eval.transformer import Config, Transformer
from specsim.errors import SpecsimError

GRID = 7
HEAD = "fashion.head"
"""Kind of the file that `gpu_eval.train_head` makes."""
WEIGHTS = Path(__file__).parent / "weights" / "fashion"
NAMES = ("T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot")


@dataclass(frozen=True)
class Reference:
    """Real test images: tokens [1000, 49] and labels [1000], and feature statistics of all 10,000."""

    tokens: Tensor
    labels: Tensor
    mean: Tensor  # [64] of the classifier's features
    covariance: Tensor  # [64, 64]


@dataclass(frozen=True)
class Fashion:
    tokenizer: Tokenizer
    target_net: Transformer
    draft_net: Transformer
    classifier: Classifier
    reference: Reference
    head: Head | None = None  # drafts in place of the small model, where there is one
    target_print: str = ""  # of the target's output layer as it was read, whatever it computes in now

    @property
    def codebook(self) -> Tensor:
        return self.tokenizer.codebook

    @property
    def length(self) -> int:
        return self.target_net.config.length

    def target(self, labels: Tensor, processing: Processing | None = None, cached: bool = True) -> ImageModel | Cached:
        """The large model for rows of these classes; `labels` [B] holds 0..9."""
        return self._model(self.target_net, labels, processing, cached)

    def draft(self, labels: Tensor, processing: Processing | None = None, cached: bool = True) -> ImageModel | Cached:
        """The small model: one layer, about a sixth of the parameters."""
        return self._model(self.draft_net, labels, processing, cached)

    def pair(self) -> Pair:
        """Target and draft as a run takes them, asked for by class."""
        target, draft = (
            Loaded(f"fashion {name}", "label", of_labels(net), (GRID, GRID), self.codebook, self.decode)
            for name, net in (("target", self.target_net), ("draft", self.draft_net))
        )
        return Pair(target, draft if self.head is None else Headed("fashion head", self.head))

    def with_head(self, folder: Path = WEIGHTS) -> Fashion:
        """The same target with the trained head as its draft (EAGLE-1)."""
        head, notes = _load(Head, Config, folder, "head")
        if notes.get("target") != self.target_print:
            file = folder / "head.safetensors"
            raise SpecsimError(f"{file} was trained for another target: train it with `python -m gpu_eval.train_head`")
        like = self.target_net.output.weight
        return replace(self, head=head.to(like.device, like.dtype))

    def decode(self, tokens: Tensor) -> Tensor:
        """Images [B, 1, 28, 28] in [0, 1] of tokens [B, 49]."""
        return self.tokenizer.decode(tokens)

    def _model(self, net: Transformer, labels: Tensor, processing: Processing | None, cached: bool) -> Any:
        labels = labels.to(net.output.weight.device, torch.int64)
        model = class_model(net, labels, processing or Processing(), self.codebook)
        return Cached(model) if cached else model


def load_fashion(
    device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32, folder: Path = WEIGHTS
) -> Fashion:
    """Read and check the five files. The transformers run in `dtype`, the convolutions always in float32."""
    tokenizer, _ = _load(Tokenizer, TokenizerConfig, folder, "tokenizer")
    classifier, _ = _load(Classifier, ClassifierConfig, folder, "classifier")
    target, target_notes = _load(Transformer, Config, folder, "target")
    draft, draft_notes = _load(Transformer, Config, folder, "draft")
    reference, reference_notes = read_reference(folder / "reference.safetensors", tokenizer)
    print_of = store.fingerprint(tokenizer.codebook)
    for name, notes in (("target", target_notes), ("draft", draft_notes), ("reference", reference_notes)):
        if notes.get("tokenizer") != print_of:
            raise SpecsimError(
                f"{folder / name}.safetensors was made with tokenizer {notes.get('tokenizer')}, "
                f"the tokenizer there is {print_of}: train both in one run"
            )
    read = store.fingerprint(target.output.weight)
    target, draft = target.to(device, dtype), draft.to(device, dtype)
    return Fashion(tokenizer.to(device), target, draft, classifier.to(device), reference, target_print=read)


def load_fashion_eagle(
    device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32, folder: Path = WEIGHTS
) -> Fashion:
    """`load_fashion` with the trained head as its draft."""
    return load_fashion(device, dtype, folder).with_head(folder)


SHIPPED: dict[str, Callable[..., Fashion]] = {"fashion": load_fashion, "fashion-eagle": load_fashion_eagle}
"""The models that ship: the same target, drafted for by the small model or by the head."""


def load_shipped(device: torch.device | str = "cpu") -> dict[str, Fashion]:
    """All of them by name, read once."""
    fashion = load_fashion(device)
    return {"fashion": fashion, "fashion-eagle": fashion.with_head()}


def _load(module_type: type, config_type: type, folder: Path, name: str) -> tuple[Any, dict[str, Any]]:
    return store.load_module(module_type, config_type, folder / f"{name}.safetensors", f"fashion.{name}")


def read_reference(path: Path, tokenizer: Tokenizer) -> tuple[Reference, dict[str, Any]]:
    tensors, notes = store.read(path, "fashion.reference")
    rows, width = len(tensors.get("labels", ())), len(tensors.get("mean", ()))
    length = tokenizer.config.grid**2
    wanted = {"tokens": (rows, length), "labels": (rows,), "mean": (width,), "covariance": (width, width)}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if found != wanted:
        raise SpecsimError(f"{path} holds {found}, need {wanted}: a file of another configuration")
    whole = (tensors["tokens"].long(), tensors["labels"].long(), tensors["mean"], tensors["covariance"])
    return Reference(*whole), notes
