"""The work behind `specsim tabulate`: a plan in, two table files and their figures out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table as Grid
from rich.text import Text

from gpu_eval.tabulate.plan import Progress, TablePlan, Tabulated
from gpu_eval.tabulate.sources import checked, tabulate
from specsim.arrays import entropy, total_variation
from specsim.errors import SpecsimError
from specsim.files import collide, ready_file, write_together
from specsim.laws import target_mass
from specsim.table_files import table_text
from specsim.tables import Table

SCHEMA = "specsim.tabulate/1"


def tabulate_to_files(
    plan: TablePlan, out: str | Path, draft_out: str | Path | None = None, progress: Progress = None
) -> dict[str, Any]:
    """Write the target to `out` and the draft to `draft_out` (default: out with the suffix .draft.json), or neither."""
    checked(plan)
    files = {"target": Path(out), "draft": beside(Path(out)) if draft_out is None else Path(draft_out)}
    ready_files(files)
    done = tabulate(plan, progress)
    texts = table_texts(done)
    # Absolute names, since the two may lie in different directories.
    write_together(files["target"].parent, {str(path.absolute()): texts[role].encode() for role, path in files.items()})
    return figures(done, files)


def beside(out: Path) -> Path:
    """Where the draft of T.json goes: T.draft.json."""
    return out.parent / f"{out.stem}.draft.json"


def ready_files(files: dict[str, Path]) -> None:
    """Refuse what could not be written, before any work."""
    for path in files.values():
        ready_file(path)
    if collide(files["target"], files["draft"]):
        raise SpecsimError(f"tabulate: {files['target']} would hold target and draft; choose another --draft-out")


def table_texts(done: Tabulated) -> dict[str, str]:
    """The content of the two files."""
    models = {"target": done.target, "draft": done.draft}
    return {role: table_text(model, {"table": role, **done.about}) for role, model in models.items()}


def figures(done: Tabulated, files: dict[str, Path]) -> dict[str, Any]:
    """The JSON content.  tv, entropy: over prefixes, weighted by the target's own probability of them."""
    target, draft = done.target.floats(), done.draft.floats()
    tv = [
        float(mean(target, n, total_variation(target.at_length(n), draft.at_length(n)))) for n in range(target.length)
    ]
    nats = [float(mean(target, n, entropy(target.at_length(n)))) for n in range(target.length)]
    return {
        "schema": SCHEMA,
        "files": {role: str(path) for role, path in files.items()},
        "vocab": target.vocab,
        "length": target.length,
        "laws": len(target.laws),
        "tv_mean": sum(tv) / len(tv),
        "tv_by_position": tv,
        "tv_max": float(total_variation(target.laws, draft.laws).max()),
        "entropy_nats": sum(nats) / len(nats),
        "entropy_by_position": nats,
        "rounding_moved_tv": done.about.get("rounding_moved_tv"),
        "about": {name: value for name, value in done.about.items() if name not in LONG},
    }


LONG = ("members", "beginning", "representatives")
"""What only the files hold."""


def mean(target: Table, position: int, values: np.ndarray) -> float:
    """Mean of a value per prefix [V**position] under the target."""
    return float((target_mass(target, position) * values).sum())


def tabulate_view(content: dict[str, Any]) -> Grid:
    """The main figures for people."""
    about, moved = content["about"], content["rounding_moved_tv"]
    grid = Grid(title=Text(about["command"]), show_header=False, title_justify="left")
    for role, path in content["files"].items():
        grid.add_row(f"{role} table", Text(path))
    grid.add_row("laws", f"{content['laws']:,} each, of {content['vocab']} tokens; {content['length']} positions")
    grid.add_row("TV(target, draft)", f"mean {content['tv_mean']:.4f}, largest {content['tv_max']:.4f}")
    grid.add_row("entropy of the target", f"{content['entropy_nats']:.4f} nats a token")
    grid.add_row("tokens in each group", short(about["group_sizes"]))
    grid.add_row("use of each group", short([round(share, 3) for share in about["group_use"]]))
    grid.add_row("numbers", about["numbers"])
    if moved is not None:
        grid.add_row("rounding moved a law", f"at most TV {moved['target']:.2g} (target), {moved['draft']:.2g} (draft)")
    grid.add_row("what it is", about["what"])
    if "what_it_is_not" in about:
        grid.add_row("what it is not", about["what_it_is_not"])
    return grid


def short(values: list[Any]) -> str:
    """At most ten of them."""
    return ", ".join(map(str, values[:10])) + (f", .. ({len(values)})" if len(values) > 10 else "")
