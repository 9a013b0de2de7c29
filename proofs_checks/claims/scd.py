"""Claims of SCD's summary, speculative Jacobi decoding with coupled drafts: its law, couplings and cost of a call."""

from __future__ import annotations

from collections.abc import Callable

from proofs_checks.claims.claim import Claim
from proofs_checks.claims.evidence import Beside, Interval, Numbers, Proven, Unseen, Within
from proofs_checks.claims.measured import EverySeed, NoBias, PerCall, Separated
from proofs_checks.theorem import FAILS

SOURCE = "SCD (arXiv 2510.24211)"
LUMINA = "SCD Lumina"
WINDOWS = "ablations/windows.json"
NEGLIGIBLE = "1.05"
OUR_BAR = "the bar of 5 % is set here, the paper names none"


def of(window: int, kind: str) -> str:
    """A decoder as comparisons write it."""
    return f"window={window}, continuation='{kind}'"


def per_call(system: str) -> Callable[[Numbers], Interval]:
    """Seconds of a call, over those of a call of SJD."""
    return lambda at: (at(system, "seconds") / at(system, "calls")) / (at("SJD", "seconds") / at("SJD", "calls"))


UNBIASED = [NoBias(f"ablations/exact_windows_{some}.json") for some in ("digits", "fashion")]
RELEASED = [
    Proven("T12", "SCD-MC is lossless, uniform tail, when a redrawn token that did not change"),
    Proven("T12", "SCD-MC is lossless, one-hot tail, when a redrawn token that did not change"),
]

SCD = (
    Claim(
        "C17",
        "SCD is lossless: its output has exactly the law of plain decoding",
        f"{SOURCE}, technical claims",
        {
            "maximal coupling": [Proven("T12", "SCD-MC (maximal coupling) with strict verification")],
            "Gumbel coupling": [Proven("T12", "SCD-GS (Gumbel coupling, V <= 3) with strict verification")],
            "exact runs on real laws": UNBIASED,
            "its released code": [*RELEASED, Beside(EverySeed("log_likelihood", "SCD-MC, stale", "SCD-MC"))],
        },
    ),
    Claim(
        "C18",
        "the acceptance rate is inversely proportional to the total variation between target and draft",
        f"{SOURCE}, core idea",
        {
            "inversely proportional": [Proven("T20", "inversely proportional to TV(p, q)")],
            "it falls with it, as 1 - TV": [Proven("T20", "the strict rule accepts E_q[b] = 1 - TV(p, q)")],
        },
    ),
    Claim(
        "C19",
        "the maximal coupling reaches the upper limit 1 - TV of the probability of equal tokens",
        f"{SOURCE}, maximal coupling",
        {
            "it is the limit": [Proven("T09", "every joint law of X ~ q, Y ~ p has P(X = Y) <= 1 - TV")],
            "it is reached": [Proven("T09", "the maximal redraw of X ~ old has Y ~ new")],
        },
    ),
    Claim(
        "C20",
        "modified rejection sampling is that coupling: drafting and verifying become one operation",
        f"{SOURCE}, maximal coupling",
        {"one joint law": [Proven("T11", "the strict rule's verdict, read as q(x) K(x, y), is the same joint law")]},
    ),
    Claim(
        "C21",
        "the Gumbel coupling has P(X = Y) >= (1 - TV)/(1 + TV)",
        f"{SOURCE}, Gumbel coupling",
        {"the bound": [Proven("T10", "P(X = Y) >= (1 - TV) / (1 + TV)")]},
    ),
    Claim(
        "C22",
        "in a single step the Gumbel coupling is slightly worse than the maximal one",
        f"{SOURCE}, Gumbel coupling",
        {
            "never better": [Proven("T10", "P(X = Y) <= 1 - TV")],
            "worse somewhere": [Proven("T10", "P(X = Y) = 1 - TV(p, q)", FAILS)],
            "slightly: its guarantee falls short by a factor 1 + TV, up to 2, and that happens": [
                Proven("T10", "P(X = Y) = (1 - TV) / (1 + TV) iff", FAILS)
            ],
            "slightly, on its models": [Unseen("the laws of its models were not available")],
        },
    ),
    Claim(
        "C23",
        "the Gumbel coupling is more stable in the long run",
        f"{SOURCE}, Gumbel coupling",
        {
            "its noise does not wear off": [
                Proven("T10", "first and last token are coupled by one noise as if redrawn once"),
                Proven("T11", "couple old and last maximally", FAILS),
            ],
            "fewer calls than maximal": [
                Separated(WINDOWS, "tokens_per_call", of(window, "gumbel"), of(window, "maximal"))
                for window in (4, 8, 16, 32, 48)
            ],
        },
    ),
    Claim(
        "C24",
        "the coupling adds a negligible cost, in time and memory, to a call of SJD",
        f"{SOURCE}, no overhead",
        {
            "seconds of a call on Lumina": [
                Within(
                    f"{name}/SJD, seconds of a call",
                    LUMINA,
                    per_call(name),
                    NEGLIGIBLE,
                    OUR_BAR,
                )
                for name in ("SCD-MC", "SCD-GS")
            ],
            "memory": [Unseen("no figure of its memory was available, and none is measured here")],
            "this code": [Beside(PerCall("SCD-MC", "SJD", float(NEGLIGIBLE)))],
        },
    ),
)
