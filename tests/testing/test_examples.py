"""The examples do what they say: run as their users run them, in a copy."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.testing.workflow import load

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
COMMANDS = {"specsim": ["-m", "specsim.cli"], "pytest": ["-m", "pytest", "-p", "no:cacheprovider"]}


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of a shell, with this Python and these sources."""
    first, *words = shlex.split(command)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    line = [sys.executable, *COMMANDS[first], *words]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def copied(name: str, tmp_path: Path) -> Path:
    """A copy of an example, without what runs have left in it."""
    ignored = shutil.ignore_patterns("__pycache__", ".hypothesis", ".pytest_cache", "counterexamples")
    return Path(shutil.copytree(EXAMPLES / name, tmp_path / name, ignore=ignored))


def steps(folder: Path) -> list[dict[str, object]]:
    """The steps of the only job of the workflow."""
    (path,) = (folder / ".github" / "workflows").iterdir()
    (job,) = load(path.read_text())["jobs"].values()
    return job["steps"]


def test_the_workflow_of_a_project_of_ones_own(tmp_path: Path) -> None:
    folder = copied("own_rule", tmp_path)
    lines = [str(step["run"]) for step in steps(folder) if "run" in step]
    readme = [line.partition(" #")[0].strip() for line in shown((folder / "README.md").read_text())]
    assert lines[0] == readme[0] == 'pip install -e ".[test]"', "all that needs a network"
    lines += [line for line in readme if line not in lines]
    assert {shlex.split(line)[0] for line in lines[1:]} == {"pytest", "specsim"} and len(lines) >= 5
    for line in lines[1:]:
        done = run(line, folder)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    assert not (folder / "counterexamples").exists()


def test_claims_of_the_docstring_are_those_of_the_workflow() -> None:
    claimed = re.search(r"Claims: (.*)\.", (EXAMPLES / "own_rule" / "my_rules.py").read_text())
    lines = [shlex.split(str(step.get("run", ""))) for step in steps(EXAMPLES / "own_rule")]
    held = next(line[line.index("--claims") + 1] for line in lines if "--claims" in line)
    assert claimed is not None and claimed[1].split(", ") == held.split(",")


def shown(text: str) -> list[str]:
    """The indented blocks of a page, line by line."""
    return [line[4:].rstrip() for line in text.splitlines() if line.startswith("    ")]  # blank lines left out


def test_a_broken_rule_is_caught_and_mended(tmp_path: Path) -> None:
    """What its README shows is what the command prints, and the fix it gives is one."""
    folder = copied("broken_rule", tmp_path)
    command, *printed = shown((folder / "README.md").read_text())
    done = run(command.removeprefix("$ "), folder)
    assert done.returncode == 1
    wanted = [line.rstrip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    assert printed[: len(wanted)] == wanted
    test = "pytest -q counterexamples/test_lossless.py"
    assert run(test, folder).returncode == 1
    changes = [line for line in printed[len(wanted) :] if line[:2] in ("- ", "+ ")]
    source = (folder / "cautious.py").read_text()
    for before, after in zip(changes[::2], changes[1::2], strict=True):
        assert before[0] == "-" and after[0] == "+" and source.count(before[2:]) == 1
        source = source.replace(before[2:], after[2:])
    (folder / "cautious.py").write_text(source)
    assert run(test, folder).returncode == 0


BAD_YAML = ["a: 1\n\tb: 2", "a:\n  - x\n b: 1", "a: 1\na: 2", "- a\nb: 1", "a: [1", "a: x: y", "a: 'x", "just words"]


@pytest.mark.parametrize("text", BAD_YAML)
def test_the_reader_of_workflows_refuses_what_is_none(text: str) -> None:
    with pytest.raises(ValueError):
        load(text)
