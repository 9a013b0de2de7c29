"""Sentences of the papers' summaries, each with a verdict that a machine reaches from evidence.

Evidence is a part of a theorem, arithmetic on published figures, or a measured figure under results/.  Nobody types a
verdict in: change the evidence and it changes.
"""

from proofs_checks.claims.claim import Claim, ClaimResult, part, settle
from proofs_checks.claims.coolsd import COOLSD
from proofs_checks.claims.csd import CSD
from proofs_checks.claims.older import OLDER
from proofs_checks.claims.scd import SCD

CLAIMS: tuple[Claim, ...] = (*COOLSD, *SCD, *CSD, *OLDER)

__all__ = ["CLAIMS", "Claim", "ClaimResult", "part", "settle"]
