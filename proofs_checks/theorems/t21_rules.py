"""The rules that T21 looks at: every rule of specsim, with what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proofs_checks.smt import Obligation
from proofs_checks.theorems import t21_proofs as proofs
from specsim import RULES, Grouped, LanternPlus, Optimal


def titled(rule: Any) -> str:
    """The name of a rule's class, with the inner rule's where there is one."""
    name, inner = type(rule).__name__, getattr(rule, "rule", None)
    return name if inner is None else f"{name}({titled(inner)})"


RELEASED = (*(made() for made in RULES.values()), Optimal(LanternPlus()), Optimal(Grouped()))
PUT: dict[str, Any] = {titled(rule): rule for rule in RELEASED}
"""Every rule of specsim with its default fields, and the two other rules that G* was published with."""
CAN: dict[str, str] = {
    "AdditiveUnmasked": "CSD's table has Addition without a mask",
    "ContentAwareUnmasked": "CSD (arXiv 2606.27829) is published without a mask",
    "Lantern": "LANTERN (arXiv 2410.03355) lends whatever the token's own probability is",
    "LanternDynamic": "LANTERN's released dynamic path falls back to the uniform law",
    "LanternPlusDynamic": "LANTERN++ (arXiv 2502.06352) on the released dynamic path falls back to the uniform law",
    "Optimal(Lantern)": "G* does not stop what LANTERN keeps",
    "Optimal(Grouped)": "G* does not stop what GSD keeps",
    "Grouped": "GSD (arXiv 2508.07747) gives each token of a group the group's ratio",
    "Partitioned": "GSD (arXiv 2508.07747) gives each token of a group the group's ratio, on a partition too",
    "Ensemble": "the static ensemble (arXiv 2604.07622) mixes the draft in",
    "FuzzyKL": "FSD (arXiv 2502.20704) keeps everything where the laws are close",
    "FuzzyJS": "FSD (arXiv 2502.20704) keeps everything where the laws are close",
    "CascadeOpt": "speculative cascades (arXiv 2405.19261) take the draft for the goal where it is as sure",
}
"""Rules that can, and why.  Every other one is held never to: a new rule is put to the statement without a row here."""
PROOFS: dict[str, Callable[[], list[Obligation]]] = {
    **dict.fromkeys(("Strict", "Lenient", "Annealed", "Scheduled"), proofs.ratio_rules),
    **dict.fromkeys(("Additive", "ContentAware"), proofs.masked_rules),
    "LanternPlus": proofs.lantern_plus,
    "Optimal(LanternPlus)": proofs.lantern_plus_optimal,
    "BlockVerification(Strict)": proofs.block_verification,
    "Ledger": proofs.account,
    "Band": proofs.band,
    "Typical": proofs.typical,
    "Cactus": proofs.cactus,
}
SINGLE_DRAFT = ("Lantern", "Grouped", "Optimal(Lantern)", "Optimal(Grouped)")
"""Rules whose smallest counterexample has a denominator of 7 or 10."""
unknown = sorted({*CAN, *PROOFS, *SINGLE_DRAFT} - set(PUT))
if unknown:
    raise KeyError(f"T21 names rules that specsim does not have: {', '.join(unknown)}")
