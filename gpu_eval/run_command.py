"""The work behind `specsim run`: a plan in, a directory with images.png and result.json out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.table import Table as Grid
from rich.text import Text

from gpu_eval.along import ALONG
from gpu_eval.models.families import load_pair
from gpu_eval.models.loaded import Loaded, Pair
from gpu_eval.network import Network
from gpu_eval.pictures import grid, png
from gpu_eval.run import MODELS, Decoded, Plan, best_device, decode, load, pixels, require_classes
from gpu_eval.run_result import result_json
from gpu_eval.saved_laws import LawKeeper
from gpu_eval.sequences import SEQUENCES, require_own_tokens, sequences_file
from specsim.errors import SpecsimError, require
from specsim.files import collide, ready_directory, ready_file, write_together
from specsim.sampling import to_numpy

NUMBERS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16, "float64": torch.float64}
PICTURE, RESULT, PICTURES, PROMPTS = "images.png", "result.json", "pictures.npz", "prompts.txt"
OPTIONAL = (SEQUENCES, PICTURES, PROMPTS)
SHOWN = 64
"""Images of images.png where they are large."""


@dataclass(frozen=True)
class Source:
    """Where the plan's model comes from: see `gpu_eval.models.families.load_pair`."""

    weights: Path | None = None
    draft_weights: Path | None = None
    dtype: str | None = None

    def __post_init__(self) -> None:
        require(self.dtype in (None, *NUMBERS), "run", "dtype", self.dtype, f"one of {', '.join(NUMBERS)}")


@dataclass(frozen=True)
class Output:
    """What to write: images.png and result.json into the directory; laws: a file of the laws that were met; sequences:
    sequences.npz too; images: pictures.npz, every image, and prompts.txt, for `specsim metrics`."""

    directory: str | Path
    laws: Path | None = None
    sequences: bool = False
    images: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Files of the directory."""
        more = [SEQUENCES] * self.sequences + [PICTURES, PROMPTS] * self.images
        return (PICTURE, RESULT, *more)


def run_to_directory(
    plan: Plan,
    output: Output,
    source: Source = Source(),
    progress: Callable[[int, int], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Decode and write; everything that can be refused is refused before the first image."""
    out = ready_directory(output.directory, output.names)
    require_possible(plan, output, out)
    keeper = None if output.laws is None else LawKeeper(plan.seed)
    pair = pair_of(plan, source)
    done = decode(plan, pair, keeper, progress, notice)
    content = result_json(plan, done, pair)
    folders = {"weights": source.weights, "draft_weights": source.draft_weights}
    content["configuration"] |= {name: str(folder) if folder else None for name, folder in folders.items()}
    files = {PICTURE: png(grid(done.images[:SHOWN] if done.images.ndim > 3 else done.images))}
    if keeper is not None and output.laws is not None:
        laws, written = keeper.file(None if pair.target.codebook is None else to_numpy(pair.target.codebook))
        kept = {"file": str(output.laws), "written": written, "met": keeper.met, "sampled": written < keeper.met}
        files[str(output.laws.absolute())], content["saved_laws"] = laws, kept
    if output.sequences:
        files[SEQUENCES], said = sequences_file(plan, done, load(plan))
        content["saved_sequences"] = {"file": str(out / SEQUENCES)} | said
    if output.images:
        files |= pictures(plan, done)
        content["saved_images"] = str(out / PICTURES)
    result = json.dumps(content, indent=1) + "\n"
    write_together(out, files | {RESULT: result.encode()})
    return content


def require_possible(plan: Plan, output: Output, out: Path) -> None:
    """What was asked to be saved can be."""
    stale = [name for name in OPTIONAL if name not in output.names and (out / name).exists()]
    if stale:
        said = f"{out} holds {' and '.join(stale)} of another run"
        raise SpecsimError(f"out: {said}, which would stay beside this one's: choose another directory or remove them")
    if output.sequences:
        require_own_tokens(plan)
        require(plan.model in ALONG, "save-sequences", "model", plan.model, f"one of {', '.join(ALONG)}")
    if output.laws is None:
        return
    if any(collide(output.laws, out / name) for name in output.names):
        raise SpecsimError(f"save-laws: {output.laws} is a file that --out {out} writes; choose another name")
    if not plan.decoder.takes_rule:
        raise SpecsimError(f"save-laws: {plan.decoder!r} verifies nothing by a rule, so it meets no laws to save")
    if getattr(plan.decoder, "single_tokens", False):
        raise SpecsimError(
            f"save-laws: {plan.decoder!r} drafts trees, and the file holds chains; run a Chain or Jacobi"
        )
    ready_file(output.laws)


