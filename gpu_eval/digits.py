"""Handwritten digits as a second source of real laws: counted, so every law is an exact fraction.

The data are scikit-learn's copy of the test set of "Optical Recognition of Handwritten Digits" (Alpaydin and Kaynak
1998, UCI Machine Learning Repository, CC BY 4.0): 1,797 pictures of 8 x 8 pixels with grey values 0 (white) to 16.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from sklearn.datasets import load_digits

from gpu_eval.tabulate.plan import Progress, TablePlan, Tabulated
from specsim.tables import table

GREYS = 17
WHAT = (
    "Grey values g = 0..16 of the 8 x 8 pictures become levels floor(g vocab / 17), of equal width: half of all pixels "
    "are 0, so levels of equal use would split nothing else than the rest. A sequence is `length` pixels in raster "
    "order from pixel `start`. Target: the law of the next level given all earlier levels of the sequence, from the "
    "counts of all pictures with one added to each (additive smoothing). Draft: the same given the one level before, "
    "from all pairs of raster neighbours at any place in the pictures, and for the first token from all pixels: it "
    "does not know where it is. Data: scikit-learn's copy of UCI's Optical Recognition of Handwritten Digits."
)


def tabulate_digits(plan: TablePlan, progress: Progress = None) -> Tabulated:
    """The tables of a plan in which `start` is given; a label restricts the pictures to one class."""
    assert plan.start is not None
    greys = pictures(plan.label)
    levels = greys * plan.vocab // GREYS
    window = levels[:, plan.start : plan.start + plan.length]
    target = [smoothed(counts) for counts in prefix_counts(window, plan.vocab)]
    draft = list(draft_levels(levels, plan.vocab, plan.length))
    if progress is not None:
        progress(plan.laws, plan.laws)
    codebook = [[float(mean)] for mean in level_means(greys, levels, plan.vocab)]
    about = {
        "what": WHAT,
        "numbers": "fractions of counts, not rounded",
        "codebook": "the mean grey value of the pixels of each level",
        "pictures": len(greys),
        "group_sizes": np.bincount(np.arange(GREYS) * plan.vocab // GREYS).tolist(),
        "group_use": (np.bincount(window.ravel(), minlength=plan.vocab) / window.size).round(6).tolist(),
    }
    return Tabulated(table(target, codebook, plan.vocab), table(draft, codebook, plan.vocab), about)


def pictures(label: int | None = None) -> np.ndarray:
    """Grey values [M, 64] of all pictures, or of those of one class."""
    data = load_digits()
    greys = data.data.astype(np.int64)
    return greys if label is None else greys[data.target == label]


def prefix_counts(window: np.ndarray, vocab: int) -> Iterator[np.ndarray]:
    """window [M, N] -> per position n, how often each level follows each prefix, [V**n, V]."""
    code = np.zeros(len(window), dtype=np.int64)
    for n in range(window.shape[1]):
        code = code * vocab + window[:, n]
        yield np.bincount(code, minlength=vocab ** (n + 1)).reshape(-1, vocab)


def smoothed(counts: np.ndarray) -> list[list[Fraction]]:
    """(count + 1) / (total + V), row by row of counts [R, V]."""
    return [[Fraction(count + 1, sum(row) + len(row)) for count in row] for row in counts.tolist()]


def draft_levels(levels: np.ndarray, vocab: int, length: int) -> Iterator[list[list[Fraction]]]:
    """The draft's laws after n = 0..length - 1 tokens, from levels [M, 64] of whole pictures."""
    yield smoothed(np.bincount(levels.ravel(), minlength=vocab)[None])
    pairs = levels[:, :-1] * vocab + levels[:, 1:]
    after = smoothed(np.bincount(pairs.ravel(), minlength=vocab**2).reshape(vocab, vocab))
    for n in range(1, length):
        yield after * vocab ** (n - 1)


def level_means(greys: np.ndarray, levels: np.ndarray, vocab: int) -> np.ndarray:
    """Mean grey value of the pixels of each level, [V].  Every level occurs: every grey value does, in any class."""
    return np.array([greys[levels == level].mean() for level in range(vocab)])
