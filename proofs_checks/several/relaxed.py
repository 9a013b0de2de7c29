"""Siblings of one position verified in turn by any rule, and the rules and laws that T30 puts to them.

The recursion is that of the tree decoder, written once more on plain arrays: what a refusal leaves is the law that the
next sibling is judged against.  A part of T30 says that the two agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from proofs_checks.several.drafts import ONE
from proofs_checks.several.rules import Verified
from specsim.arrays import Array
from specsim.rules.optimal import acceptance
from specsim.verification import Verdict, verdict_at

ZERO = 0 * ONE
WITHOUT = "distinct"
"""The siblings that are drawn without replacement; any others are independent."""


class Branch(NamedTuple):
    """What may have happened so far, a row for each way.

    chance: [M] of the way; left: [M, V] law that is left of the target; held: bool [M, V], the tokens refused.
    """

    chance: Array
    left: Array
    held: Array


def in_turn(rule: Any, target: Array, draft: Array, count: int, siblings: str) -> Verified:
    """Up to `count` siblings of laws target, draft [V]: each judged against what its elders' refusals left."""
    none = np.zeros((1, len(draft)), dtype=bool)
    branch, out, kept = Branch(np.array([ONE], dtype=object), target[None], none), 0 * target, ZERO
    for _ in range(count):
        offered = laws(draft, branch.held, siblings)
        there = np.array([law.sum() > 0 for law in offered], dtype=bool)
        out = out + emitted(taken(branch, ~there))
        branch, mass = judged(rule, taken(branch, there), offered[there])
        out, kept = out + mass, kept + mass.sum()
    return Verified(out + emitted(branch), kept)


def laws(draft: Array, held: Array, siblings: str) -> Array:
    """The law of the next sibling on every way, [M, V]; all 0 where there is none."""
    some = draft * (1 - held * ONE) if siblings == WITHOUT else draft + 0 * held
    totals = some.sum(axis=-1, keepdims=True)
    return some / (totals + (totals == 0) * ONE)


def judged(rule: Any, branch: Branch, offered: Array) -> tuple[Branch, Array]:
    """One sibling more -> (the ways on which it was refused, mass [V] that is kept)."""
    ways, vocab = offered.shape
    token = np.tile(np.arange(vocab), ways)
    wide = Branch(*(np.repeat(part, vocab, axis=0) for part in branch))
    verdict = verdict_at(rule, np.repeat(offered, vocab, axis=0), wide.left, token, 0 * token)
    drafted = wide.chance * offered.reshape(-1)
    mass = (drafted * verdict.accept).reshape(ways, vocab).sum(axis=0) + ZERO
    held = wide.held | (token[:, None] == np.arange(vocab))
    refused = Branch(drafted * (1 - verdict.accept), verdict.residual, held)
    return taken(refused, (refused.chance > 0).astype(bool)), mass


def taken(branch: Branch, which: Array) -> Branch:
    """Some of the ways."""
    return Branch(*(part[which] for part in branch))


def emitted(branch: Branch) -> Array:
    """What is put out where nothing more is drafted, [V]."""
    return (branch.chance[:, None] * branch.left).sum(axis=0) + ZERO


@dataclass(frozen=True)
class Leaves:
    """b of `rule`, and after a refusal the draft's law, or the uniform one: the worst that can be thought of.

    keep: b is multiplied by it.
    """

    rule: Any
    uniform: bool = False
    keep: Fraction = ONE

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V] -> accept, residual [..., V]."""
        accept = acceptance(self.rule, draft, target, position) * self.keep
        return Verdict(accept, 0 * draft + ONE / draft.shape[-1] if self.uniform else draft)
