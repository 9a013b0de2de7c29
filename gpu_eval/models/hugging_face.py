"""A decoder-only transformer of the transformers library as a network of `gpu_eval.network`, whatever its family.

The library's own caches hold every row at the same length.  Here each row is rolled back by itself: keys and values are
written to the place of their slot, and a mask says which places a slot may see.  Only documented entries are used:
`inputs_embeds`, `position_ids`, an attention mask [R, 1, K, keys], and a cache with `update` and `get_seq_length`.
transformers 5.17 to 5.24.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from gpu_eval.nodes import Nodes
from specsim.errors import SpecsimError

MASKS = ("sdpa", "eager")
"""Attention implementations that take a mask of their caller's."""


class Prompts(NamedTuple):
    """Input vectors [R, P, D] of the prompts, filled up on the left, and which of them are there, bool [R, P]."""

    vectors: Tensor
    present: Tensor


class Places:
    """Keys and values of every layer [R, heads, places, head_dim]; what a forward computes goes to `places` [R, K].

    Has the two methods that the library's models call on a cache.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.places: Tensor | None = None
        self.layers: dict[int, tuple[Tensor, Tensor]] = {}

    def update(self, keys: Tensor, values: Tensor, layer_idx: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """keys, values [R, heads, K, head_dim] -> all of the layer's; places not yet written hold 0."""
        if layer_idx not in self.layers:
            shape = (*keys.shape[:2], self.size)
            self.layers[layer_idx] = (
                keys.new_zeros(*shape, keys.shape[-1]),
                values.new_zeros(*shape, values.shape[-1]),
            )
        rows = torch.arange(len(keys), device=keys.device)[:, None]
        for whole, part in zip(self.layers[layer_idx], (keys, values), strict=True):
            whole[rows, :, self.places] = part.transpose(1, 2)
        return self.layers[layer_idx]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Where a cache of the library would go on; positions are given, so nothing depends on it."""
        return 0


@dataclass(frozen=True)
class HuggingFace:
    """body: the model that gives hidden states (a causal model's `.model`); embed: image tokens [R, K], 0 .. V - 1, to
    input vectors [R, K, D]; head: hidden states to the logits of the V image tokens; length: tokens of an image.

    In the body's sequence the prompt's P places come first; slot t of the image is at place P - 1 + t.
    """

    body: Any
    embed: Callable[[Tensor], Tensor]
    head: Callable[[Tensor], Tensor]
    prompts: Prompts
    vocab: int
    length: int
    reads_trees: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_mask(self.body)
        require_full(self.body, self.prompts.vectors.shape[1] + self.length)
        vectors, present = self.prompts
        if present.shape != vectors.shape[:2] or not bool(present[:, -1].all()) or not is_left_padded(present):
            raise SpecsimError(
                f"prompts {tuple(vectors.shape)}, present {tuple(present.shape)}: "
                "give every row at least one vector, filled up on the left"
            )

    @property
    def rows(self) -> int:
        return len(self.prompts.vectors)

    @property
    def like(self) -> Tensor:
        return self.prompts.vectors

    @property
    def before(self) -> int:
        """Places before slot 0."""
        return self.prompts.vectors.shape[1] - 1

    @cached_property
    def cache_name(self) -> str:
        """What the body calls its cache: the name changed in 5.24."""
        return "cache" if "cache" in inspect.signature(self.body.forward).parameters else "past_key_values"

    @torch.no_grad()
    def memory(self, extra: int = 0) -> Places:
        """Room for prompt, image and nodes of a tree; the prompt's keys and values, but for its last, are in it."""
        memory = Places(self.before + self.length + extra)
        if self.before:
            places = torch.arange(self.before, device=self.like.device).expand(self.rows, -1)
            self.hidden(self.prompts.vectors[:, :-1], places, memory)
        return memory

    def logits(self, tokens: Tensor, slots: Tensor, memory: Places | None = None, nodes: Nodes | None = None) -> Tensor:
        """tokens [R, length - 1], slots [R, K], nodes of a tree, M -> logits [R, K + M, V]."""
        vectors = self.held(tokens, slots)
        if nodes is not None:
            vectors = torch.cat([vectors, self.embed(nodes.tokens)], dim=1)
        if memory is not None:
            return self.head(self.hidden(vectors, self.before + slots, memory, nodes))
        whole = torch.cat([self.prompts.vectors[:, :-1], vectors], dim=1)
        places = torch.arange(whole.shape[1], device=slots.device).expand(len(slots), -1)
        return self.head(self.hidden(whole, places, None)[:, self.before :])

    def move(self, memory: Places, nodes: Tensor, slots: Tensor) -> None:
        """See `gpu_eval.network.Network`."""
        places, rows = self.before + slots, torch.arange(len(nodes), device=nodes.device)[:, None]
        source = torch.where(nodes > 0, self.before + self.length - 1 + nodes, places)
        for whole in (part for pair in memory.layers.values() for part in pair):
            whole[rows, :, places] = whole[rows, :, source]

    def held(self, tokens: Tensor, slots: Tensor) -> Tensor:
        """Input vectors [R, K, D]: the prompt's last at slot 0, tokens[:, t - 1] at slot t."""
        vectors = self.embed(tokens.gather(1, (slots - 1).clamp(min=0)))
        return torch.where((slots == 0)[..., None], self.prompts.vectors[:, -1:], vectors)

    def hidden(self, vectors: Tensor, places: Tensor, memory: Places | None, nodes: Nodes | None = None) -> Tensor:
        """Hidden states [R, K, D] of vectors [R, K, D] at places [R, K] of the body's sequence; nodes come last."""
        absent = (~self.prompts.present).sum(1, keepdim=True)
        seen, stand = self.visible(places, places if memory is None else None), places
        given: dict[str, Any] = {"use_cache": memory is not None}
        if nodes is not None:
            seen = nodes.mask(seen, self.visible(self.before + nodes.start[:, None], None))
            stand = torch.cat([places, self.before + nodes.slots], dim=1)
            places = torch.cat([places, nodes.places(self.before + self.length)], dim=1)
        if memory is not None:
            memory.places = places
            given[self.cache_name] = memory
        found = self.body(
            inputs_embeds=vectors,
            attention_mask=self.mask(F.pad(seen, (0, memory.size - seen.shape[-1])) if memory is not None else seen),
            position_ids=(stand - absent).clamp(min=0),
            **given,
        )
        return found.last_hidden_state

    def visible(self, places: Tensor, keys: Tensor | None) -> Tensor:
        """Which keys a place may see [R, 1, K, keys]: those up to its own, but for what is not there in the prompt.

        A place that is not there sees itself, since a row of no keys at all is NaN.
        """
        if keys is None:
            keys = torch.arange(self.before + self.length, device=places.device)[None]
        image = self.prompts.present.new_ones(self.rows, self.length - 1)
        there = torch.cat([self.prompts.present, image], dim=1).gather(1, keys.expand(self.rows, -1))
        seen = (keys[:, None] <= places[..., None]) & there[:, None]
        return (seen | (keys[:, None] == places[..., None]))[:, None]

    def mask(self, seen: Tensor) -> Tensor:
        """The same in the form that the body's attention takes."""
        if attention(self.body) == "sdpa":
            return seen
        lowest = torch.finfo(self.like.dtype).min
        return torch.zeros_like(seen, dtype=self.like.dtype).masked_fill(~seen, lowest)


def attention(body: Any) -> str:
    """The attention implementation a model of the library was loaded with."""
    return str(getattr(body.config, "_attn_implementation", None))


def require_mask(body: Any) -> None:
    if attention(body) not in MASKS:
        raise SpecsimError(
            f"{type(body).__name__} uses attention {attention(body)!r}, which takes no mask of its caller's: "
            'load it with attn_implementation="sdpa"'
        )


def require_full(body: Any, places: int) -> None:
    """Every layer sees all places: a mask of the caller's takes the place of a layer's own shorter window.

    Models that do more to their logits than a head (Gemma 2 caps them) need that in `head`.
    """
    config = body.config
    kinds = {str(kind) for name in ("layer_types", "attention_layers") for kind in getattr(config, name, None) or ()}
    windows = [getattr(config, name, None) for name in ("sliding_window", "attention_chunk_size", "window_size")]
    short = [window for window in windows if isinstance(window, int) and window < places]
    local = kinds & {"sliding_attention", "chunked_attention", "local"} or (short and not kinds)
    if short and local and getattr(config, "use_sliding_window", True):
        raise SpecsimError(
            f"{type(body).__name__} has layers that see {short[0]} places back, and prompt and image take {places}: "
            "only models whose every layer sees all of them can be wrapped"
        )
    if kinds & {"linear_attention", "recurrent", "mamba"} or not hasattr(config, "num_attention_heads"):
        raise SpecsimError(f"{type(body).__name__} keeps more than keys and values of attention: it cannot be wrapped")


def is_left_padded(present: Tensor) -> bool:
    """Nothing is missing after what is there."""
    return bool((present.long().diff(dim=1) >= 0).all())
