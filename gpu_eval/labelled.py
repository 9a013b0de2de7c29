"""LlamaGen's transformer with class labels or captions as prompts, as a network of `gpu_eval.network`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from gpu_eval.network import ImageModel
from gpu_eval.nodes import Nodes
from gpu_eval.processing import Processing
from gpu_eval.transformer import Memory, Transformer, blank_memory
from specsim.errors import SpecsimError


@dataclass(frozen=True)
class Labelled:
    """Row r has class labels[r]; the last class of the embedding, `config.classes`, is no class at all."""

    net: Transformer
    labels: Tensor  # [R] int64
    reads_trees: ClassVar[bool] = True

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

    @property
    def width(self) -> int:
        """D: numbers of a feature."""
        return self.net.config.width

    def memory(self, extra: int = 0) -> Memory:
        """Room for the keys and values of every row; the class is slot 0, so nothing comes before."""
        return blank_memory(self.net.config, self.rows, self.like, extra)

    def logits(self, tokens: Tensor, slots: Tensor, memory: Memory | None = None, nodes: Nodes | None = None) -> Tensor:
        """tokens [R, length - 1], slots [R, K], nodes of a tree, M -> [R, K + M, V]."""
        return self.net(self.embed(tokens, slots), slots, memory, None, nodes)

    def features(
        self, tokens: Tensor, slots: Tensor, memory: Memory | None = None, nodes: Nodes | None = None
    ) -> Tensor:
        """What the output layer reads, [R, K + M, D]."""
        vectors = self.net.with_tokens(self.embed(tokens, slots), nodes)
        return self.net.norm(self.net.hidden(vectors, slots, memory, None, nodes))

    def read(self, features: Tensor) -> Tensor:
        """Logits [..., V] of features [..., D]."""
        return self.net.output(features)

    def embed(self, tokens: Tensor, slots: Tensor) -> Tensor:
        """Input vectors [R, K, D]."""
        return self.net.embed(tokens, self.labels, slots)

    def move(self, memory: Memory, nodes: Tensor, slots: Tensor) -> None:
        """See `gpu_eval.network.Network`."""
        move(memory, self.net.config.places, nodes, slots)


@dataclass(frozen=True)
class Captioned:
    """Row r has the caption vectors[r], filled up on the left; present says which of its vectors are there.

    The embedding is not applied here: the vectors have the transformer's width. As released, what is not there is
    hidden from the image whatever the row, so an unconditional one has the `present` of its caption.
    """

    net: Transformer
    vectors: Tensor  # [R, P, D]
    present: Tensor  # [R, P] bool
    reads_trees: ClassVar[bool] = True

    def __post_init__(self) -> None:
        places, width = self.net.config.prompt, self.net.config.width
        if self.vectors.shape[1:] != (places, width) or self.present.shape != self.vectors.shape[:2]:
            raise SpecsimError(
                f"captions {tuple(self.vectors.shape)}, present {tuple(self.present.shape)}: "
                f"give every row {places} vectors of width {width}"
            )

    @property
    def rows(self) -> int:
        return len(self.vectors)

    @property
    def vocab(self) -> int:
        return self.net.config.vocab

    @property
    def length(self) -> int:
        return self.net.config.length

    @property
    def like(self) -> Tensor:
        return self.net.output.weight

    @property
    def before(self) -> int:
        """Places before slot 0."""
        return self.net.config.prompt - 1

    @torch.no_grad()
    def memory(self, extra: int = 0) -> Memory:
        """Room for the keys and values of every row, those of the caption but for its last vector in it."""
        memory = blank_memory(self.net.config, self.rows, self.like, extra)
        self.net.hidden(self.vectors[:, :-1], self.first(self.before), memory, self.there)
        return memory

    def logits(self, tokens: Tensor, slots: Tensor, memory: Memory | None = None, nodes: Nodes | None = None) -> Tensor:
        """tokens [R, length - 1], slots [R, K], nodes of a tree, M -> [R, K + M, V]."""
        inputs = self.net.after(self.vectors[:, -1], tokens, slots)
        if memory is not None:
            return self.net(inputs, self.before + slots, memory, self.there, nodes)
        whole = torch.cat([self.vectors[:, :-1], inputs], dim=1)
        hidden = self.net.hidden(whole, self.first(whole.shape[1]), None, self.there)
        return self.net.logits(hidden[:, self.before :])

    def move(self, memory: Memory, nodes: Tensor, slots: Tensor) -> None:
        """See `gpu_eval.network.Network`."""
        move(memory, self.net.config.places, nodes, self.before + slots)

    @property
    def there(self) -> Tensor:
        """`present` of all places of a memory: an image token is always there."""
        return F.pad(self.present, (0, self.length - 1), value=True)

    def first(self, count: int) -> Tensor:
        """The first places of every row, [R, count]."""
        return torch.arange(count, device=self.vectors.device).expand(self.rows, -1)


def move(memory: Memory, first: int, nodes: Tensor, places: Tensor) -> None:
    """Copy keys and values of nodes [R, K] to places [R, K], in place; node 0: what is there stays.

    first: place of node 1.
    """
    rows = torch.arange(len(nodes), device=nodes.device)[:, None]
    source = torch.where(nodes > 0, first - 1 + nodes, places)
    for whole in (part for pair in memory for part in pair):
        whole[rows, places] = whole[rows, source]


def class_network(net: Transformer, labels: Tensor, guided: bool) -> Labelled:
    """Rows with classes labels [B], 0 .. classes - 1; with guidance as many without a class after."""
    classes = net.config.classes
    if labels.ndim != 1 or not len(labels) or int(labels.min()) < 0 or int(labels.max()) >= classes:
        raise SpecsimError(f"labels are {labels.tolist()}: give one class of 0..{classes - 1} for each row")
    return Labelled(net, torch.cat([labels, torch.full_like(labels, classes)]) if guided else labels)


def class_model(
    net: Transformer, labels: Tensor, processing: Processing, codebook: Tensor | None = None, checked: bool = True
) -> ImageModel:
    """The image model of rows with classes labels [B], 0 .. classes - 1; with guidance their doubles join."""
    return ImageModel(class_network(net, labels, processing.guided), processing, codebook, checked)
