"""Wrappers of the example's model, each wrong in one way that users' wrappers are wrong in."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch

from gpu_eval.cache import Cached
from gpu_eval.models.hugging_face import HuggingFace, Places, Prompts
from gpu_eval.models.lined import Lined
from gpu_eval.models.loaded import Loaded
from gpu_eval.network import ImageModel
from gpu_eval.prompts import Prompt
from specsim.files import load_module

EXAMPLE = Path(__file__).parents[3] / "examples" / "own_model.py"
FIRST, VOCAB = 32, 24  # of the example


def example() -> Loaded:
    """The example's model, cut to one layer for speed."""
    loaded = load_module(EXAMPLE).make()
    body = loaded.network([Prompt("", None, "test")], False).network.body
    body.layers = body.layers[:1]
    return loaded


def parts(thing: Any) -> dict[str, Any]:
    return {field.name: getattr(thing, field.name) for field in fields(thing)}


def network(change: Callable[[Any], Any]) -> Loaded:
    """The example with another network."""
    loaded = example()
    return replace(loaded, network=lambda prompts, guided: change(loaded.network(prompts, guided)))


def inner(kind: type, **changed: Any) -> Loaded:
    """The example with another class inside its lines."""
    return network(lambda lined: replace(lined, network=kind(**(parts(lined.network) | changed))))


def model(wrap: Callable[[ImageModel, bool], Any]) -> Loaded:
    """The example with another way from its network to laws; wrap(plain model, cached)."""

    class Other(Loaded):
        def model(self, prompts, processing, cached=True, **_):
            return wrap(super().model(prompts, processing, cached=False), cached)

    return Other(**parts(example()))


def maybe_cached(made: ImageModel, cached: bool) -> Any:
    return Cached(made) if cached else made


