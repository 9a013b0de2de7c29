"""The settings of every rule that theorems about one verified token look at, and the figures of one token.

Each row: the rules of one class, default and published settings first; whether they are on the Pareto line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from specsim import (
    Additive,
    AdditiveUnmasked,
    Annealed,
    Band,
    BlockVerification,
    Cactus,
    CascadeOpt,
    ContentAware,
    ContentAwareUnmasked,
    Ensemble,
    FuzzyJS,
    FuzzyKL,
    Grouped,
    Lantern,
    LanternDynamic,
    LanternPlus,
    LanternPlusDynamic,
    Ledger,
    Lenient,
    Optimal,
    Partitioned,
    Scheduled,
    Strict,
    Typical,
    Verdict,
)
from specsim.arrays import Array, divide
from specsim.checking import codebooks
from specsim.checking.forms import whole
from specsim.checking.onetoken import OneToken, figures
from specsim.flows import Flow, output_law, token_flow
from specsim.rules.optimal import acceptance
from specsim.testing.domains import Case
from specsim.verification import Block, Drafted, Step


class Row(NamedTuple):
    """Rules of one class.  why: the condition under which they are on the line, or what keeps them off it.

    around: the inner rules of a wrapper, in words.
    """

    rules: tuple[Any, ...]
    why: str
    around: str = ""


ON_LINE = (
    Row((Strict(),), "b = min(1, p/q)"),
    Row((Lenient(1), Lenient(), Lenient(4)), "omega >= 1"),
    Row((Annealed(), Annealed(delta=2.0), Annealed(delta=1.0, nu=-1.0, mu=3.0)), "clamped at omega_i >= 1"),
    Row((Scheduled(), Scheduled((1.0, 3.0)), Scheduled((4.0, 2.0), 0.5)), "omega_i >= 1"),
    Row((Additive(0), Additive(), Additive(0.4)), "epsilon >= 0, masked to the support of p"),
    Row((AdditiveUnmasked(), AdditiveUnmasked(0.4)), "epsilon >= 0"),
    Row(
        (ContentAware(), ContentAware(delta=0.65), ContentAware(delta=0.8), ContentAware(lam=2)),
        "masked to the support of p, strict beyond delta",
    ),
    Row((ContentAwareUnmasked(), ContentAwareUnmasked(delta=0.65), ContentAwareUnmasked(delta=0.8)), "as published"),
    Row((Ensemble(), Ensemble(0.8), Ensemble(0), Ensemble(1)), "q b = min(q, w p + (1 - w) q)"),
    Row((Cactus(), Cactus(0.1), Cactus(0)), "its token-dependent replacement costs what G* costs"),
    Row((FuzzyKL(), FuzzyKL(0.05), FuzzyKL(2)), "all is kept or b = min(1, p/q)"),
    Row((FuzzyJS(), FuzzyJS(0.01), FuzzyJS(0.5)), "all is kept or b = min(1, p/q)"),
    Row((CascadeOpt(), CascadeOpt(0), CascadeOpt(1)), "all is kept or b = min(1, p/q)"),
    Row(
        (Optimal(Lantern(k=1)), Optimal(Lantern(k=2, delta=0.4)), Optimal(LanternPlus()), Optimal(LanternPlus(k=1))),
        "the inner rule's b is never below min(1, p/q)",
        " around LANTERN or LANTERN++",
    ),
    Row(
        (BlockVerification(), BlockVerification(Lenient(1.5)), BlockVerification(Additive(0.4))),
        "of one draft it keeps min(q, p'), p' being the law of a rule on the line",
        " (a block of one draft) around the strict rule, lenience or addition",
    ),
    Row(
        (Band(), Band(1.0), Band(4.0)),
        "min(p, q) <= kept <= q, and nowhere more than [p - q]+ is put back",
        " (a block of one draft)",
    ),
    Row(
        (Ledger(), Ledger(1.0), Ledger(4.0, 0.5)), "the first slot is lenient with omega = w", " (a block of one draft)"
    ),
)
OFF_LINE = (
    Row((Lantern(k=1), Lantern(), Lantern(delta=0.4)), "its static residual is not G*"),
    Row((LanternDynamic(k=1), LanternDynamic()), "it judges p itself, whatever q was"),
    Row((LanternPlus(k=1), LanternPlus()), "its static residual is not G*"),
    Row((LanternPlusDynamic(k=1), LanternPlusDynamic()), "it judges p itself, whatever q was"),
    Row((Grouped(size=2, gap=1.0, distance=1e9), Grouped()), "b falls below min(1, p/q)"),
    Row((Partitioned(size=2), Partitioned(size=3), Partitioned()), "b falls below min(1, p/q)"),
    Row((Typical(), Typical(epsilon=0.3, delta=1.0)), "its threshold does not look at q, and G = p"),
    Row(
        (Optimal(Partitioned(size=2)), Optimal(Grouped()), Optimal(Typical()), Optimal(LanternDynamic(k=1))),
        "the inner rule's b falls below min(1, p/q), and G* cannot repair that",
        " around Partitioned, Grouped, Typical or LanternDynamic",
    ),
)


def of_class(rows: tuple[Row, ...]) -> dict[str, Row]:
    """The rows by the name of their class."""
    return {type(row.rules[0]).__name__: row for row in rows}


@lru_cache(maxsize=512)
def bound(rule: Any, vocab: int) -> Any:
    """The rule with codes on a line, token v at v/2, where it needs a codebook."""
    return codebooks.bound(rule, vocab, None)


def accepted(rule: Any, draft: Array, target: Array, position: Array) -> Array:
    """b of every token, [..., V]; of a rule that judges blocks, in a block of one draft."""
    if not whole(rule):
        return acceptance(rule, draft, target, position)
    return divide(token_flow(rule, draft, target, position).kept, draft, Fraction(0))


def judge(rule: Any, case: Case) -> OneToken:
    """What a rule makes of one drafted token, in Fractions; `case.slot` is its place in the block, 0 without one."""
    draft, target, position = case.draft[None, :], case.target[None, :], np.array([getattr(case, "slot", 0)])
    ready = bound(rule, case.vocab)
    accept = accepted(ready, draft, target, position)
    found = figures(draft, target, accept, output_law(ready, draft, target, position))
    return OneToken(*(array[0] for array in found))


@dataclass(frozen=True)
class Altered:
    """A rule with its acceptance or its replacement changed: accept(draft, target, b) and residual(draft, target, b)
    -> [V].  Wrong rules, and acceptances that no rule has, are made of it."""

    rule: Any
    residual: Callable[[Array, Array, Array], Array]
    accept: Callable[[Array, Array, Array], Array] = lambda draft, target, accept: accept

    @property
    def codes(self) -> int | None:
        """As the rule's."""
        return getattr(self.rule, "codes", None)

    def bind(self, codebook: Any) -> Altered:
        """With the rule bound."""
        return replace(self, rule=self.rule.bind(codebook))

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        kept = self.accept(draft, target, accepted(self.rule, draft, target, position))
        return Verdict(kept, self.residual(draft, target, kept))


@dataclass(frozen=True)
class BlockResampling:
    """A mistake: a rule of whole blocks whose replacement is drawn from p."""

    rule: Any

    def block(self, drafted: Drafted) -> Block:
        """The rule's stop, the residual p."""
        return self.rule.block(drafted)._replace(residual=drafted.target)

    def begin(self, like: Array) -> Any:
        """The rule's."""
        return self.rule.begin(like)

    def flow(self, path: Any, draft: Array, target: Array, slot: int) -> tuple[Flow, Any]:
        """What is kept is the rule's, the rest is put back along p."""
        right, carry = self.rule.flow(path, draft, target, slot)
        return Flow(right.kept, target * (1 - right.kept.sum(axis=-1, keepdims=True))), carry


@dataclass(frozen=True)
class Resampling:
    """A mistake: a path-state rule whose replacement is drawn from p."""

    rule: Any

    def begin(self, like: Array) -> Any:
        """The rule's."""
        return self.rule.begin(like)

    def judge(self, state: Any, draft: Array, target: Array, slot: int, tokens: Array) -> Step:
        """state [B], laws [B, V], tokens [B, K] -> the rule's step with residual p."""
        return self.rule.judge(state, draft, target, slot, tokens)._replace(residual=target)
