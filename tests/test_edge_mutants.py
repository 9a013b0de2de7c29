"""Mistakes that engines have made, put in on purpose: the named row of the edge cases must catch each."""

from typing import Any

import numpy as np
import pytest

from specsim import tasks, verification, watching
from specsim.arrays import at
from specsim.decoders import Chain, Jacobi, Race
from specsim.errors import SpecsimError
from specsim.interpreters.sampling import winner
from specsim.rules import Strict
from specsim.watching import Guarded
from tests import edge_mutants as mutants
from tests.edge_answers import complaints, verdict_faults
from tests.edge_mutants import Mutant, Retasked
from tests.edge_runs import batches, decode, law, read_rows
from tests.test_edge_runs import test_a_finished_row_changes_nothing_for_the_others as finished_rows
from tests.test_edge_runs import test_errors as errors
from tests.test_edge_runs import test_scripts as scripts

OFF_SUPPORT = "a token of target probability 0 is drafted one time in three"
EMPTY = "the target is a rounding below certainty, the residual is empty"
BONUS = "the draft is right once: the token after it is the target's"
CERTAIN = "temperature 0: both are certain, of different tokens"
IN_RUNS = {
    "leaking": (Chain(1), Mutant(mutants.leaking), {}, EMPTY),
    "softmaxed": (Chain(1), Mutant(mutants.softmaxed), {}, "the draft rounds above 1"),
    "unnormalised": (Chain(1), Mutant(mutants.unnormalised), {}, OFF_SUPPORT),
    "uncapped": (Chain(1), Mutant(mutants.uncapped), {}, "the target is one ulp above its draft"),
    "closed": (Chain(1), Strict(), {"pick": mutants.pick_closed}, OFF_SUPPORT),
    "unscaled": (Chain(1), Strict(), {"pick": mutants.pick_unscaled}, EMPTY),
    "floor in a race": (
        Race(Chain(6)),
        None,
        {"winner": mutants.race_with_a_floor},
        "every draft has target probability 0",
    ),
    "floor in a window": (Race(Jacobi(2)), None, {"winner": mutants.race_with_a_floor}, CERTAIN),
    "endless": (Retasked(Chain(6), mutants.endless), Strict(), {}, "an end inside a block"),
    "endless window": (Retasked(Jacobi(2), mutants.endless), Strict(), {}, "an end anywhere or nowhere"),
    "bonus": (Retasked(Chain(1), mutants.bonus_from_draft), Strict(), {}, BONUS),
}


def row_of(file: str, name: str) -> dict:
    [row] = [row for row in read_rows(file) if row["name"] == name]
    return row


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mutant", IN_RUNS)
def test_caught_by_a_run(mutant: str, dtype: type) -> None:
    decoder, rule, parts, name = IN_RUNS[mutant]
    [batch] = batches([row_of("runs", name)], dtype)
    with np.errstate(all="ignore"):
        try:
            found = decode(batch, decoder, rule, "numpy", **parts)
            assert complaints(batch, decoder, found, keeps_support=True)
        except SpecsimError as error:  # the sampler looks at verdicts too
            assert str(error).startswith("rule: ") and mutant in ("softmaxed", "unnormalised", "uncapped")
    healthy = decoder.decoder if isinstance(decoder, Retasked) else decoder
    found = decode(batch, healthy, Strict() if healthy.takes_rule else None, "numpy")
    assert complaints(batch, healthy, found, keeps_support=True) == []


IN_VERDICTS = {
    "generous": (mutants.generous, "0/0: a token neither law has"),
    "halved": (mutants.halved, "tails that half precision loses"),
    "softmaxed": (mutants.softmaxed, "equal laws give the target for the residual"),
    "leaking": (mutants.leaking, "a rounding below its draft: so does an empty residual"),
    "unnormalised": (mutants.unnormalised, "a token the draft never says, and one the target never says"),
    "uncapped": (mutants.uncapped, "one ulp above: a residual of one ulp is a residual"),
}


@pytest.mark.parametrize("mutant", IN_VERDICTS)
def test_caught_by_a_verdict(mutant: str) -> None:
    change, name = IN_VERDICTS[mutant]
    row = row_of("verdicts", name)
    with np.errstate(all="ignore"):
        assert verdict_faults(row, Mutant(change), np.float32, "numpy", keeps_support=True, written=True)
    assert not verdict_faults(row, Strict(), np.float32, "numpy", keeps_support=True, written=True)


def test_counting_every_kept_draft_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    row = row_of("scripts", "kept, refused, kept, kept: the first refusal ends the count")
    scripts(row, "numpy", "float64")
    monkeypatch.setattr(verification, "first_rejection", mutants.count_all)
    with pytest.raises(AssertionError):
        scripts(row, "numpy", "float64")


def test_looking_at_the_last_draft_law_only_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: Guarded, model: Any, name: str) -> None:
        self.model, self.name, self.looks = model, name, mutants.Last()

    row = row_of("errors", "a draft of NaN at the first position, and of laws after it")
    errors(row, "numpy")
    monkeypatch.setattr(Guarded, "__init__", forgetful)
    with pytest.raises(pytest.fail.Exception):
        errors(row, "numpy")


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_half_precision_let_through_is_caught(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "require_numbers", lambda name, law: None)
    monkeypatch.setattr(watching, "require_numbers", lambda name, law: None)
    with pytest.raises((pytest.fail.Exception, TypeError)):  # numpy has no bfloat16 to read the sums in
        errors(row_of("errors", f"laws in {kind}"), "torch")


def test_a_verdict_that_looks_at_other_rows_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(finished_rows.__globals__["RULES"], "Lenient", lambda: Mutant(mutants.averaged))
    with pytest.raises(AssertionError):
        finished_rows(Chain(6))


def test_a_race_decided_by_noise_of_zero_is_caught() -> None:
    for row in read_rows("noise"):
        noise, probability = (law(row[field], np.float32) for field in ("noise", "law"))
        with np.errstate(all="ignore"):
            wrong = (noise / probability).argmin(axis=-1)
        assert winner(noise, probability) == row["winner"]
        assert (wrong == row["winner"]) == row["easy"]


def test_a_draft_drawn_greedily_and_scored_softly_is_caught() -> None:
    """Temperature 0 for drawing alone: token 0 is then kept with .3 / .36, and the answer is never 0."""
    soft = {
        **row_of("runs", CERTAIN),
        "target": [0.3, 0.5, 0.2],
        "draft": [0.36, 0.33, 0.31],
        "scripts": [[0.1, 0.8, 0.5]],
    }
    [batch] = batches([soft], np.float64)
    verdict = Strict()(batch.draft[:, 0, 0], batch.target[:, 0, 0], np.array([0]))
    assert at(verdict.accept, np.array([0])) == pytest.approx(0.3 / 0.36)
    assert complaints(batch, Chain(1), decode(batch, Chain(1), Strict(), "numpy"), keeps_support=True)
