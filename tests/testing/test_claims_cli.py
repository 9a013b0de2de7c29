"""`specsim check --claims` and `specsim replay` as a user meets them: statuses, files, one clear line for bad input."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from tests.testing.cautious import BROKEN, CAUTIOUS, MENDED

Specsim = Callable[..., tuple[int, str, str]]


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


@pytest.mark.parametrize("linked", [False, True])
def test_a_counterexample_never_takes_the_place_of_the_rule(specsim: Specsim, tmp_path: Path, linked: bool) -> None:
    own = tmp_path / ("mine.py" if linked else "test_lossless.py")
    own.write_text(BROKEN)
    if linked:
        (tmp_path / "lossless.json").symlink_to(own)
    status, _, error = specsim("check", f"{own.name}:Cautious", "--claims", "lossless", "--out", ".")
    assert status == 2 and "would take the place of" in error and own.read_text() == BROKEN


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
