"""Codebooks for rules that look at one: the one that was given, or codes on a line, said in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from specsim.checking.pairs import Pair
from specsim.errors import SpecsimError
from specsim.rules.codebooks import bind_codebook, codes_of
from specsim.verification import Rule

LINE = "token v at point v/2 on a line"
"""Half apart, so that adjacent tokens, and no others, are within the squared distance .5 of GSD's released code."""
LINE_LIMIT = 2048
"""Largest vocabulary for which a codebook is made up: it takes V x V numbers, and says little of a real model."""


def unbound(rule: Rule) -> bool:
    """The rule waits for a codebook."""
    return codes_of(rule) == 0


def usable(rule: Rule, pairs: list[Pair]) -> list[Pair]:
    """The pairs a rule can be put to: one that is bound already fits a single vocabulary."""
    codes = codes_of(rule)
    if not codes:
        return pairs
    fitting = [some for some in pairs if some.vocab == codes]
    if not fitting:
        raise SpecsimError(
            f"{rule!r} is bound to {codes} codes and no pair has as many tokens; leave it unbound and give a codebook"
        )
    return fitting


def bound(rule: Rule, vocab: int, codebook: Any) -> Rule:
    """The rule for `vocab` tokens: with the first codes of the codebook, or with codes on a line."""
    if not unbound(rule):
        return rule
    enough = codebook is not None and len(codebook) >= vocab
    return bind_codebook(rule, codebook[:vocab] if enough else np.arange(vocab, dtype=np.float64)[:, None] / 2)


def assumption(rule: Rule, codebook: Any) -> str | None:
    """What was taken for a codebook, if the rule needs one."""
    if not unbound(rule):
        return None
    if codebook is None:
        return f"no codebook was given: {LINE}"
    return f"pairs of V tokens use the first V codes of the codebook, beyond its {len(codebook)} codes, {LINE}"


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
