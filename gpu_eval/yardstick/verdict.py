"""Which divergence orders the schemes as the images do: said in words that follow from the numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_eval.yardstick.ranks import Estimate, interval

ORDERS, TIED, NONE = "orders best", "cannot be told apart", "none"


class Verdict(NamedTuple):
    """kind: one of ORDERS, TIED, NONE; best: the divergence with the highest correlation; tied: those whose correlation
    cannot be told from the best one's; behind: those that are worse; text: the same in a sentence."""

    kind: str
    best: str
    tied: list[str]
    behind: list[str]
    text: str


class Score(NamedTuple):
    """Within-level rank correlation of one divergence with quality, corrected for noise: value, resamples [R]."""

    value: float
    again: np.ndarray


def mean_score(scores: list[Score]) -> Score:
    """Over several measures of quality."""
    return Score(float(np.mean([s.value for s in scores])), np.mean([s.again for s in scores], axis=0))


def lead(best: Score, other: Score) -> Estimate:
    """How far the best is ahead of another, in the same resamples."""
    return interval(best.value - other.value, best.again - other.again, -2.0, 2.0)


def judge(scores: dict[str, Score], what: str, names: dict[str, str]) -> Verdict:
    """The verdict on divergences by name; what: the quality it is about; names: as they are said."""
    best = max(scores, key=lambda name: scores[name].value)
    shown = interval(*scores[best])
    rest = sorted((name for name in scores if name != best), key=lambda name: -scores[name].value)
    behind = [name for name in rest if lead(scores[best], scores[name]).low > 0]
    tied = [name for name in rest if name not in behind]
    figure = f"{shown.value:.2f} [{shown.low:.2f}, {shown.high:.2f}]"
    if shown.low <= 0:
        text = f"None does: even {names[best]} has a rank correlation with {what} of {figure}, not above 0 for certain."
        return Verdict(NONE, best, tied, behind, text)
    title = names[best][0].upper() + names[best][1:]
    if not tied:
        text = f"{title} orders them best: rank correlation with {what} {figure}, ahead of every other."
        return Verdict(ORDERS, best, tied, behind, text)
    text = (
        f"{title} has the highest rank correlation with {what}, {figure}, and cannot be told from "
        f"{', '.join(names[name] for name in tied)}; worse: {', '.join(names[name] for name in behind) or 'none'}."
    )
    return Verdict(TIED, best, tied, behind, text)


def trust(reliabilities: dict[str, float], least: float = 0.5) -> str:
    """Which measures of quality order the schemes too poorly to judge a yardstick by."""
    weak = [f"{name} ({value:.2f})" for name, value in reliabilities.items() if value < least]
    if not weak:
        return f"Every measure would repeat its own order with a rank correlation of at least {least:g}."
    return (
        f"Measures that would not repeat their own order (rank correlation below {least:g} with as many new images), "
        f"so that no yardstick can follow them: {', '.join(weak)}."
    )
