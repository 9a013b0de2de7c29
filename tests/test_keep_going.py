"""Rows whose laws are no laws are given up one by one; the others decode as if nothing had happened."""

from typing import Any

import numpy as np
import pytest

from specsim import Autoregressive, Chain, Jacobi, Lenient, Race, Strict, random_table, sample
from specsim.errors import SpecsimError
from specsim.verification import Verdict

ROWS, BAD, AT = 5, (1, 3), (2, 4)
"""Rows that go wrong, and the positions at which they do."""
DECODERS = [Autoregressive(), Chain(2), Jacobi(3), Jacobi(3, "maximal"), Race(Jacobi(2))]


class Wrong:
    """A model whose laws are wrong in some rows from some position on."""

    def __init__(self, value: float, bad: tuple[int, ...] = BAD) -> None:
        self.model, self.value, self.bad = random_table(3, 6, seed=1).floats(), value, bad
        self.vocab, self.length, self.uniform, self.codebook = 3, 6, self.model.uniform, None

    def __call__(self, tokens: Any, start: Any, count: int) -> Any:
        laws = np.array(self.model(tokens, start, count))
        position = start[:, None] + np.arange(count)
        for row, at in zip(self.bad, AT, strict=False):
            laws[row, position[row] >= at, 0] = self.value
        return laws


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.5, 7.0])
@pytest.mark.parametrize("decoder", DECODERS, ids=repr)
def test_the_other_rows_go_on(decoder: Any, value: float) -> None:
    draft = random_table(3, 6, seed=2).floats() if decoder.needs_draft else None
    with np.errstate(invalid="ignore"):
        found = sample(decoder, Wrong(value), draft, rows=ROWS, seed=4, keep_going=True)
        with pytest.raises(SpecsimError, match=r"target model: the law of row \d, position"):
            sample(decoder, Wrong(value), draft, rows=ROWS, seed=4)
    right = sample(decoder, Wrong(value, ()), draft, rows=ROWS, seed=4)
    others = [row for row in range(ROWS) if row not in BAD]
    assert (found.tokens[others] == right.tokens[others]).all() and (found.calls[others] == right.calls[others]).all()
    assert [fault.row for fault in found.faults] == list(BAD)
    for fault, at in zip(found.faults, AT, strict=True):
        assert fault.position == at and f"row {fault.row}, position {at}" in fault.what and "entries from" in fault.what
    assert right.faults == ()


def test_a_row_whose_verdict_is_wrong_is_given_up_too() -> None:
    class Overdone(Strict):
        def __call__(self, draft: Any, target: Any, position: Any) -> Verdict:
            accept, residual = super().__call__(draft, target, position)
            return Verdict(accept + 2 * (np.arange(ROWS) == 2)[:, None, None], residual)

    models = random_table(3, 6, seed=1).floats(), random_table(3, 6, seed=2).floats()
    found = sample(Chain(2), *models, Overdone(), rows=ROWS, seed=4, keep_going=True)
    assert [(fault.row, fault.position) for fault in found.faults] == [(2, None)]
    assert "acceptance must be from 0 to 1" in found.faults[0].what


def test_a_finished_row_is_no_longer_looked_at() -> None:
    """Laws at and beyond the end may be anything."""
    model = Wrong(np.nan)
    model.bad = ()
    plain = model.__call__

    class Beyond(Wrong):
        def __call__(self, tokens: Any, start: Any, count: int) -> Any:
            laws = plain(tokens, start, count)
            return np.where((start >= 6)[:, None, None], np.nan, laws)

    draft = random_table(3, 6, seed=2).floats()
    assert (sample(Chain(2), Beyond(0.0), draft, Lenient(1.5), rows=ROWS, seed=4).lengths == 6).all()
