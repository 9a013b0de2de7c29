"""Decode images with a real model and any decoder: the loop behind `specsim run`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from gpu_eval.decoded import Batches, Decoded, Failed
from gpu_eval.fashion import SHIPPED, Fashion
from gpu_eval.memory import halved, out_of_memory
from gpu_eval.models.loaded import Loaded, Pair
from gpu_eval.processing import Processing
from gpu_eval.prompts import Prompt
from gpu_eval.saved_laws import LawKeeper
from gpu_eval.timing import Timed, now
from specsim.decoders import Autoregressive, Chain, DynamicTree, Jacobi, RelaxedBonus, Tree
from specsim.decoding import Decoder
from specsim.errors import SpecsimError, require
from specsim.rules.codebooks import bind_codebook
from specsim.rules.strict import Strict
from specsim.sampling import Samples, sample, to_numpy
from specsim.watching import Fault

MOST_IMAGES = 100_000
"""Images of one run: all of them are held until the picture is drawn."""
MODELS = SHIPPED
"""Models that ship with their own judge of images, for the commands that need one."""
IN_ORDER = (Autoregressive, Chain, RelaxedBonus, Jacobi, Tree, DynamicTree)
"""Decoders that never ask a model for more than one slot before those they asked for last."""
BEYOND = 1e-3
"""How far a pixel may lie outside [0, 1]: rounding in half precision."""
CLASSES = 10
"""Image i has class i mod 10 where nothing is asked for."""


@dataclass(frozen=True)
class Plan:
    """What to decode.  label None: image i has class i mod 10.  batch: images decoded side by side.

    prompts: image i is asked for with prompts[i mod n]; none: its class.  compiled: verification by torch.compile
    (gpu_eval.compiling), made ready before time is measured.
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
    prompts: tuple[Prompt, ...] = ()

    def __post_init__(self) -> None:
        takes = self.decoder.takes_rule or not self.compiled
        require(takes, "run", "compile", True, f"left out: {self.decoder!r} verifies nothing by a rule")
        blocks = not (self.compiled and getattr(self.decoder, "single_tokens", False))
        require(blocks, "run", "compile", True, f"left out: blocks are compiled, and {self.decoder!r} drafts trees")
        require(1 <= self.images <= MOST_IMAGES, "run", "images", self.images, f"from 1 to {MOST_IMAGES}")
        require(self.batch >= 1, "run", "batch", self.batch, "at least 1")
        require(0 <= self.seed < 2**64, "run", "seed", self.seed, "from 0 to 2**64 - 1")

    def labels(self, rows: Sequence[int]) -> list[int]:
        """Class of each image."""
        return [i % CLASSES if self.label is None else self.label for i in rows]

    def asked(self, rows: Sequence[int]) -> list[Prompt]:
        """The prompt of each image."""
        if self.prompts:
            return [self.prompts[i % len(self.prompts)] for i in rows]
        return [
            Prompt(None, label, "the classes in turn" if self.label is None else "--label")
            for label in self.labels(rows)
        ]


