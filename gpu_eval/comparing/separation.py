"""Which differences between systems the images can tell from chance.

Image i of a seed has the same class and the same random numbers in every system, and images of a seed and of different
seeds are independent, so pairs (image i of A, image i of B) are independent of each other: both systems are resampled
with the same images (paired bootstrap, within each class, all seeds together), and what the shared numbers have in
common cancels.  An interval is the difference +- z bootstrap standard errors; z is widened to all pairs of systems
(Bonferroni), so that with no difference at all a false "separated" in a figure has a chance of about 5 %.
Given the tuned rules: the chance in the pilot images that tuned them is not in the interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import torch
from scipy import stats

from gpu_eval.comparing.measured import PerImage
from gpu_eval.fashion import Fashion
from gpu_eval.figures import CONFIDENCE, resampled_counts
from gpu_eval.quality.frechet import Moments, frechet_distances, resampled_statistics

METHOD = (
    f"paired bootstrap over images of all seeds, within each class; difference +- z standard errors at "
    f"{CONFIDENCE:.0%} for all pairs of a figure together"
)
MOST_SAID = 8
"""Separated pairs of a figure that are named in words."""
Figure = Callable[[PerImage, np.ndarray, Moments], np.ndarray]
"""figure(images, counts [R, n], real): the figure of each resample [R]; counts: how often each image is in it."""


def tokens_per_call(images: PerImage, counts: np.ndarray, real: Moments) -> np.ndarray:
    """sum tokens / sum calls."""
    return (counts @ images.lengths) / (counts @ images.calls)


def accuracy(images: PerImage, counts: np.ndarray, real: Moments) -> np.ndarray:
    """Share of images that the classifier gives their label."""
    return counts @ images.right / counts.sum(axis=1)


def log_likelihood(images: PerImage, counts: np.ndarray, real: Moments) -> np.ndarray:
    """Mean log-likelihood of a token under the target; -inf where some token was impossible."""
    if not np.isfinite(images.log_chances).all():
        return np.full(len(counts), -np.inf)
    return counts @ images.log_chances / counts.sum(axis=1)


def frechet_real(images: PerImage, counts: np.ndarray, real: Moments) -> np.ndarray:
    """Frechet distance of all seeds' images to real ones."""
    return frechet_distances(real, resampled_statistics(images.features, torch.from_numpy(counts))).numpy()


FIGURES: dict[str, Figure] = {
    "tokens_per_call": tokens_per_call,
    "frechet_real": frechet_real,
    "label_accuracy": accuracy,
    "log_likelihood": log_likelihood,
}


ROUNDING = 1e-6
"""Resamples whose spread is a smaller share of the figures do not vary: those of equal images, such as at temperature
0, differ by rounding alone, a Frechet distance by some 1e-8 of itself; images that are drawn vary by far more."""


class Difference(NamedTuple):
    """figure(first) - figure(second) with its interval; separated: the interval leaves 0 out.

    Without a value (a token the target never emits) or an interval (resamples that do not vary) separated is None.
    """

    figure: str
    first: str
    second: str
    value: float | None
    interval: list[float] | None
    separated: bool | None


def differences(fashion: Fashion, images: dict[str, PerImage]) -> list[Difference]:
    """Every pair of systems in every figure."""
    real = (fashion.reference.mean.double(), fashion.reference.covariance.double())
    labels = next(iter(images.values())).labels
    counts = np.concatenate([np.ones((1, len(labels))), resampled_counts(labels, seed=0)])
    pairs = list(combinations(images, 2))
    found = []
    for name, figure in FIGURES.items():
        values = {system: figure(some, counts, real) for system, some in images.items()}
        found += [difference(name, pair, values, labels, len(pairs)) for pair in pairs]
    return found


def difference(
    name: str, pair: Sequence[str], values: dict[str, np.ndarray], labels: np.ndarray, pairs: int
) -> Difference:
    """One pair; values[system] [1 + R]: the figure itself, then its resamples."""
    first, second = pair
    if not all(np.isfinite(values[system]).all() for system in pair):
        return Difference(name, first, second, None, None, None)
    gaps = values[first] - values[second]
    fewest = np.unique(labels, return_counts=True)[1].min()
    z = stats.norm.isf((1 - CONFIDENCE) / 2 / pairs)
    scale = max(abs(values[system][0]) for system in pair)
    if gaps[0] != 0 and np.ptp(gaps[1:]) <= ROUNDING * scale:  # what resampling always finds the same says nothing
        return Difference(name, first, second, float(gaps[0]), None, None)
    half = z * gaps[1:].std(ddof=1) * np.sqrt(fewest / (fewest - 1))
    low, high = float(gaps[0] - half), float(gaps[0] + half)
    return Difference(name, first, second, float(gaps[0]), [low, high], low > 0 or high < 0)


def statements(found: Sequence[Difference], short: dict[str, str]) -> list[str]:
    """One sentence a figure: who is separated from whom; the rest is not.  short: how to name each system."""
    said = []
    for name in FIGURES:
        mine = [d for d in found if d.figure == name]
        apart = [
            f"{short[d.first]} {'>' if d.value > 0 else '<'} {short[d.second]} by {abs(d.value):.3g} "
            f"[{min(map(abs, d.interval)):.3g}, {max(map(abs, d.interval)):.3g}]"
            for d in mine
            if d.separated and d.value is not None and d.interval is not None
        ]
        unknown = sum(d.value is None for d in mine)
        mute = sum(d.value is not None and d.separated is None for d in mine)
        rest = len(mine) - len(apart) - unknown - mute
        more = [f"and {len(apart) - MOST_SAID} more, in the JSON"] if len(apart) > MOST_SAID else []
        parts = [f"separated: {'; '.join([*apart[:MOST_SAID], *more]) or 'none'}"]
        parts += [f"not separated: {rest} of {len(mine)} pairs"]
        parts += [f"not comparable (tokens the target never emits): {unknown}"] if unknown else []
        parts += [f"resamples do not vary (too few or equal images): {mute}"] if mute else []
        said.append(f"{name}: {'. '.join(parts)}")
    return said
