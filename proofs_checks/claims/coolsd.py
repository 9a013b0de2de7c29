"""Claims of COOL-SD's summaries."""

from __future__ import annotations

from collections.abc import Callable

from proofs_checks.claims.claim import Claim
from proofs_checks.claims.computed import BlockResidual, InATree
from proofs_checks.claims.evidence import Beats, Beside, Interval, Numbers, Proven, Together, Unseen, ratio
from proofs_checks.claims.measured import Below, EverySeed, Separated
from proofs_checks.theorem import FAILS
from specsim.rules import LanternPlus

SOURCE = "COOL-SD (arXiv 2601.09212)"
LUMINA, LLAMAGEN = "COOL-SD Lumina", "COOL-SD LlamaGen"
ROWS = ((LUMINA, "COOL-SD 1.1"), (LLAMAGEN, "COOL-SD 1.1"), (LLAMAGEN, "COOL-SD 2"))
EXACT = [
    f"ablations/exact_annealed_{some}.json"
    for some in ("digits_1.4", "digits_1.6", "fashion_1.2", "fashion_1.3", "fashion_1.4")
]
RESIDUAL = [f"ablations/exact_optimal_residual_{some}.json" for some in ("digits", "fashion")]
SAMPLED = [f"ablations/annealed_{some}.json" for some in ("2.8", "3.4")]
IMAGES = "ablations/optimal_residual.json"
BLOCK = BlockResidual(
    target=(("1/2", "1/2", "0"), ("1/3", "1/3", "1/3")),
    draft=(("1", "0", "0"), ("3/4", "1/4", "0")),
    keep=(("1", "1", "1"), ("8/9", "1", "1")),
    rival=(("0", "1", "0"), ("0", "0", "1")),
)
"""Slot 1 keeps all and gives too much to token 0; slot 2 can give some of it back by its own residual."""
IN_A_TREE = LanternPlus(1, 2.0)
"""Of three tokens; with the published fields nearly all drafts are kept there."""
NO_INTERVAL = "no interval is printed, so a small difference cannot be told from none"


def time_of_ar(system: str) -> Callable[[Numbers], Interval]:
    """Seconds of plain decoding that a row implies."""
    return lambda at: at(system, "seconds") * at(system, "speedup")


