"""The ledger's command, pages and pictures."""

import dataclasses
import json
import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from proofs_checks.ledger import command
from proofs_checks.ledger.drawing import bars
from proofs_checks.ledger.pages import html, markdown
from proofs_checks.ledger.running import chosen
from proofs_checks.ledger.wording import brief, case_words, problems, summary
from proofs_checks.proving import prove
from proofs_checks.results import Counterexample, TheoremResult
from proofs_checks.theorems import THEOREMS
from specsim import SpecsimError
from specsim.cli.options import app
from specsim.testing.statements import Profile

FEW = Profile("few", listed=100, drawn=20, solver_seconds=5)


@pytest.fixture(scope="module")
def result() -> TheoremResult:
    return prove(THEOREMS["T02"], FEW)


def spoiled(result: TheoremResult) -> TheoremResult:
    """One statement that is stated to hold did not."""
    parts = tuple(dataclasses.replace(part, stated="holds") for part in result.parts)
    return dataclasses.replace(result, parts=parts)


def test_the_command_writes_pages_pictures_and_replayable_counterexamples(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app, ["prove", "--theorem", "T02", "--jobs", "1", "--out", str(tmp_path / "led"), "--json"]
    )
    assert done.exit_code == 0, done.output
    content = json.loads(done.stdout)
    assert content["schema"] == "specsim.ledger/1" and content["problems"] == [] and content["solvers"]["z3-solver"]
    names = sorted(os.listdir(tmp_path / "led"))
    assert names == ["T02.5.json", "T02.5.svg", "ledger.html", "ledger.json", "ledger.md"]
    example = json.loads((tmp_path / "led" / "T02.5.json").read_text())
    assert example["schema"] == "specsim.counterexample/1" and example["statement"] == "T02.5"
    statement = THEOREMS["T02"].parts[4].statement
    assert statement.fails(statement.domain.read(example["case"]))
    assert "T02.5.svg" in (tmp_path / "led" / "ledger.md").read_text()


def test_a_ledger_with_a_surprise_exits_with_1(monkeypatch: pytest.MonkeyPatch, result: TheoremResult) -> None:
    monkeypatch.setattr(command, "run", lambda *_: [spoiled(result)])
    done = CliRunner().invoke(app, ["prove", "--theorem", "T02"])
    assert done.exit_code == 1 and "UNEXPECTED: fails, stated to hold" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--theorem", "T99"], "there is no theorem 'T99'; known: T0"),
        (["--profile", "hasty"], "profile 'hasty' must be one of ci, thorough"),
        (["--jobs", "-1"], "jobs = -1 must be a whole number from 1 to 64"),
        (["--theorem", "T02", "--out", "/dev/null/x"], "cannot write in directory /dev/null/x"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(app, ["prove", *arguments])
    assert isinstance(done.exception, SpecsimError) and words in str(done.exception)


def test_theorems_are_chosen_once_and_in_order() -> None:
    assert chosen(["T02", "T02"]) == ["T02"] and chosen(None) == list(THEOREMS)


def test_counts_and_problems(result: TheoremResult) -> None:
    assert summary([result])[0] == "1 theorem of 5 statements: 4 proved, 1 refuted"
    assert problems([result]) == [] and len(problems([spoiled(result)])) == 1
    assert any(line.startswith("T02.5: UNEXPECTED") for line in summary([spoiled(result)]))


def test_the_html_needs_nothing_else_and_is_well_formed(result: TheoremResult) -> None:
    pictures = {part.id: bars(part.counterexample) for part in result.parts if part.counterexample}
    text = html([result], [], pictures, "heading <&>")
    assert not re.search(r"(src|href)=\"http", text) and "heading &lt;&amp;&gt;" in text
    assert text.count("<svg") == len(pictures) == 1 and "T02.5, refuted" in text
    assert "wrong side (caught)" in text and markdown([result], [], pictures, "h").count("**T02.") == 5


def example(bars: dict[str, list[str]]) -> Counterexample:
    return Counterexample("T99.1", "None", {"vocab": 2, "length": 1, "values": {}}, "-1", True, bars)


def test_a_picture_draws_every_vector_it_can() -> None:
    some = example({"target": ["1/2", "1/2"], "out": ["1/3", "2/3"], "one": ["1"], "long": ["0"] * 40})
    picture = ElementTree.fromstring(bars(some))
    texts = {element.text for element in picture.iter() if element.tag.endswith("text")}
    assert {"target", "out", "1/3", "2/3"} <= texts and not {"one", "long"} & texts
    assert bars(some) == bars(some), "the same every time"
    assert bars(example({})) == ""


@pytest.mark.parametrize(
    ("text", "short"),
    [("1/3", "1/3"), ("-1234567/12345670", "~-0.1"), ("0", "0"), ("0.123456789012", "0.123456789012")],
)
def test_long_fractions_are_shown_as_decimals(text: str, short: str) -> None:
    assert brief(text) == short


def test_a_case_in_words() -> None:
    values: dict[str, Any] = {"target": [["1"], ["0"]], "draft": ["1/2", "1/2"], "omega": "3/2"}
    assert case_words({"values": values}) == "target = (1) (0), draft = (1/2, 1/2), omega = 3/2"
