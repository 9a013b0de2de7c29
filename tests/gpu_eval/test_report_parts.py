"""Parts of the report, on rows made by hand: findings are true, small numbers are kept, equal curves are merged."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np

from gpu_eval.report.columns import rounded_zero_or, zero_or
from gpu_eval.report.findings import findings, wasteful
from gpu_eval.report.maps import accepted
from gpu_eval.report.plots import curves
from gpu_eval.report.rows import TABLES, Exact, Row
from gpu_eval.report.systems import System
from specsim import Autoregressive, Chain, DynamicTree, Lenient
from specsim.sampling import Samples


def made(name, tv, calls, seconds=1.0, frechet=(0.0, 2.0), warning=""):
    """A row with the same exact figures on both tables."""
    exact = {table: Exact(Fraction(tv), Fraction(calls), None) for table in TABLES}
    quality = SimpleNamespace(frechet_pool={"value": sum(frechet) / 2, "interval": list(frechet)}, images=40)
    system = System(name, "", Autoregressive(), Autoregressive(), None, warning)
    return Row(system, exact, {}, {}, seconds, 0.0, [], [], None, None, quality)


def test_findings_are_true_of_their_rows():
    rows = [
        made("AR", 0, 4),
        made("best", "1/10", 2, seconds=1.2),
        made("worse", "1/5", 2, seconds=1.3, frechet=(1.9, 9.0)),
        made("seen", "1/5", 1, frechet=(2.1, 9.0)),
        made("wrong", "1/20", 3, warning="does not what it says"),
    ]
    said = findings(rows)
    assert said[0].startswith("**wrong** is biased: run TV 0.0500 (fashion), 0.0500 (digits). It does not")
    assert said[1].startswith("3 relaxed systems") and "on fashion from 0.1000 (best) to 0.2000 (worse)" in said[1]
    assert said[2] == "Beaten outright on every table model: **worse** (more TV, no fewer calls than best)."
    assert "Frechet distance of 1.0 [0.0, 2.0] at 40 images" in said[3]
    assert said[4].startswith("Of 4 exactly biased systems, these images tell 1 apart") and ": seen." in said[4]
    assert said[5].startswith("1 of 4 systems took over 20%") and said[5].endswith("the others: best, seen, wrong.")


def drafting(name, decoder, interval, rule=None):
    """A row that drafts, with its tokens per call."""
    row = made(name, 0, 2)
    tokens = {"value": sum(interval) / 2, "interval": list(interval)}
    return replace(row, system=replace(row.system, real=decoder, rule=rule), tokens_per_call=tokens)


def test_more_drafts_that_keep_fewer_are_named():
    chain, grown = Chain(4), DynamicTree(3, 3, 8)
    rows = [made("AR", 0, 4), drafting("chain", chain, (2.0, 2.2)), drafting("tree", grown, (1.5, 1.9))]
    (said,) = wasteful(rows)
    assert said.endswith(": **tree** (8 drafts a call for 1.70 tokens, chain's 4 for 2.10).")
    assert not wasteful([*rows[:2], drafting("tree", grown, (1.5, 2.0))])  # intervals that meet
    assert not wasteful([*rows[:2], drafting("tree", grown, (1.5, 1.9), Lenient())])  # another rule
    assert not wasteful([drafting("chain", chain, (1.0, 1.2)), drafting("tree", grown, (1.5, 1.9))])


def test_a_small_bias_is_never_written_as_zero():
    exact = [zero_or(value) for value in (Fraction(0), 0.0, None, Fraction(1, 10**6), 0.12346)]
    assert exact == ["0", "0", "-", "1.0e-06", "0.1235"]
    assert [rounded_zero_or(value) for value in (1e-13, 1e-11, None)] == ["0", "1.0e-11", "-"]


def test_systems_with_one_curve_share_it():
    """Slots judged fewer than 50 times are left out before curves are compared."""
    rows = [replace(made(n, 0, 1), slots=[0.5, last], judged=[50, 49]) for n, last in (("a", 0.1), ("b", 0.9))]
    assert curves(rows) == {(0.5, None): "a, b"}
    assert list(curves([replace(rows[0], judged=[50, 50]), rows[1]])) == [(0.5, 0.1), (0.5, None)]


def test_accepted_tokens():
    """Two rows: kept drafts stand where their call began; a finished row's idle calls count for nothing."""
    start = np.array([[0, 0], [3, 5], [5, 6]])
    kept = np.array([[2, 4], [1, 0], [0, 3]])
    samples = Samples(np.zeros((2, 6), dtype=np.int64), start, start < 6, kept, kept, kept)
    assert accepted(samples).astype(int).tolist() == [[1, 1, 0, 1, 0, 0], [1, 1, 1, 1, 0, 0]]
