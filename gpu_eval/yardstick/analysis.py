"""Power, reliability, rank correlations and verdicts from the figures of all settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpu_eval.yardstick import power
from gpu_eval.yardstick.distances import CANDIDATES
from gpu_eval.yardstick.matching import to_levels
from gpu_eval.yardstick.measures import MEASURES, PRIMARY, Figure
from gpu_eval.yardstick.ranks import (
    FEWEST,
    Estimate,
    Groups,
    interval,
    kendall,
    noise_factor,
    reliability,
    spearman,
    within,
)
from gpu_eval.yardstick.results import SPLITS, Row
from gpu_eval.yardstick.verdict import Score, Verdict, judge, lead, mean_score, trust
from specsim.errors import require

UNIT = "uniform"
"""The scheme that sets the unit of a difference in quality: what it loses on average from one level to the next."""
TOGETHER = "quality"
"""All primary measures of quality together: the mean of their rank correlations."""


class Columns(NamedTuple):
    """One figure of all settings: values [S], resamples [R, S], parts [P, S]."""

    values: np.ndarray
    again: np.ndarray
    parts: np.ndarray


def columns(figures: Sequence[Figure], match: np.ndarray) -> Columns:
    """Settings side by side, brought to their levels by `match` [S, S]; as they are where one of them is infinite."""
    again, parts = (np.stack([getattr(some, name) for some in figures], axis=1) for name in ("again", "parts"))
    found = Columns(np.array([some.value for some in figures]), again, parts)
    finite = all(np.isfinite(some).all() for some in found)
    return Columns(*(some @ match.T for some in found)) if finite else found


def analyse(rows: Sequence[Row], images: int) -> dict[str, Any]:
    """Everything that is concluded; images: of each setting."""
    matched = [row for row in rows if row.setting.level is not None]
    groups = power.level_groups([row.setting.level for row in matched])
    largest = max(map(len, groups), default=0)
    require(largest >= FEWEST, "yardstick", "schemes at the same level", largest, f"at least {FEWEST}")
    match = match_of(matched)
    quality = {name: columns([row.quality[name] for row in matched], match) for name in MEASURES}
    divergences = {name: columns([row.divergences[name] for row in matched], match) for name in CANDIDATES}
    unit = [i for i, row in enumerate(matched) if row.setting.scheme == UNIT]
    repeats = {name: reliability(split_pairs(some), groups) for name, some in quality.items()}
    scores = all_scores(quality, divergences, groups, repeats)
    verdicts = {what: judge(of, said(what), CANDIDATES) for what, of in scores.items()}
    return {
        "power": {name: power_json(some, groups, images, unit) for name, some in quality.items()},
        "reliability": repeats,
        "correlations": correlations(quality, divergences, groups, scores),
        "leads": {what: leads(of, verdicts[what]) for what, of in scores.items()},
        "without": without_each(matched, quality, divergences, groups),
        "schemes": against_unit(matched, quality),
        "cost": {name: cost_check(matched, some, groups) for name, some in quality.items()},
        "verdicts": {what: verdict._asdict() for what, verdict in verdicts.items()},
        "trust": trust({MEASURES[name]: value for name, value in repeats.items()}),
    }


def match_of(rows: Sequence[Row]) -> np.ndarray:
    """What brings every figure to its level."""
    levels = [level for row in rows if (level := row.setting.level) is not None]
    return to_levels([row.setting.scheme for row in rows], levels, np.array([row.cost["value"] for row in rows]))


def said(what: str) -> str:
    """A measure in words."""
    return MEASURES.get(what, "image quality (mean over three measures)")


def split_pairs(some: Columns) -> list[tuple[np.ndarray, np.ndarray]]:
    """The halves of every split."""
    return [(some.parts[2 * i], some.parts[2 * i + 1]) for i in range(SPLITS)]


def power_json(some: Columns, groups: Groups, images: int, unit: Sequence[int]) -> dict[str, Any]:
    """Power of one measure, with what one level costs the unit scheme, and its spread between seeds."""
    effect = float(np.ptp(some.values[unit]) / (len(unit) - 1)) if len(unit) > 1 else float(np.ptp(some.values))
    seeds = power.between_seeds(some.parts[2 * SPLITS :], some.again.std(0, ddof=1))
    return power.power_of(some.values, some.again, groups, images, effect) | {"between_seeds": seeds}


def all_scores(
    quality: Mapping[str, Columns], divergences: Mapping[str, Columns], groups: Groups, repeats: Mapping[str, float]
) -> dict[str, dict[str, Score]]:
    """Within-level correlation, corrected for noise, of every divergence with the primary measures together and with
    every measure."""
    single = {
        what: {name: score(of, other, groups, noise_factor(repeats[what])) for name, other in divergences.items()}
        for what, of in quality.items()
    }
    together = {name: mean_score([single[what][name] for what in PRIMARY]) for name in divergences}
    return {TOGETHER: together, **single}


def score(one: Columns, other: Columns, groups: Groups, factor: float) -> Score:
    """Spearman within levels times the factor: the value, and of every resample."""
    value = float(within(one.values, other.values, groups))
    return Score(factor * value, factor * within(one.again, other.again, groups))


def correlations(
    quality: Mapping[str, Columns],
    divergences: Mapping[str, Columns],
    groups: Groups,
    scores: Mapping[str, Mapping[str, Score]],
) -> dict[str, dict[str, Any]]:
    """{quality: {divergence: spearman, within levels, corrected for noise, with its interval; as found, within levels:
    raw (Spearman), kendall; and over all settings: overall (Spearman)}}."""
    found: dict[str, dict[str, Any]] = {what: {} for what in scores}
    for name, other in divergences.items():
        for what, of in quality.items():
            pair = of.values, other.values
            found[what][name] = {
                "spearman": interval(*scores[what][name])._asdict(),
                "raw": float(within(*pair, groups)),
                "kendall": float(within(*pair, groups, kendall)),
                "overall": float(spearman(*pair)),
            }
        raw = {key: np.mean([found[what][name][key] for what in PRIMARY]) for key in ("raw", "kendall", "overall")}
        found[TOGETHER][name] = {"spearman": interval(*scores[TOGETHER][name])._asdict(), **raw}
    return found


def leads(scores: Mapping[str, Score], verdict: Verdict) -> dict[str, dict[str, float]]:
    """How far the best divergence is ahead of every other, with intervals."""
    best = scores[verdict.best]
    return {name: lead(best, some)._asdict() for name, some in scores.items() if name != verdict.best}


def without_each(
    rows: Sequence[Row], quality: Mapping[str, Columns], divergences: Mapping[str, Columns], groups: Groups
) -> dict[str, dict[str, Any]]:
    """For each scheme left out: the divergence with the highest correlation with the primary measures, and all values.

    Intervals take the schemes as given; this shows how much hangs on a single one.
    """
    found = {}
    for scheme in dict.fromkeys(row.setting.scheme for row in rows):
        kept = np.array([i for i, row in enumerate(rows) if row.setting.scheme != scheme])
        rest = [np.intersect1d(group, kept) for group in groups]
        if max(map(len, rest)) < FEWEST:
            continue
        values = {name: primary_value(quality, some.values, rest) for name, some in divergences.items()}
        found[scheme] = {"best": best_of(values), "spearman": values}
    return found


def against_unit(rows: Sequence[Row], quality: Mapping[str, Columns]) -> dict[str, dict[str, dict[str, float]]]:
    """For each scheme and measure: how much worse than the unit scheme it is at the same cost, mean over the levels
    that both have, with a normal interval."""
    where = {(row.setting.scheme, row.setting.level): i for i, row in enumerate(rows)}
    found: dict[str, dict[str, dict[str, float]]] = {}
    for scheme in dict.fromkeys(name for name, _ in where if name != UNIT):
        pairs = [
            (i, where[UNIT, level]) for (name, level), i in where.items() if name == scheme and (UNIT, level) in where
        ]
        if pairs:
            mine, unit = (np.array(side) for side in zip(*pairs, strict=True))
            found[scheme] = {name: gap(some, mine, unit)._asdict() for name, some in quality.items()}
    return found


def gap(some: Columns, mine: np.ndarray, unit: np.ndarray) -> Estimate:
    """Mean difference of two rows of settings, and its interval."""
    value = float((some.values[mine] - some.values[unit]).mean())
    half = 1.96 * float((some.again[:, mine] - some.again[:, unit]).mean(1).std(ddof=1))
    return Estimate(value, value - half, value + half)


def best_of(values: Mapping[str, float]) -> str:
    """The divergence with the highest value."""
    return max(values, key=lambda name: values[name])


def primary_value(quality: Mapping[str, Columns], divergence: np.ndarray, groups: Groups) -> float:
    """Within-level rank correlation of a divergence [settings] with the primary measures, their mean."""
    return float(np.mean([within(quality[what].values, divergence, groups) for what in PRIMARY]))


def cost_check(rows: Sequence[Row], some: Columns, groups: Groups) -> float:
    """Within-level rank correlation of quality with the tokens per call attained, after both are brought to the level:
    not far from 0 where imperfect matching plays no part."""
    return float(within(some.values, np.array([row.cost["value"] for row in rows]), groups))
