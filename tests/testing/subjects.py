"""Rules and decoders that keep each claim, and mutants that break it: plausible mistakes, at least one for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from specsim import (
    Additive,
    AdditiveUnmasked,
    Annealed,
    Autoregressive,
    Chain,
    Ensemble,
    Jacobi,
    LanternPlus,
    Lenient,
    Optimal,
    Race,
    RelaxedBonus,
    Strict,
    Typical,
    Verdict,
    optimal_residual,
)
from specsim.arrays import number, positive_part
from specsim.decoding import Round
from specsim.strength import Strength
from specsim.verification import capped_ratio
from tests.known_bad import (
    OnlyDraftedToken,
    ResampleTarget,
    SharedUniform,
    Threshold,
    VanillaLenient,
)

Rule = Callable[[Any, Any, Any], Verdict]


def above_one(draft: Any, target: Any, position: Any) -> Verdict:
    """The ratio p/q without its cap."""
    return Verdict(target / np.where(draft > 0, draft, number(1, draft)), target)


def unnormalised(draft: Any, target: Any, position: Any) -> Verdict:
    """[p - q b]+ in place of its norm."""
    accept = Strict()(draft, target, position).accept
    return Verdict(accept, positive_part(target - draft * accept))


def negative(draft: Any, target: Any, position: Any) -> Verdict:
    """p - q in place of its positive part."""
    return Verdict(Strict()(draft, target, position).accept, target - draft)


def of_the_batch(draft: Any, target: Any, position: Any) -> Verdict:
    """A residual averaged over the batch: right for one block alone."""
    accept, residual = Strict()(draft, target, position)
    return Verdict(accept, residual.sum(axis=0, keepdims=True) / number(len(residual), residual) + 0 * residual)


def late(draft: Any, target: Any, position: Any) -> Verdict:
    """Strict in the first slots only."""
    early, loose = Strict()(draft, target, position), Lenient(2)(draft, target, position)
    return Verdict(*(np.where((position < 7)[..., None], a, b) for a, b in zip(early, loose, strict=True)))


def in_logarithms(draft: Any, target: Any, position: Any) -> Verdict:
    """Strict, through logarithms of floats: no Fractions."""
    with np.errstate(divide="ignore"):
        accept = np.minimum(1.0, np.where(draft > 0, np.exp(np.log(target) - np.log(np.where(draft > 0, draft, 1))), 1))
    return Verdict(accept, optimal_residual(draft, target, accept))


@dataclass(frozen=True)
class Turned:
    """A strength whose ends are the wrong way round, or a field that is read upside down."""

    strength: ClassVar[Strength] = Strength("caution", 0.0, 1.0)
    caution: float = 0.5

    def __call__(self, draft: Any, target: Any, position: Any) -> Verdict:
        accept = capped_ratio((2 - number(self.caution, target)) * target, draft)
        return Verdict(accept, optimal_residual(draft, target, accept))


@dataclass(frozen=True)
class Squared:
    """Lenience that counts its factor twice."""

    omega: float = 1.5

    def __call__(self, draft: Any, target: Any, position: Any) -> Verdict:
        accept = capped_ratio(number(self.omega, target) ** 2 * target, draft)
        return Verdict(accept, optimal_residual(draft, target, accept))


@dataclass(frozen=True)
class Counting:
    """A decoder whose rounds are counted wrongly."""

    count: Callable[[Round], Round]
    inner: Any = Chain(2)
    needs_draft: ClassVar[bool] = True
    takes_rule: ClassVar[bool] = True

    def start(self, task: Any, rows: Any, choose: Any) -> Any:
        return self.inner.start(task, rows, choose)

    def step(self, state: Any, choose: Any, task: Any) -> tuple[Any, Round]:
        state, counts = self.inner.step(state, choose, task)
        return state, self.count(counts)


@dataclass(frozen=True)
class Dropping:
    """A chain that throws a first token 1 away and tries again: it makes calls that end with nothing."""

    needs_draft: ClassVar[bool] = True
    takes_rule: ClassVar[bool] = True
    lookahead: int = 2

    def start(self, task: Any, rows: Any, choose: Any) -> Any:
        return Chain(2).start(task, rows, choose)

    def step(self, state: Any, choose: Any, task: Any) -> tuple[Any, Round]:
        after, counts = Chain(2).step(state, choose, task)
        again = (counts.kept == 0) & (after.tokens[:, 0] == 1) & (after.length == 1)
        return after._replace(length=np.where(again, 0, after.length), tokens=after.tokens * ~again[:, None]), counts


@dataclass(frozen=True)
class Modest(Counting):
    """A chain of two drafts that says it drafts one."""

    count: Callable[[Round], Round] = lambda counts: counts
    lookahead: int = 1


def bonus_is_a_draft(counts: Round) -> Round:
    """The added token is counted as an accepted draft."""
    return counts._replace(kept=counts.kept + 1)


def nothing_drafted(counts: Round) -> Round:
    """Drafts that were verified are forgotten."""
    return counts._replace(drafted=0 * counts.drafted)


def judged_once(counts: Round) -> Round:
    """The slot of a rejection is counted, the kept ones before it are not."""
    return counts._replace(reached=np.minimum(counts.reached, 1))


KEEPS: dict[tuple[str, str], list[Any]] = {
    ("valid", "rule"): [Strict(), Lenient(0.5), LanternPlus(), OnlyDraftedToken(), in_logarithms],
    ("lossless", "rule"): [Strict(), Lenient(0.5), Annealed(delta=0.5, clamp=False), Optimal(VanillaLenient())],
    ("on-line", "rule"): [Strict(), Lenient(1.3), Ensemble(), AdditiveUnmasked(), in_logarithms],
    ("support", "rule"): [Strict(), Additive(), Typical(), LanternPlus()],
    ("optimal-residual", "rule"): [Lenient(0.5), Lenient(2), Optimal(LanternPlus())],
    ("at-least-strict", "rule"): [Strict(), Lenient(1.3), LanternPlus(), ResampleTarget()],
    ("never-above-strict", "rule"): [Strict(), VanillaLenient(0.5)],
    ("monotone", "rule"): [Lenient(), Ensemble(), Typical(), LanternPlus(), Optimal(LanternPlus())],
    ("bounded-ratio", "rule"): [Lenient(2), Lenient(0.5)],
    ("lossless", "decoder"): [Autoregressive(), Chain(2), RelaxedBonus(1), Jacobi(2, "gumbel"), Race(Jacobi(2))],
    ("race-equal", "decoder"): [Race(), Race(Chain(2)), Race(Jacobi(2, tail="onehot"))],
    ("accounting", "decoder"): [Autoregressive(), Chain(2), RelaxedBonus(1), Jacobi(2, "maximal"), Race(Chain(1))],
    ("bounded-calls", "decoder"): [Autoregressive(), Chain(2), RelaxedBonus(1), Jacobi(2), Race(Jacobi(1))],
}
"""(claim, kind) -> subjects of which it holds."""

BREAKS: dict[tuple[str, str], list[Any]] = {
    ("valid", "rule"): [above_one, unnormalised, negative],
    ("lossless", "rule"): [
        VanillaLenient(), ResampleTarget(), OnlyDraftedToken(), SharedUniform(), Threshold(), Lenient(1.1), late,
    ],
    ("on-line", "rule"): [Lenient(0.5), VanillaLenient(), ResampleTarget(), Threshold()],
    ("support", "rule"): [AdditiveUnmasked(), Ensemble()],
    ("optimal-residual", "rule"): [VanillaLenient(), ResampleTarget()],
    ("at-least-strict", "rule"): [Lenient(0.9), Threshold(), SharedUniform()],
    ("never-above-strict", "rule"): [Lenient(1.1), Additive(), late],
    ("monotone", "rule"): [Turned()],
    ("bounded-ratio", "rule"): [Squared()],
    ("lossless", "decoder"): [
        Jacobi(2, "maximal_stale"), Dropping(),
    ],
    ("race-equal", "decoder"): [Chain(2), Jacobi(2, "maximal_stale")],
    ("accounting", "decoder"): [Counting(bonus_is_a_draft), Counting(nothing_drafted), Counting(judged_once)],
    ("bounded-calls", "decoder"): [Dropping(), Modest()],
}  # fmt: skip
"""(claim, kind) -> mutants that break it."""
