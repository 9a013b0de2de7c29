"""A point of a limit, solved and certified, of a program built before.

Goals on 2 idle cores: block of V=3 L=4 under 0.1 s, block of V=8 L=3 under 5 s, run of V=3 N=7 L=4 under 5 s.
On a machine that is busy, `--benchmark-timer=time.process_time` counts the work alone.
"""

from fractions import Fraction
from itertools import count

import pytest

from proofs_checks.frontiers.divergences import DIVERGENCES
from proofs_checks.frontiers.limits import KINDS, limit
from specsim import random_table

SHAPES = {
    "block V3 L4": ("block", 3, 4, 4),
    "joint V3 L4": ("joint", 3, 4, 4),
    "block V8 L3": ("block", 8, 3, 3),
    "joint V8 L3": ("joint", 8, 3, 3),
    "run V3 N7 L4": ("run", 3, 4, 7),
    "free-run V3 N7 L4": ("free-run", 3, 4, 7),
}
DEAREST = 8
"""Costs start here, in parts of the range from its dear end, and get cheaper by a part a round."""


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("shape", SHAPES)
def test_point(benchmark, shape, divergence):
    kind, vocab, lookahead, length = SHAPES[shape]
    some = limit(KINDS[kind], random_table(vocab, length, 1), random_table(vocab, length, 2), lookahead, divergence)
    (least, greatest), rounds = some.range(), count()

    def next_cost():
        away = (greatest - least) * Fraction(1, DEAREST) * (1 + Fraction(next(rounds), 4))
        return (greatest - away if KINDS[kind].cost == "accepted" else least + away,), {}

    point = benchmark.pedantic(some.at, setup=next_cost, rounds=3, warmup_rounds=1, iterations=1)
    assert point.note == ""