class Laws:
    """A model whose laws are changed."""

    def __init__(self, made: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.made, self.change = made, change
        self.vocab, self.length, self.codebook, self.uniform = made.vocab, made.length, made.codebook, made.uniform

    def __call__(self, tokens, start, count):
        return self.change(self.made(tokens, start, count))


def laws(change: Callable[[torch.Tensor], torch.Tensor]) -> Loaded:
    return model(lambda made, cached: Laws(maybe_cached(made, cached), change))


class Ahead(HuggingFace):
    """Attention that sees one token ahead."""

    def visible(self, places, keys):
        seen = super().visible(places, keys)
        keys = torch.arange(seen.shape[-1])[None] if keys is None else keys
        return seen | (keys[:, None, None] == places[:, None, :, None] + 1)


class FillingSeen(HuggingFace):
    """A mask that lets the filling of short prompts be seen."""

    def visible(self, places, keys):
        everything = Prompts(self.prompts.vectors, torch.ones_like(self.prompts.present))
        return HuggingFace(**(parts(self) | {"prompts": everything})).visible(places, keys)


class Kept(Places):
    """A cache that writes every place once: what was rolled back stays."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.written: dict[int, torch.Tensor] = {}

    def update(self, keys, values, layer_idx, *_, **__):
        before = [part.clone() for part in self.layers.get(layer_idx, ())]
        after = super().update(keys, values, layer_idx)
        known = self.written.get(layer_idx, torch.zeros(len(keys), self.size, dtype=torch.bool))
        for whole, old in zip(after, before, strict=False):
            whole.copy_(torch.where(known[:, None, :, None], old, whole))
        self.written[layer_idx] = known.scatter(1, self.places, True)
        return after


class NeverRewritten(HuggingFace):
    def memory(self):
        whole, kept = super().memory(), Kept(self.before + self.length)
        kept.layers = whole.layers
        return kept


class RowZeroPlaces(HuggingFace):
    """A cache that holds every row at the length of row 0."""

    def hidden(self, vectors, places, memory, nodes=None):
        found = super().hidden(vectors, places, memory, nodes)
        if memory is not None:
            memory.places = places[:1].expand_as(places)
            super().hidden(vectors, memory.places, memory, nodes)
        return found


class NotANumber(HuggingFace):
    """NaN in one row at one slot of the image."""

    def logits(self, tokens, slots, memory=None, nodes=None):
        logits = super().logits(tokens, slots, memory)
        row = torch.arange(len(slots))[:, None] == 1
        return torch.where(((slots == 6) & row)[..., None], torch.nan, logits)


class Counting(HuggingFace):
    """Laws that depend on how often the network was asked."""

    asked = itertools.count()

    def logits(self, tokens, slots, memory=None, nodes=None):
        return super().logits(tokens, slots, memory) * (1 + 0.01 * next(self.asked))


class EarlyEnd(Lined):
    """Ends one place before the end of a line."""

    def with_ends(self, tokens):
        return super().with_ends(tokens).roll(-1, dims=1)


class NoRollback(Cached):
    """A cache that takes everything it has seen for known."""

    def valid(self, tokens):
        return self.known


class Shortest(Cached):
    """A cache that rolls every row back to the shortest: slower, and right."""

    def valid(self, tokens):
        return super().valid(tokens).amin().expand(len(tokens))


class AfterSoftmax(ImageModel):
    """Guidance on probabilities, and no lower than FLOOR: a difference near 0 is all rounding, which another CPU rounds
    otherwise, and the mistake would go by another name there."""

    FLOOR = 1e-2

    def logits(self, tokens, slots, memory=None, nodes=None):
        if not self.processing.guided:
            return super().logits(tokens, slots, memory)
        with torch.no_grad():
            logits = self.network.logits(tokens.repeat(2, 1), slots.repeat(2, 1), memory)
        conditional, unconditional = logits.softmax(-1).chunk(2)
        return (self.processing.guidance * (conditional - unconditional) + unconditional).clamp(min=self.FLOOR).log()


class NoTopK(ImageModel):
    """Top-k forgotten."""

    def laws(self, logits, start):
        return super().laws(logits, start) if self.processing.top_k == 0 else logits.softmax(-1)


def swapped(lined: Lined) -> Lined:
    """Unconditional rows first."""
    vectors, present = lined.network.prompts
    if present[-1].sum() > 1:  # no unconditional rows
        return lined
    both = Prompts(*(part.roll(len(part) // 2, 0) for part in (vectors, present)))
    return replace(lined, network=replace(lined.network, prompts=both))


def mixed(lined: Lined) -> Lined:
    """The prompt of row 0 for all."""
    one = Prompts(*(part[:1].expand_as(part) for part in lined.network.prompts))
    return replace(lined, network=replace(lined.network, prompts=one))


def whole_head(lined: Lined, vocab: int) -> Lined:
    """The head of the whole vocabulary; vocab: what the network says of itself."""
    table = load_module(EXAMPLE).tiny().get_output_embeddings()
    return replace(lined, network=replace(lined.network, head=table, vocab=vocab))


class FromFilling(HuggingFace):
    """Positions of the batch: the filling of a short prompt is counted."""

    def hidden(self, vectors, places, memory, nodes=None):
        given: dict[str, Any] = {"use_cache": memory is not None}
        if memory is not None:
            memory.places = places
            given[self.cache_name] = memory
        mask = self.mask(self.visible(places, places if memory is None else None))
        found = self.body(inputs_embeds=vectors, attention_mask=mask, position_ids=places, **given)
        return found.last_hidden_state


def absolute(kind: type) -> Loaded:
    """A GPT-2, whose positions are absolute, in place of the Llama: there a wrong position shows."""
    from transformers import GPT2Config, GPT2LMHeadModel

    with torch.random.fork_rng():
        torch.manual_seed(0)
        sizes = {"n_embd": 32, "n_layer": 1, "n_head": 2, "n_positions": 128, "bos_token_id": 0, "eos_token_id": 0}
        gpt = GPT2LMHeadModel(GPT2Config(vocab_size=FIRST + VOCAB + 1, initializer_range=0.3, **sizes)).eval()
    table, head = gpt.get_input_embeddings(), gpt.get_output_embeddings()
    return inner(
        kind,
        body=gpt.transformer,
        embed=lambda tokens: table(FIRST + tokens),
        head=lambda hidden: head(hidden)[..., FIRST : FIRST + VOCAB],
    )
