"""Claims of the methods that the summaries build on: GSD and LANTERN."""

from __future__ import annotations

from proofs_checks.claims.claim import Claim
from proofs_checks.claims.evidence import Beats, Beside, Proven
from proofs_checks.claims.measured import Below, EverySeed

OLDER = (
    Claim(
        "C48",
        "GSD's theorem: grouped acceptance is never below that of strict speculative decoding",
        "GSD (arXiv 2508.07747), theorem",
        {
            "on a partition": [Proven("T18", "Partitioned(size) accepts at least E_q[b] = 1 - TV(p, q)")],
            "with windows of ranks": [
                Proven("T18", "every filter passed, accept at least 1 - TV(p, q) where"),
                Proven("T18", "windows of 14 ranks with the published filters"),
                Proven("T18", "the released code, which judges the seven least likely ids strictly"),
            ],
        },
    ),
    Claim(
        "C49",
        "GSD takes fewer calls than strict speculative decoding",
        "GSD (arXiv 2508.07747), experiments",
        {
            "calls on Lumina, CSD's table": [Beats("CSD Lumina", "GSD", "SJD", "calls")],
            "calls on Janus, CSD's table": [Beats("CSD Janus", "GSD", "SJD", "calls")],
            "calls on Lumina, SCD's table": [Beats("SCD Lumina", "GSD", "SJD", "calls")],
            "fashion, released thresholds": [EverySeed("tokens_per_call", "GSD", "SJD")],
            "exact calls, windows of two ranks and no filter, published by nobody": [
                Beside(Below(f"ablations/exact_grouped_{some}.json", "expected_calls", " Grouped(size=2", " Strict()"))
                for some in ("digits", "fashion")
            ],
        },
    ),
    Claim(
        "C50",
        "LANTERN's delta bounds how far its output is from the target",
        "LANTERN (arXiv 2410.03355), read as a bound",
        {
            "released static path": [Proven("T17", "LANTERN with the released static residual: TV(out, p) <= delta")],
            "released dynamic path": [Proven("T17", "LANTERN with the released dynamic residual: TV(out, p) <= delta")],
            "with G*": [
                Proven("T17", "LANTERN with G*: TV(out, p) <= delta"),
                Beside(Proven("T17", "LANTERN with G*: out(v) <= p(v) + delta")),
            ],
        },
    ),
    Claim(
        "C51",
        "with G* the factor lambda of LANTERN++ bounds the output: out <= lambda p",
        "LANTERN++ (arXiv 2502.06352) with the residual of COOL-SD (arXiv 2601.09212)",
        {
            "with G*": [Proven("T17", "LANTERN++ with G*: out(v) <= lam p(v)")],
            "as released": [Beside(Proven("T17", "LANTERN++ with the released static residual: out(v) <= lam p(v)"))],
        },
    ),
)
