"""A quality file as a table: checked, put together across seeds, in Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpu_eval.figures import across_seeds, with_spread
from specsim.errors import SpecsimError, require
from specsim.files import read_json

SCHEMA = "specsim.quality/1"
POOL_SEEDS = 1_000_000
"""The pool of seed s is decoded with seed s + this, so that no set is compared with itself."""
MOST = 1e15
"""No figure is larger."""
FLOOR = "AR"
"""Plain decoding: its distance to the pool is what chance alone makes."""
FIGURES: dict[str, tuple[str, int]] = {
    "tokens_per_call": ("tokens/call", 2),
    "frechet_real": ("Frechet to real", 2),
    "frechet_pool": ("Frechet to AR pool", 2),
    "label_accuracy": ("accuracy", 3),
    "log_likelihood": ("log-likelihood", 3),
}
"""Figure -> (column, digits)."""
MAY_LACK = ("log_likelihood",)
"""Figures with None for -inf."""
READING = (
    "Means over seeds ± standard deviation between seeds. The Frechet distances are in the features of this model's "
    "own classifier: they rank decoders of this model and are no FID. A Frechet distance of few images is biased "
    "upwards, so every row has as many images, and figures of tables with other image counts cannot be compared. The "
    "AR pool is plain decoding with a seed of its own for each seed; row AR is what two sets of plain decoding differ "
    "by through chance alone. Log-likelihood: of the output under the target, nats per token; -inf where the target "
    "gives some token probability 0."
)


def read_table(path: Path) -> dict[str, Any]:
    """The content of a quality file; SpecsimError of one line for anything else."""
    content = read_json(path)
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise SpecsimError(f"{path} is no quality table ({SCHEMA}): choose another file")
    settings, rows = content.get("settings"), content.get("rows")
    if not isinstance(settings, dict) or type(settings.get("images")) is not int or not isinstance(rows, list):
        raise SpecsimError(f"{path} lacks settings with images, or rows: delete it and compute it anew")
    for number, row in enumerate(rows):
        if problem := row_problem(row, settings["images"]):
            raise SpecsimError(f"{path}: row {number} {problem}: delete the file and compute it anew")
    keys = [(row["system"], row["seed"]) for row in rows]
    if len(set(keys)) < len(keys):
        raise SpecsimError(f"{path} holds a system and seed twice: delete it and compute it anew")
    return content


def row_problem(row: Any, images: int) -> str | None:
    """What is wrong with a row of a file, None if nothing."""
    if not isinstance(row, dict) or not isinstance(row.get("system"), str):
        return "has no system"
    if type(row.get("seed")) is not int or not 0 <= row["seed"] < POOL_SEEDS:
        return f"has seed {row.get('seed')!r}, not one from 0 to {POOL_SEEDS - 1}"
    if row.get("pool_seed") != POOL_SEEDS + row["seed"]:
        return f"has pool_seed {row.get('pool_seed')!r}, not {POOL_SEEDS + row['seed']}"
    if type(row.get("images")) is not int or row["images"] != images:
        return f"has {row.get('images')!r} images, the table {images!r}"
    missing = [name for name in FIGURES if not is_figure(row.get(name), name in MAY_LACK)]
    return f"has no figure {missing[0]}" if missing else None


def is_figure(figure: Any, may_lack: bool) -> bool:
    """Whether it has a value: a number of ordinary size, or None where that stands for -inf."""
    if not isinstance(figure, dict) or "value" not in figure:
        return False
    value = figure["value"]
    return (value is None and may_lack) or (type(value) in (int, float) and abs(value) <= MOST)


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the same system together: its seeds, and mean and spread (standard deviation) of every figure."""
    require(len({row["images"] for row in rows}) <= 1, "quality", "images", [r["images"] for r in rows], "equal")
    names = list(dict.fromkeys(row["system"] for row in rows))
    return [of_system(name, [row for row in rows if row["system"] == name]) for name in names]


def of_system(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One system over its seeds."""
    figures = {figure: across_seeds([row[figure]["value"] for row in rows]) for figure in FIGURES}
    return {"system": name, "seeds": sorted(row["seed"] for row in rows), **figures}


def markdown(content: dict[str, Any]) -> str:
    """The table, and below it how to read it."""
    systems = summary(content["rows"])
    seeds = sorted({seed for system in systems for seed in system["seeds"]})
    lines = [
        "| system | " + " | ".join(title for title, _ in FIGURES.values()) + " |",
        "|---|" + "---:|" * len(FIGURES),
    ]
    for system in systems:
        name = system["system"].replace("|", "\\|") + missing(system["seeds"], seeds)
        cells = [with_spread(system[figure], digits) for figure, (_, digits) in FIGURES.items()]
        lines.append("| " + " | ".join([name, *cells]) + " |")
    head = f"{content['settings']['images']} images a row, seeds {', '.join(map(str, seeds))}."
    return "\n".join([*lines, "", f"{head} {READING}"])


def missing(found: list[int], seeds: list[int]) -> str:
    """Said beside a system that lacks seeds others have."""
    return "" if found == seeds else f" (seeds {', '.join(map(str, found))} only)"
