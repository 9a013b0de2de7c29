"""`check --claims` and `replay` on bad input, and counterexamples of theorems: one clear line, or the case again."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from specsim.testing.statements import CI

Specsim = Callable[..., tuple[int, str, str]]


OWN_DECODER = "class D:\n    def start(self): pass\n    def step(self): pass\n"
BAD = {
    "unknown claim": (("check", "Strict", "--claims", "losless"), "unknown claim 'losless' of a rule; known: valid"),
    "claim of the other kind": (("check", "Chain", "--claims", "on-line"), "known: lossless, race-equal"),
    "no claim": (("check", "Strict", "--claims", ""), "unknown claim ''"),
    "control characters": (("check", "Strict", "--claims", "a\nb\x1b[31m"), "unknown claim"),
    "endless claim": (("check", "Strict", "--claims", "x" * 5000), "unknown claim"),
    "no strength": (("check", "Strict", "--claims", "support,monotone"), "no strength to turn"),
    "unknown subject": (("check", "Chian", "--claims", "lossless"), "did you mean 'Chain'"),
    "missing file": (("check", "nowhere.py:R", "--claims", "lossless"), "nowhere.py"),
    "unknown profile": (("check", "Strict", "--claims", "valid", "--profile", "fast"), "known: ci, thorough"),
    "profile alone": (("check", "Strict", "--profile", "ci"), "--profile says nothing without --claims"),
    "out alone": (("check", "Strict", "--out", "x"), "--out says nothing without --claims"),
    "expectation too": (("check", "Strict", "--claims", "valid", "--expect", "biased"), "--expect says nothing with"),
    "unknown rule": (("check", "Strickt"), "error: unknown rule: 'Strickt' (did you mean 'Strict'?)"),
    "a decoder": (("check", "Chain(2)"), "Chain(2) is a decoder: say what it must keep, e.g. --claims lossless"),
    "a decoder of one's own": (("check", "own.py:D"), "is a decoder: say what it must keep"),
    "half a decoder": (("check", "own.py:D", "--claims", "lossless"), "does not say needs_draft and takes_rule"),
    "out is a file": (("check", "Strict", "--claims", "valid", "--out", "own.py"), "own.py is not a directory"),
    "out below a file": (("check", "Strict", "--claims", "valid", "--out", "own.py/x"), "not a directory"),
    "out has the name": (("check", "Strict", "--claims", "valid", "--out", "taken"), "test_valid.py is not a regular"),
    "no out": (("check", "Strict", "--claims", "valid", "--out", ""), "empty path"),
    "long out": (("check", "Strict", "--claims", "valid", "--out", "n" * 300), "File name too long"),
    "replay of nothing": (("replay", "nowhere.json"), "cannot read nowhere.json"),
    "replay of a directory": (("replay", "taken"), "taken"),
    "endless replay": (("replay", "/dev/zero"), "not a regular file"),
    "replay of Python": (("replay", "own.py"), "own.py is not JSON"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "named"), BAD.values(), ids=list(BAD))
def test_bad_input_is_one_clear_line(specsim: Specsim, tmp_path: Path, words: tuple[str, ...], named: str) -> None:
    (tmp_path / "own.py").write_text(OWN_DECODER)
    (tmp_path / "taken" / "test_valid.py").mkdir(parents=True)
    status, out, err = specsim(*words)
    assert status == 2 and out == "" and err.startswith("error:") and err.count("\n") == 1 and named in err
    assert len(err) < 700 and sorted(path.name for path in tmp_path.iterdir()) == ["own.py", "taken"]


GOOD: dict[str, Any] = {
    "schema": "specsim.counterexample/1",
    "claim": "lossless",
    "part": 1,
    "subject": "Lenient(1.3)",
    "case": {"vocab": 2, "length": 1, "values": {"target": ["1/2", "1/2"], "draft": ["0", "1"], "slot": "0"}},
    "margin": "-3/20",
    "minimal": True,
}
RUN: dict[str, Any] = {
    **GOOD,
    "part": 2,
    "case": {
        "vocab": 2,
        "length": 2,
        "values": {"target": [["1/2", "1/2"]] * 3, "draft": [["1", "0"]] * 3, "decoder": "Chain(lookahead=2)"},
    },
}


def changed(base: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one entry replaced, "case.vocab"."""
    content = copy.deepcopy(base)
    *outer, last = path.split(".")
    place = content
    for name in outer:
        place = place[name]
    place[last] = value
    return content