def decode(
    plan: Plan,
    model: Fashion | Pair,
    keeper: LawKeeper | None = None,
    progress: Callable[[int, int], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> Decoded:
    """Decode all images of the plan, batch by batch; progress(images done, all), notice(what happened).

    Where memory is too small the batch is halved.  An image whose laws are no laws is given up, the others go on.
    """
    pair = model if isinstance(model, Pair) else model.pair()
    plan = with_compiled_rule(plan, pair) if plan.compiled else plan
    done, size, first = Batches(), plan.batch, 0
    while first < plan.images:
        rows = list(range(first, min(first + size, plan.images)))
        if not fits(plan, pair, rows, keeper, done):
            size = halved(size, len(rows), notice)
            continue
        first += len(rows)
        if progress is not None:
            progress(first, plan.images)
    return gather(plan, done, size)


def fits(plan: Plan, pair: Pair, rows: list[int], keeper: LawKeeper | None, done: Batches) -> bool:
    """Decode a batch and add it to what is done; False, and nothing added, where memory is too small for it."""
    mark = None if keeper is None else keeper.next_batch(rows[0])
    try:
        samples, seconds, done.like = decode_batch(plan, pair, rows, keeper)
        images = pixels(pair.target, samples.tokens)
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        if keeper is not None and mark is not None:
            keeper.back_to(mark)
        return False
    done.samples.append(samples)
    done.images.append(images)
    done.loop_seconds, done.model_seconds = done.loop_seconds + seconds[0], done.model_seconds + seconds[1]
    asked = plan.asked(rows)
    done.failed += [failed_image(fault, rows, asked) for fault in samples.faults]
    return True


def failed_image(fault: Fault, rows: list[int], asked: list[Prompt]) -> Failed:
    """A row of a batch that was given up, by the number of its image."""
    what = fault.what.replace(f"row {fault.row}", f"image {rows[fault.row]}")
    return Failed(rows[fault.row], asked[fault.row], fault.position, what)


def with_compiled_rule(plan: Plan, pair: Pair) -> Plan:
    """The plan with its rule compiled, for its batches of both sizes."""
    from gpu_eval.compiling import Compiled  # torch's compiler takes a second to import

    rule = Compiled(bind_codebook(Strict() if plan.rule is None else plan.rule, pair.target.codebook))
    plan = replace(plan, rule=rule)
    # As many tokens as a block has slots: shorter sequences have smaller blocks, longer ones take longer.
    slots = max(getattr(plan.decoder, "lookahead", 0) + 1, getattr(plan.decoder, "window", 0))
    for size in {min(plan.batch, plan.images), plan.images % plan.batch or plan.batch}:
        try:
            decode_batch(plan, pair, list(range(size)), None, min(slots, pair.target.length))
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            break  # the run halves its batches, and compiles for those when it meets them
    return plan


def decode_batch(
    plan: Plan, pair: Pair, rows: list[int], keeper: LawKeeper | None, length: int | None = None
) -> tuple[Samples, tuple[float, float], Any]:
    """One batch -> samples, (seconds of the loop, seconds in the models), a tensor of the target network."""
    asked = plan.asked(rows)
    keeps = in_order(plan.decoder)
    model: Any = pair.target.model(asked, plan.processing, ahead=0 if keeps else None, checked=False)
    target, draft = Timed(model), None
    if plan.decoder.needs_draft:
        draft = Timed(pair.drafting().beside(model, asked, plan.processing, 1 if keeps else None))
    device = target.uniform.device
    begin = now(device)
    samples = sample(plan.decoder, target, draft, plan.rule, length, rows, plan.seed, observe=keeper, keep_going=True)
    loop = now(device) - begin
    inside = target.seconds + (draft.seconds if draft is not None else 0.0)
    return samples, (loop, inside), target.model.model.network.like


def in_order(decoder: Decoder) -> bool:
    """Whether to promise a model that it is asked in order, which spares a GPU a wait (gpu_eval.cache)."""
    return isinstance(getattr(decoder, "decoder", decoder), IN_ORDER) and torch.cuda.is_available()


def pixels(model: Loaded, tokens: Any) -> np.ndarray:
    """Images of tokens [B, N]: [B, H, W] in [0, 1] of one channel, bytes [B, H, W, 3] of three."""
    with torch.no_grad():
        images = to_numpy(model.paint(tokens))
    if images.ndim != 4 or len(images) != len(tokens) or images.shape[1] not in (1, 3):
        wanted = f"give [{len(tokens)}, 1 or 3, H, W]"
        raise SpecsimError(f"{model.name}: paint makes {list(images.shape)} of {len(tokens)} images; {wanted}")
    if not (images.min() >= -BEYOND and images.max() <= 1 + BEYOND):
        raise SpecsimError(f"{model.name}: paint makes pixels from {images.min()} to {images.max()}; give 0 to 1")
    if images.shape[1] == 1:
        return images[:, 0]
    return np.round(np.moveaxis(images, 1, -1) * 255).astype(np.uint8)


def gather(plan: Plan, done: Batches, batch: int) -> Decoded:
    """All batches together."""
    calls, accepted, lengths = (
        np.concatenate([getattr(part, name) for part in done.samples]) for name in ("calls", "accepted", "lengths")
    )
    tokens = np.concatenate([to_numpy(part.tokens) for part in done.samples])
    labels = np.array([-1 if p.label is None else p.label for p in plan.asked(range(plan.images))])
    seconds, images = (done.loop_seconds, done.model_seconds), np.concatenate(done.images)
    return Decoded(
        tokens, images, labels, calls, accepted, lengths, done.samples, *seconds, batch, done.like, tuple(done.failed)
    )


def best_device() -> torch.device:
    """CUDA when present, else CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def load(plan: Plan, device: torch.device | None = None) -> Fashion:
    """The plan's model on the best device, for commands that judge images."""
    require_judged(plan.model)
    require_classes(plan)
    return MODELS[plan.model](device or best_device())


def require_judged(model: str) -> None:
    """A model that ships with its judge."""
    require(model in MODELS, "run", "model", model, f"one of {', '.join(MODELS)}")


def require_classes(plan: Plan) -> None:
    """A class of the models that ship."""
    if plan.label is not None and not 0 <= plan.label < CLASSES:
        raise SpecsimError(f"run: label = {plan.label} must be a class from 0 to 9")
