"""Train the shipped image model on Fashion-MNIST: python -m gpu_eval.train_fashion --data DIR --out DIR.

Four stages in order: vq (tokenizer), target, draft, classifier; each writes one file, the last `reference`
too. Steps and seeds are fixed. A stage whose file exists with the same recipe is skipped, and one that was stopped
goes on from its `.state` file: a stopped run resumes. The head is trained after them by `gpu_eval.train_head`.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from gpu_eval import store
from gpu_eval.classifier import Classifier, ClassifierConfig
from gpu_eval.idx import read_split
from gpu_eval.tokenizer import Tokenizer, TokenizerConfig
from gpu_eval.training import Recipe, fit, in_chunks, shown
from gpu_eval.transformer import Config, Transformer
from specsim.errors import SpecsimError, require

CLASSES = 10
SHIPPED_ROWS = 1000  # test images shipped as tokens: quality figures then need no data set
LABEL_DROPOUT = 0.1  # share of labels replaced by the unconditional class, which guidance needs
COMMITMENT = 0.25  # of the VQ-VAE paper

TARGET = Config(vocab=512, grid=7, classes=CLASSES, layers=4, heads=6, width=192)
DRAFT = Config(vocab=512, grid=7, classes=CLASSES, layers=1, heads=4, width=128, ffn_multiple=64)


FULL = {
    "vq": Recipe(steps=2000, batch=128, rate=2e-3, warmup=50, decay=0.0, seed=1),
    "target": Recipe(steps=2800, batch=64, rate=2e-3, warmup=100, decay=0.05, seed=2),
    "draft": Recipe(steps=2400, batch=64, rate=2e-3, warmup=100, decay=0.05, seed=3),
    "classifier": Recipe(steps=2400, batch=128, rate=1e-3, warmup=50, decay=0.01, seed=4, flips=True),
}
FILES = {"vq": "tokenizer", "target": "target", "draft": "draft", "classifier": "classifier"}


@dataclass(frozen=True)
class Job:
    data: Path
    out: Path
    recipes: dict[str, Recipe]

    def path(self, stage: str) -> Path:
        return self.out / f"{FILES[stage]}.safetensors"

    def state(self, stage: str) -> Path:
        """Of a stage that is under way."""
        return self.path(stage).with_suffix(".state")

    def split(self, split: str) -> tuple[Tensor, Tensor]:
        return read_split(self.data, split, side=TokenizerConfig().side, classes=CLASSES)


def train_vq(job: Job) -> None:
    recipe, (images, _) = job.recipes["vq"], job.split("train")
    torch.manual_seed(recipe.seed)
    tokenizer = Tokenizer(TokenizerConfig())
    notes = fit(
        "tokenizer",
        tokenizer,
        lambda rows, generator: tokenizer.loss(shown(images[rows], recipe, generator), COMMITMENT, generator),
        len(images),
        recipe,
        job.state("vq"),
    )
    tokenizer.load_state_dict(store.half(tokenizer))  # measure what is shipped
    tests = job.split("t10k")[0]
    tokens = in_chunks(tokenizer.encode, tests)
    error = F.mse_loss(in_chunks(tokenizer.decode, tokens), tests).item()
    share = tokens.flatten().bincount(minlength=tokenizer.config.codes) / tokens.numel()
    notes |= {"psnr_db": round(-10 * math.log10(error), 2), "codes_used": int((share > 0).sum())}
    notes["perplexity"] = round(torch.special.entr(share).sum().exp().item(), 1)
    store.save_module(job.path("vq"), "fashion.tokenizer", tokenizer, notes)


def next_token_loss(net: Transformer, tokens: Tensor, labels: Tensor) -> Tensor:
    """[B]: mean over the N positions of -log p(token), in nats. tokens [B, N], labels [B]."""
    slots = torch.arange(net.config.length).expand(len(tokens), -1)
    logits = net(net.embed(tokens, labels, slots), slots)
    return F.cross_entropy(logits.transpose(1, 2).float(), tokens, reduction="none").mean(1)


def train_transformer(job: Job, stage: str, config: Config) -> None:
    recipe, tokenizer = job.recipes[stage], shipped_tokenizer(job)
    (images, labels), (test_images, test_labels) = job.split("train"), job.split("t10k")
    tokens, test_tokens = in_chunks(tokenizer.encode, images), in_chunks(tokenizer.encode, test_images)
    torch.manual_seed(recipe.seed)
    net = Transformer(config)

    def loss_at(rows: Tensor, generator: torch.Generator) -> Tensor:
        dropped = torch.rand(len(rows), generator=generator) < LABEL_DROPOUT
        # The plain attention: the fused one's backward pass takes half of a step on a CPU.
        with torch.autocast("cpu", torch.bfloat16), sdpa_kernel(SDPBackend.MATH):
            return next_token_loss(net, tokens[rows], torch.where(dropped, CLASSES, labels[rows])).mean()

    notes = fit(stage, net, loss_at, len(tokens), recipe, job.state(stage))
    net.load_state_dict(store.half(net))  # measure what is shipped
    nats = in_chunks(lambda *rows: next_token_loss(net, *rows), test_tokens, test_labels).mean().item()
    notes |= {"test_nats": round(nats, 4), "tokenizer": store.fingerprint(tokenizer.codebook)}
    notes["parameters"] = sum(weight.numel() for weight in net.parameters())
    store.save_module(job.path(stage), f"fashion.{stage}", net, notes)


def shipped_tokenizer(job: Job) -> Tokenizer:
    return store.load_module(Tokenizer, TokenizerConfig, job.path("vq"), "fashion.tokenizer")[0]


def train_classifier(job: Job) -> None:
    recipe, (images, labels), tests = job.recipes["classifier"], job.split("train"), job.split("t10k")
    torch.manual_seed(recipe.seed)
    net = Classifier(ClassifierConfig())

    def loss_at(rows: Tensor, generator: torch.Generator) -> Tensor:
        return F.cross_entropy(net(shown(images[rows], recipe, generator)), labels[rows])

    notes = fit("classifier", net, loss_at, len(images), recipe, job.state("classifier"))
    net.load_state_dict(store.half(net))  # measure what is shipped
    notes["accuracy"] = round((in_chunks(net, tests[0]).argmax(-1) == tests[1]).double().mean().item(), 4)
    write_reference(job, net, *tests)
    store.save_module(job.path("classifier"), "fashion.classifier", net, notes)


def write_reference(job: Job, net: Classifier, images: Tensor, labels: Tensor) -> None:
    """Test rows as tokens, and mean and covariance of the features of all real test images."""
    tokenizer = shipped_tokenizer(job)
    features = in_chunks(net.features, images).double()
    rows = in_chunks(tokenizer.encode, images[:SHIPPED_ROWS])
    tensors = {"tokens": rows.to(torch.uint16), "labels": labels[:SHIPPED_ROWS].to(torch.uint8)}
    tensors |= {"mean": features.mean(0).float(), "covariance": features.T.cov().float()}
    notes = {"tokenizer": store.fingerprint(tokenizer.codebook), "images": len(images)}
    store.write(job.out / "reference.safetensors", "fashion.reference", tensors, notes)


STAGES: dict[str, Callable[[Job], None]] = {
    "vq": train_vq,
    "target": lambda job: train_transformer(job, "target", TARGET),
    "draft": lambda job: train_transformer(job, "draft", DRAFT),
    "classifier": train_classifier,
}


def finished(job: Job, stage: str) -> bool:
    """Whether the stage's file is there, made by the same recipe; another recipe's is never overwritten."""
    path = job.path(stage)
    if not path.exists():
        return False
    if store.read(path, f"fashion.{FILES[stage]}")[1].get("recipe") == asdict(job.recipes[stage]):
        return True
    raise SpecsimError(f"{path} was trained by another recipe: delete it, or choose another --out")


def require_writable(folder: Path) -> None:
    """Found out before an hour of training, not after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecsimError(f"--out {folder} cannot be made ({error}): choose another folder") from None
    if not os.access(folder, os.W_OK):
        raise SpecsimError(f"--out {folder} cannot be written: choose another folder")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m gpu_eval.train_fashion", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the four *-ubyte.gz files")
    parser.add_argument("--out", type=Path, required=True, help="folder for the weight files")
    parser.add_argument("--stage", choices=[*STAGES, "all"], default="all")
    parser.add_argument("--quick", action="store_true", help="a few steps a stage, to try the script")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads (default 2)")
    chosen = parser.parse_args(arguments)
    quick = {stage: replace(recipe, steps=3, batch=8, warmup=1) for stage, recipe in FULL.items()}
    job = Job(chosen.data, chosen.out, quick if chosen.quick else FULL)
    try:
        require(chosen.threads >= 1, "train", "threads", chosen.threads, "at least 1")
        torch.set_num_threads(chosen.threads)
        require_writable(job.out)
        for stage in STAGES if chosen.stage == "all" else [chosen.stage]:
            if finished(job, stage):
                print(f"{stage}: {job.path(stage)} is finished")
            else:
                STAGES[stage](job)
                job.state(stage).unlink(missing_ok=True)
    except SpecsimError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