MALFORMED: dict[str, tuple[Any, str]] = {
    "a list": ([], '"schema" must be'),
    "another schema": (changed(GOOD, "schema", "specsim.check/2"), '"schema" must be'),
    "no claim": (changed(GOOD, "claim", ""), 'either a "claim" or a "statement"'),
    "claim and statement": ({**GOOD, "statement": "T02.1"}, 'either a "claim" or a "statement"'),
    "claim as a number": (changed(GOOD, "claim", 3), 'either a "claim" or a "statement"'),
    "unknown claim": (changed(GOOD, "claim", "fast"), "unknown claim 'fast'"),
    "claim of a decoder": (changed(GOOD, "claim", "accounting"), "no claim of a rule"),
    "part 0": (changed(GOOD, "part", 0), "no part 0; it has parts 1 to 2"),
    "part 3": (changed(GOOD, "part", 3), "no part 3"),
    "part true": (changed(GOOD, "part", True), "part must be a whole number"),
    "no subject": (changed(GOOD, "subject", None), "names no subject"),
    "subject as a list": (changed(GOOD, "subject", ["Strict"]), "must be text or null"),
    "subject that calls": (changed(GOOD, "subject", "__import__('os')"), "unknown rule or decoder"),
    "subject of no file": (changed(GOOD, "subject", "gone.py:R"), "gone.py"),
    "no case": (changed(GOOD, "case", None), "case an object"),
    "no values": (changed(GOOD, "case.values", []), "needs vocab, length and values"),
    "vocab as text": (changed(GOOD, "case.vocab", "2"), "vocab = '2'"),
    "vocab 0": (changed(GOOD, "case.vocab", 0), "vocab = 0"),
    "vocab beyond": (changed(GOOD, "case.vocab", 10**6), "vocab = 1000000"),
    "another vocab": (changed(GOOD, "case.vocab", 3), "list of 3 fractions"),
    "a length of its own": (changed(GOOD, "case.length", 9), "N = 9 is beyond"),
    "a run beyond": (changed(RUN, "case.length", 16), "has 65535 laws"),
    "a value missing": (changed(GOOD, "case.values", {"target": ["1", "0"]}), "mind draft, slot"),
    "a value too many": (changed(GOOD, "case.values.more", "1"), "mind more"),
    "no law": (changed(GOOD, "case.values.target", ["1/2", "1/3"]), "is not a law"),
    "a negative law": (changed(GOOD, "case.values.target", ["3/2", "-1/2"]), "is not a law"),
    "no fraction": (changed(GOOD, "case.values.target", ["half", "1/2"]), "is not a fraction"),
    "a zero denominator": (changed(GOOD, "case.values.target", ["1/0", "1"]), "is not a fraction"),
    "a huge exponent": (changed(GOOD, "case.values.target", ["1e-99999999", "1"]), "is not a fraction"),
    "true for a number": (changed(GOOD, "case.values.target", [True, "0"]), "is not a fraction"),
    "laws in laws": (changed(GOOD, "case.values.target", [["1"], "0"]), "is not a fraction"),
    "an unknown slot": (changed(GOOD, "case.values.slot", "5"), "must be one of 0, 1, 2"),
    "an unknown decoder": (changed(RUN, "case.values.decoder", "Chain(lookahead=99)"), "must be one of Chain"),
    "a law of the model": (changed(RUN, "case.values.target", [["1", "0"], ["1", "1"], ["1", "0"]]), "is not a law"),
    "no margin": (changed(GOOD, "margin", -0.15), "margin -0.15 must be a number as text"),
    "an endless margin": (changed(GOOD, "margin", "1" * 9999), "must be a number as text"),
    "no minimal": (changed(GOOD, "minimal", "yes"), "minimal true or false"),
    "an unknown theorem": ({**GOOD, "claim": "", "statement": "T99.1"}, "unknown statement 'T99.1'"),
    "half a statement": ({**GOOD, "claim": "", "statement": "T02"}, "unknown statement 'T02'"),
    "a superscript": ({**GOOD, "claim": "", "statement": "T02.²"}, "unknown statement"),
    "a part beyond": ({**GOOD, "claim": "", "statement": "T02.99"}, "T02 has no part 99"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "named"), MALFORMED.values(), ids=list(MALFORMED))
def test_a_malformed_counterexample_is_one_line(specsim: Specsim, tmp_path: Path, content: Any, named: str) -> None:
    (tmp_path / "it.json").write_text(json.dumps(content))
    status, out, err = specsim("replay", "it.json")
    assert status == 2 and out == "" and err.startswith("error: it.json: ") and err.count("\n") == 1 and named in err


@pytest.mark.parametrize("text", ["", "{", '{"a": 1, "a": 2}', '{"a": NaN}', "[" * 99999, '"\\ud800"', "\x00"])
def test_a_file_that_is_no_json_is_one_line(specsim: Specsim, tmp_path: Path, text: str) -> None:
    (tmp_path / "it.json").write_text(text)
    status, out, err = specsim("replay", "it.json")
    assert status == 2 and out == "" and err.startswith("error: it.json") and err.count("\n") == 1


def test_the_well_formed_ones_are_well_formed(specsim: Specsim, tmp_path: Path) -> None:
    """Else the malformed ones would be refused for another reason."""
    for content, status in ((GOOD, 1), (RUN, 1), ({**GOOD, "subject": "Strict"}, 0), ({**RUN, "subject": "Strict"}, 0)):
        (tmp_path / "it.json").write_text(json.dumps(content))
        assert specsim("replay", "it.json")[0] == status


def test_a_part_of_a_theorem_is_replayed_with_its_own_subject(specsim: Specsim, tmp_path: Path) -> None:
    """T02.5, folklore that is false; T02.1, which holds everywhere."""
    from proofs_checks.theorems import THEOREMS
    from specsim.testing.statements import examine

    false = THEOREMS["T02"].parts[4].statement
    case = examine(false, CI).counterexample
    assert case is not None
    content = {**GOOD, "claim": "", "statement": "T02.5", "case": case.as_json(), "subject": None, "margin": "-1"}
    (tmp_path / "it.json").write_text(json.dumps(content))
    status, out, _ = specsim("replay", "it.json")
    assert status == 1 and "T02.5" in out and "accept" in out
    assert "leave it out" in specsim("replay", "it.json", "--subject", "Strict")[2]
    values = {**case.as_json()["values"], "residual": ["1", *["0"] * (case.vocab - 1)]}
    true = {**content, "statement": "T02.1", "case": {**case.as_json(), "values": values}}
    (tmp_path / "it.json").write_text(json.dumps(true))
    status, out, _ = specsim("replay", "it.json", "--json")
    assert status == 0 and json.loads(out)["holds"] and json.loads(out)["statement"] == "T02.1"
