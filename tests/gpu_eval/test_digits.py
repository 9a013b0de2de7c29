"""The digits as a source of laws: counted, levels of equal width."""

import collections
import itertools
from fractions import Fraction

import pytest
from sklearn.datasets import load_digits

from gpu_eval.digits import pictures
from gpu_eval.tabulate.plan import TablePlan
from gpu_eval.tabulate.sources import tabulate


@pytest.mark.parametrize(("vocab", "length", "start", "label"), [(3, 4, 26, None), (17, 2, 62, None), (2, 5, 0, 7)])
def test_digits_are_counted(vocab, length, start, label):
    done = tabulate(TablePlan("digits", vocab, length, start=start, label=label))
    levels = [[grey * vocab // 17 for grey in picture] for picture in pictures(label).tolist()]
    after, pairs = collections.Counter(), collections.Counter()
    for picture in levels:
        after.update(tuple(picture[start : start + n]) for n in range(1, length + 1))
        pairs.update(itertools.pairwise(picture))
        pairs.update(picture)
    prefixes = [prefix for n in range(length) for prefix in itertools.product(range(vocab), repeat=n)]
    for row, prefix in enumerate(prefixes):
        seen = [after[(*prefix, v)] for v in range(vocab)]
        assert done.target.laws[row].tolist() == [Fraction(c + 1, sum(seen) + vocab) for c in seen]
        seen = [pairs[(prefix[-1], v) if prefix else v] for v in range(vocab)]
        assert done.draft.laws[row].tolist() == [Fraction(c + 1, sum(seen) + vocab) for c in seen]


def test_digits_of_one_class():
    data = load_digits()
    assert (pictures() == data.data).all()
    for label in range(10):
        assert (pictures(label) == data.data[data.target == label]).all()


def test_levels_of_digits_have_their_mean_grey():
    done = tabulate(TablePlan("digits", 17, 1))
    assert done.target.codebook == [[float(grey)] for grey in range(17)]
    three = [mean for (mean,) in tabulate(TablePlan("digits", 3, 1)).target.codebook]
    assert 0 < three[0] < 6 <= three[1] < 12 <= three[2] <= 16
