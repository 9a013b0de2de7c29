"""The systems of the report, one row each.  Adding a system = adding a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specsim import (
    Additive,
    Annealed,
    Autoregressive,
    Chain,
    ContentAware,
    Jacobi,
    Lantern,
    LanternOptimal,
    Lenient,
    Race,
    Strict,
)
from specsim.decoding import Decoder


@dataclass(frozen=True)
class System:
    """A published way to decode.

    small: its decoder on the table model; real: the same decoder at a realistic size on the image model.
    warning: said beside the row where the system is known not to do what it claims.
    """

    name: str
    about: str
    small: Decoder
    real: Decoder
    rule: Any = None
    warning: str = ""


CHAIN, LONG_CHAIN = Chain(lookahead=3), Chain(lookahead=4)


def chain(name: str, about: str, rule: Any, warning: str = "") -> System:
    """A row that differs from speculative decoding in its rule alone."""
    return System(name, about, CHAIN, LONG_CHAIN, rule, warning)


def jacobi(name: str, about: str, continuation: str, rule: Any = None, warning: str = "") -> System:
    """A row that differs from speculative Jacobi decoding in its continuation or rule."""
    small, real = (Jacobi(window, continuation) for window in (3, 16))
    return System(name, about, small, real, rule or Strict(), warning)


STALE = (
    "stores the old draft law of kept tokens, as the released code for Lumina and Janus was read to do: "
    "claimed lossless, exactly biased"
)
SYSTEMS: tuple[System, ...] = (
    System("AR", "plain autoregressive decoding", Autoregressive(), Autoregressive()),
    chain("SD", "speculative decoding", Strict()),
    chain("UniformRSD", "lenience 1.3 = Amplify", Lenient(1.3)),
    chain("COOL-SD 1.1", "annealed lenience", Annealed(1.1, 0.7)),
    chain("COOL-SD 2", "annealed lenience", Annealed(2.0, 0.7)),
    chain("Addition", "ratio + 0.1", Additive(0.1)),
    chain("CSD", "content-aware, in a chain", ContentAware(0.5, 0.35)),
    chain("LANTERN", "nearest codes, released residual", Lantern(10, 0.4)),
    chain("LANTERN + G*", "nearest codes, optimal residual", LanternOptimal(10, 0.4)),
    jacobi("SJD", "Jacobi, independent redraft", "independent"),
    jacobi("SJD + CSD", "Jacobi with the content-aware rule", "independent", ContentAware(0.5, 0.35)),
    jacobi("SCD-MC", "Jacobi, maximal coupling", "maximal"),
    jacobi("SCD-GS", "Jacobi, Gumbel coupling", "gumbel"),
    System("race (AR)", "plain decoding, one race a token", Race(Autoregressive()), Race(Autoregressive())),
    System("race (Jacobi)", "match verification, shared noise", Race(Jacobi(3)), Race(Jacobi(16))),
    System("race (chain)", "match verification, shared noise", Race(CHAIN), Race(LONG_CHAIN)),
    jacobi("SCD-MC, stale", "known-bad variant", "maximal_stale", warning=STALE),
)
