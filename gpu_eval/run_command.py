"""The work behind `specsim run`: a plan in, a directory with images.png and result.json out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table as Grid
from rich.text import Text

from gpu_eval.pictures import grid, png
from gpu_eval.run import Plan, decode, load, result_json
from gpu_eval.saved_laws import LawKeeper
from gpu_eval.sequences import SEQUENCES, require_own_tokens, sequences_file
from specsim.errors import SpecsimError
from specsim.files import collide, ready_directory, ready_file, write_together
from specsim.sampling import to_numpy

PICTURE, RESULT = "images.png", "result.json"


def run_to_directory(
    plan: Plan,
    directory: str | Path,
    save_laws: Path | None,
    progress: Callable[[int, int], None] | None = None,
    save_sequences: bool = False,
) -> dict[str, Any]:
    """Decode and write; everything that can be refused is refused before the first image."""
    names = (PICTURE, RESULT, *([SEQUENCES] if save_sequences else []))
    out = ready_directory(directory, names)
    if save_sequences:
        require_own_tokens(plan)
    if save_laws is not None and any(collide(save_laws, out / name) for name in names):
        raise SpecsimError(f"save-laws: {save_laws} is a file that --out {out} writes; choose another name")
    keeper = law_keeper(plan, save_laws)
    model = load(plan)
    done = decode(plan, model, keeper, progress)
    content = result_json(plan, done, model)
    files = {PICTURE: png(grid(done.images))}
    if keeper is not None and save_laws is not None:
        laws, written = keeper.file(to_numpy(model.codebook))
        kept = {"file": str(save_laws), "written": written, "met": keeper.met, "sampled": written < keeper.met}
        files[str(save_laws.absolute())], content["saved_laws"] = laws, kept
    if save_sequences:
        files[SEQUENCES], said = sequences_file(plan, done, model)
        content["saved_sequences"] = {"file": str(out / SEQUENCES)} | said
    result = json.dumps(content, indent=1) + "\n"
    write_together(out, files | {RESULT: result.encode()})
    return content


def law_keeper(plan: Plan, save_laws: Path | None) -> LawKeeper | None:
    """A keeper where laws are to be saved; only decoders that verify drafts meet any."""
    if save_laws is None:
        return None
    if not plan.decoder.takes_rule:
        raise SpecsimError(f"save-laws: {plan.decoder!r} verifies nothing by a rule, so it meets no laws to save")
    ready_file(save_laws)
    return LawKeeper(plan.seed)


def run_view(content: dict[str, Any], out: Path) -> Grid:
    """The main figures for people."""
    setting = content["configuration"]
    table = Grid(
        title=Text(f"{setting['decoder']}  {setting['rule'] or 'no rule'}"), show_header=False, title_justify="left"
    )
    for name in ("nfe_per_image", "tokens_per_call", "accepted_per_call"):
        table.add_row(name.replace("_", " "), with_interval(content[name], content[f"{name}_interval"]))
    table.add_row(
        "seconds per image", f"{content['seconds_per_image']:.4f}  on {content['device_name']}, {content['dtype']}"
    )
    table.add_row("step overhead", f"{content['step_overhead_fraction']:.1%} of model time")
    table.add_row("intervals", content["interval"])
    for name in ("images.png", "result.json"):
        table.add_row(name, str(out / name))
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
