"""Which tests run which functions of the core: only those can notice a fault in one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from benchmarks.mutation.mutants import Mutant

ANYWHERE = "*"
"""In the place of a test: while the tests were imported, so the function may matter to all of them."""
Ran = dict[str, list[str]]
"""{"specsim/laws.py:Law.tv()": tests that run it}"""


class Recorder:
    """A plugin of pytest that writes down what every test runs."""

    def __init__(self, root: Path, out: Path) -> None:
        self.root, self.out, self.codes, self.ran = root, out, set[CodeType](), dict[str, list[str]]()

    def note(self, frame: FrameType, event: str, argument: Any) -> None:
        """The hook of the interpreter: called at the start of every function, and not asked for its lines."""
        self.codes.add(frame.f_code)

    def pytest_sessionstart(self) -> None:
        """From the first import on."""
        sys.settrace(self.note)

    def pytest_collection_finish(self) -> None:
        """Everything is imported."""
        self.attribute(ANYWHERE)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test has ended."""
        self.attribute(nodeid)

    def pytest_sessionfinish(self) -> None:
        """All have."""
        sys.settrace(None)
        self.out.write_text(json.dumps(self.ran))

    def attribute(self, test: str) -> None:
        """What ran since the last time ran in this test."""
        codes, self.codes = self.codes, set()  # the hook goes on noting, also what is done here
        here = f"{self.root}/"
        for name in {name_of(code, here) for code in codes if code.co_filename.startswith(here)}:
            self.ran.setdefault(name, []).append(test)


def name_of(code: CodeType, here: str) -> str:
    """File and name of a function, as a mutant says them."""
    return f"{code.co_filename.removeprefix(here)}:{code.co_qualname.replace('.<locals>', '')}()"


def tests_for(mutant: Mutant, ran: Ran) -> set[str] | None:
    """The tests that run the function with the fault; None, all of them, where it is in none or runs at import."""
    if not mutant.where.endswith("()"):
        return None
    tests = set(ran.get(f"{mutant.file}:{mutant.where}", []))
    return None if ANYWHERE in tests else tests
