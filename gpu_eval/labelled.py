"""LlamaGen's transformer with class labels as prompts, as a network of `gpu_eval.network`."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gpu_eval.network import ImageModel
from gpu_eval.processing import Processing
from gpu_eval.transformer import Memory, Transformer, blank_memory
from specsim.errors import SpecsimError


@dataclass(frozen=True)
class Labelled:
    """Row r has class labels[r]; the last class of the embedding, `config.classes`, is no class at all."""

    net: Transformer
    labels: Tensor  # [R] int64

    @property
    def rows(self) -> int:
        return len(self.labels)

    @property
    def vocab(self) -> int:
        return self.net.config.vocab

    @property
    def length(self) -> int:
        return self.net.config.length

    @property
    def like(self) -> Tensor:
        return self.net.output.weight

    def memory(self) -> Memory:
        """Room for the keys and values of every row; the class is slot 0, so nothing comes before."""
        return blank_memory(self.net.config, self.rows, self.like)

    def logits(self, tokens: Tensor, slots: Tensor, memory: Memory | None = None) -> Tensor:
        """tokens [R, length - 1], slots [R, K] -> [R, K, V]."""
        return self.net(self.net.embed(tokens, self.labels, slots), slots, memory)


def class_model(
    net: Transformer, labels: Tensor, processing: Processing, codebook: Tensor | None = None, checked: bool = True
) -> ImageModel:
    """The image model of rows with classes labels [B], 0 .. classes - 1; with guidance their doubles join."""
    classes = net.config.classes
    if labels.ndim != 1 or not len(labels) or int(labels.min()) < 0 or int(labels.max()) >= classes:
        raise SpecsimError(f"labels are {labels.tolist()}: give one class of 0..{classes - 1} for each row")
    if processing.guided:
        labels = torch.cat([labels, torch.full_like(labels, classes)])
    return ImageModel(Labelled(net, labels), processing, codebook, checked)
