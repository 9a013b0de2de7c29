"""Claims of CSD's summary."""

from __future__ import annotations

from proofs_checks.claims.claim import Claim
from proofs_checks.claims.computed import OnlyConfident
from proofs_checks.claims.evidence import Agrees, Beats, Beside, Proven, SameOrder, Unseen, exactly, ratio, read
from proofs_checks.claims.measured import Below, Separated
from proofs_checks.theorem import FAILS
from specsim import ContentAwareUnmasked

SOURCE = "CSD (arXiv 2606.27829)"
LUMINA, JANUS = "CSD Lumina", "CSD Janus"
DIGITS, FASHION = (f"ablations/exact_content_aware_{some}.json" for some in ("digits", "fashion"))
RIVALS = (" Lenient(", " Additive(")
SAMPLED = "ablations/content_aware.json"
FRONTIER = f"{SOURCE}, its superior Pareto frontier; the summary does not name Amplify, the paper's table does"
ROWS = (("Lumina", LUMINA, "CSD"), ("Janus, delta .65", JANUS, "CSD .65"), ("Janus, delta .8", JANUS, "CSD .8"))

CSD = (
    Claim(
        "C34",
        "norm[p - q]+ stays the optimal replacement under the relaxed acceptance",
        f"{SOURCE}, Theorem 3.1",
        {"for its b": [Proven("T04", "norm[p - q]+ gives the least TV(out, p) of all residuals")]},
    ),
    Claim(
        "C35",
        "reducing the divergence requires a corresponding increase of the rejection probability",
        f"{SOURCE}, Theorem 3.2",
        {
            "between rules on the line": [Proven("T20", "between two rules on the line")],
            "between any two rules": [Proven("T20", "between any two rules")],
        },
    ),
    Claim(
        "C36",
        "CSD reaches a Pareto frontier beyond that of other relaxations",
        f"{SOURCE}, significance",
        {
            "of one token, beyond GSD and LANTERN": [
                Proven("T20", "ContentAware is on the line"),
                Proven("T20", "ContentAwareUnmasked is on the line"),
                Proven("T20", "Grouped is on the line", FAILS),
                Proven("T20", "Lantern is on the line", FAILS),
            ],
            "of one token, beyond Amplify and Addition": [Proven("T20", "between two rules on the line", FAILS)],
            "exact TV of runs, beyond Amplify and Addition": [
                Below(file, "tv", "delta=0.35", other) for file in (FASHION, DIGITS) for other in RIVALS
            ],
            "images of fashion, beyond Amplify and Addition": [
                Separated(SAMPLED, "frechet_real", "delta=0.35", other) for other in RIVALS
            ],
            "printed calls and FID, beyond GSD": [Beats(LUMINA, "CSD", "GSD", figure) for figure in ("calls", "fid")],
        },
    ),
    Claim(
        "C37",
        "its filter falls back to lossless verification beyond delta, which limits what quality can be lost",
        f"{SOURCE}, filter",
        {
            "for one token": [
                Proven("T16", "q(q > p)) where TV(p, q) < delta, and 0 elsewhere"),
                Proven("T16", "TV(out, p) <= min(delta, lam H(p))"),
            ],
            "for a run": [Proven("T16", "the filter bounds the bias of a run")],
            "no token of target probability 0": [
                Proven("T16", "CSD as published emits no token of target probability 0")
            ],
            "where lam H(p) >= 1": [Beside(Proven("T16", "CSD as published is no verification"))],
        },
    ),
    Claim(
        "C38",
        "smooth regions have a higher entropy and are more predictable, fine textures a lower one and more uncertainty",
        f"{SOURCE}, method",
        {
            "entropy is what it calls uncertainty": [
                SameOrder("where entropy is higher, then where uncertainty is", "smooth regions", "fine textures")
            ],
        },
    ),
    Claim(
        "C39",
        "Janus-Pro 7B: 4.33 times faster with a negligible loss of CLIP, 32.21 for 32.31",
        f"{SOURCE}, experiments",
        {
            "4.33 in seconds": [ratio(JANUS, "AR", "CSD .8", "seconds", "4.33")],
            "negligible": [
                Beside(Beats(JANUS, "CSD .8", "AR", "clip")),
                Unseen("no interval is printed for the loss of .10"),
            ],
        },
    ),
    Claim(
        "C40",
        "Lumina-mGPT 7B: 2.60 times faster with CLIP 31.49, beyond GSD",
        f"{SOURCE}, experiments",
        {
            "2.60 in seconds": [ratio(LUMINA, "AR", "CSD", "seconds", "2.60")],
            "faster than GSD": [Beats(LUMINA, "CSD", "GSD", figure) for figure in ("seconds", "calls")],
            "a better FID than GSD": [Beats(LUMINA, "CSD", "GSD", "fid")],
        },
    ),
    Claim(
        "C41",
        "CSD consistently exceeds the training-free SJD, GSD and Addition in quality",
        f"{SOURCE}, experiments",
        {"FID on Lumina": [Beats(LUMINA, "CSD", other, "fid") for other in ("SJD", "GSD", "Addition")]},
    ),
    Claim(
        "C42",
        "CSD matches or exceeds EAGLE and LANTERN in CLIP and FID",
        f"{SOURCE}, experiments",
        {
            f"{figure} on Lumina": [Beats(LUMINA, "CSD", other, figure, ties=True) for other in ("EAGLE", "LANTERN")]
            for figure in ("clip", "fid")
        },
    ),
    Claim(
        "C43",
        "CSD is ahead of SJD, GSD, Amplify and Addition in speed",
        f"{SOURCE}, its superior Pareto frontier",
        {
            f"{figure}, {name}": [Beats(table, row, other, figure) for other in ("SJD", "GSD", "Amplify", "Addition")]
            for name, table, row in ROWS
            for figure in ("seconds", "calls")
        },
    ),
    Claim(
        "C44",
        "at the same cost CSD is better than Addition",
        f"{SOURCE}, experiments",
        {
            "exact TV, fashion": [Below(FASHION, "tv", "delta=0.35", " Additive(")],
            "exact TV, digits": [Below(DIGITS, "tv", "delta=0.35", " Additive(")],
            "images of fashion": [
                Separated(SAMPLED, figure, "delta=0.35", " Additive(")
                for figure in ("frechet_real", "label_accuracy", "log_likelihood")
            ],
        },
    ),
    Claim(
        "C45",
        "at the same cost CSD has less total variation than Amplify, uniform lenience",
        FRONTIER,
        {"exact TV, real laws": [Below(file, "tv", "delta=0.35", " Lenient(") for file in (FASHION, DIGITS)]},
    ),
    Claim(
        "C46",
        "entropy and filter add .06 ms to an iteration of SJD, which is .17 %",
        f"{SOURCE}, overhead",
        {
            f"of an iteration on {name}": [
                Agrees(
                    "100 x .06 ms / (SJD, seconds/calls)",
                    table,
                    lambda at: read("0.06") * exactly("0.1") / (at("SJD", "seconds") / at("SJD", "calls")),
                    "0.17",
                )
            ]
            for name, table in (("Lumina", LUMINA), ("Janus", JANUS))
        },
    ),
    Claim(
        "C47",
        "it speeds up the background and keeps fine detail in faces and objects",
        f"{SOURCE}, qualitative analysis",
        {"on its images": [Unseen("a judgement by eye of images that are not here")]},
    ),
    Claim(
        "C52",
        "at the same cost CSD makes better images than Amplify, uniform lenience",
        FRONTIER,
        {
            "images of fashion": [
                Separated(SAMPLED, figure, "delta=0.35", " Lenient(")
                for figure in ("frechet_real", "label_accuracy", "log_likelihood")
            ],
        },
    ),
    Claim(
        "C53",
        "its filter relaxes only where the draft is already highly confident",
        f"{SOURCE}, filter",
        {
            "only where the draft is confident": [OnlyConfident(ContentAwareUnmasked(), tokens=1000, tilt="1/5")],
            "only where draft and target are close, which is another thing": [
                Beside(Proven("T16", "q(q > p)) where TV(p, q) < delta, and 0 elsewhere"))
            ],
        },
    ),
)
