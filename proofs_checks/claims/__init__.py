"""Sentences of the papers' summaries, each with a verdict that a machine reaches from evidence.

Evidence is a part of a theorem, arithmetic on published figures, a measured figure under results/, or an exact figure
computed on the spot.  Nobody types a verdict in: change the evidence and it changes.
"""

from proofs_checks.claims.claim import Claim, ClaimResult, part, settle
from proofs_checks.claims.coolsd import COOLSD
from proofs_checks.claims.csd import CSD
from proofs_checks.claims.older import OLDER
from proofs_checks.claims.scd import SCD
from proofs_checks.claims.scd_runs import SCD_RUNS

CLAIMS: tuple[Claim, ...] = tuple(sorted((*COOLSD, *SCD, *SCD_RUNS, *CSD, *OLDER), key=lambda claim: claim.id))
"""In the order of their ids: a claim keeps its number when others are added."""

__all__ = ["CLAIMS", "Claim", "ClaimResult", "part", "settle"]
