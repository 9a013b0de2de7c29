"""Codebooks for rules that borrow from neighbours: the one that was given, or codes on a line, said in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from specsim.checking.pairs import Pair
from specsim.errors import SpecsimError
from specsim.rules.lantern import bind_codebook
from specsim.verification import Rule

LINE = "a codebook with token v at point v on a line"
LINE_LIMIT = 2048
"""Largest vocabulary for which a codebook is made up: it takes V x V numbers, and says little of a real model."""


def unbound(rule: Rule) -> bool:
    """The rule waits for a codebook."""
    return getattr(rule, "neighbours", ()) is None


def usable(rule: Rule, pairs: list[Pair]) -> list[Pair]:
    """The pairs a rule can be put to: one whose neighbours are bound already fits a single vocabulary."""
    neighbours = getattr(rule, "neighbours", None)
    if neighbours is None:
        return pairs
    fitting = [some for some in pairs if some.vocab == len(neighbours)]
    if not fitting:
        raise SpecsimError(
            f"{rule!r} is bound to {len(neighbours)} codes and no pair has as many tokens; "
            "leave its neighbours out and give a codebook"
        )
    return fitting


def bound(rule: Rule, vocab: int, codebook: Any) -> Rule:
    """The rule for `vocab` tokens: with the first codes of the codebook, or with codes on a line."""
    if not unbound(rule):
        return rule
    enough = codebook is not None and len(codebook) >= vocab
    return bind_codebook(rule, np.asarray(codebook)[:vocab] if enough else np.arange(vocab, dtype=np.float64)[:, None])


def assumption(rule: Rule, codebook: Any) -> str | None:
    """What was taken for a codebook, if the rule needs one."""
    if not unbound(rule):
        return None
    if codebook is None:
        return f"no codebook was given: {LINE}"
    return f"pairs of V tokens use the first V codes of the codebook, beyond its {len(codebook)} codes {LINE}"


def unfit(rule: Rule, vocab: int, codebook: Any) -> str:
    """Why real laws over `vocab` tokens cannot be judged, or nothing; another model's codebook is an error."""
    if not unbound(rule):
        return ""
    if codebook is not None and len(codebook) != vocab:
        raise SpecsimError(
            f"laws over {vocab} tokens, but the codebook has {len(codebook)}; give the codebook of these"
        )
    if codebook is None and vocab > LINE_LIMIT:
        return f"{rule!r} needs the codebook of these {vocab:,} tokens"
    return ""
