"""Tiny random LlamaGens, class-to-image and text-to-image, with three rows of prompts for each."""

from dataclasses import replace

import torch
from torch import nn

from gpu_eval.cache import Cached
from gpu_eval.models.llamagen import of_captions, of_labels
from gpu_eval.network import ImageModel
from gpu_eval.processing import Processing
from gpu_eval.prompts import Prompt
from gpu_eval.transformer import Config, Transformer

C2I = Config(vocab=19, grid=3, classes=4, layers=2, heads=2, width=16)
T2I = replace(C2I, classes=0, prompt=5, caption_width=6)
KINDS = {"c2i": C2I, "t2i": T2I}
LENGTH, ROWS, GUIDANCE = 9, 3, 2.5

LABELS = [Prompt(None, label, "test") for label in (2, 0, 3)]
TEXTS = [Prompt(text, None, "test") for text in ("A red car.", "dog", "a blue dog on grass")]


def tiny(config: Config, seed: int = 0) -> Transformer:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = Transformer(config).double()
        for weight in net.parameters():  # far from the small first weights, so that attention is not nearly flat
            nn.init.normal_(weight, 1.0 if weight.ndim == 1 else 0.0, 0.4)
    return net.eval().requires_grad_(False)


def captions(texts):
    """What stands in for an encoder: a vector for each word, filled up on the left, with junk where none is."""
    generator = torch.Generator().manual_seed(len(texts))
    vectors = torch.randn(len(texts), T2I.prompt, T2I.caption_width, dtype=torch.float64, generator=generator)
    words = torch.tensor([len(text.split()) for text in texts])
    return vectors, torch.arange(T2I.prompt) >= T2I.prompt - words[:, None]


def network(net, guided=False):
    return of_labels(net)(LABELS, guided) if net.config.prompt == 1 else of_captions(net, captions)(TEXTS, guided)


def model(net, guidance=GUIDANCE, cached=False):
    made = ImageModel(network(net, guidance != 1), Processing(guidance=guidance))
    return Cached(made) if cached else made


def some_tokens(seed: int = 0, rows: int = ROWS, length: int = LENGTH):
    return torch.randint(C2I.vocab, (rows, length), generator=torch.Generator().manual_seed(seed))


def all_slots(rows: int = ROWS, length: int = LENGTH):
    return torch.arange(length).expand(rows, -1)
