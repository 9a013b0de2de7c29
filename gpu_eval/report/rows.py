"""One row of the report: the exact law on the table model, and the decoded images."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import specsim
from gpu_eval.fashion import Fashion
from gpu_eval.figures import ratio_interval, slot_counts, slot_rates
from gpu_eval.report.systems import System
from gpu_eval.run import Plan, decode
from specsim.table_files import read_table
from specsim.tables import Table

TOYS = Path(specsim.__file__).parent / "toys"


@dataclass(frozen=True)
class Row:
    """Figures of one system.  tv, calls: exact on the table model; the rest sampled on the image model."""

    system: System
    tv: Fraction
    calls: Fraction
    nfe: dict[str, Any]
    tokens_per_call: dict[str, Any]
    seconds_per_image: float
    overhead: float
    slots: list[float | None]
    judged: list[int]
    images: np.ndarray

    @property
    def lossless(self) -> bool:
        """Whether the exact law equals the target's, on this table model."""
        return self.tv == 0

    @property
    def verdict(self) -> str:
        """In words."""
        return "lossless" if self.lossless else "biased"


def toy_models() -> tuple[Table, Table]:
    """The report's table models: vocab 3, four tokens, draft and target about as far apart as real ones."""
    return read_table(TOYS / "target.json"), read_table(TOYS / "draft.json")


def exact_figures(system: System, target: Table, draft: Table) -> tuple[Fraction, Fraction]:
    """(TV to the target, expected target calls) as Fractions."""
    law = specsim.exact(system.small, target, draft if system.small.needs_draft else None, system.rule)
    return law.tv(target), law.calls


def row(system: System, model: Fashion, models: tuple[Table, Table], images: int, seed: int) -> Row:
    """Compute everything about one system."""
    tv, calls = exact_figures(system, *models)
    plan = Plan("fashion", system.real, system.rule, images, seed, batch=min(images, 20))
    done = decode(plan, model)
    return Row(
        system,
        tv,
        calls,
        ratio_interval(done.calls, np.ones(images)),
        ratio_interval(done.lengths, done.calls),
        done.loop_seconds / images,
        (done.loop_seconds - done.model_seconds) / done.model_seconds,
        slot_rates(done.batches),
        slot_counts(done.batches),
        done.images,
    )


def as_json(row: Row) -> dict[str, Any]:
    """A row for machines."""
    return {
        "system": row.system.name,
        "about": row.system.about,
        "decoder": repr(row.system.real),
        "rule": None if row.system.rule is None else repr(row.system.rule),
        "warning": row.system.warning or None,
        "table_model": {
            "decoder": repr(row.system.small),
            "verdict": row.verdict,
            "tv": float(row.tv),
            "tv_exact": str(row.tv),
            "expected_calls": float(row.calls),
            "expected_calls_exact": str(row.calls),
        },
        "nfe_per_image": row.nfe,
        "tokens_per_call": row.tokens_per_call,
        "seconds_per_image": row.seconds_per_image,
        "step_overhead_fraction": row.overhead,
        "acceptance_by_slot": row.slots,
        "judged_by_slot": row.judged,
    }