def pictures(plan: Plan, done: Decoded) -> dict[str, bytes]:
    """Every image that was decoded to its end, as bytes, and the texts that they were asked for with, a line each."""
    failed = {some.image for some in done.failed}
    kept = [i for i in range(plan.images) if i not in failed]
    buffer, images = io.BytesIO(), done.images[kept]
    np.savez_compressed(buffer, images=images if images.dtype == np.uint8 else np.round(images * 255).astype(np.uint8))
    lines = [" ".join((p.text if p.text is not None else str(p.label)).split()) for p in plan.asked(kept)]
    return {PICTURES: buffer.getvalue(), PROMPTS: ("\n".join(lines) + "\n").encode()}


def pair_of(plan: Plan, source: Source) -> Pair:
    """The plan's models; what the plan asks of them that they cannot do is an error before the first image."""
    if plan.model in MODELS:
        require_classes(plan)
    for name, folder in (("weights", source.weights), ("draft-weights", source.draft_weights)):
        if folder is not None and not folder.is_dir():
            raise SpecsimError(f"--{name} {folder}: no such folder")
    dtype = None if source.dtype is None else NUMBERS[source.dtype]
    pair = load_pair(plan.model, source.weights, source.draft_weights, best_device(), dtype)
    if pair.target.prompts == "text" and not plan.prompts:
        raise SpecsimError(f"{pair.target.name} reads texts: give --prompts FILE or a text")
    if plan.decoder.needs_draft:
        pair.drafting()
    pair.target.require_kind(plan.asked(range(plan.images)))
    for loaded in (pair.target, pair.draft):
        if isinstance(loaded, Loaded):
            require_image(loaded, loaded.network(plan.asked(range(min(2, plan.images))), plan.processing.guided))
    return pair


def require_image(loaded: Loaded, network: Network) -> None:
    """A network of the tokens of its grid, and pixels from them."""
    if network.length != loaded.length or network.vocab < 1:
        size = f"{network.length} tokens of {network.vocab}"
        raise SpecsimError(f"{loaded.name}: its network writes {size}, and its grid {loaded.grid} has {loaded.length}")
    pixels(loaded, torch.zeros(1, loaded.length, dtype=torch.int64, device=network.like.device))


def run_view(content: dict[str, Any], out: Path) -> Grid:
    """The main figures for people."""
    setting = content["configuration"]
    table = Grid(
        title=Text(f"{setting['decoder']}  {setting['rule'] or 'no rule'}"), show_header=False, title_justify="left"
    )
    for name in ("nfe_per_image", "tokens_per_call", "accepted_per_call", "step_compression"):
        table.add_row(name.replace("_", " "), with_interval(content[name], content[f"{name}_interval"]))
    table.add_row(
        "seconds per image", f"{content['seconds_per_image']:.4f}  on {content['device_name']}, {content['dtype']}"
    )
    table.add_row("step overhead", f"{content['step_overhead_fraction']:.1%} of model time")
    table.add_row("intervals", content["interval"])
    if content["failed"]:
        first = content["failed"][0]
        table.add_row("given up", f"{len(content['failed'])} images; image {first['image']}: {first['what']}")
    for name in (PICTURE, RESULT):
        table.add_row(name, str(out / name))
    if "saved_images" in content:
        table.add_row("images", content["saved_images"])
    if "saved_laws" in content:
        saved = content["saved_laws"]
        how = "a uniform sample of the" if saved["sampled"] else "all"
        table.add_row("laws", f"{saved['file']}: {saved['written']:,} slots, {how} {saved['met']:,} judged")
    if "saved_sequences" in content:
        table.add_row("sequences", sequences_line(content["saved_sequences"]))
    return table


def sequences_line(saved: dict[str, Any]) -> str:
    """Which images are in the file of sequences."""
    if saved["written"] == saved["images"]:
        return f"{saved['file']}: both models' laws along all {saved['images']} images"
    return f"{saved['file']}: the first {saved['written']} of {saved['images']} images fill {saved['limit_mib']} MiB"


def with_interval(value: float, interval: list[float] | None) -> str:
    """A figure with its interval, where one exists."""
    return f"{value:.4f}" + (f"  [{interval[0]:.4f}, {interval[1]:.4f}]" if interval is not None else "  (one image)")
