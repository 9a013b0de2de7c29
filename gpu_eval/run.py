"""Decode images with a real model and any decoder: `specsim run`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch

from gpu_eval.fashion import Fashion, load_fashion
from gpu_eval.figures import METHOD, mean_interval, ratio_interval, slot_rates
from gpu_eval.processing import Processing
from gpu_eval.provenance import provenance
from gpu_eval.saved_laws import LawKeeper
from specsim.decoding import Decoder
from specsim.errors import SpecsimError, require
from specsim.rules.codebooks import bind_codebook
from specsim.rules.strict import Strict
from specsim.sampling import Samples, sample, to_numpy

SCHEMA = "specsim.run/1"
MOST_IMAGES = 100_000
"""Images of one run: all of them are held until the picture is drawn."""
MODELS: dict[str, Callable[..., Fashion]] = {"fashion": load_fashion}


@dataclass(frozen=True)
class Plan:
    """What to decode.  label None: image i has class i mod 10.  batch: images decoded side by side.

    compiled: verification by torch.compile (gpu_eval.compiling), made ready before time is measured.
    """

    model: str
    decoder: Decoder
    rule: Any = None
    images: int = 16
    seed: int = 0
    batch: int = 8
    label: int | None = None
    processing: Processing = Processing()
    compiled: bool = False

    def __post_init__(self) -> None:
        takes = self.decoder.takes_rule or not self.compiled
        require(takes, "run", "compile", True, f"left out: {self.decoder!r} verifies nothing by a rule")
        require(self.model in MODELS, "run", "model", self.model, f"one of {', '.join(MODELS)}")
        require(1 <= self.images <= MOST_IMAGES, "run", "images", self.images, f"from 1 to {MOST_IMAGES}")
        require(self.batch >= 1, "run", "batch", self.batch, "at least 1")
        require(0 <= self.seed < 2**64, "run", "seed", self.seed, "from 0 to 2**64 - 1")

    def labels(self, rows: list[int]) -> list[int]:
        """Class of each image."""
        return [i % 10 if self.label is None else self.label for i in rows]


@dataclass(frozen=True)
class Decoded:
    """A plan's images: tokens [n, N]; images [n, 28, 28]; calls, accepted, lengths [n]; seconds: all, in models."""

    tokens: np.ndarray
    images: np.ndarray
    labels: np.ndarray
    calls: np.ndarray
    accepted: np.ndarray
    lengths: np.ndarray
    batches: list[Samples]
    loop_seconds: float
    model_seconds: float


class Timed:
    """A model whose calls are timed; on a GPU it waits for the device, so use it only where time is measured."""

    def __init__(self, model: Any) -> None:
        self.model, self.seconds = model, 0.0
        self.vocab, self.length, self.uniform = model.vocab, model.length, model.uniform
        self.codebook, self.checked = model.codebook, model.checked

    def __call__(self, tokens: Any, start: Any, count: int) -> Any:
        begin = now(self.uniform.device)
        laws = self.model(tokens, start, count)
        self.seconds += now(self.uniform.device) - begin
        return laws


