"""How often two races with one noise agree: the formula, its lower bound, and formulas it is mistaken for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from specsim.arrays import Array


def agreement(old: Array, new: Array) -> Fraction:
    """sum_i 1 / sum_j max(p_j / p_i, q_j / q_i) over the tokens that both laws give."""
    pairs = list(zip(new, old, strict=True))
    return sum((1 / sum(max(p / a, q / b) for p, q in pairs) for a, b in pairs if a * b > 0), Fraction(0))


def jaccard(old: Array, new: Array) -> Fraction:
    """(1 - TV) / (1 + TV) = sum min(p, q) / sum max(p, q)."""
    return np.minimum(old, new).sum() / np.maximum(old, new).sum()


def least_for_most(old: Array, new: Array) -> Fraction:
    """min in the place of max."""
    pairs = list(zip(new, old, strict=True))
    return sum((1 / sum(min(p / a, q / b) for p, q in pairs) for a, b in pairs if a * b > 0), Fraction(0))


def common_only(old: Array, new: Array) -> Fraction:
    """Summed over the common tokens only, inside too."""
    common = old * new > 0
    return agreement(old[common], new[common])


def zeros_skipped(old: Array, new: Array) -> Fraction:
    """A ratio with a zero below counts as 0, so a token of one law has a term too."""
    pairs = [(p, q) for p, q in zip(new, old, strict=True) if p + q > 0]
    tops = [max(p / a if a else Fraction(0), q / b if b else Fraction(0)) for a, b in pairs for p, q in pairs]
    rows = [tops[i : i + len(pairs)] for i in range(0, len(tops), len(pairs))]
    return sum((1 / sum(row, Fraction(0)) for row in rows), Fraction(0))
