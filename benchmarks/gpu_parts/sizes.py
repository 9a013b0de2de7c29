"""Networks of published sizes with random weights, built on the device in bfloat16.

Their laws mean nothing, so nothing is accepted as it would be; what a forward and a step cost does not depend on it.
Shapes:
    LlamaGen-XL      arXiv 2406.06525, table 1, and FoundationVision/LlamaGen, autoregressive/models/gpt.py
    Janus-Pro-7B     config.json of deepseek-ai/Janus-Pro-7B: a Llama of 30 layers, image head of 16384 codes
    Lumina-mGPT-7B   Chameleon-7B (defaults of transformers' ChameleonConfig): 32 layers, 8192 image ids of 65536;
                     768 pixels are 48 x 48 tokens, each row followed by an end of line
    Cosmos-1-AR-4B   arXiv 2501.03575, its code not read: 16 layers, 8 key/value heads, 64000 ids, 12800 places, of
                     which a clip of 9 frames fills 5120 and 7680 are drawn (the NFE of arXiv 2510.24211); its
                     three-dimensional rotation is left out
The last three are plain Llamas with their image head alone: query/key norms, projections of image tokens and text
heads are left out.  Window: SCD's W 64 (Lumina) and W 128 (Cosmos), this project's choice for the others.  Drafts for
chains: LlamaGen-B, and Llama-3.2-1B's shape (16 layers of width 2048).  LlamaGen, Janus: guidance as released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gpu_eval.cache import Cached
from gpu_eval.labelled import class_network
from gpu_eval.models.lined import Lined
from gpu_eval.network import ImageModel, Network
from gpu_eval.processing import Processing
from gpu_eval.transformer import LLAMAGEN, Config, Transformer

NUMBERS = torch.bfloat16
TINY_LENGTH = 16  # tokens of an image of a shrunk size, 4 x 4


class Llama(NamedTuple):
    """Sizes of a decoder of transformers' Llama."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    ffn: int


WithRows = Callable[[int], Network]
"""The network of so many images, the unconditional rows of guidance added."""


@dataclass(frozen=True)
class Size:
    """One published size.  line: image tokens of a row that a forced token ends, 0 for none; goal: of verification, as
    a share of the target's forward, None for none."""

    name: str
    target: Config | Llama
    draft: Config | Llama
    draft_name: str
    build: Callable[[Size, Any, torch.device], WithRows]
    vocab: int
    length: int
    processing: Processing
    window: int
    prompt: int = 1
    line: int = 0
    goal: float | None = None

    def model(self, network: Network, ahead: int) -> Cached:
        """Laws of the network; nothing waits for the device but a decoder's one transfer a step."""
        return Cached(ImageModel(network, self.processing, checked=False), ahead)


def llamagen(size: Size, config: Config, device: torch.device) -> WithRows:
    """Rows of random classes."""
    with fresh(device):
        net = Transformer(config)
    net = net.to(device, NUMBERS).eval().requires_grad_(False)

    def rows(count: int) -> Network:
        labels = torch.arange(count, device=device) % config.classes
        return class_network(net, labels, size.processing.guided)

    return rows


def llama(size: Size, shape: Llama, device: torch.device) -> WithRows:
    """Rows with prompts of random vectors."""
    from transformers import LlamaConfig, LlamaModel

    from gpu_eval.models.hugging_face import HuggingFace, Prompts

    inner = size.length + (size.length // size.line - 1 if size.line else 0)
    attention: dict[str, Any] = {"attn_implementation": "sdpa"}
    config = LlamaConfig(
        vocab_size=1,
        hidden_size=shape.width,
        intermediate_size=shape.ffn,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        max_position_embeddings=size.prompt + inner,
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
        **attention,
    )
    with fresh(device):
        body, embed = LlamaModel(config), nn.Embedding(size.vocab + 1, shape.width)
        head = nn.Linear(shape.width, size.vocab, bias=False)
    for module in (body, embed, head):
        module.eval().requires_grad_(False)

    def rows(count: int) -> Network:
        many = count * (2 if size.processing.guided else 1)
        vectors = torch.randn(many, size.prompt, shape.width, device=device, dtype=NUMBERS)
        present = torch.ones(many, size.prompt, device=device, dtype=torch.bool)
        network = HuggingFace(body, embed, head, Prompts(vectors, present), size.vocab, inner)
        return Lined(network, size.line, size.vocab, size.length) if size.line else network

    return rows


@contextmanager
def fresh(device: torch.device) -> Iterator[None]:
    """Modules are made on the device, in the type they stay in."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(NUMBERS)
    try:
        with torch.device(device), torch.random.fork_rng([device] if device.type == "cuda" else []):
            torch.manual_seed(0)
            yield
    finally:
        torch.set_default_dtype(before)


def shrunk(size: Size) -> Size:
    """The same with tiny numbers."""
    tiny = Llama(1, 16, 2, 1, 16) if size.build is llama else Config(32, 4, 4, 1, 2, 16, ffn_multiple=8)
    return replace(
        size,
        target=tiny,
        draft=tiny,
        vocab=32,
        length=TINY_LENGTH,
        processing=replace(size.processing, top_k=min(size.processing.top_k, 8)),
        window=3,
        prompt=min(size.prompt, 3),
        line=4 if size.line else 0,
    )


def some_tokens(size: Size, rows: int, device: torch.device) -> Tensor:
    """Any tokens [B, N], the same at every call."""
    generator = torch.Generator().manual_seed(0)
    return torch.randint(size.vocab, (rows, size.length), generator=generator).to(device)


LLAMA_7B, LLAMA_1B = Llama(32, 4096, 32, 32, 11008), Llama(16, 2048, 32, 8, 8192)
ONE_B = "a Llama of 1B, 16 layers"
SIZES = (
    Size(
        "LlamaGen-XL 775M", LLAMAGEN["XL"], LLAMAGEN["B"], "LlamaGen-B", llamagen, 16384, 576,
        Processing(guidance=4.0, top_k=2000), window=16, goal=0.03,
    ),
    Size(
        "Janus-Pro 7B", LLAMA_7B._replace(layers=30), LLAMA_1B, ONE_B, llama, 16384, 576,
        Processing(guidance=5.0), window=32, prompt=32, goal=0.01,
    ),
    Size(
        "Lumina-mGPT 7B", LLAMA_7B, LLAMA_1B, ONE_B, llama, 8192, 2304,
        Processing(guidance=3.0, top_k=2000), window=64, prompt=64, line=48, goal=0.01,
    ),
    Size(
        "Cosmos-1-AR 4B", Llama(16, 4096, 32, 8, 14336), LLAMA_1B, ONE_B, llama, 64000, 7680,
        Processing(top_p=0.8), window=128, prompt=5120,
    ),
)  # fmt: skip
