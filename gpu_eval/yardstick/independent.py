"""A second model of the same data, to judge images of the first: other seed, depth, width and heads.

python -m gpu_eval.yardstick.independent --data DIR [--out FILE]

The tokenizer is the shipped one, the data are the training images that the target saw too, so what it calls likely is
not what the target calls likely, but both learnt from the same images.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from gpu_eval import store
from gpu_eval.fashion import WEIGHTS
from gpu_eval.idx import read_split
from gpu_eval.tokenizer import Tokenizer, TokenizerConfig
from gpu_eval.train_fashion import CLASSES, LABEL_DROPOUT, next_token_loss
from gpu_eval.training import Recipe, fit, in_chunks
from gpu_eval.transformer import Config, Transformer
from specsim.terminal import exit_status

FILE = WEIGHTS.parent / "independent.safetensors"
KIND = "fashion.independent"
CONFIG = Config(
    *(512, 7, CLASSES), layers=5, heads=4, width=128, ffn_multiple=64, class_rotation="identity", kv_heads=2
)
RECIPE = Recipe(steps=1700, batch=64, rate=2.5e-3, warmup=100, decay=0.05, seed=101)


def load_independent(file: Path = FILE) -> Transformer:
    """The trained network, frozen, in float32."""
    return store.load_module(Transformer, Config, file, KIND)[0]


def train(data: Path, out: Path, recipe: Recipe) -> None:
    """Train on the training split, note the test loss, write one file."""
    tokenizer, _ = store.load_module(Tokenizer, TokenizerConfig, WEIGHTS / "tokenizer.safetensors", "fashion.tokenizer")
    (tokens, labels), tests = (encoded(tokenizer, data, split) for split in ("train", "t10k"))
    torch.manual_seed(recipe.seed)
    net, state = Transformer(CONFIG), out.with_name(f"{out.name}.state")

    def loss_at(rows: Tensor, generator: torch.Generator) -> Tensor:
        dropped = torch.rand(len(rows), generator=generator) < LABEL_DROPOUT
        with torch.autocast("cpu", torch.bfloat16), sdpa_kernel(SDPBackend.MATH):
            return next_token_loss(net, tokens[rows], torch.where(dropped, CLASSES, labels[rows])).mean()

    notes = fit("independent", net, loss_at, len(tokens), recipe, state)
    net.load_state_dict(store.half(net))  # measure what is shipped
    nats = in_chunks(lambda *rows: next_token_loss(net, *rows), *tests).mean().item()
    notes |= {"test_nats": round(nats, 4), "tokenizer": store.fingerprint(tokenizer.codebook)}
    store.save_module(out, KIND, net, notes | {"parameters": sum(weight.numel() for weight in net.parameters())})
    state.unlink(missing_ok=True)


def encoded(tokenizer: Tokenizer, data: Path, split: str) -> tuple[Tensor, Tensor]:
    """Tokens [n, N] and labels [n] of a split."""
    images, labels = read_split(data, split, side=TokenizerConfig().side, classes=CLASSES)
    return in_chunks(tokenizer.encode, images), labels


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m gpu_eval.yardstick.independent", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the four *-ubyte.gz files")
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument("--steps", type=int, default=RECIPE.steps)
    parser.add_argument("--threads", type=int, default=1, help="CPU threads (default 1)")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    return exit_status(lambda: train(chosen.data, chosen.out, replace(RECIPE, steps=chosen.steps)))


if __name__ == "__main__":
    sys.exit(main())
