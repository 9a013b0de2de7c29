"""The systems of the report, one row each.  Adding a system = adding a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from specsim import (
    Additive,
    AdditiveUnmasked,
    Annealed,
    Autoregressive,
    Band,
    BlockVerification,
    Cactus,
    CascadeOpt,
    Chain,
    ContentAware,
    ContentAwareUnmasked,
    DynamicTree,
    Ensemble,
    FuzzyJS,
    FuzzyKL,
    Grouped,
    Jacobi,
    Lantern,
    LanternDynamic,
    LanternPlus,
    Ledger,
    Lenient,
    Optimal,
    Partitioned,
    Race,
    RelaxedBonus,
    Strict,
    Tree,
    Typical,
)
from specsim.decoding import Decoder
from specsim.trees import EAGLE_TREE


@dataclass(frozen=True)
class System:
    """A published way to decode.

    small: its decoder on the table models; real: the same decoder at a realistic size on the image model.
    model: the shipped image model it runs on, by name: which draft it has; table models have their own.
    small_rule: the rule there, where the published one is in units that three tokens do not have.
    warning: said beside the row where the system is known not to do what it claims.
    """

    name: str
    about: str
    small: Decoder
    real: Decoder
    rule: Any = None
    warning: str = ""
    small_rule: Any = None
    model: str = "fashion"


SMALL, REAL = Chain(lookahead=3), Chain(lookahead=4)


def chain(name: str, about: str, rule: Any) -> System:
    """A row that differs from speculative decoding in its rule alone."""
    return System(name, about, SMALL, REAL, rule)


GROUPS_OF_TWO = Grouped(size=2, gap=1.0, distance=1e9)
"""GSD on three tokens: a window of 14 ranks would hold them all, and the thresholds keep them apart."""


def grouped(system: System) -> System:
    """A row with GSD's rule, which three tokens need in another size."""
    return replace(system, small_rule=GROUPS_OF_TWO)


def jacobi(name: str, about: str, rule: Any, continuation: str = "independent", warning: str = "") -> System:
    """A row that differs from speculative Jacobi decoding in its rule or its continuation."""
    small, real = (Jacobi(window, continuation) for window in (3, 16))
    return System(name, about, small, real, rule, warning)


def headed(name: str, about: str, small: Decoder, real: Decoder, rule: Any) -> System:
    """A row whose drafts a trained head makes."""
    return System(name, about, small, real, rule, model="fashion-eagle")


def tree(name: str, about: str, rule: Any) -> System:
    """A row that differs from EAGLE-1 in its rule alone."""
    return headed(name, about, Tree(), Tree(EAGLE_TREE), rule)


def grown(name: str, about: str, rule: Any) -> System:
    """A row that differs from EAGLE-2 in its rule alone; as many nodes as EAGLE-1's tree."""
    return headed(name, about, DynamicTree(3, 2, 5), DynamicTree(5, 4, len(EAGLE_TREE)), rule)


STALE = (
    "stores the old draft law of kept tokens, as the released code for Lumina and Janus was read to do: "
    "claimed lossless, exactly biased"
)
UNMASKED = "as published; differs only where the target has zeros (top-k), and none has them here"
PAPERS: tuple[System, ...] = (
    System("AR", "plain autoregressive decoding", Autoregressive(), Autoregressive()),
    chain("SD", "speculative decoding", Strict()),
    chain("LANTERN", "nearest codes, released static residual", Lantern(10, 0.4)),
    chain("LANTERN++", "nearest codes, relative budget, released residual", LanternPlus(10, 5.0)),
    chain("LANTERN++ G*", "the same with the optimal residual", Optimal(LanternPlus(10, 5.0))),
    chain("UniformRSD 2", "the same lenience in every slot", Lenient(2.0)),
    chain("COOL-SD 1.1", "annealed lenience", Annealed(1.1, 0.7)),
    chain("COOL-SD 2", "annealed lenience", Annealed(2.0, 0.7)),
    jacobi("SJD", "Jacobi, independent redraft", Strict()),
    grouped(jacobi("GSD", "SJD, groups of a rank window of 14", Grouped(14))),
    jacobi("Addition", "SJD, ratio + 0.1", Additive(0.1)),
    jacobi("Amplify", "SJD, lenience 1.3", Lenient(1.3)),
    jacobi("CSD", "SJD, content-aware", ContentAware(0.5, 0.35)),
    jacobi("SCD-MC", "Jacobi, maximal coupling", Strict(), "maximal"),
    jacobi("SCD-GS", "Jacobi, Gumbel coupling", Strict(), "gumbel"),
    jacobi("SCD-MC, stale", "the released code's stored law", Strict(), "maximal_stale", STALE),
    System("race (AR)", "plain decoding, one race a token", Race(), Race()),
    System("race (Jacobi)", "match verification, shared noise", Race(Jacobi(3)), Race(Jacobi(16))),
    System("race (chain)", "match verification, shared noise", Race(SMALL), Race(REAL)),
)
"""What the four summaries of the three papers compare, each on the decoder it was published on."""

