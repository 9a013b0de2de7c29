"""What is compared: schemes, each brought to the same tokens per call at several levels.  Adding a scheme = a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specsim import (
    Additive,
    Annealed,
    Autoregressive,
    Chain,
    ContentAware,
    Ensemble,
    Grouped,
    Lantern,
    Lenient,
    Strict,
)
from specsim.decoding import Decoder
from specsim.rules.band import Band
from specsim.rules.block import BlockVerification
from specsim.rules.ledger import Ledger

DECODER = Chain(lookahead=4)
LEVELS = (2.85, 3.05, 3.3, 3.6)
"""Tokens per call that every scheme is tuned to; lossless: 2.63 strict, 2.74 block verification; 5 keeps everything."""


@dataclass(frozen=True)
class Scheme:
    """A relaxed rule with the strengths (`specsim.strength`) its pilot runs try; they must enclose all levels."""

    name: str
    rule: Any
    grid: tuple[float, ...]


@dataclass(frozen=True)
class Setting:
    """One row of the results.  level None: a lossless reference outside the matched levels."""

    name: str
    scheme: str
    level: float | None
    decoder: Decoder
    rule: Any


SCHEMES = (
    Scheme("uniform", Lenient(), (1.15, 1.45, 1.9, 2.8)),
    Scheme("annealed .3", Annealed(nu=0.3), (1.2, 1.6, 2.4, 4.5)),
    Scheme("annealed .7", Annealed(nu=0.7), (1.35, 2.1, 3.8, 9.0)),
    Scheme("annealed 1.5", Annealed(nu=1.5), (1.4, 3.2, 10.0, 50.0)),
    Scheme("reversed -.5", Annealed(nu=-0.5), (0.45, 0.75, 1.2, 2.2)),
    Scheme("content-aware", ContentAware(delta=0.8), (0.012, 0.035, 0.07, 0.14)),
    Scheme("GSD", Grouped(distance=4.0), (2, 6, 18, 70)),
    Scheme("LANTERN", Lantern(k=10), (0.002, 0.008, 0.025, 0.08)),
    Scheme("ledger 3", Ledger(nu=3.0), (1.15, 1.4, 1.9, 3.5)),
    Scheme("ledger .7", Ledger(nu=0.7), (1.1, 1.3, 2.0, 5.0)),
    Scheme("block uniform", BlockVerification(Lenient()), (1.0, 1.05, 1.25, 1.6, 2.3)),
    Scheme("band", Band(), (1.0, 1.2, 1.6, 2.2, 4.0)),
    Scheme("Addition", Additive(), (0.04, 0.11, 0.2, 0.4)),
    Scheme("ensemble", Ensemble(), (0.9, 0.75, 0.55, 0.3)),
)
STRICT = Setting("strict", "strict", None, DECODER, Strict())
BLOCK = Setting("block verification", "block verification", None, DECODER, BlockVerification())
PLAIN = Setting("plain decoding", "plain decoding", None, Autoregressive(), None)
LOSSLESS = (PLAIN, STRICT, BLOCK)
"""The floor: they differ by chance alone."""


def tuned(scheme: Scheme, level: float, rule: Any) -> Setting:
    """The setting of a scheme at a level, with the rule that tuning found."""
    return Setting(f"{scheme.name} @ {level:g}", scheme.name, level, DECODER, rule)
