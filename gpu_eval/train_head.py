"""Train the head that drafts for the shipped image model: python -m gpu_eval.train_head --data DIR [--out FILE].

The target stands still; the head learns its features on the training images (`gpu_eval.head`).  Steps and seed are
fixed, and a training that was stopped goes on where its `.state` file was kept last.  A file that is there is never
written over: one of the same recipe and target is finished, another one is refused.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from gpu_eval import store
from gpu_eval.fashion import HEAD, WEIGHTS, load_fashion
from gpu_eval.head import NOISE, Head, Losses, losses, shifted
from gpu_eval.labelled import Labelled
from gpu_eval.train_fashion import CLASSES, LABEL_DROPOUT, require_writable
from gpu_eval.training import CHUNK, Recipe, fit
from gpu_eval.transformer import Transformer
from gpu_eval.yardstick.independent import encoded
from specsim.errors import SpecsimError
from specsim.files import ready_file
from specsim.terminal import exit_status

RECIPE = Recipe(steps=2400, batch=64, rate=2e-3, warmup=100, decay=0.05, seed=7)
Disturb = Callable[[Tensor], Tensor]


def features_of(target: Transformer, tokens: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Input vectors and features [B, N, D] of tokens [B, N], and their slots [B, N]."""
    slots = torch.arange(target.config.length).expand(len(tokens), -1)
    network = Labelled(target, labels)
    with torch.no_grad():
        return network.embed(tokens[:, :-1], slots), network.features(tokens[:, :-1], slots), slots


def losses_of(head: Head, target: Transformer, tokens: Tensor, labels: Tensor, disturb: Disturb) -> Losses:
    """Of all slots of tokens [B, N] with labels [B], each guessed from the target's own feature before it."""
    vectors, features, slots = features_of(target, tokens, labels)
    before = disturb(shifted(features))
    return losses(head(vectors, before, target.standing(slots, slots[:1], None)), features, target.output)


def finished(out: Path, recipe: Recipe, target: str) -> bool:
    """Whether the file is there, made by the same recipe for the same target (its `store.fingerprint`)."""
    if not out.exists():
        return False
    notes = store.read(out, HEAD)[1]
    if (notes.get("recipe"), notes.get("target")) == (asdict(recipe), target):
        return True
    raise SpecsimError(f"{out} was trained by another recipe or for another target: delete it, or choose another --out")


def train(data: Path, out: Path, recipe: Recipe, folder: Path) -> None:
    """Train on the training split, note the losses on the test images, write one file."""
    fashion = load_fashion(folder=folder)
    target, given = fashion.target_net, store.fingerprint(fashion.target_net.output.weight)
    if finished(out, recipe, given):
        print(f"head: {out} is finished")
        return
    (tokens, labels), tests = (encoded(fashion.tokenizer, data, split) for split in ("train", "t10k"))
    torch.manual_seed(recipe.seed)
    head, state = Head(target.config), out.with_name(f"{out.name}.state")

    def loss_at(rows: Tensor, generator: torch.Generator) -> Tensor:
        dropped = torch.rand(len(rows), generator=generator) < LABEL_DROPOUT
        noise = lambda some: some + NOISE * (2 * torch.rand(some.shape, generator=generator) - 1)  # noqa: E731
        with torch.autocast("cpu", torch.bfloat16), sdpa_kernel(SDPBackend.MATH):
            shown = torch.where(dropped, CLASSES, labels[rows])
            return losses_of(head, target, tokens[rows], shown, noise).total

    notes = fit("head", head, loss_at, len(tokens), recipe, state, given)
    head.load_state_dict(store.half(head))  # measure what is shipped
    found = tested(head, target, *tests)
    notes |= {"test_regression": round(float(found[0]), 4), "test_nats": round(float(found[1]), 4), "target": given}
    store.save_module(out, HEAD, head, notes | {"parameters": sum(weight.numel() for weight in head.parameters())})
    state.unlink(missing_ok=True)


@torch.no_grad()
def tested(head: Head, target: Transformer, tokens: Tensor, labels: Tensor) -> Tensor:
    """Mean losses of test images, undisturbed."""
    parts = zip(tokens.split(CHUNK), labels.split(CHUNK), strict=True)
    found = [len(rows[0]) * torch.stack(losses_of(head, target, *rows, lambda some: some)) for rows in parts]
    return torch.stack(found).sum(0) / len(tokens)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m gpu_eval.train_head", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the four *-ubyte.gz files")
    parser.add_argument("--target", type=Path, default=WEIGHTS, help="folder of the target's files (the shipped ones)")
    parser.add_argument("--out", type=Path, default=WEIGHTS / "head.safetensors")
    parser.add_argument("--steps", type=int, default=RECIPE.steps)
    parser.add_argument("--threads", type=int, default=2, help="CPU threads (default 2)")
    chosen = parser.parse_args(arguments)

    def work() -> None:
        for name in ("steps", "threads"):
            if (number := getattr(chosen, name)) < 1:
                raise SpecsimError(f"--{name} is {number}: give at least 1")
        torch.set_num_threads(chosen.threads)
        ready_file(chosen.out)
        require_writable(chosen.out.parent)
        train(chosen.data, chosen.out, replace(RECIPE, steps=chosen.steps), chosen.target)

    return exit_status(work)


if __name__ == "__main__":
    sys.exit(main())
