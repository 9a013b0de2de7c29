"""The work behind `specsim tune`: laws and a rule in, its best parameters at E[accepted] = A out."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from specsim.comparing.command import the_tables
from specsim.decoders import Chain
from specsim.decoding import require_slots
from specsim.divergences.estimates import Estimate
from specsim.errors import SpecsimError, require
from specsim.files import ready_file, write_text
from specsim.strength import strength_of
from specsim.table_files import read_table
from specsim.terminal import jsonable
from specsim.tune.divergences import Divergence, divergence_of
from specsim.tune.judging import APART, Judged, judge
from specsim.tune.laws_file import read_sequences
from specsim.tune.search import Found, Progress, Searcher, Values
from specsim.tune.sequences import Sequences, every_block
from specsim.tune.turning import Meter
from specsim.verification import judges_blocks

SCHEMA = "specsim.tune/1"


def tune_files(
    rule: Any,
    goal: float,
    divergence: str,
    laws: Path | None,
    target: Path | None,
    draft: Path | None,
    lookahead: int,
    out: Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """The content of a tuning; everything that can be refused is refused before the search."""
    measure = divergence_of(divergence)
    require_slots("tune", "lookahead", lookahead)
    require(math.isfinite(goal) and 0 <= goal <= lookahead, "tune", "at-accepted", goal, f"from 0 to {lookahead}")
    strength_of(rule)
    if judges_blocks(rule) and not hasattr(rule, "flow"):
        raise SpecsimError(f"tune: {rule!r} judges whole blocks and has no `flow`: its law along a path is not known")
    if out is not None:
        ready_file(out)
    content = tune_on(the_laws(laws, target, draft, lookahead), rule, goal, measure, lookahead, progress)
    content |= {"divergence": divergence}
    if out is not None:
        write_text(out, json.dumps(jsonable(content), indent=1, allow_nan=False) + "\n")
    return content


def the_laws(laws: Path | None, target: Path | None, draft: Path | None, lookahead: int) -> Sequences:
    """From a file of sequences, or of two tables, the shipped ones where nothing is named."""
    if laws is not None and (target is not None or draft is not None):
        raise SpecsimError("tune: --laws and table models exclude each other; give one of them")
    if laws is not None:
        return read_sequences(laws)
    target, draft = the_tables("tune", target, draft, [Chain()])
    assert draft is not None  # the_tables refuses a chain without
    return every_block(read_table(target).floats(), read_table(draft).floats(), lookahead, f"{target}, {draft}")


def tune_on(
    sequences: Sequences, rule: Any, goal: float, measure: Divergence, lookahead: int, progress: Progress | None = None
) -> dict[str, Any]:
    """Search on half of the sequences and judge on the other half; on all where they are all there are."""
    halves = sequences.halves() if sequences.sampled else (sequences, sequences)
    tuning, judging = (Meter(half, lookahead, measure) for half in halves)
    found = Searcher(tuning, rule, goal, progress).search()
    every = judge(found, tuning, judging, goal)
    by_shape = {some.row.values: some for some in every}
    return {
        "schema": SCHEMA,
        "laws": laws_json(sequences, halves),
        "lookahead": lookahead,
        "accepted": goal,
        "figure": measure.words,
        "apart": APART,
        "best": row_json(found, by_shape[found.best.values], sequences.sampled),
        "published": shape_json(found, found.published.values, by_shape, sequences.sampled),
        "table": [shape_json(found, row.values, by_shape, sequences.sampled) for row in found.rows],
        "shapes_tried": found.tried,
    }


def laws_json(sequences: Sequences, halves: tuple[Sequences, Sequences]) -> dict[str, Any]:
    """What was tuned on."""
    rows, length = sequences.tokens.shape
    kind = "sample" if sequences.sampled else "all"
    counts = {"tuned_on": len(halves[0].tokens), "judged_on": len(halves[1].tokens)} if sequences.sampled else {}
    return {"name": sequences.name, "kind": kind, "sequences": rows, "length": length} | counts


def shape_json(found: Found, values: Values, by_shape: dict[Values, Judged], sampled: bool) -> dict[str, Any]:
    """A shape of the table; one that cannot accept what is asked has its reach instead of figures."""
    if values in by_shape:
        return row_json(found, by_shape[values], sampled)
    row = next(row for row in (found.published, *found.rows) if row.values == values)
    infinite = {"divergence": math.inf} if row.turned.point is not None else {}
    return {"shape": named(found, values), "reach": list(row.turned.reach)} | infinite


def row_json(found: Found, some: Judged, sampled: bool) -> dict[str, Any]:
    """A rule that accepts what is asked: where it was tuned, and where it is judged."""
    point = some.row.turned.point
    assert point is not None
    row = {
        "shape": named(found, some.row.values),
        "rule": repr(point.rule),
        "strength": point.strength,
        "accepted": point.accepted,
        "divergence": point.divergence,
        "off_support": some.off.value,
        "accepted_unseen": some.unseen.value,
        "above_best": known(some.above.value),
        "apart": some.apart,
    }
    errors = {"above_best_error": known(some.above.error)}
    judged = {"accepted": pair(some.accepted), "divergence": pair(some.divergence)}
    return row | (errors | {"held_out": judged} if sampled else {})


def named(found: Found, values: Values) -> dict[str, float]:
    """A shape by its fields."""
    return {shape.field: value for shape, value in zip(found.shapes, values, strict=True)}


def pair(some: Estimate) -> dict[str, float | None]:
    """An estimate for machines."""
    return {"value": known(some.value), "error": known(some.error)}


def known(value: float) -> float | None:
    """A figure; None for one that does not exist, as the error of a single sequence."""
    return None if math.isnan(value) else value
