"""Claims of SCD's summary about whole runs: speed, quality, windows, variance."""

from __future__ import annotations

from proofs_checks.claims.claim import Claim
from proofs_checks.claims.computed import SteadierCalls
from proofs_checks.claims.evidence import Beats, Beside, Evidence, Proven, Unseen, ratio
from proofs_checks.claims.measured import Below, EverySeed, Separated
from proofs_checks.claims.scd import LUMINA, RELEASED, SOURCE, UNBIASED, WINDOWS, of
from specsim import Jacobi

COSMOS = "SCD Cosmos"


def steadier(toy: str) -> list[Evidence]:
    """Of maximal redraws, and of Gumbel redraws beside."""
    maximal, gumbel, independent = (Jacobi(3, kind) for kind in ("maximal", "gumbel", "independent"))
    return [SteadierCalls(toy, maximal, independent), Beside(SteadierCalls(toy, gumbel, independent))]


SCD_RUNS = (
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
            "the method is lossless": [
                Proven("T12", "SCD-MC (maximal coupling) with strict verification"),
                Proven("T12", "SCD-GS (Gumbel coupling, V <= 3) with strict verification"),
                *UNBIASED,
            ],
            "the released code is lossless": RELEASED,
            "images of fashion": [
                Beside(EverySeed("frechet_real", "SCD-MC", "AR")),
                Beside(EverySeed("frechet_real", "SCD-MC, stale", "AR")),
            ],
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
    Claim(
        "C54",
        "coupling reduces the variance on the path to convergence",
        f"{SOURCE}, stabilisation; of a run's path only the number of its calls is looked at here",
        {
            **{f"variance of the number of calls, exact, {toy}": steadier(toy) for toy in ("digits", "fashion")},
            "likeness of contexts between iterations": [Unseen("its models are not here")],
        },
    ),
)
