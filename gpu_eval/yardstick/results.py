"""From images and paths to the results: every figure of every setting, power, correlations, the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from gpu_eval.figures import CONFIDENCE, ratio_interval, resampled_counts
from gpu_eval.yardstick import power
from gpu_eval.yardstick.decoding import Tokens
from gpu_eval.yardstick.distances import CANDIDATES, divergence_figures, follow
from gpu_eval.yardstick.images import POOL_SEEDS, Work, complete_seeds, load, pool_seeds, save, tokens_of
from gpu_eval.yardstick.judging import Judges, features_of, judged_block, together
from gpu_eval.yardstick.measures import MEASURES, Figure, Weights, Yard, diversity, measured, sample_of, yard_of
from gpu_eval.yardstick.settings import PLAIN, Setting
from specsim.errors import SpecsimError

RESAMPLES = 300
SPLITS = 10
OWN, ALONG_PLAIN, ALONG_OWN = 0, 1, 2
"""Seeds of the resamples of three independent sets: images, images of plain decoding that rules are followed along,
a setting's own images that its rule is followed along."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Job:
    """What is analysed.  along: images of plain decoding, and of the setting's own, that a rule is followed along."""

    work: Work
    settings: tuple[Setting, ...]
    seeds: int
    pool: int
    along: int


@dataclass(frozen=True)
class Row:
    """Everything of one setting."""

    setting: Setting
    cost: dict[str, Any]
    quality: dict[str, Figure]
    divergences: dict[str, Figure]
    diversity: dict[str, float]


def rows_of(job: Job, judges: Judges, progress: Progress) -> list[Row]:
    """Judge and follow what is not yet, and put it together; only seeds that every setting has."""
    seeds = complete_seeds(job.work, job.settings, job.seeds)
    if not seeds or not pool_seeds(job.work, job.pool):
        raise SpecsimError(
            f"{job.work.folder} holds no seed of all {len(job.settings)} settings, or no pool: decode more"
        )
    labels = tokens_of(job.work, job.settings[0], seeds[0]).labels
    everything = np.tile(labels, len(seeds))
    parts = np.concatenate([power.halves(everything, SPLITS), power.seed_parts(len(seeds), len(labels))])
    weights = Weights(resampled_counts(everything, OWN, RESAMPLES), parts)
    yard, rows = yard_from(job, judges), []
    for number, setting in enumerate(job.settings):
        rows.append(row_of(job, judges, setting, seeds, weights, yard))
        progress(number + 1, len(job.settings))
    return rows


def row_of(job: Job, judges: Judges, setting: Setting, seeds: Sequence[int], weights: Weights, yard: Yard) -> Row:
    """One setting."""
    found = [tokens_of(job.work, setting, seed) for seed in seeds]
    tokens, calls = (np.concatenate([getattr(some, name) for some in found]) for name in ("tokens", "calls"))
    judged = together([judged_block(job.work, judges, setting, seed) for seed in seeds])
    cost = ratio_interval(np.full(len(calls), tokens.shape[1]), calls)
    quality = measured(judged, np.concatenate([some.labels for some in found]), weights, yard)
    return Row(setting, cost, quality, distances(job, judges, setting, found[0]), diversity(tokens))


def distances(job: Job, judges: Judges, setting: Setting, own: Tokens) -> dict[str, Figure]:
    """The divergences; none for plain decoding, which has no rule."""
    if setting.rule is None:
        return {}
    plain = tokens_of(job.work, PLAIN, POOL_SEEDS)
    sides = [Tokens(*(column[: job.along] for column in some)) for some in (plain, own)]
    found = follow(job.work, judges.fashion, setting, *sides)
    pairs = zip((found.plain, found.own), (plain, own), (ALONG_PLAIN, ALONG_OWN), strict=True)
    return divergence_figures(found, *(weights_of(len(some.ratio), of.labels, seed) for some, of, seed in pairs))


def weights_of(count: int, labels: np.ndarray, seed: int) -> Weights:
    """Of the first `count` images; divergences are not looked at in parts."""
    return Weights(resampled_counts(labels[:count], seed, RESAMPLES), np.zeros((0, count)))


def yard_from(job: Job, judges: Judges) -> Yard:
    """What all settings are measured against."""
    seeds = pool_seeds(job.work, job.pool)
    plain = np.concatenate([pool_features(job.work, judges, seed) for seed in seeds])
    labels = np.tile(tokens_of(job.work, PLAIN, seeds[0]).labels, len(seeds))
    reference = judges.fashion.reference
    real = features_of(judges.fashion, reference.tokens.numpy())
    return yard_of(sample_of(plain, labels), sample_of(real, reference.labels.numpy()), reference)


def pool_features(work: Work, judges: Judges, seed: int) -> np.ndarray:
    """Features of one block of the pool, kept in a file."""
    path = work.path(PLAIN, seed, "features")
    if not path.exists():
        save(path, PLAIN, {"features": features_of(judges.fashion, tokens_of(work, PLAIN, seed).tokens)})
    return load(path, PLAIN, work.images)["features"]


def settings_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Every setting with its figures."""
    return [
        {
            "name": row.setting.name,
            "scheme": row.setting.scheme,
            "level": row.setting.level,
            "decoder": repr(row.setting.decoder),
            "rule": None if row.setting.rule is None else repr(row.setting.rule),
            "tokens_per_call": row.cost,
            "quality": {name: figure_json(row.quality[name]) for name in MEASURES},
            "divergences": {name: figure_json(row.divergences[name]) for name in CANDIDATES if row.divergences},
            **row.diversity,
        }
        for row in rows
    ]


def figure_json(figure: Figure) -> dict[str, Any]:
    """Value, bootstrap standard error and the normal interval; neither where a resample is infinite."""
    if not np.isfinite([figure.value, *figure.again]).all():
        return {"value": figure.value, "error": None, "interval": None}
    error, z = float(figure.again.std(ddof=1)), float(stats.norm.isf((1 - CONFIDENCE) / 2))
    return {"value": figure.value, "error": error, "interval": [figure.value - z * error, figure.value + z * error]}
