"""Rules as curves: what a rule costs and how far its output is from the target, at every strength."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from proofs_checks.frontiers.divergences import DIVERGENCES
from proofs_checks.frontiers.placed import place
from specsim.arrays import Array
from specsim.comparing.lineup import has_strength
from specsim.comparing.tuning import ROUNDING, Effort, between, tune
from specsim.decoders import Chain
from specsim.divergences import along
from specsim.exact_laws import BUDGET
from specsim.exact_laws import exact as exact_law
from specsim.laws import Law, target_mass
from specsim.rules.codebooks import bind_codebook
from specsim.strength import strength_of, with_strength
from specsim.tables import Table
from specsim.verification import judges_blocks

COARSE = 9
"""Strengths looked at before the gaps between them are split."""
NARROWEST = 1e-9
"""Gap between two shares of a strength's range that is not split again: what still differs there is a jump."""
TRIES = 40
"""Strengths looked at for each point asked for: a jump takes 30, and where a divergence changes at one cost, no number
of them would be enough."""
DIGITS = 6
"""Digits of the strengths of a curve."""
SAME_COST = Effort(slack=1e-4)
"""Rules tuned to costs this close are called equal; each is held against the limit at its own exact cost."""


class Spot(NamedTuple):
    """A rule at one strength (None: it has none).  cost, value: Fractions or floats; value may be infinite."""

    rule: Any
    strength: float | None
    cost: Any
    value: Any


@dataclass(frozen=True)
class Setting:
    """What is decoded, and how it is judged.

    length None: one block of `lookahead` drafts, whose cost is E[accepted drafts]; else a run of `length` tokens, whose
    cost is E[target calls].  divergence: a name of DIVERGENCES.
    """

    target: Table
    draft: Table
    lookahead: int
    length: int | None
    divergence: str
    budget: int = BUDGET

    @property
    def run(self) -> bool:
        """A whole run, not one block."""
        return self.length is not None

    def floats(self) -> Setting:
        """The same in float64."""
        return replace(self, target=self.target.floats(), draft=self.draft.floats())

    def measure(self, rule: Any) -> tuple[Any, Any]:
        """(cost, divergence) of a rule."""
        return self.of_run(rule) if self.run else self.of_block(rule)

    def of_block(self, rule: Any) -> tuple[Any, Any]:
        """One block."""
        placed = place(rule, self.target, self.draft, self.lookahead)
        of = DIVERGENCES[self.divergence].of
        return placed.accepted, placed.local if of is None else of(placed.out, self.wanted(self.lookahead))

    def of_run(self, rule: Any) -> tuple[Any, Any]:
        """A whole run of a chain."""
        law = exact_law(Chain(self.lookahead), self.target, self.draft, rule, self.length, budget=self.budget)
        of = DIVERGENCES[self.divergence].of
        return law.calls, self.local_errors(rule, law) if of is None else of(law.mass, self.wanted(law.length))

    def wanted(self, length: int) -> Array:
        """The law of plain decoding."""
        return target_mass(self.target, length)

    def local_errors(self, rule: Any, law: Law) -> Any:
        """The sum of the local errors over the rounds of a run: its mean over all that the run can put out."""
        tokens = np.indices((law.vocab,) * law.length).reshape(law.length, -1).T
        start = np.zeros(len(tokens), dtype=np.int64)
        target, draft = (model(tokens, start, law.length) for model in (self.target, self.draft))
        bound = bind_codebook(rule, self.target.codebook)
        return (law.mass * along(bound, target, draft, tokens, self.lookahead).local).sum()


@dataclass(frozen=True)
class Curve:
    """A rule's spots, weak to strong (only `given` for a rule without strength).  given: at the strength it came with.

    kind: the limit that it is held against.
    """

    rule: Any
    given: Spot
    spots: tuple[Spot, ...]
    kind: str

    @property
    def is_point(self) -> bool:
        """Nothing changes along its strength, or it has none."""
        costs = [float(spot.cost) for spot in self.spots]
        return max(costs) - min(costs) <= ROUNDING


def held_against(setting: Setting, rule: Any) -> str:
    """The limit that bounds a rule: one that judges whole blocks looks further ahead than a sequential one."""
    if setting.run:
        return "joint-run" if judges_blocks(rule) else "run"
    return "joint" if judges_blocks(rule) else "block"


