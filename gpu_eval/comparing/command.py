"""The work behind `specsim compare --model`: tune on pilot images, decode every seed, judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gpu_eval.comparing.measured import PILOT_SEED, PerImage, Setting, means, measure, pools, together
from gpu_eval.comparing.separation import METHOD, differences, statements
from gpu_eval.fashion import Fashion
from gpu_eval.figures import NORMAL_METHOD, across_seeds, ratio_interval, with_spread
from gpu_eval.provenance import provenance
from gpu_eval.run import decode, load
from specsim.comparing.exact_side import SCHEMA, require_systems
from specsim.comparing.goals import Goal
from specsim.comparing.lineup import Contender, Lineup, Progress, line_up
from specsim.comparing.show import FILES, Axes, Column, markdown, named, number, picture, write
from specsim.comparing.tuning import Effort
from specsim.decoders import Autoregressive
from specsim.decoding import Decoder
from specsim.errors import SpecsimError
from specsim.files import ready_directory

ONE_IMAGE = 0.5
"""Slack of a tuned cost, in images: the average steps by about goal / images when one image decodes otherwise."""
GRID, RESOLUTION = 9, 1e-3
"""A scan of pilot runs, each of them seconds long, and the gap from which a cost jumps."""
FLOOR = "floor: plain decoding"
SUMMARISED = ("tokens_per_call", "frechet_real", "frechet_pool", "label_accuracy", "log_likelihood")


def compare_images(
    setting: Setting,
    systems: Sequence[tuple[Decoder, Any]],
    goal: Goal | None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Compare on the image model -> JSON content; plain decoding is added as the floor.

    progress(done, all): systems tuned, then runs decoded.  out: a directory for compare.json, .md and .png.
    """
    require_systems(systems)
    if out is not None:
        ready_directory(out, FILES)
    fashion = load(setting.plan(Autoregressive(), None, 0))
    runs = len(systems) + len(setting.seeds) * (len(systems) + 1)
    found = line_up(systems, goal, pilot(fashion, setting), effort_of(setting, goal), stage(progress, 0, runs))
    everybody = [*found.contenders, Contender(Autoregressive(), None, FLOOR)]
    rows, images = judge(fashion, setting, everybody, stage(progress, len(systems), runs))
    content = content_of(fashion, setting, found, goal, rows, images)
    if out is not None:
        write(out, content, markdown(content, COLUMNS, READING), picture(content, AXES))
    return content


def seeds_of(text: str) -> tuple[int, ...]:
    """Seeds as text: "0 1 2" or "0,1,2"."""
    try:
        return tuple(int(word) for word in text.replace(",", " ").split())
    except ValueError:
        raise SpecsimError(f"compare: seeds {text!r} are not whole numbers; give e.g. '0 1 2'") from None


def pilot(fashion: Fashion, setting: Setting) -> Callable[[Decoder, Any], Any]:
    """What tuning looks at: the average costs of the pilot images."""
    return lambda decoder, rule: means(decode(setting.pilot_plan(decoder, rule), fashion))


def effort_of(setting: Setting, goal: Goal | None) -> Effort:
    """How finely to tune on pilot images."""
    return Effort(ONE_IMAGE / setting.pilot * (goal.value if goal else 1), GRID, RESOLUTION)


def stage(progress: Progress | None, before: int, runs: int) -> Progress | None:
    """The progress of a part of the work."""
    return None if progress is None else lambda done, of: progress(before + done, max(runs, before + of))


def judge(
    fashion: Fashion, setting: Setting, contenders: Sequence[Contender], progress: Progress | None
) -> tuple[list[dict[str, Any]], dict[str, PerImage]]:
    """Decode and measure every contender with every seed."""
    against, images, rows = pools(fashion, setting), dict[str, PerImage](), list[dict[str, Any]]()
    total = len(contenders) * len(setting.seeds)
    for who in contenders:
        parts = []
        for seed, pool in against.items():
            parts.append(measure(fashion, setting, who.decoder, who.rule, seed, pool))
            if progress is not None:
                progress(len(rows) * len(setting.seeds) + len(parts), total)
        row, mine = row_of(who, [figures for figures, _ in parts]), together([some for _, some in parts])
        rows.append(row | {"tokens_per_call": ratio_interval(mine.lengths, mine.calls)})
        images[named(row)] = mine
    return rows, images