COOLSD = (
    Claim(
        "C01",
        "for a given acceptance the resampling law G* = norm[p - q b]+ minimises the total variation of one token, as "
        "the bound counts it, and so of a block",
        f"{SOURCE}, equation 5 minimises the bound (C04); that the output is close to the target is what it is for",
        {
            "of one token, nothing does better": [Proven("T02", "N(b) = sum [q b - p]+ for every replacement law")],
            "of one token, G* attains it": [Proven("T02", "G* attains it")],
            "of a whole block": [BLOCK],
        },
    ),
    Claim(
        "C02",
        "a closed form of the expected number of accepted tokens",
        f"{SOURCE}, contributions",
        {
            "any models": [Proven("T05", "E[accepted] of a block of L drafts = sum_i sum_x A_i(x)")],
            "equal laws": [Proven("T05", "alpha = E_q[b]; L + 1 at alpha = 1")],
        },
    ),
    Claim(
        "C03",
        "a nearly tight upper bound on the total variation between the relaxed output and the target",
        f"{SOURCE}, contributions",
        {
            "it is a bound for one block": [Proven("T06", "there TV(out, target) <= sum_i sum_(x<i)")],
            "within a constant factor, 2L - 1": [Proven("T06", "conversely the sum of the local errors <=")],
            "it is attained": [Proven("T06", "the bound is attained, whatever the models")],
        },
    ),
    Claim(
        "C04",
        "optimal resampling makes that bound tighter",
        f"{SOURCE}, claims",
        {
            "the bound adds up local errors": [Proven("T06", "there TV(out, target) <= sum_i sum_(x<i)")],
            "and G* makes each of them least": [
                Proven("T02", "N(b) = sum [q b - p]+ for every replacement law"),
                Proven("T02", "G* attains it"),
            ],
        },
    ),
    Claim(
        "C05",
        "at a fixed expected number of accepted tokens the bound is least when acceptance decreases along the block",
        f"{SOURCE}, annealing property; its proof is for L = 2",
        {
            "two slots, any models": [Proven("T07", "L = 2, any models: moving relaxation forward")],
            "any block of equal laws": [Proven("T07", "relaxing first, then one slot in between")],
            "any block": [Proven("T07", "context-free positions that differ")],
            "runs on real laws": [Beside(Below(file, "local_errors", "nu=0.7", " Lenient(")) for file in EXACT],
            "its exponential shape": [Beside(Proven("T07", "the exponential shape"))],
        },
    ),
    Claim(
        "C06",
        "annealing reduces the distributional shift of uniform relaxation at the same cost",
        f"{SOURCE}, method; 'the best way to keep quality' in the plain-language summary",
        {
            "exact TV, two slots": [Proven("T07", "equal context-free laws, L = 2: at given E relaxing first")],
            "exact TV on real laws": [Below(file, "tv", "nu=0.7", " Lenient(") for file in EXACT],
            "exact KL on real laws": [Below(file, "kl", "nu=0.7", " Lenient(") for file in EXACT],
        },
    ),
    Claim(
        "C07",
        "annealing gives a better trade of image quality for accepted length than uniform relaxation",
        f"{SOURCE}, ablation",
        {
            "Frechet distance": [Separated(file, "frechet_real", "nu=0.7", " Lenient(") for file in SAMPLED],
            "accuracy of labels": [Separated(file, "label_accuracy", "nu=0.7", " Lenient(") for file in SAMPLED],
            "log-likelihood": [Separated(file, "log_likelihood", "nu=0.7", " Lenient(") for file in SAMPLED],
        },
    ),
    Claim(
        "C08",
        "the optimal resampling law improves LANTERN++",
        f"{SOURCE}, ablation",
        {
            "never more TV, for the same b": [Proven("T02", "N(b) = sum [q b - p]+ for every replacement law")],
            "its own residual wastes some": [Proven("T20", "LanternPlus is on the line", FAILS)],
            "exact TV on real laws": [
                Below(file, "tv", " Optimal(rule=LanternPlus", " LanternPlus(") for file in RESIDUAL
            ],
            "images": [Separated(IMAGES, "frechet_real", " Optimal(rule=LanternPlus", " LanternPlus(")],
        },
    ),
    Claim(
        "C09",
        "the optimal resampling corrects what the relaxed acceptance did, so that the output's law is not distorted",
        f"{SOURCE}, plain-language summary, which says so of the image; read here of the law, of images see C12",
        {
            "no error is left where more is kept than strictly": [Proven("T03", "and G = G* then TV(out, p) =", FAILS)],
            "no G does better": [Beside(Proven("T02", "N(b) = sum [q b - p]+ for every replacement law"))],
        },
    ),
    Claim(
        "C10",
        "on Lumina-mGPT the accepted length rises from 2.76 to 3.11 and latency falls to 63.2 s, a speed-up of 2.69",
        f"{SOURCE}, experiments",
        {
            "2.69 times": [ratio(LUMINA, "AR", "COOL-SD 1.1", "seconds", "2.69")],
            "accepts more than EAGLE-1": [Beats(LUMINA, "COOL-SD 1.1", "EAGLE-1", "accepted")],
            "is faster than EAGLE-1": [Beats(LUMINA, "COOL-SD 1.1", "EAGLE-1", "seconds")],
        },
    ),
    Claim(
        "C11",
        "on LlamaGen-XL it reaches a speed-up of 2.72 with an accepted length of 3.34",
        f"{SOURCE}, experiments",
        {
            "all rows imply one time of plain decoding": [
                Together(
                    "seconds times speed-up",
                    LLAMAGEN,
                    tuple(time_of_ar(row) for row in ("EAGLE-1", "LANTERN++", "COOL-SD 1.1", "COOL-SD 2")),
                )
            ],
            "accepts more than EAGLE-1": [Beats(LLAMAGEN, "COOL-SD 2", "EAGLE-1", "accepted")],
        },
    ),
    Claim(
        "C12",
        "quality degrades only negligibly against the lossless baseline",
        f"{SOURCE}, experiments",
        {
            "the printed FID": [
                Beside(Beats(LUMINA, "COOL-SD 1.1", "EAGLE-1", "fid")),
                Beside(Beats(LLAMAGEN, "COOL-SD 2", "EAGLE-1", "fid")),
                Unseen(NO_INTERVAL),
            ],
        },
    ),
    Claim(
        "C13",
        "COOL-SD is at least as good and faster than LANTERN++",
        f"{SOURCE}, experiments",
        {
            "faster": [Beats(table, row, "LANTERN++", "seconds") for table, row in ROWS],
            "as good, by the printed FID": [
                *(Beside(Beats(table, row, "LANTERN++", "fid", ties=True)) for table, row in ROWS),
                Unseen(NO_INTERVAL),
            ],
            "on fashion, not at one cost": [Beside(EverySeed("frechet_real", "COOL-SD 2", "LANTERN++"))],
        },
    ),
    Claim(
        "C14",
        "images are generated 2.7 to 3.1 times faster",
        f"{SOURCE}, plain-language summary",
        {
            "2.7": [ratio(LUMINA, "AR", "COOL-SD 1.1", "seconds", "2.7")],
            "3.1": [Unseen("no row of its tables that was available is that fast")],
        },
    ),
    Claim(
        "C15",
        "at high speed LANTERN++ shows artefacts and patchy backgrounds, COOL-SD stays faithful up to 3.10 times",
        f"{SOURCE}, qualitative results",
        {"on its images": [Unseen("a judgement by eye of images that are not here")]},
    ),
    Claim(
        "C16",
        "earlier relaxed schemes such as LANTERN and LANTERN++ allow a limited divergence from the target",
        f"{SOURCE}, related work",
        {
            "LANTERN": [Proven("T17", "LANTERN with the released static residual: TV(out, p) <= delta")],
            "LANTERN++, by a factor, released static path": [
                Proven("T17", "LANTERN++ with the released static residual: out(v) <= (lam + 1)")
            ],
            "LANTERN++, by any factor, released dynamic path": [
                Proven("T17", "LANTERN++ with the released dynamic residual: out(v) <= lam p(v)"),
                Proven("T21", "after a draft on the target's support"),
            ],
        },
    ),
    Claim(
        "C55",
        "inside LANTERN++ the optimal resampling law keeps the acceptance and lowers the bias",
        f"{SOURCE}, ablation, read of LANTERN++ as it is published (arXiv 2502.06352), with a static tree",
        {
            "one draft a node: both": [Proven("T30", "one child a node: as many are kept with G*")],
            "two siblings: as many are kept": [
                Proven("T30", "keeps as many of two distinct siblings as with the released residual"),
                *(Beside(InATree(toy, "calls", IN_A_TREE)) for toy in ("digits", "fashion")),
            ],
            "two siblings: no more TV, three tokens": [
                Proven("T30", "V = 3, two siblings: with G* no more are kept"),
                *(InATree(toy, "tv", IN_A_TREE) for toy in ("digits", "fashion")),
            ],
            "two siblings: no more TV, any tokens": [Proven("T30", "two distinct siblings, has no more TV than as")],
            "two siblings: no TV is wasted for what is kept": [
                Beside(Proven("T30", "kept - TV(out, p) is no less than as released"))
            ],
        },
    ),
)
