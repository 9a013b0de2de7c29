"""One row of the report: exact laws on real tabulated models, and the decoded images."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import specsim
from gpu_eval.fashion import Fashion
from gpu_eval.figures import ratio_interval, slot_counts, slot_rates
from gpu_eval.quality import Pool, Quality, quality_of
from gpu_eval.report.maps import accepted
from gpu_eval.report.systems import SMALL, System
from gpu_eval.run import Decoded, Plan, decode
from specsim.comparing.exact_side import Models, one_token_tv
from specsim.table_files import read_table

TOYS = Path(specsim.__file__).parent / "toys"
TABLES = ("fashion", "digits")
"""Real laws in table form, made by `specsim tabulate`; the first is the one that is drawn."""
BATCH = 50
"""Images decoded side by side."""


@dataclass(frozen=True)
class Exact:
    """Figures of a system on one table model.

    tv: of the whole run; calls: expected; one_token_tv: of the rule on one draft of the draft model (also where the
    system drafts by itself), averaged over slots and the contexts as the target has them; None without a rule.
    """

    tv: Fraction
    calls: Fraction
    one_token_tv: float | None

    def as_json(self) -> dict[str, Any]:
        """For machines: numbers, and the fractions as text."""
        texts = {"tv_exact": str(self.tv), "expected_calls_exact": str(self.calls)}
        return {"tv": float(self.tv), "expected_calls": float(self.calls), "one_token_tv": self.one_token_tv, **texts}


@dataclass(frozen=True)
class Row:
    """Figures of one system.  exact: by table; the rest sampled on the image model.  accepted: [images, N] bool."""

    system: System
    exact: dict[str, Exact]
    nfe: dict[str, Any]
    tokens_per_call: dict[str, Any]
    seconds_per_image: float
    overhead: float
    slots: list[float | None]
    judged: list[int]
    images: np.ndarray
    accepted: np.ndarray
    quality: Quality

    @property
    def lossless(self) -> bool:
        """Whether the exact law equals the target's on every table model."""
        return all(found.tv == 0 for found in self.exact.values())

    @property
    def verdict(self) -> str:
        """In words."""
        return "lossless" if self.lossless else "biased"


def table_models() -> dict[str, Models]:
    """The real laws in table form, with their drafts, in Fractions."""
    tables = {name: [read_table(TOYS / f"{name}_{side}.json") for side in ("target", "draft")] for name in TABLES}
    return {name: Models(target, draft, target.length) for name, (target, draft) in tables.items()}


def exact_figures(system: System, models: Models) -> Exact:
    """A system's small decoder on a table model."""
    rule = system.small_rule or system.rule
    law = models.law(system.small, rule)
    judged = one_token_tv(SMALL, rule, models.floats()) if rule is not None else None
    return Exact(law.tv(models.target), law.calls, judged)


def row(
    system: System, shipped: dict[str, Fashion], models: dict[str, Models], pool: Pool, images: int, seed: int
) -> Row:
    """Compute everything about one system.  shipped: image models by name."""
    model = shipped[system.model]
    plan = Plan(system.model, system.real, system.rule, images, seed, batch=min(images, BATCH))
    exact = {name: exact_figures(system, some) for name, some in models.items()}
    done = decode(plan, model)
    return row_of(system, exact, done, quality_of(model, plan.processing, done, pool))


def row_of(system: System, exact: dict[str, Exact], done: Decoded, quality: Quality) -> Row:
    """Everything in its place."""
    count = len(done.images)
    return Row(
        system,
        exact,
        ratio_interval(done.calls, np.ones(count)),
        ratio_interval(done.lengths, done.calls),
        done.loop_seconds / count,
        (done.loop_seconds - done.model_seconds) / done.model_seconds,
        slot_rates(done.batches),
        slot_counts(done.batches),
        done.images,
        np.concatenate([accepted(batch) for batch in done.batches]),
        quality,
    )


def as_json(row: Row) -> dict[str, Any]:
    """A row for machines."""
    return {
        "system": row.system.name,
        "about": row.system.about,
        "model": row.system.model,
        "decoder": repr(row.system.real),
        "rule": None if row.system.rule is None else repr(row.system.rule),
        "table_rule": None if row.system.small_rule is None else repr(row.system.small_rule),
        "warning": row.system.warning or None,
        "verdict": row.verdict,
        "table_decoder": repr(row.system.small),
        "tables": {name: found.as_json() for name, found in row.exact.items()},
        "nfe_per_image": row.nfe,
        "tokens_per_call": row.tokens_per_call,
        "seconds_per_image": row.seconds_per_image,
        "step_overhead_fraction": row.overhead,
        "acceptance_by_slot": row.slots,
        "judged_by_slot": row.judged,
        "acceptance_by_position": row.accepted.mean(axis=0).tolist(),
        "quality": row.quality.as_json(),
    }
