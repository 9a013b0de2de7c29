"""Claims of SCD's summary: speculative Jacobi decoding with coupled drafts."""

from __future__ import annotations

from collections.abc import Callable

from proofs_checks.claims.claim import Claim
from proofs_checks.claims.evidence import Beats, Beside, Interval, Numbers, Proven, Unseen, Within, ratio
from proofs_checks.claims.measured import Below, EverySeed, NoBias, PerCall, Separated
from proofs_checks.theorem import FAILS

SOURCE = "SCD (arXiv 2510.24211)"
LUMINA, COSMOS = "SCD Lumina", "SCD Cosmos"
WINDOWS = "ablations/windows.json"
NEGLIGIBLE = "1.05"
"""A call that takes 5 % longer is still called negligible here."""


def of(window: int, kind: str) -> str:
    """A decoder as comparisons write it."""
    return f"window={window}, continuation='{kind}'"


def per_call(system: str) -> Callable[[Numbers], Interval]:
    """Seconds of a call, over those of a call of SJD."""
    return lambda at: (at(system, "seconds") / at(system, "calls")) / (at("SJD", "seconds") / at("SJD", "calls"))


EXACT = [NoBias(f"ablations/exact_windows_{some}.json") for some in ("digits", "fashion")]

SCD = (
    Claim(
        "C17",
        "SCD is lossless: its output has exactly the law of plain decoding",
        f"{SOURCE}, technical claims",
        {
            "maximal coupling": [Proven("T12", "SCD-MC (maximal coupling) with strict verification")],
            "Gumbel coupling": [Proven("T12", "SCD-GS (Gumbel coupling, V <= 3) with strict verification")],
            "exact runs on real laws": EXACT,
            "its released code": [
                Proven("T12", "SCD-MC is lossless, uniform tail, when a redrawn token that did not change"),
                Proven("T12", "SCD-MC is lossless, one-hot tail, when a redrawn token that did not change"),
                Beside(EverySeed("log_likelihood", "SCD-MC, stale", "SCD-MC")),
            ],
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
        "the coupling adds a negligible cost to a call of SJD",
        f"{SOURCE}, no overhead",
        {
            "seconds of a call on Lumina": [
                Within(
                    f"{name}/SJD, seconds of a call",
                    LUMINA,
                    per_call(name),
                    NEGLIGIBLE,
                    "5 % is called negligible here",
                )
                for name in ("SCD-MC", "SCD-GS")
            ],
            "this code": [Beside(PerCall("SCD-MC", "SJD", float(NEGLIGIBLE)))],
        },
    ),
    Claim(
        "C25",
        "images: up to 4.2 times faster than plain decoding and 1.8 times than SJD",
        f"{SOURCE}, experiments",
        {
            "4.2 in seconds": [
                ratio(LUMINA, "AR", "SCD-GS", "seconds", "4.2"),
                ratio(LUMINA, "AR", "SCD-GS", "seconds", "4.21"),
            ],
            "4.2 in calls": [ratio(LUMINA, "AR", "SCD-MC", "calls", "4.21")],
            "1.8 in seconds": [ratio(LUMINA, "SJD", "SCD-GS", "seconds", "1.8")],
        },
    ),
    Claim(
        "C26",
        "video: up to 13.6 times faster than plain decoding",
        f"{SOURCE}, experiments",
        {
            "in calls": [ratio(COSMOS, "AR", "SCD-GS", "calls", "13.6")],
            "in seconds": [ratio(COSMOS, "AR", "SCD-GS", "seconds", "13.6")],
        },
    ),
    Claim(
        "C27",
        "SJD is typically limited to about twice the speed of plain decoding",
        f"{SOURCE}, problem",
        {name: [ratio(table, "AR", "SJD", "calls", "2")] for name, table in (("images", LUMINA), ("video", COSMOS))},
    ),
    Claim(
        "C28",
        "no loss of quality against plain decoding or SJD",
        f"{SOURCE}, experiments",
        {
            "exact runs on real laws": EXACT,
            "it is lossless": [Proven("T12", "SCD-MC (maximal coupling) with strict verification")],
            "images of fashion": [Beside(EverySeed("frechet_real", "SCD-MC", "AR"))],
        },
    ),
    Claim(
        "C29",
        "SCD is faster than GSD, which is lossy",
        f"{SOURCE}, baselines",
        {
            "calls on Lumina": [Beats(LUMINA, "SCD-MC", "GSD", "calls"), Beats(LUMINA, "SCD-GS", "GSD", "calls")],
            "tokens per call on fashion": [EverySeed("tokens_per_call", "SCD-MC", "GSD")],
        },
    ),
    Claim(
        "C30",
        "SCD is faster and better than EAGLE and LANTERN, which need training",
        f"{SOURCE}, baselines",
        {
            "on the published models": [Unseen("its figures for EAGLE and LANTERN were not available")],
            "on fashion": [
                Beside(EverySeed("tokens_per_call", "SCD-MC", "LANTERN")),
                Beside(EverySeed("frechet_real", "SCD-MC", "LANTERN")),
            ],
        },
    ),
    Claim(
        "C31",
        "its gains grow with the window",
        f"{SOURCE}, scalability",
        {
            f"from {small} to {large}": [
                Separated(WINDOWS, "tokens_per_call", of(large, "maximal"), of(small, "maximal"))
            ]
            for small, large in ((4, 8), (8, 16), (16, 32), (32, 48))
        },
    ),
    Claim(
        "C32",
        "coupled drafts are accepted more often than independent ones",
        f"{SOURCE}, stabilisation",
        {
            "on fashion, every window": [
                Separated(WINDOWS, "tokens_per_call", of(window, "maximal"), of(window, "independent"))
                for window in (4, 8, 16, 32, 48)
            ],
            "in a window of two": [Beside(Proven("T10", "in a window of two all lossless couplings"))],
            "exact calls, digits": [
                Below("ablations/exact_windows_digits.json", "expected_calls", of(3, "maximal"), of(3, "independent"))
            ],
            "exact calls, fashion": [
                Below("ablations/exact_windows_fashion.json", "expected_calls", of(3, "maximal"), of(3, "independent"))
            ],
        },
    ),
    Claim(
        "C33",
        "independent drafts collide extremely rarely, coupled ones more often",
        f"{SOURCE}, problem",
        {
            "at most exp(-(H2(p) + H2(q))/2)": [Proven("T13", "P(X = Y)^2 <= sum p^2 sum q^2")],
            "never more than coupled ones": [
                Proven("T13", "P(X = Y) <= 1 - TV, the maximal coupling"),
                Proven("T13", "P(X = Y) <= sum_i 1 / sum_j max(p_j/p_i, q_j/q_i), one noise"),
            ],
            "extremely rarely": [Unseen("the entropies of its models' laws were not available")],
        },
    ),
)
