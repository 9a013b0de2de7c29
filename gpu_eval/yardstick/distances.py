"""The divergences of every setting on the real laws, along common images of plain decoding and along its own images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gpu_eval.along import paths_along
from gpu_eval.fashion import Fashion
from gpu_eval.processing import Processing
from gpu_eval.yardstick.decoding import Tokens
from gpu_eval.yardstick.images import Work, load, save
from gpu_eval.yardstick.measures import Figure, Weights, mean_of
from gpu_eval.yardstick.settings import DECODER, Setting
from specsim.divergences import MEASURES, TARGET, Paths
from specsim.rules.grouped import Grouped

CANDIDATES = {
    "tv": "TV of the run",
    "kl": "KL(out, target)",
    "kl_reverse": "KL(target, out)",
    "token_tv": "sum of token TVs",
    "local": "sum of local errors",
    "chi2": "chi-square of the run",
    "token_chi2": "sum of token chi-squares",
    "log_ratio": "sum of largest log ratios",
    "largest": "largest ratio seen",
    "relaxed": "relaxed tokens",
    "relaxed_run": "mean relaxed run",
}
"""The yardsticks on trial.  chi2 is heavy tailed and largest only a lower bound: both are what a sample can show."""
DEAR = (Grouped,)
DEAR_SHARE = 2
"""Rules whose law takes ten times as long are followed along this many times fewer images."""


class Followed(NamedTuple):
    """A setting's paths along images of plain decoding and along its own."""

    plain: Paths
    own: Paths


def follow(work: Work, fashion: Fashion, setting: Setting, plain: Tokens, own: Tokens) -> Followed:
    """Both, each kept in a file."""
    share = DEAR_SHARE if isinstance(setting.rule, DEAR) else 1
    parts = {"plain": plain, "own": own}
    return Followed(*(kept(work, fashion, setting, name, first(some, share)) for name, some in parts.items()))


def first(images: Tokens, share: int) -> Tokens:
    """The first of them."""
    count = len(images.tokens) // share
    return Tokens(*(column[:count] for column in images))


def kept(work: Work, fashion: Fashion, setting: Setting, name: str, images: Tokens) -> Paths:
    """The paths from their file, made first if need be."""
    count = len(images.tokens)
    path = work.path(setting, count, f"along_{name}")
    if not path.exists():
        found = paths_along(fashion, Processing(), [setting.rule], DECODER.lookahead, images)[0]
        save(path, setting, found._asdict())
    arrays = load(path, setting, count)
    return Paths(*(arrays[field] for field in Paths._fields))


def divergence_figures(found: Followed, plain: Weights, own: Weights) -> dict[str, Figure]:
    """Every candidate; the weights of images of plain decoding and of the setting's own."""
    figures = {name: figure_of(found, name, plain, own) for name in CANDIDATES if name in MEASURES}
    ratio, weighed = found.plain.ratio, [(plain.again, own.again), (plain.parts, own.parts)]
    runs = [share_of(some @ found.own.relaxed, some @ found.own.relaxed_runs) for _, some in weighed]
    run = float(share_of(found.own.relaxed.sum(), found.own.relaxed_runs.sum()))
    largest = [np.where(some > 0, ratio, -np.inf).max(1, initial=-np.inf) for some, _ in weighed]
    return figures | {"relaxed_run": Figure(run, *runs), "largest": Figure(float(ratio.max()), *largest)}


def figure_of(found: Followed, name: str, plain: Weights, own: Weights) -> Figure:
    """A mean over images."""
    measure = MEASURES[name]
    paths, weights = (found.plain, plain) if measure.sample == TARGET else (found.own, own)
    return mean_of(measure.values(paths), weights)


def share_of(top: Any, bottom: Any) -> Any:
    """top / bottom, 0 where both are 0."""
    return np.divide(top, bottom, out=np.zeros_like(np.asarray(top, float)), where=np.asarray(bottom) > 0)


def in_order(figures: Sequence[dict[str, Figure]], name: str) -> tuple[np.ndarray, np.ndarray]:
    """One figure of all settings: values [settings], resamples [R, settings]."""
    some = [figure[name] for figure in figures]
    return np.array([figure.value for figure in some]), np.stack([figure.again for figure in some], axis=1)
