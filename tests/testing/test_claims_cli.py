"""`specsim check --claims` and `specsim replay` as a user meets them: statuses, files, one clear line for bad input."""

from __future__ import annotations

import copy
import json
import runpy
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from specsim import cli
from specsim.testing import statements
from specsim.testing.statements import CI, Profile

Specsim = Callable[..., tuple[int, str, str]]
CAUTIOUS = """
from dataclasses import dataclass
from specsim import Verdict, optimal_residual
from specsim.arrays import number
from specsim.verification import capped_ratio, standard_residual


@dataclass(frozen=True)
class Cautious:
    omega: float = 0.5

    def __call__(self, draft, target, position):
        accept = capped_ratio(number(self.omega, target) * target, draft)
        return Verdict(accept, RESIDUAL)
"""
BROKEN = CAUTIOUS.replace("RESIDUAL", "standard_residual(draft, target)")
MENDED = CAUTIOUS.replace("RESIDUAL", "optimal_residual(draft, target, accept)")


@pytest.fixture
def specsim(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Specsim:
    """`specsim words..` in an empty directory, looking less hard than the ci profile -> (status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    small = {"ci": Profile("ci", listed=60, drawn=15), "thorough": Profile("thorough", listed=80, drawn=15, seed=0)}
    for name, profile in small.items():
        monkeypatch.setitem(statements.PROFILES, name, profile)

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["specsim", *words])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A rule of somebody's own with a mistake."""
    path = tmp_path / "my" / "rules.py"
    path.parent.mkdir()
    path.write_text(BROKEN)
    return path


def test_claims_that_hold_exit_0_and_leave_nothing_behind(specsim: Specsim, tmp_path: Path) -> None:
    status, out, err = specsim("check", "Lenient(1.3)", "--claims", "on-line, support,monotone", "--json")
    content = json.loads(out)
    assert status == 0 and err == "" and list(tmp_path.iterdir()) == []
    assert content["schema"] == "specsim.claims/1" and content["holds"] and content["kind"] == "rule"
    assert [some["claim"] for some in content["claims"]] == ["on-line", "support", "monotone"]
    assert all(some["holds"] and some["tried"] >= 45 and some["numbers"] == "exact" for some in content["claims"])


def test_a_failing_claim_is_shown_and_written(specsim: Specsim, tmp_path: Path) -> None:
    status, out, err = specsim("check", "Lenient(1.3)", "--claims", "on-line,lossless")
    assert status == 1 and err == "lossless: does not hold of Lenient(1.3)\n"
    assert "13/20" in out and "-3/20" in out and "specsim replay counterexamples/lossless.json" in out
    assert sorted(path.name for path in (tmp_path / "counterexamples").iterdir()) == [
        "lossless.json",
        "test_lossless.py",
    ]
    content = json.loads((tmp_path / "counterexamples" / "lossless.json").read_text())
    assert content == {
        "schema": "specsim.counterexample/1",
        "claim": "lossless",
        "part": 1,
        "subject": "Lenient(1.3)",
        "case": {"vocab": 2, "length": 1, "values": {"target": ["1/2", "1/2"], "draft": ["0", "1"], "slot": "0"}},
        "margin": "-3/20",
        "minimal": True,
    }


def test_a_decoder_is_shown_sequence_by_sequence(specsim: Specsim) -> None:
    words = ("check", "Jacobi(2, 'maximal_stale')", "--claims", "lossless,bounded-calls", "--profile", "thorough")
    status, out, _ = specsim(*words, "--out", "deep/er")
    assert status == 1 and "0 1" in out and "(start)" in out and "deep/er/test_lossless.py" in out
    status, out, _ = specsim("replay", "deep/er/lossless.json", "--json")
    content = json.loads(out)
    assert status == 1 and not content["holds"] and Fraction(content["margin"]) < 0
    assert content["margin"] == content["recorded_margin"] and content["claim"] == "lossless"
    assert specsim("replay", "deep/er/lossless.json", "--subject", "Jacobi(2, 'maximal')")[0] == 0


def written_test(path: Path) -> Callable[[], None]:
    """The function of a written test, read anew; `test_examples.py` runs one under pytest in a process of its own."""
    return runpy.run_path(str(path))["test_lossless"]


def test_the_written_test_fails_until_the_rule_is_mended(
    specsim: Specsim, broken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also from another directory; the replay agrees."""
    rule = "my/rules.py:Cautious(omega=0.25)"
    assert specsim("check", rule, "--claims", "lossless,valid", "--out", "found")[0] == 1
    written = tmp_path / "found" / "test_lossless.py"
    assert not (tmp_path / "found" / "valid.json").exists()
    assert specsim("replay", "found/lossless.json")[0] == 1
    with monkeypatch.context() as elsewhere, pytest.raises(AssertionError, match="still fails"):
        elsewhere.chdir("/")
        written_test(written)()
    broken.write_text(MENDED)
    with monkeypatch.context() as elsewhere:
        elsewhere.chdir("/")
        written_test(written)()
    assert specsim("replay", "found/lossless.json")[0] == 0
    assert specsim("check", rule, "--claims", "lossless,valid", "--out", "found")[0] == 0


LARGE = CAUTIOUS.replace("RESIDUAL", "target if target.shape[-1] > 9 else optimal_residual(draft, target, accept)")


def test_what_is_wrong_for_many_tokens_only_is_found_on_a_known_pair_and_replayed(
    specsim: Specsim, broken: Path
) -> None:
    broken.write_text(LARGE)
    assert specsim("check", "my/rules.py:Cautious", "--claims", "optimal-residual", "--out", "found")[0] == 1
    content = json.loads(Path("found/optimal-residual.json").read_text())
    assert content["case"]["vocab"] == 20 and not content["minimal"]
    assert specsim("replay", "found/optimal-residual.json")[0] == 1
    broken.write_text(MENDED)
    assert specsim("replay", "found/optimal-residual.json")[0] == 0


SHY = '''
import numpy as np
from specsim import Verdict


class Shy:
    """No numbers where every token is put to it at once, and only in floats."""

    def __repr__(self):
        return "Shy()"

    def __call__(self, draft, target, position):
        laws = np.asarray(target, dtype=np.float64)
        accept = laws * 0 + (np.nan if laws.ndim > 3 else 1)
        return Verdict(accept, laws * 0 + 1 / laws.shape[-1])
'''


@pytest.mark.parametrize("words", [("--claims", "on-line"), ("--claims", "support"), (), ("--expect", "lossless")])
def test_what_is_not_a_number_is_no_margin(specsim: Specsim, broken: Path, words: tuple[str, ...]) -> None:
    broken.write_text(SHY)
    status, out, error = specsim("check", "my/rules.py:Shy", *words)
    assert status == 2 and out == "" and "is not a number" in error and len(error.strip().splitlines()) == 1


@pytest.mark.parametrize("linked", [False, True])
def test_a_counterexample_never_takes_the_place_of_the_rule(specsim: Specsim, tmp_path: Path, linked: bool) -> None:
    own = tmp_path / ("mine.py" if linked else "test_lossless.py")
    own.write_text(BROKEN)
    if linked:
        (tmp_path / "lossless.json").symlink_to(own)
    status, _, error = specsim("check", f"{own.name}:Cautious", "--claims", "lossless", "--out", ".")
    assert status == 2 and "would take the place of" in error and own.read_text() == BROKEN


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


@pytest.mark.parametrize("words", [("check", "Strict", "--claims", "valid"), ("replay", "it.json")])
def test_without_hypothesis_it_says_what_to_install(
    specsim: Specsim, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    for name in [name for name in sys.modules if name.startswith("specsim.testing")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    status, out, err = specsim(*words)
    assert status == 2 and out == "" and err.count("\n") == 1
    assert "needs hypothesis" in err and "specsim[test]" in err


@pytest.mark.parametrize("body", ["raise KeyError('by\\ndesign')", "return 3", "raise SystemExit(0)"])
def test_a_rule_that_fails_late_is_one_line(specsim: Specsim, tmp_path: Path, body: str) -> None:
    """On three tokens, which the short list does not reach and random cases do."""
    (tmp_path / "late.py").write_text(
        "from specsim import Strict\nclass R:\n    def __call__(self, draft, target, position):\n"
        f"        if draft.shape[-1] >= 3:\n            {body}\n        return Strict()(draft, target, position)\n"
    )
    status, out, err = specsim("check", "late.py:R", "--claims", "on-line")
    assert status == 2 and out == "" and err.startswith("error:") and err.count("\n") == 1 and "R object" in err


def test_what_is_not_judged_is_said(specsim: Specsim, tmp_path: Path) -> None:
    (tmp_path / "no.py").write_text("from specsim import Verdict\ndef r(q, p, i): return Verdict(2 + 0 * q, p)\n")
    status, out, _ = specsim("check", "no.py:r", "--claims", "lossless,valid")
    assert status == 1 and "not judged: the verdicts are not valid" in out
    assert (tmp_path / "counterexamples" / "test_valid.py").exists()
    assert not (tmp_path / "counterexamples" / "lossless.json").exists()


def test_a_rule_that_prints_does_not_spoil_the_json(specsim: Specsim, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "from specsim import Lenient\nprint('loaded')\nclass R:\n    def __call__(self, *laws):\n"
        "        print('asked')\n        return Lenient(2)(*laws)\n"
    )
    status, out, err = specsim("check", "loud.py:R", "--claims", "lossless", "--json")
    assert status == 1 and not json.loads(out)["holds"] and "asked" in err
    status, out, err = specsim("replay", "counterexamples/lossless.json", "--json")
    assert status == 1 and not json.loads(out)["holds"] and "asked" in err
