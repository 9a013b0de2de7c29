"""Quality of every system of the report: python -m gpu_eval.quality_table --images 2000 --seeds 0 1 2 --out FILE.

Each finished (system, seed) is kept in FILE at once; the same command goes on where it was stopped, and further seeds
or systems may be added.  python -m gpu_eval.quality_table --show FILE prints the Markdown table of a file.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpu_eval.fashion import Fashion, load_shipped
from gpu_eval.figures import METHOD, NORMAL_METHOD, ratio_interval
from gpu_eval.processing import Processing
from gpu_eval.provenance import provenance
from gpu_eval.quality import Pool, pool_of, quality_of
from gpu_eval.quality.table import FLOOR, POOL_SEEDS, READING, SCHEMA, markdown, read_table, summary
from gpu_eval.report.systems import SYSTEMS, System
from gpu_eval.run import MOST_IMAGES, Decoded, Plan, best_device, decode
from specsim import Autoregressive
from specsim.errors import SpecsimError, require
from specsim.files import ready_file, write_text
from specsim.terminal import exit_status, progress_bar

BATCH = 50
"""Two CPU cores: a fifth to a half faster than 20, and 100 is no faster than 50."""
FEWEST = 20
"""Two images of each class: of fewer no interval is known."""
PROCESSING = Processing()
NEAR_FLOOR = "of a Frechet distance little above its bias up to some 2.2 times too wide"
BIAS = "mean over resamples less the value; value - bias estimates the distance of endlessly many images"
Progress = Callable[[int, int], None]


def settings(images: int, device: str) -> dict[str, Any]:
    """What every row of a file has in common."""
    return {"model": "fashion", "images": images, "batch": BATCH, "device": device, **asdict(PROCESSING)}


def plan_of(system: System, images: int, seed: int) -> Plan:
    """A system's plan: labels in turn."""
    return Plan(system.model, system.real, system.rule, images, seed, BATCH, processing=PROCESSING)


def pool_for(fashion: Fashion, images: int, seed: int, progress: Progress | None = None) -> Pool:
    """Images of plain decoding that the rows of a seed are compared with."""
    plan = Plan("fashion", Autoregressive(), None, images, POOL_SEEDS + seed, BATCH, processing=PROCESSING)
    return pool_of(fashion, decode(plan, fashion, progress=progress))


def definition(system: System) -> dict[str, str | None]:
    """What a row must still be made by when a file is gone on with."""
    return {
        "system": system.name,
        "model": system.model,
        "decoder": repr(system.real),
        "rule": None if system.rule is None else repr(system.rule),
    }


def row_of(fashion: Fashion, system: System, seed: int, done: Decoded, pool: Pool) -> dict[str, Any]:
    """One row of the file."""
    tokens = ratio_interval(done.lengths, done.calls)
    names = {**definition(system), "seed": seed, "pool_seed": POOL_SEEDS + seed, "tokens_per_call": tokens}
    return names | quality_of(fashion, PROCESSING, done, pool).as_json()


def chosen_systems(names: Sequence[str]) -> list[System]:
    """The named systems, all if none is named, and always plain decoding: it is the floor of the table."""
    known = [system.name for system in SYSTEMS]
    for name in names:
        require(name in known, "quality", "system", name, f"one of {', '.join(known)}")
    return [system for system in SYSTEMS if not names or system.name in (FLOOR, *names)]


