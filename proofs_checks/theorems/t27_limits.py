"""The band against the limit of KL of a block and against relaxed block verification, on seeded models."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from proofs_checks.frontiers.limits import KINDS, limit
from proofs_checks.frontiers.placed import Placed, place
from specsim import Lenient, Table, random_table
from specsim.laws import kl_divergence, target_mass
from specsim.rules.band import Band
from specsim.rules.block import BlockVerification
from specsim.testing.domains import Case, Domain
from specsim.testing.fields import OneOf

TOKENS = DRAFTS = 3
MODELS_TRIED = 6
HALVINGS = 14
"""Steps of the search for a strength; what that strength really keeps is what is compared."""
STRONGEST = 4096.0
WORST = 1.2
"""Largest KL/limit that is stated."""


class Rule(NamedTuple):
    """kept: E[accepted drafts]; kl: of the block's law, in nats."""

    kept: float
    kl: float


def placed(rule: Any, target: Table, draft: Table) -> Rule:
    """A rule's block in float64."""
    found: Placed = place(rule, target, draft, DRAFTS)
    return Rule(float(found.accepted), kl_divergence(found.out, target_mass(target, DRAFTS)))


def weakest(family: Callable[[Any], Any], target: Table, draft: Table, kept: float) -> Rule:
    """The weakest strength found that keeps at least so many drafts."""
    low, high = 1.0, STRONGEST
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if placed(family(middle), target, draft).kept < kept else (low, middle)
    return placed(family(high), target, draft)


class Point(NamedTuple):
    """band; block: relaxed block verification that keeps no more drafts; limit: certified, at what the band keeps."""

    band: Rule
    block: Rule
    limit: float


@lru_cache(maxsize=64)
def points(bands: Callable[[Any], Any], level: Fraction) -> tuple[Point, ...]:
    """Every seeded model, so much of the way from lossless block verification to everything."""
    found = []
    for seed in range(MODELS_TRIED):
        models = random_table(TOKENS, DRAFTS, seed), random_table(TOKENS, DRAFTS, seed + 100)
        floats = models[0].floats(), models[1].floats()
        block = weakest(relaxed, *floats, towards(floats, float(level)))
        band = weakest(bands, *floats, block.kept)
        cost = Fraction(band.kept).limit_denominator(10**9)
        bound = limit(KINDS["joint"], *models, DRAFTS, "kl").at(min(cost, Fraction(DRAFTS))).bound
        assert bound is not None
        found.append(Point(band, block, float(bound)))
    return tuple(found)


def towards(models: tuple[Table, Table], level: float) -> float:
    """Drafts kept at a level."""
    least = placed(BlockVerification(), *models).kept
    return least + level * (DRAFTS - least)


def relaxed(omega: Any) -> BlockVerification:
    """Block verification of the law of lenience."""
    return BlockVerification(Lenient(omega))


def near(case: Case, bands: Callable[[Any], Any]) -> float:
    """WORST - the largest KL/limit."""
    return WORST - max(point.band.kl / point.limit for point in points(bands, case.level))


def better(case: Case, bands: Callable[[Any], Any]) -> float:
    """KL of relaxed block verification less that of the band, which keeps no fewer drafts."""
    return min(point.block.kl - point.band.kl for point in points(bands, case.level))


LEVELS = Domain({"level": OneOf((Fraction(1, 10), Fraction(2, 5), Fraction(4, 5)))}, (3,), (3,), cost=400)
BANDS: Callable[[Any], Any] = Band
