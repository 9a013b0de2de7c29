"""Every wrapper that is wrong is caught, by the item that names its fault; slower ones that are right pass."""

from collections.abc import Callable
from dataclasses import replace

import pytest

pytest.importorskip("transformers")

from gpu_eval.check_model.check import ITEMS, Report, check, look_at
from gpu_eval.check_model.looks import FAILS, HOLDS, INCONCLUSIVE, NOT_APPLICABLE
from gpu_eval.check_model.subject import subject_of
from gpu_eval.models.hugging_face import HuggingFace
from gpu_eval.models.loaded import Loaded
from specsim.errors import SpecsimError
from tests.gpu_eval.check_model import mutants as m

ROWS = 2


def checked(loaded: Loaded):
    return check(subject_of(loaded, ROWS, 0))


def notes(report, name: str) -> str:
    (item,) = (item for item in report.items if item.name == name)
    return " | ".join(f"{look.what}: {look.note}" for look in item.looks if look.verdict == FAILS)


RIGHT: dict[str, Callable[[], Loaded]] = {
    "another body, with absolute positions": lambda: m.absolute(HuggingFace),
    "rolled back to the shortest row": lambda: m.model(lambda made, cached: m.Shortest(made) if cached else made),
}


@pytest.mark.parametrize("make", RIGHT.values(), ids=RIGHT)
def test_what_is_right_holds(make):
    report = checked(make())
    assert [item.name for item in report.items] == list(ITEMS)
    assert [item.verdict for item in report.items] == [HOLDS] * len(ITEMS)


# What is made, every item that fails, and words of one of them.
WRONG: dict[str, tuple[Callable[[], Loaded], tuple[str, ...], str]] = {
    "attention sees one token ahead": (
        lambda: m.inner(m.Ahead),
        ("prefix", "rollback", "race"),
        "depend on tokens that come later",
    ),
    "the filling of prompts is seen": (lambda: m.inner(m.FillingSeen), ("rows",), "alone as in a batch"),
    "positions count the filling": (lambda: m.absolute(m.FromFilling), ("rows",), "alone as in a batch"),
    "keys written once and for all": (
        lambda: m.inner(m.NeverRewritten),
        ("rollback", "race"),
        "of tokens that are gone are still seen",
    ),
    "every row at the length of row 0": (lambda: m.inner(m.RowZeroPlaces), ("rollback", "race"), "random history"),
    "nothing is rolled back": (
        lambda: m.model(lambda made, cached: m.NoRollback(made) if cached else made),
        ("rollback",),
        "of tokens that are gone are still seen",
    ),
    "guidance after softmax": (
        lambda: m.model(lambda made, cached: m.maybe_cached(m.AfterSoftmax(**m.parts(made)), cached)),
        ("guidance",),
        "not the softmax of g (c - u) + u",
    ),
    "unconditional rows first": (lambda: m.network(m.swapped), ("guidance",), "the halves are swapped"),
    "the prompt of row 0 for all": (lambda: m.network(m.mixed), ("rows",), "alone as in a batch"),
    "the whole head": (
        lambda: m.network(lambda lined: m.whole_head(lined, m.VOCAB)),
        ("logits",),
        "(2, 16, 57), must be (2, 16, 24)",
    ),
    "the whole vocabulary": (
        lambda: m.network(lambda lined: m.whole_head(lined, m.FIRST + m.VOCAB + 1)),
        ("logits",),
        "0 to 56 cannot all be read: IndexError",
    ),
    "lines of one token more": (
        lambda: m.network(lambda lined: replace(lined, width=lined.width + 1)),
        ("forced tokens",),
        "width 5, must be 4",
    ),
    "ends one place early": (
        lambda: m.network(lambda lined: m.EarlyEnd(**m.parts(lined))),
        ("prefix", "forced tokens", "rollback", "race"),
        "ends are read at other places",
    ),
    "laws in bfloat16": (lambda: m.laws(lambda laws: laws.bfloat16()), ("number range", "laws"), "are bfloat16"),
    "laws through bfloat16": (
        lambda: m.laws(lambda laws: laws.bfloat16().float()),
        ("number range", "laws"),
        "every entry is a bfloat16 number",
    ),
    "laws that sum to 1.001": (lambda: m.laws(lambda laws: laws * 1.001), ("laws",), "sums to 1.001"),
    "NaN at one position": (lambda: m.inner(m.NotANumber), ("logits",), "the first at row 1, position 5"),
    "a counter": (lambda: m.inner(m.Counting), ("purity", "laws"), "the model remembers"),
    "top-k forgotten": (
        lambda: m.model(lambda made, cached: m.maybe_cached(m.NoTopK(**m.parts(made)), cached)),
        ("laws",),
        "top-k 5 keeps 5",
    ),
    "pixels beyond 1": (
        lambda: replace(m.example(), paint=lambda tokens: m.example().paint(tokens) * 255),
        ("image ids",),
        "pixels from 0 to 255",
    ),
}


@pytest.mark.parametrize("make, fails, words", WRONG.values(), ids=WRONG)
def test_what_is_wrong_fails_by_its_name(make, fails, words):
    report = checked(make())
    assert report.failed == fails
    assert any(words in notes(report, name) for name in fails)


def test_what_stands_on_a_failure_is_not_judged():
    report = checked(m.inner(m.NotANumber))
    assert {item.verdict for item in report.items[1:]} == {INCONCLUSIVE}


def test_a_model_without_guidance_and_without_lines():
    """Not applicable, with the model's own words."""
    loaded = m.example()

    def network(prompts, guided):
        if guided:
            raise SpecsimError("own has no unconditional rows")
        return replace(loaded.network(prompts, False).network, length=16)

    report = Report(subject_of(replace(loaded, network=network), ROWS, 0), ())
    items = [look_at(name, report, "") for name in ("rows", "forced tokens", "guidance")]
    assert [item.verdict for item in items] == [HOLDS, NOT_APPLICABLE, NOT_APPLICABLE]
    assert items[-1].looks[0].note == "own has no unconditional rows"