TREES: tuple[System, ...] = (
    headed("EAGLE-1 chain", "a trained head drafts a chain", SMALL, REAL, Strict()),
    tree("EAGLE-1 tree", "a trained head drafts the released tree, siblings without replacement", Strict()),
    grown("EAGLE-2 tree", "the head's likeliest tokens, grown where they are likely", Strict()),
    tree("LANTERN++ tree", "relative budget, released residual, in EAGLE-1's tree", LanternPlus(10, 5.0)),
    tree("LANTERN++ G* tree", "the same with the optimal residual", Optimal(LanternPlus(10, 5.0))),
    grown("LANTERN, EAGLE-2", "nearest codes, released residual, in EAGLE-2's tree", Lantern(10, 0.4)),
    headed("COOL-SD 1.1, head", "annealed lenience, a trained head drafts", SMALL, REAL, Annealed(1.1, 0.7)),
    headed("COOL-SD 2, head", "annealed lenience, a trained head drafts", SMALL, REAL, Annealed(2.0, 0.7)),
)
"""What the papers that train a draft compare, with the shipped head."""

NEIGHBOURS: tuple[System, ...] = (
    chain("LANTERN dynamic", "LANTERN, the other released residual", LanternDynamic(10, 0.4)),
    chain("LANTERN G*", "LANTERN, the optimal residual", Optimal(Lantern(10, 0.4))),
    grouped(chain("GSD (chain)", "rank windows in a chain", Grouped(14))),
    replace(chain("GSD partition", "a true partition of the ranks", Partitioned(14)), small_rule=Partitioned(2)),
    chain("CSD (chain)", "content-aware in a chain", ContentAware(0.5, 0.35)),
    chain("Addition .4", "ratio + 0.4, in a chain", Additive(0.4)),
    jacobi("CSD unmasked", UNMASKED, ContentAwareUnmasked(0.5, 0.35)),
    jacobi("Addition unmasked", UNMASKED, AdditiveUnmasked(0.1)),
    chain("Typical", "Medusa's threshold on the target", Typical()),
    chain("Ensemble .8", "a mixture of target and draft", Ensemble(0.8)),
    chain("CACTUS", "bounded divergence of one token", Cactus()),
    chain("Fuzzy KL", "all kept where the laws are near", FuzzyKL()),
    chain("Fuzzy JS", "all kept where the laws are near", FuzzyJS()),
    chain("Cascade OPT", "the draft alone where it is sure enough", CascadeOpt()),
    chain("Block verification", "the longest prefix of a block, lossless", BlockVerification()),
    chain("Block verification 2", "the same towards the law of lenience 2", BlockVerification(Lenient(2.0))),
    chain("Ledger 2", "relaxed, with an account of earlier corrections", Ledger(2.0)),
    chain("Band 2", "a block's ratio to the target kept within a band", Band(2.0)),
    System(
        "COOL-SD 2, bonus too",
        "a relaxed bonus: judged by the rule as well",
        RelaxedBonus(3),
        RelaxedBonus(4),
        Annealed(2.0, 0.7),
    ),
    jacobi("SCD-MC + CSD", "both ideas at once", ContentAware(0.5, 0.35), "maximal"),
)
"""Other schemes and variants, on a chain unless the name says otherwise."""

SYSTEMS: tuple[System, ...] = PAPERS + TREES + NEIGHBOURS