def kept_rows(out: Path, wanted: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of an earlier run with the same settings and systems; SpecsimError for any other file."""
    if not os.path.exists(out):
        return []
    content = read_table(out)
    if content["settings"] != wanted:
        raise SpecsimError(f"{out} was made with {content['settings']}, not {wanted}: choose another --out")
    today = {system.name: definition(system) for system in SYSTEMS}
    for row in content["rows"]:
        made = {name: row.get(name) for name in ("system", "decoder", "rule")} | {"model": row.get("model", "fashion")}
        if made != today.get(row["system"]):
            by = f"{row.get('decoder')!r}, {row.get('rule')!r}"
            raise SpecsimError(
                f"{out}: {row['system']!r} was made by {by}, not by today's system: choose another --out"
            )
    return content["rows"]


def table(
    images: int, seeds: Sequence[int], names: Sequence[str], out: Path, command: str, progress: Progress
) -> dict[str, Any]:
    """Compute what is missing and write the file after every row; progress(images decoded, all that are to be)."""
    require(FEWEST <= images <= MOST_IMAGES, "quality", "images", images, f"from {FEWEST} to {MOST_IMAGES}")
    require(len(set(seeds)) == len(seeds), "quality", "seeds", seeds, "different numbers")
    require(all(0 <= seed < POOL_SEEDS for seed in seeds), "quality", "seeds", seeds, f"from 0 to {POOL_SEEDS - 1}")
    systems, device = chosen_systems(names), best_device()
    ready_file(out)
    out.parent.mkdir(parents=True, exist_ok=True)  # every row is written at once
    wanted, source = settings(images, device.type), provenance(device)
    rows = kept_rows(out, wanted)
    have = {(row["system"], row["seed"]) for row in rows}
    missing = {seed: some for seed in seeds if (some := [s for s in systems if (s.name, seed) not in have])}
    for row in new_rows(load_shipped(device), missing, images, progress):
        rows = in_order([*rows, row | {"commit": source["commit"]}])
        write_text(out, json.dumps(file_content(rows, wanted, command, source), indent=1, allow_nan=False) + "\n")
    return file_content(rows, wanted, command, source)


def new_rows(
    shipped: dict[str, Fashion], missing: dict[int, list[System]], images: int, progress: Progress
) -> Iterator[dict[str, Any]]:
    """Row after row, seed by seed: a seed's systems share its pool."""
    count = Count(images, sum(1 + len(systems) for systems in missing.values()), progress)
    for seed, systems in missing.items():
        pool = pool_for(shipped["fashion"], images, seed, count.next())
        for system in systems:
            fashion = shipped[system.model]
            done = decode(plan_of(system, images, seed), fashion, progress=count.next())
            yield row_of(fashion, system, seed, done, pool)


class Count:
    """Images decoded over all sets."""

    def __init__(self, images: int, sets: int, progress: Progress) -> None:
        self.images, self.sets, self.progress, self.begun = images, sets, progress, -1

    def next(self) -> Callable[[int, int], None]:
        """The progress of the next set."""
        self.begun += 1
        return lambda done, _: self.progress(self.begun * self.images + done, self.sets * self.images)


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Systems as in the report, then seeds, whatever was computed first."""
    names = [system.name for system in SYSTEMS]
    return sorted(rows, key=lambda row: (names.index(row["system"]), row["seed"]))


def file_content(
    rows: list[dict[str, Any]], wanted: dict[str, Any], command: str, source: dict[str, Any]
) -> dict[str, Any]:
    """The whole file; rows keep the commit that made them, the rest is of the last run."""
    head = {"schema": SCHEMA, "command": command, "settings": wanted, "reading": READING}
    intervals = {"interval": f"{NORMAL_METHOD}; {NEAR_FLOOR}", "bias": BIAS, "tokens_per_call_interval": METHOD}
    return head | intervals | source | {"systems": summary(rows), "rows": rows}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m gpu_eval.quality_table", description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=2000, help="of every row (default 2000)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--systems", nargs="+", default=[], help="names in the report; AR is always computed")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--out", type=Path, help="JSON file, gone on with if it is there")
    target.add_argument("--show", type=Path, help="print the Markdown table of this file and stop")
    parser.add_argument("--json", action="store_true", help="print the file's content instead of Markdown")
    chosen = parser.parse_args(arguments)
    words = sys.argv[1:] if arguments is None else arguments
    return exit_status(lambda: run(chosen, shlex.join(["python", "-m", "gpu_eval.quality_table", *words])))


def run(chosen: argparse.Namespace, command: str) -> None:
    """Compute or read, and print."""
    if chosen.show is not None:
        content = read_table(chosen.show)
    else:
        with progress_bar("images") as update:
            content = table(chosen.images, chosen.seeds, chosen.systems, chosen.out, command, update)
    print(json.dumps(content, indent=1) if chosen.json else markdown(content))


if __name__ == "__main__":
    sys.exit(main())