def row_of(who: Contender, seeds: list[dict[str, Any]]) -> dict[str, Any]:
    """Every seed's figures, and their mean and spread (standard deviation) across seeds."""
    rule = None if who.rule is None else repr(who.rule)
    row = {"decoder": repr(who.decoder), "rule": rule, "how": who.how, "cost": who.cost, "seeds": seeds}
    return row | {
        "across_seeds": {name: across_seeds([figures[name]["value"] for figures in seeds]) for name in SUMMARISED}
    }


def content_of(
    fashion: Fashion,
    setting: Setting,
    found: Lineup,
    goal: Goal | None,
    rows: list[dict[str, Any]],
    images: dict[str, PerImage],
) -> dict[str, Any]:
    """Everything for machines, systems by their Frechet distance to real images."""
    pairs, slack = differences(fashion, images), effort_of(setting, goal).slack
    rows = sorted(rows, key=lambda row: row["across_seeds"]["frechet_real"]["mean"])
    short = {named(row): row["rule"] or row["decoder"] for row in rows}
    short = {name: text if list(short.values()).count(text) == 1 else name for name, text in short.items()}
    return {
        "schema": SCHEMA,
        "goal": None if goal is None else {"name": goal.name, "value": goal.value, "slack": slack},
        "systems": rows,
        "out_of_reach": [absent.as_json() for absent in found.absent],
        "notes": found.notes,
        "verdict": {"text": statements(pairs, short), "pairs": [pair._asdict() for pair in pairs], "method": METHOD},
        "interval": NORMAL_METHOD,
        "model": setting.model,
        "images": setting.images,
        "seeds": list(setting.seeds),
        "pilot": {"images": setting.pilot, "seed": PILOT_SEED},
        "processing": vars(setting.processing),
        **provenance(fashion.target_net.output.weight.device),
    }


def spread_cell(name: str, digits: int) -> Callable[[dict[str, Any]], str]:
    """A cell: mean ± spread across seeds."""
    # Closely set: nine columns have to fit a terminal of 80 characters.
    return lambda row: with_spread(row["across_seeds"][name], digits).replace("± ", "±")


def tokens_cell(row: dict[str, Any]) -> str:
    """Tokens per call of all seeds, with half of their interval."""
    figure = row["tokens_per_call"]
    return f"{figure['value']:.3f} ±{(figure['interval'][1] - figure['interval'][0]) / 2:.3f}"


COLUMNS = (
    Column("rule", lambda row: row["rule"] or "-"),
    Column("decoder", lambda row: row["decoder"]),
    Column("strength", lambda row: row["how"]),
    Column("pilot", number("cost", 4)),
    Column("tokens/call", tokens_cell),
    Column("to real", spread_cell("frechet_real", 1)),
    Column("to plain", spread_cell("frechet_pool", 1)),
    Column("accuracy", spread_cell("label_accuracy", 3)),
    Column("loglik", spread_cell("log_likelihood", 2)),
)
READING = (
    "Pilot: the goal's cost while tuning. Tokens a call: all seeds, ± half of the 95 % interval. The others: mean over "
    "seeds ± standard deviation between seeds; each seed's own interval is in the JSON. To real, to plain: Frechet "
    "distance to real images and to plain decoding with another seed; of few images it is biased upwards, so compare "
    f"within one table. Loglik: under the target, nats a token. Pairs: {METHOD}."
)
AXES = Axes(
    lambda row: row["tokens_per_call"]["value"],
    lambda row: row["across_seeds"]["frechet_real"]["mean"],
    ("tokens per target call", "Frechet distance to real images"),
)
