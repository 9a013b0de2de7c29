"""Fuzzy speculative decoding: everything is kept where draft and target are close, else strict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from specsim.arrays import Array, column, from_floats, namespace, number
from specsim.errors import require_number
from specsim.rules.lenient import MOST
from specsim.strength import Strength
from specsim.verification import Verdict, capped_ratio, standard_residual


def terms(weights: Array, numerator: Array, denominator: Array) -> Array:
    """sum w log(a/b) over the last axis, of the terms with w > 0 and b > 0."""
    xp = namespace(weights)
    one, counts = xp.ones_like(weights), (weights > 0) & (denominator > 0)
    # A difference of logarithms: the quotient can be beyond the largest number.
    logs = xp.log(xp.where(counts, numerator, one)) - xp.log(xp.where(counts, denominator, one))
    return xp.sum(weights * logs, axis=-1)


def kl_on_shared(laws: Array) -> Array:
    """sum p log(p/q) over q > 0, laws = (p, q) stacked: KL(p, q) where q > 0 on the support of p."""
    return terms(laws[0, ...], laws[0, ...], laws[1, ...])


def js(laws: Array) -> Array:
    """JS(p, q) = KL(p, m)/2 + KL(q, m)/2, m = (p + q)/2, laws = (p, q) stacked."""
    middle = (laws[0, ...] + laws[1, ...]) / 2
    return (terms(laws[0, ...], laws[0, ...], middle) + terms(laws[1, ...], laws[1, ...], middle)) / 2


def within(threshold: float, function: Any, target: Array, draft: Array) -> Array:
    """Where a divergence of laws [..., V] in nats is <= threshold, bool [...]; exact laws go through float64 once.

    It is 0 of equal laws alone: rounding could not tell them from close ones.
    """
    xp = namespace(target)
    if threshold == 0:
        return xp.all(target == draft, axis=-1)
    return from_floats(function, xp.stack([target, draft])) <= number(threshold, target)


def keep_all_where(close: Array, draft: Array, target: Array) -> Verdict:
    """All drafts kept where close [...], strict elsewhere; G = norm[p - q]+."""
    everything = namespace(draft).where(column(close, target), target + draft, target)
    return Verdict(capped_ratio(everything, draft), standard_residual(draft, target))


@dataclass(frozen=True)
class FuzzyKL:
    """b = 1 if KL(p, q) <= threshold, else min(1, p/q); G = norm[p - q]+.  Biased, on the line.

    KL of the target from the draft, in nats; infinite, so strict, where the target emits what the draft never does.
    Not masked: within the threshold the draft's own tokens are kept, whatever p says.  Exact laws take KL in float64
    and convert it once.
    Source: FSD (arXiv 2502.20704); its thresholds are tuned to each pair of models, the default here is ours.
    [holsman2025fuzzy]
    """

    strength: ClassVar[Strength] = Strength("threshold", 0.0, MOST)
    threshold: float = 0.5

    def __post_init__(self) -> None:
        require_number("FuzzyKL", "threshold", self.threshold, 0, MOST)

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        rounded = from_floats(lambda law: law, draft)  # what float64 takes for 0 is 0 to the logarithm too
        finite = namespace(draft).all((rounded > 0) | (target == 0), axis=-1)
        close = within(self.threshold, kl_on_shared, target, draft)
        return keep_all_where(finite & close, draft, target)


@dataclass(frozen=True)
class FuzzyJS:
    """b = 1 if JS(p, q) <= threshold, else min(1, p/q); G = norm[p - q]+.  Biased, on the line.

    JS in nats, at most log 2.  Not masked: within the threshold the draft's own tokens are kept, whatever p says.
    Exact laws take JS in float64 and convert it once.
    Source: FSD (arXiv 2502.20704); its thresholds are tuned to each pair of models, the default here is ours.
    [holsman2025fuzzy]
    """

    strength: ClassVar[Strength] = Strength("threshold", 0.0, 1.0)
    threshold: float = 0.1

    def __post_init__(self) -> None:
        require_number("FuzzyJS", "threshold", self.threshold, 0, MOST)

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        return keep_all_where(within(self.threshold, js, target, draft), draft, target)