class Seen:
    """The spots of one rule, each measured once."""

    def __init__(self, setting: Setting, rule: Any) -> None:
        self.setting, self.rule, self.spots = setting, rule, dict[str, Spot]()

    def of(self, rule: Any, value: float | None = None) -> Spot:
        """The rule at some strength, whose value it may be told."""
        name = repr(rule)
        if name not in self.spots:
            self.spots[name] = Spot(rule, value, *self.setting.measure(rule))
        return self.spots[name]

    def along(self, points: int) -> list[Spot]:
        """About `points` spots, weak to strong: the widest gap of cost or divergence is split until there are."""
        strength = strength_of(self.rule)

        def spot(share: float) -> Spot:
            value = between(strength, share)
            value = value if strength.whole else rounded(value, strength.weakest, strength.strongest)
            return self.of(with_strength(self.rule, value), value)

        found = {share: spot(share) for share in (i / (COARSE - 1) for i in range(COARSE))}
        while distinct(found.values()) < points and len(found) < TRIES * points:
            if (share := widest(found)) is None:
                break
            found[share] = spot(share)
        return [found[share] for share in sorted(found)]

    def tuned(self, goal: float) -> tuple[Any, float] | None:
        """The rule at the strength that costs `goal`, and that strength; None where no strength does.

        At a jump the side that lies nearer is taken: it is held against the limit at its own cost.
        """
        found = tune(lambda rule: float(self.of(rule).cost), self.rule, goal, SAME_COST)
        best = min(found.points, key=lambda point: abs(point.cost - goal), default=None)
        return None if best is None else (best.rule, best.value)


def rounded(value: float, *ends: float) -> float:
    """A strength with few digits, still within its range."""
    return min(max(float(f"{value:.{DIGITS}g}"), float(min(ends))), float(max(ends)))


def distinct(spots: Any) -> int:
    """How many different costs there are."""
    return len({round(float(spot.cost), 9) for spot in spots})


def widest(found: dict[float, Spot]) -> float | None:
    """The middle of the gap across which most happens, None when nothing can be split."""
    gaps = list(gap_widths(sorted(found), found))
    width, middle = max(gaps, default=(0.0, 0.0))
    return middle if width > ROUNDING else None


def gap_widths(shares: list[float], found: dict[float, Spot]) -> Iterator[tuple[float, float]]:
    """(how much changes, middle) of every gap that can be split; cost and divergence relative to their spans.

    A figure whose span is rounding does not change: relative to it, every gap would be wide.
    """
    spans = [span([float(figure(found[share])) for share in shares]) for figure in FIGURES]
    for one, other in pairwise(shares):
        if other - one > NARROWEST and found[one].strength != found[other].strength:
            changes = (change(figure, found[one], found[other]) for figure in FIGURES)
            yield sum(c / s for c, s in zip(changes, spans, strict=True) if s > ROUNDING), (one + other) / 2


FIGURES: tuple[Callable[[Spot], Any], ...] = (lambda spot: spot.cost, lambda spot: spot.value)


def span(values: list[float]) -> float:
    """From the least to the greatest finite value; 0 where there is none."""
    finite = [value for value in values if math.isfinite(value)]
    return max(finite) - min(finite) if finite else 0.0


def change(figure: Callable[[Spot], Any], one: Spot, other: Spot) -> float:
    """How far a figure moves between two spots; 0 where it is not finite."""
    gap = abs(float(figure(one)) - float(figure(other)))
    return gap if math.isfinite(gap) else 0.0


def curve(setting: Setting, rule: Any, points: int) -> Curve:
    """A rule along its strength."""
    given = Spot(rule, None, *setting.measure(rule))
    if not has_strength(rule):
        return Curve(rule, given, (given,), held_against(setting, rule))
    strength, given = strength_of(rule), given._replace(strength=value_of(rule))
    spots = [spot for spot in Seen(setting, rule).along(points) if spot.rule != rule]
    if given.strength is not None:
        toward = 1 if strength.strongest > strength.weakest else -1
        spots = sorted([*spots, given], key=lambda spot: toward * (spot.strength or 0))
    return Curve(rule, given, tuple(spots), held_against(setting, rule))


def value_of(rule: Any) -> float | None:
    """The strength that a rule has, or the rule inside it; None where it does not say."""
    field = strength_of(rule).field
    while rule is not None and not hasattr(rule, field):
        rule = getattr(rule, "rule", None)
    return getattr(rule, field, None)
