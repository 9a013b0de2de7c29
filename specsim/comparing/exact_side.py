"""The exact side of `specsim compare`: table models in, every figure from the exact law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from specsim.arrays import is_exact
from specsim.comparing.goals import Goal
from specsim.comparing.lineup import AS_GIVEN, Contender, Lineup, Progress, line_up
from specsim.comparing.tuning import EXACT
from specsim.comparing.verdict import verdict
from specsim.decoding import Decoder
from specsim.errors import SpecsimError
from specsim.exact_laws import BUDGET
from specsim.exact_laws import exact as exact_law
from specsim.flows import output_law
from specsim.laws import Law, target_mass
from specsim.rules import Strict
from specsim.rules.codebooks import bind_codebook
from specsim.tables import Table

SCHEMA = "specsim.compare/1"


@dataclass(frozen=True)
class Models:
    """Table models of Fractions and the numbers to compute in.  length: tokens of a sequence."""

    target: Table
    draft: Table | None
    length: int
    budget: int = BUDGET

    def law(self, decoder: Decoder, rule: Any) -> Law:
        """The law of a run."""
        draft = self.draft if decoder.needs_draft else None
        return exact_law(decoder, self.target, draft, rule, self.length, budget=self.budget)

    def floats(self) -> Models:
        """The same in float64."""
        draft = None if self.draft is None else self.draft.floats()
        return Models(self.target.floats(), draft, self.length, self.budget)


def compare_tables(
    models: Models,
    systems: Sequence[tuple[Decoder, Any]],
    goal: Goal | None,
    exact: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Tune in float64, then every figure of every system -> JSON content.  exact: the figures in Fractions."""
    require_systems(systems)
    quick = models.floats()
    found = line_up(systems, goal, quick.law, EXACT, progress)
    chosen = models if exact else quick
    rows = [figures(contender, chosen, quick) for contender in found.contenders]
    return content_of(rows, found, goal, EXACT.slack) | {"numbers": "Fractions" if exact else "float64"}


def require_systems(systems: Sequence[tuple[Decoder, Any]]) -> None:
    """There is something to compare, and every decoder asks its rule."""
    if not systems:
        raise SpecsimError("compare: no rule to compare; give at least one, e.g. Lenient(omega=1.3)")
    for decoder, rule in systems:
        if not decoder.takes_rule:
            raise SpecsimError(f"compare: {decoder!r} takes no rule: {rule!r} would have nothing to decide")


def content_of(rows: list[dict[str, Any]], found: Lineup, goal: Goal | None, slack: float) -> dict[str, Any]:
    """Rows by TV, who could not be brought to the goal, and the verdict."""
    rows = sorted(rows, key=lambda row: row["tv"])
    return {
        "schema": SCHEMA,
        "goal": None if goal is None else {"name": goal.name, "value": goal.value, "slack": slack},
        "systems": rows,
        "out_of_reach": [absent.as_json() for absent in found.absent],
        "notes": found.notes,
        "verdict": verdict(rows, goal, slack),
    }


def figures(contender: Contender, models: Models, quick: Models) -> dict[str, Any]:
    """One row.  local_errors: sum over positions of the next token's expected TV under the output's own prefixes."""
    decoder, rule = contender.decoder, contender.rule
    law = models.law(decoder, rule)
    tv = law.tv(models.target)
    row = {
        "decoder": repr(decoder),
        "rule": repr(rule),
        "how": contender.how,
        "tv": float(tv),
        "kl": law.kl(models.target),
        "max_ratio": float(law.max_ratio(models.target)),
        "local_errors": float(sum(law.token_tv(models.target))),
        "one_token_tv": one_token_tv(decoder, rule, quick),
        "expected_calls": float(law.calls),
        "tokens_per_call": float(law.tokens_per_call),
        "accepted_per_call": float(law.accepted / law.calls),
    }
    if is_exact(law.mass):
        row |= {"tv_exact": str(tv), "expected_calls_exact": str(law.calls)}
    return row | ({} if contender.how == AS_GIVEN else {"cost": contender.cost})


def one_token_tv(decoder: Decoder, rule: Any, models: Models) -> float | None:
    """TV(out, p) of one verified token: mean over slots 0 .. lookahead-1, positions, and the target's contexts.

    A rule that judges blocks is asked about a block of one draft, whatever the slot: how it is biased in longer blocks
    shows in `tv`.  None for a decoder without a draft model: its drafts have no fixed law.
    """
    draft = models.draft
    if not decoder.needs_draft or draft is None:
        return None
    bound = bind_codebook(Strict() if rule is None else rule, models.target.codebook)
    slots = range(min(getattr(decoder, "lookahead", 1), models.length))
    total = 0.0
    for position in range(models.length):
        target_laws, draft_laws = models.target.at_length(position), draft.at_length(position)
        weight = target_mass(models.target, position)
        for slot in slots:
            out = output_law(bound, draft_laws, target_laws, np.full(len(weight), slot))
            total += float(weight @ abs(out - target_laws).sum(axis=-1)) / 2
    return total / (models.length * len(slots))
