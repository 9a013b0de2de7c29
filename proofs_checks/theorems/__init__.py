"""Every theorem by its id.  Adding one: a file, and a row here."""

from __future__ import annotations

from proofs_checks.theorem import Theorem
from proofs_checks.theorems.t02_optimal_residual import T02

THEOREMS: dict[str, Theorem] = {theorem.id: theorem for theorem in (T02,)}
