"""What the tests of `check --claims` and `replay` share: the command in an empty directory, and a wrong rule."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from specsim import cli
from specsim.testing import statements
from specsim.testing.statements import Profile
from tests.testing.cautious import BROKEN

Specsim = Callable[..., tuple[int, str, str]]


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