def now(device: torch.device) -> float:
    """Seconds, after the device has finished what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def best_device() -> torch.device:
    """CUDA when present, else CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def decode(
    plan: Plan,
    model: Fashion,
    keeper: LawKeeper | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Decoded:
    """Decode all images of the plan, batch by batch; progress(images done, all)."""
    rows = list(range(plan.images))
    plan = with_compiled_rule(plan, model) if plan.compiled else plan
    parts, model_seconds, loop_seconds = [], 0.0, 0.0
    for first in range(0, plan.images, plan.batch):
        some = rows[first : first + plan.batch]
        if keeper is not None:
            keeper.next_batch(first)
        samples, timing = decode_batch(plan, model, some, keeper)
        parts.append(samples)
        loop_seconds, model_seconds = loop_seconds + timing[0], model_seconds + timing[1]
        if progress is not None:
            progress(first + len(some), plan.images)
    return gather(plan, model, parts, loop_seconds, model_seconds)


def with_compiled_rule(plan: Plan, model: Fashion) -> Plan:
    """The plan with its rule compiled, for its batches of both sizes."""
    from gpu_eval.compiling import Compiled  # torch's compiler takes a second to import

    rule = Compiled(bind_codebook(Strict() if plan.rule is None else plan.rule, model.codebook))
    plan = replace(plan, rule=rule)
    # As many tokens as a block has slots: shorter sequences have smaller blocks, longer ones take longer.
    slots = max(getattr(plan.decoder, "lookahead", 0) + 1, getattr(plan.decoder, "window", 0))
    for size in {min(plan.batch, plan.images), plan.images % plan.batch or plan.batch}:
        decode_batch(plan, model, list(range(size)), None, min(slots, model.length))
    return plan


def decode_batch(
    plan: Plan, model: Fashion, rows: list[int], keeper: LawKeeper | None, length: int | None = None
) -> tuple[Samples, tuple[float, float]]:
    """One batch -> samples, (seconds of the loop, seconds in the models)."""
    labels = torch.tensor(plan.labels(rows))
    target = Timed(model.target(labels, plan.processing))
    draft = Timed(model.draft(labels, plan.processing)) if plan.decoder.needs_draft else None
    begin = now(target.uniform.device)
    samples = sample(plan.decoder, target, draft, plan.rule, length, rows, plan.seed, observe=keeper)
    loop = now(target.uniform.device) - begin
    return samples, (loop, target.seconds + (draft.seconds if draft is not None else 0.0))


def gather(plan: Plan, model: Fashion, parts: list[Samples], loop: float, inside: float) -> Decoded:
    """All batches together, decoded to pixels."""
    tokens = torch.cat([part.tokens for part in parts])
    with torch.no_grad():
        images = to_numpy(model.decode(tokens))[:, 0]
    calls, accepted, lengths = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("calls", "accepted", "lengths")
    )
    labels = np.array(plan.labels(list(range(plan.images))))
    return Decoded(to_numpy(tokens), images, labels, calls, accepted, lengths, parts, loop, inside)


def result_json(plan: Plan, done: Decoded, model: Fashion) -> dict[str, Any]:
    """Every figure of a run.  Sampled figures have an interval named `<figure>_interval`."""
    figures = {
        "nfe_per_image": mean_interval(done.calls),
        "tokens_per_call": ratio_interval(done.lengths, done.calls),
        "accepted_per_call": ratio_interval(done.accepted, done.calls),
    }
    content: dict[str, Any] = {"schema": SCHEMA}
    for name, figure in figures.items():
        content |= {name: figure["value"], f"{name}_interval": figure["interval"]}
    return content | {
        "interval": METHOD,
        "seconds_per_image": done.loop_seconds / plan.images,
        "step_overhead_fraction": (done.loop_seconds - done.model_seconds) / done.model_seconds,
        "acceptance_by_slot": slot_rates(done.batches),
        "nfe": done.calls.tolist(),
        "seed": plan.seed,
        "dtype": str(model.target_net.output.weight.dtype).removeprefix("torch."),
        **provenance(model.target_net.output.weight.device),
        "configuration": configuration(plan),
    }


def configuration(plan: Plan) -> dict[str, Any]:
    """Everything that decides the output."""
    rule = repr(plan.rule) if plan.rule is not None else ("Strict()" if plan.decoder.takes_rule else None)
    return {
        "model": plan.model,
        "decoder": repr(plan.decoder),
        "rule": rule,
        "images": plan.images,
        "batch": plan.batch,
        "label": plan.label,
        "compiled": plan.compiled,
        **asdict(plan.processing),
    }


def load(plan: Plan, device: torch.device | None = None) -> Fashion:
    """The plan's model on the best device."""
    if plan.label is not None and not 0 <= plan.label <= 9:
        raise SpecsimError(f"run: label = {plan.label} must be a class from 0 to 9")
    return MODELS[plan.model](device or best_device())
