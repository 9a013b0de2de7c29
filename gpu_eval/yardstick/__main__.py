"""The yardstick: python -m gpu_eval.yardstick --folder DIR --out FILE; --show FILE prints a file's tables.

Tunes every scheme to every level on pilot images, decodes seed by seed over all settings, judges the images, follows
every rule along images, and concludes.  Whatever is finished lies in DIR and is not done again, so the same command
goes on where it was stopped; --analyse concludes from the seeds that are complete.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch

from gpu_eval.fashion import Fashion, load_fashion
from gpu_eval.figures import METHOD
from gpu_eval.provenance import provenance
from gpu_eval.yardstick import tuning
from gpu_eval.yardstick.analysis import analyse
from gpu_eval.yardstick.drawing import picture
from gpu_eval.yardstick.images import Work, complete_seeds, decode_missing, missing, pool_seeds
from gpu_eval.yardstick.independent import FILE, load_independent
from gpu_eval.yardstick.judging import Judges
from gpu_eval.yardstick.ranks import LEAST_RELIABLE, WIDTH
from gpu_eval.yardstick.results import RESAMPLES, Job, rows_of, settings_json
from gpu_eval.yardstick.settings import LEVELS, LOSSLESS, SCHEMES, Scheme
from gpu_eval.yardstick.table import SCHEMA, markdown, read_results
from specsim.errors import require
from specsim.files import ready_file, write_bytes, write_text
from specsim.terminal import exit_status, jsonable, progress_bar

FEWEST = 40
"""Images of a setting and seed: four of each class, two in either half of a split."""
INTERVALS = (
    f"bootstrap, {RESAMPLES} resamples: images of all seeds within each class, the same in every setting (they share "
    "their random numbers), and the images that rules are followed along; settings are fixed. Correlations and their "
    f"differences: +- {WIDTH} standard errors, one at a time; corrected for the noise in quality by its reliability "
    f"(split halves), from {LEAST_RELIABLE} on. Other figures: +- 1.96 standard errors. Frechet distances are less the "
    "bias that the resamples estimate"
)


@cache
def fashion() -> Fashion:
    """The image model, loaded when first needed."""
    return load_fashion()


def chosen_schemes(names: Sequence[str]) -> list[Scheme]:
    """The named schemes, all if none is named."""
    known = [scheme.name for scheme in SCHEMES]
    for name in names:
        require(name in known, "yardstick", "scheme", name, f"one of {', '.join(known)}")
    return [scheme for scheme in SCHEMES if not names or scheme.name in names]


def compute(chosen: argparse.Namespace, command: str, update: Any) -> dict[str, Any]:
    """Everything that is missing, then the conclusions."""
    require(chosen.images >= FEWEST, "yardstick", "images", chosen.images, f"at least {FEWEST}")
    require(2 <= chosen.along <= chosen.images, "yardstick", "along", chosen.along, "from 2 to the images of a seed")
    work = Work(chosen.folder, chosen.images)
    schemes = chosen_schemes(chosen.schemes)
    settings = (*LOSSLESS, *tuning.all_settings(fashion, schemes, LEVELS, chosen.pilot, work.folder))
    if not chosen.analyse:
        decode_missing(work, fashion, list(missing(work, settings, chosen.seeds, chosen.pool)), update)
    job = Job(work, settings, chosen.seeds, chosen.pool, chosen.along)
    rows = rows_of(job, Judges(fashion(), load_independent(chosen.independent)), update)
    seeds, pool = complete_seeds(work, settings, chosen.seeds), pool_seeds(work, chosen.pool)
    return {
        "schema": SCHEMA,
        "command": command,
        "images": chosen.images * len(seeds),
        "seeds": seeds,
        "pool": chosen.images * len(pool),
        "pilot": {"images": chosen.pilot, "seed": tuning.PILOT_SEED},
        "along": chosen.along,
        "intervals": INTERVALS,
        "tokens_per_call_interval": METHOD,
        **provenance(torch.device("cpu")),
        "settings": settings_json(rows),
        **analyse(rows, chosen.images * len(seeds)),
    }


def run(chosen: argparse.Namespace, command: str) -> None:
    """Compute or read, and print."""
    if chosen.show is not None:
        content = read_results(chosen.show)
    else:
        torch.set_num_threads(chosen.threads)
        for path in (chosen.out, chosen.picture):
            if path is not None:
                ready_file(path)
                path.parent.mkdir(parents=True, exist_ok=True)
        with progress_bar("yardstick") as update:
            content = jsonable(compute(chosen, command, update))
        write_text(chosen.out, json.dumps(content, indent=1, allow_nan=False) + "\n")
        if chosen.picture is not None:
            write_bytes(chosen.picture, picture(content))
    print(markdown(content))


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(prog="python -m gpu_eval.yardstick", description=__doc__.split("\n")[0])
    target = made.add_mutually_exclusive_group(required=True)
    target.add_argument("--out", type=Path, help="JSON file of the results")
    target.add_argument("--show", type=Path, help="print the tables of this file and stop")
    made.add_argument("--folder", type=Path, default=Path("yardstick"), help="images and everything in between")
    made.add_argument("--picture", type=Path, help="PNG: quality against each divergence")
    made.add_argument("--images", type=int, default=500, help="of every setting and seed (default 500)")
    made.add_argument("--seeds", type=int, default=8, help="how many (default 8)")
    made.add_argument("--pool", type=int, default=40, help="blocks of --images of plain decoding (default 40)")
    made.add_argument("--pilot", type=int, default=200, help="images that tuning looks at (default 200)")
    made.add_argument("--along", type=int, default=200, help="images a rule's divergences are averaged over (200)")
    made.add_argument("--schemes", nargs="+", default=[], help="names (default: all)")
    made.add_argument("--independent", type=Path, default=FILE, help="weights of the independent model")
    made.add_argument("--analyse", action="store_true", help="decode nothing: conclude from complete seeds")
    made.add_argument("--threads", type=int, default=1, help="CPU threads (default 1)")
    return made


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    chosen = parser().parse_args(words)
    return exit_status(lambda: run(chosen, shlex.join(["python", "-m", "gpu_eval.yardstick", *words])))


if __name__ == "__main__":
    sys.exit(main())
