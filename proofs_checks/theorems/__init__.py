"""Every theorem by its id.  Adding one: a file, and a row here.

A theorem's own file states it; files of the same number beside it hold its proofs, margins and mutants.
"""

from __future__ import annotations

from proofs_checks.theorem import Theorem
from proofs_checks.theorems.t01_strict import T01
from proofs_checks.theorems.t02_optimal_residual import T02
from proofs_checks.theorems.t03_pareto_line import T03
from proofs_checks.theorems.t04_standard_residual import T04
from proofs_checks.theorems.t05_accepted_length import T05
from proofs_checks.theorems.t06_sequence_bound import T06
from proofs_checks.theorems.t07_annealing import T07
from proofs_checks.theorems.t08_dominated import T08
from proofs_checks.theorems.t09_maximal_coupling import T09
from proofs_checks.theorems.t10_shared_noise import T10
from proofs_checks.theorems.t11_rejection_coupling import T11
from proofs_checks.theorems.t12_jacobi import T12
from proofs_checks.theorems.t13_independent import T13
from proofs_checks.theorems.t14_race_decoding import T14
from proofs_checks.theorems.t15_block_verification import T15
from proofs_checks.theorems.t16_content_aware import T16
from proofs_checks.theorems.t17_lantern import T17
from proofs_checks.theorems.t18_grouped import T18
from proofs_checks.theorems.t19_lenience import T19
from proofs_checks.theorems.t20_pareto_line import T20
from proofs_checks.theorems.t21_support import T21
from proofs_checks.theorems.t22_expected_calls import T22
from proofs_checks.theorems.t23_metrics import T23
from proofs_checks.theorems.t24_ledger import T24
from proofs_checks.theorems.t25_block_relaxed import T25
from proofs_checks.theorems.t26_one_slot import T26
from proofs_checks.theorems.t27_band import T27
from proofs_checks.theorems.t28_several_drafts import T28
from proofs_checks.theorems.t29_several_rules import T29
from proofs_checks.theorems.t30_relaxed_siblings import T30

THEOREMS: dict[str, Theorem] = {
    theorem.id: theorem
    for theorem in (
        *(T01, T02, T03, T04, T05, T06, T07, T08, T09, T10, T11, T12),
        *(T13, T14, T15, T16, T17, T18, T19, T20, T21, T22, T23, T24, T25, T26, T27, T28, T29, T30),
    )
}
