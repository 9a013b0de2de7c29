"""A mutant's judgement: a forked process imports the core with the fault in it and runs the suite.

The parent has imported everything heavy but the core, so a child starts in no time and a fault dies with its process;
nothing is written to disk.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.mutation.coverage import Ran, Recorder, tests_for
from benchmarks.mutation.mutants import Mutant
from benchmarks.mutation.suite import Subject

MEMORY = 8 * 2**30
"""Bytes of address space of a child: a fault that fills the memory fails instead."""
PASSED, FAILED, INTERRUPTED, INTERNAL, USAGE, NO_TESTS = range(6)
"""Exit statuses of pytest; a suite that cannot be collected is interrupted."""
IDLE = 10
"""A test that waits is stopped after so many times the processor time it may take."""
PAUSE = 0.02
"""Seconds between two looks at the children."""


class Outcome(NamedTuple):
    """survived, killed (a test failed), timeout (one took too long) or crashed (the process died); by which test."""

    outcome: str
    by: str
    seconds: float


class Running(NamedTuple):
    """A child at work."""

    mutant: Mutant
    pid: int
    pipe: int
    begun: float


def preload(subject: Subject) -> None:
    """Import what children share; what is missing shows in the run of the suite without a fault."""
    for name in subject.heavy:
        with suppress(ModuleNotFoundError):
            importlib.import_module(name)


def judged(
    subject: Subject, mutants: Sequence[Mutant], ran: Ran, limit: int, workers: int
) -> Iterator[tuple[Mutant, Outcome]]:
    """Every mutant with its outcome, as they come.

    ran: what `recorded` found.  limit: seconds of processor time that one test may take.
    """
    waiting, running = list(reversed(mutants)), list[Running]()
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                mutant = waiting.pop()
                tests = tests_for(mutant, ran)
                if tests is not None and not tests:
                    yield mutant, Outcome("survived", "no test runs it", 0.0)
                    continue
                running.append(started(subject, mutant, [Watch(subject.thinned, tests, limit)], limit))
            time.sleep(PAUSE)
            for child in list(running):
                if (outcome := outcome_of(child)) is not None:
                    running.remove(child)
                    yield child.mutant, outcome
    finally:
        for child in running:
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)


def recorded(subject: Subject, limit: int) -> tuple[Outcome, Ran]:
    """The suite without a fault, and which functions its tests run."""
    file = subject.core[0]
    mutant = Mutant(file, 0, "", "none", "", "", (subject.root / file).read_text())
    out = subject.root / "ran.json"
    plugins = [Watch(subject.thinned, None, limit), Recorder(subject.root, out)]
    child = started(subject, mutant, plugins, limit)
    while (outcome := outcome_of(child)) is None:
        time.sleep(PAUSE)
    return outcome, json.loads(out.read_text()) if out.exists() else {}


def started(subject: Subject, mutant: Mutant, plugins: list[Any], limit: int) -> Running:
    """A child that judges the mutant; the first plugin is its Watch."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = INTERNAL
        try:
            os.close(reading)
            plugins[0].tell = lambda test: os.write(writing, test.encode()[:4000])
            status = run_suite(subject, mutant, plugins, limit)
        finally:
            os._exit(status)  # nothing of the parent's is flushed or cleaned up twice
    os.close(writing)
    return Running(mutant, pid, reading, time.monotonic())


def outcome_of(child: Running) -> Outcome | None:
    """The outcome of a child that has ended, None of one at work."""
    pid, status = os.waitpid(child.pid, os.WNOHANG)
    if pid == 0:
        return None
    with open(child.pipe, "rb") as pipe:
        by = pipe.read().decode(errors="replace")
    return Outcome(name_of(os.waitstatus_to_exitcode(status)), by, round(time.monotonic() - child.begun, 2))


def name_of(status: int) -> str:
    """What an exit status means; negative: the signal that ended the child."""
    if status < 0:
        return "timeout" if -status in (signal.SIGPROF, signal.SIGALRM) else "crashed"
    return {PASSED: "survived", FAILED: "killed", INTERRUPTED: "killed", INTERNAL: "crashed"}.get(status, "no tests")


def run_suite(subject: Subject, mutant: Mutant, plugins: list[Any], limit: int) -> int:
    """In the child: the suite with the fault in place -> exit status of pytest."""
    os.setsid()  # an interrupt from the keyboard is for the parent
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(silence, stream)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.chdir(subject.root)
    sys.path.insert(0, str(subject.root))
    wind(limit)
    forget(subject)
    sys.meta_path.insert(0, Faulty(mutant, subject.root))
    pytest = importlib.import_module("pytest")
    options = ["-x", "-q", "-p", "no:cacheprovider", f"--rootdir={subject.root}", f"--basetemp=temp-{os.getpid()}"]
    passed = False
    for file in plugins[0].files(subject.tests):  # one by one: most mutants die before the last ones are imported
        status = int(pytest.main([*options, file], plugins=plugins))
        if status not in (PASSED, NO_TESTS):
            return status
        passed = passed or status == PASSED
    return PASSED if passed else NO_TESTS


def wind(limit: int) -> None:
    """The process ends by a signal after so many seconds of its own time, whatever loop it is in."""
    signal.setitimer(signal.ITIMER_PROF, limit)
    signal.alarm(IDLE * limit)


def forget(subject: Subject) -> None:
    """Unload the core and its tests, so that they are imported anew and from the subject's root."""
    packages = {file.partition("/")[0] for file in (*subject.core, *subject.tests)}
    for name in list(sys.modules):
        if name.partition(".")[0] in packages:
            del sys.modules[name]
    importlib.invalidate_caches()


class Faulty:
    """An importer of one module: its source is the mutant's."""

    def __init__(self, mutant: Mutant, root: Path) -> None:
        parts = mutant.file.removesuffix(".py").split("/")
        self.package = parts[-1] == "__init__"
        self.name, self.path, self.source = (
            ".".join(parts[: -1 if self.package else None]),
            root / mutant.file,
            mutant.source,
        )

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Its own module only."""
        if name != self.name:
            return None
        inside = [str(self.path.parent)] if self.package else None
        return spec_from_file_location(name, self.path, loader=self, submodule_search_locations=inside)  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> None:
        """A module as usual."""

    def exec_module(self, module: Any) -> None:
        """Run the mutant."""
        exec(compile(self.source, str(self.path), "exec"), vars(module))


class Watch:
    """What a child asks of pytest: fewer cases of the large tests, a limit for each, the name of the one that fails."""

    tell: Callable[[str], Any]

    def __init__(self, thinned: dict[str, int], chosen: set[str] | None, limit: int) -> None:
        self.thinned, self.chosen, self.limit = thinned, chosen, limit

    def files(self, tests: Sequence[str]) -> list[str]:
        """The files that hold chosen tests."""
        return [file for file in tests if self.chosen is None or any(test.startswith(file) for test in self.chosen)]

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Every n-th case of the tests that have very many, of the chosen ones."""
        met: dict[str, int] = {}
        kept = []
        for item in items:
            name = getattr(item, "originalname", item.name)
            met[name] = met.get(name, -1) + 1
            if met[name] % self.thinned.get(name, 1) == 0 and (self.chosen is None or item.nodeid in self.chosen):
                kept.append(item)
        items[:] = kept

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Every test has its own time."""
        wind(self.limit)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """The first failure, as -x allows no other."""
        if report.failed:
            self.tell(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be imported."""
        if report.failed:
            self.tell(report.nodeid)
