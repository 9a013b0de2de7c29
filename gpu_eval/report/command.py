"""The work behind `specsim report`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

from gpu_eval.fashion import load_shipped
from gpu_eval.provenance import provenance
from gpu_eval.quality.table import POOL_SEEDS
from gpu_eval.quality_table import pool_for
from gpu_eval.report import maps, pages, plots
from gpu_eval.report.columns import zero_or
from gpu_eval.report.rows import TABLES, Row, as_json, row, table_models
from gpu_eval.report.systems import SYSTEMS
from gpu_eval.run import MOST_IMAGES, best_device
from specsim.comparing.show import AS_WRITTEN
from specsim.errors import require
from specsim.files import ready_directory, write_together

SCHEMA = "specsim.report/2"
PAGES = ("report.json", "report.md", "report.html")
MOST_SEED = POOL_SEEDS - 1
"""Seeds of the pool lie above."""
FEWEST = 2
"""Images a system needs: a covariance has no fewer."""
PICTURES: dict[str, tuple[str, Callable[[list[Row]], bytes]]] = {
    "Images from the same seed": ("images.png", plots.contact_sheet),
    "Quality against tokens per call": ("quality.png", plots.quality_map),
    "Exact bias against exact calls": ("exact.png", plots.exact_map),
    "Where drafts are accepted: share of images, and the first image": ("acceptance.png", maps.acceptance_maps),
    "Tokens per call": ("tokens_per_call.png", plots.tokens_per_call),
    "Acceptance by slot": ("slots.png", plots.slot_rates),
}


def report_to_directory(
    directory: str | Path, images: int, seed: int, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Compute every system and write report.html, report.md, report.json and the pictures."""
    require(FEWEST <= images <= MOST_IMAGES, "report", "images", images, f"from {FEWEST} to {MOST_IMAGES}")
    require(0 <= seed <= MOST_SEED, "report", "seed", seed, f"from 0 to {MOST_SEED}")
    out = ready_directory(directory, (*PAGES, *(name for name, _ in PICTURES.values())))
    begin = time.perf_counter()
    shipped, models = load_shipped(best_device()), table_models()
    model = shipped["fashion"]
    pool, rows = pool_for(model, images, seed), []
    for i, system in enumerate(SYSTEMS):
        rows.append(row(system, shipped, models, pool, images, seed))
        if progress is not None:
            progress(i + 1, len(SYSTEMS))
    source = provenance(model.target_net.output.weight.device)
    content = {
        "schema": SCHEMA,
        "images": images,
        "seed": seed,
        "seconds": time.perf_counter() - begin,
        **source,
        "systems": [as_json(r) for r in rows],
    }
    write_pages(out, rows, heading(images, seed, source), content)
    return content


def heading(images: int, seed: int, source: dict[str, Any]) -> str:
    """What was run where."""
    versions = source["versions"]
    return (
        f"{len(SYSTEMS)} systems, {images} images each, seed {seed}; {source['device_name']}, specsim "
        f"{versions['specsim']}, torch {versions['torch']}. Command: `specsim report --images {images} --seed {seed}`."
    )


def pictures(rows: list[Row]) -> dict[str, tuple[str, bytes]]:
    """Title -> (file name, PNG); names of systems as they are written."""
    with rc_context(AS_WRITTEN):
        return {title: (name, draw(rows)) for title, (name, draw) in PICTURES.items()}


def write_pages(out: Path, rows: list[Row], head: str, content: dict[str, Any]) -> None:
    """All files at once."""
    drawn = pictures(rows)
    markdown = pages.markdown(rows, head, {title: name for title, (name, _) in drawn.items()})
    html = pages.html(rows, head, {title: data for title, (_, data) in drawn.items()})
    texts = dict(zip(PAGES, (json.dumps(content, indent=1) + "\n", markdown, html), strict=True))
    write_together(out, dict(drawn.values()) | {name: text.encode() for name, text in texts.items()})


def report_view(content: dict[str, Any], out: Path) -> Group:
    """The table for people, and where the pages are."""
    title = (
        "TV: exact, on real laws in table form, 0 = lossless there\nthe rest: sampled on `fashion`, ± half of the 95 % "
        "interval; Frechet: distance to plain decoding"
    )
    grid = Grid(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    grid.add_column("system", no_wrap=True)
    for name in (*(f"TV {table}" for table in TABLES), "tokens/call", "Frechet"):
        grid.add_column(name, justify="right", no_wrap=True)
    for system in content["systems"]:
        exact = (zero_or(Fraction(system["tables"][name]["tv_exact"])) for name in TABLES)
        figures = short(system["tokens_per_call"], 2), short(system["quality"]["frechet_pool"], 1)
        name = system["system"] + (" (!)" if system["warning"] else "")
        colour = "green" if system["verdict"] == "lossless" else "red"
        grid.add_row(Text(name, colour), *exact, *figures)
    warnings = [f"(!) {s['system']} {s['warning']}." for s in content["systems"] if s["warning"]]
    pages_at = (
        f"{content['seconds']:.0f} s. Open {out / 'report.html'} (or report.md); what the columns mean is said there."
    )
    return Group(grid, *map(Text, warnings), Text(pages_at))


def short(figure: dict[str, Any], digits: int) -> str:
    """A sampled figure with half the width of its interval."""
    value = f"{figure['value']:.{digits}f}"
    if figure["interval"] is None:
        return value
    return f"{value} ± {(figure['interval'][1] - figure['interval'][0]) / 2:.{digits}f}"
