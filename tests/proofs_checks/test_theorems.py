"""Every theorem in the ci profile: it comes out as it is stated, and as the saved ledger and the README say."""

import json
from pathlib import Path
from typing import Any

import pytest

from proofs_checks.ledger.readme import SAVED, table, with_table
from proofs_checks.ledger.wording import problems
from proofs_checks.proving import prove
from proofs_checks.results import as_json
from proofs_checks.theorems import THEOREMS
from specsim.testing.statements import CI

ROOT = Path(__file__).resolve().parents[2]
STALE = "run: specsim prove --json > results/ledger.json && python -m proofs_checks.ledger.readme"


def saved() -> dict[str, dict[str, Any]]:
    return {theorem["id"]: theorem for theorem in json.loads(SAVED.read_text())["theorems"]}


def settled(part: dict[str, Any]) -> dict[str, Any]:
    """What must not change from run to run: no seconds, and of a counterexample that was shrunk, not listed, no more
    than that there is one (Hypothesis may shrink to another)."""
    example = part["counterexample"]
    shrunk = example is not None and not example["minimal"]
    left_out = {"seconds", *(("counterexample", "margin", "tried") if shrunk else ())}
    return {key: value for key, value in part.items() if key not in left_out}


def outcomes(theorem: dict[str, Any]) -> list[Any]:
    """What became of mutants and weakened statements."""
    mutants = [(some["name"], some["part"], some["caught"]) for some in theorem["mutants"]]
    return [theorem["title"], mutants, [(some["text"], some["status"], some["why"]) for some in theorem["weakened"]]]


@pytest.mark.parametrize("name", THEOREMS)
def test_a_theorem(name: str) -> None:
    result = prove(THEOREMS[name], CI)
    assert problems([result]) == []
    now = json.loads(json.dumps(as_json(result)))
    before = saved()[name]
    assert [settled(part) for part in now["parts"]] == [settled(part) for part in before["parts"]], STALE
    assert outcomes(now) == outcomes(before), STALE


def test_the_saved_ledger_has_every_theorem() -> None:
    assert list(saved()) == list(THEOREMS), STALE


def test_the_table_in_the_readme_is_the_saved_ledger() -> None:
    readme = (ROOT / "README.md").read_text()
    assert with_table(readme, table(json.loads(SAVED.read_text()))) == readme, STALE


@pytest.mark.parametrize("name", THEOREMS)
def test_every_theorem_is_explained(name: str) -> None:
    sections = (ROOT / "docs" / "theory.md").read_text().split("\n## ")
    found = [section for section in sections if section.startswith(f"{name} ")]
    assert len(found) == 1 and len(found[0].splitlines()) >= 5
