"""The mutation run's own tests: faults are made as said, judged rightly, and an interrupted run goes on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.mutation.__main__ import app
from benchmarks.mutation.mutants import mutants_of
from benchmarks.mutation.run import summary
from benchmarks.mutation.suite import specsim
from specsim.terminal import exit_status

pytest.importorskip("resource", reason="the mutation run forks")
ROOT = Path(__file__).parents[1]


def texts(source: str) -> list[str]:
    """What every mutant makes of a one-line source."""
    return sorted(mutant.after for mutant in mutants_of("some.py", source))


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("x = a < b", ["x = (a <= b)", "x = (a >= b)"]),
        ("x = a == b", ["x = (a != b)"]),
        (
            "x = 0 <= a < n",
            [*("x = (0 < a < n)", "x = (0 <= a <= n)", "x = (0 <= a >= n)", "x = (0 > a < n)"), "x = 1 <= a < n"],
        ),
        ("x = c * a / b", ["x = (c * a * b)", "x = (c / a) / b"]),
        ("x = a and not b", ["x = (a or not b)", "x = a and (b)"]),
        ("x = -a", ["x = (a)"]),
        (
            "x = 3, 0.5, 0.0, True",
            ["x = 3, 0.5, 0.0, False", "x = 3, 0.5, 1.0, True", "x = 3, 1.0, 0.0, True", "x = 4, 0.5, 0.0, True"],
        ),
        ("x = max(a, b)", ["x = min(a, b)"]),
        ("x = (a < b).any(axis=-1)", []),
        ("x = xp.where(c, a, b)", ["x = (xp.where(a, c, b))", "x = (xp.where(c, b, a))"]),
        ("x = f(a, k=b)", ["x = (f(a))"]),
        ("x = a[i:]", ["x = a[(i) + 1:]", "x = a[(i) - 1:]"]),
        ("x = a[:2]", ["x = a[:(2) - 1]", "x = a[:3]"]),
        ("x = a if c else b", ["x = (b if c else a)"]),
        ("f(a)", ["pass"]),
        ("x = 'é' + f(b, a)", ["x = 'é' + (f(a, b))", "x = ('é' - f(b, a))"]),
    ],
)
def test_one_line(source: str, wanted: list[str]) -> None:
    found = texts(source)
    if "any" in source:
        wanted = ["x = ((a < b).any())", "x = ((a <= b)).any(axis=-1)", "x = ((a >= b)).any(axis=-1)"]
        wanted += ["x = (a < b).all(axis=-1)", "x = (a < b).any(axis=(1))", "x = (a < b).any(axis=-2)"]
    assert found == sorted(wanted)


FUNCTION = '''
@cached(3)
def f(a: Law[0], b: int = 1) -> Law[1]:
    """3 < 4"""
    assert a < b
    if a > 5:
        raise ValueError(a + b)
    for x in zip(a, b, strict=True):
        a = a[x]
    return g(a, SpecsimError(f"{a + b}", a + b))
'''


def test_statements_and_what_is_left_alone() -> None:
    """No fault in decorators, annotations, docstrings, assertions, errors and their words."""
    found = [(m.line, m.where, m.operator, m.after) for m in mutants_of("some.py", FUNCTION)]
    assert found == [
        (3, "f()", "constant", "def f(a: Law[0], b: int = 2) -> Law[1]:"),
        (6, "f()", "boundary", "if (a >= 5):"),
        (6, "f()", "constant", "if a > 6:"),
        (6, "f()", "deleted statement", "pass"),
        (6, "f()", "negation", "if (a <= 5):"),
        (8, "f()", "swapped arguments", "for x in (zip(b, a, strict=True)):"),
        (9, "f()", "deleted statement", "pass"),
        (10, "f()", "returned argument", "return (a)"),
        (10, "f()", "swapped arguments", "return (g(SpecsimError(f'{a + b}', a + b), a))"),
    ]


def test_the_core_is_there_and_a_mutant_differs_in_its_line_only() -> None:
    subject = specsim(ROOT)
    assert all((ROOT / name).exists() for name in (*subject.core, *subject.tests, *subject.copied))
    file = "specsim/verification.py"
    source = (ROOT / file).read_text()
    assert file in subject.core and len(subject.core) == len(set(subject.core))
    [mutant] = [m for m in mutants_of(file, source) if "cumulative_sum" in m.after]
    lines = [(a, b) for a, b in zip(source.split("\n"), mutant.source.split("\n"), strict=True) if a != b]
    assert [(a.strip(), b.strip()) for a, b in lines] == [(mutant.before, mutant.after)]
    assert mutant.where == "first_rejection()" and "cumulative_prod" in mutant.before


def test_the_rate_and_its_interval() -> None:
    """Clopper-Pearson: all of n killed gives a lower end of 0.025 ** (1 / n)."""
    row = {"operator": "constant", "file": "some.py"}
    rows = [row | {"outcome": "killed"}] * 9 + [row | {"outcome": "timeout"}]
    found = summary(rows)
    assert (found["kill_rate"], found["killed"], found["timeout"]) == (1, 9, 1)
    assert found["interval95"] == [round(0.025 ** (1 / 10), 4), 1.0]
    found = summary([*rows, row | {"outcome": "survived"}])
    assert (found["kill_rate"], found["by_file"]) == (10 / 11, {"some.py": "10/11"})


TINY = """
def count(n):
    done = 0
    while done < n:
        done += 1
    return max(done, 0)


def unused(n):
    return -n
"""
TINY_TEST = """
from tiny.core import count

def test_count():
    assert count(3) == 3
"""
HEAD = """
import sys
from pathlib import Path
from benchmarks.mutation.judging import judged, recorded
from benchmarks.mutation.__main__ import app
from benchmarks.mutation.mutants import mutants_of
from benchmarks.mutation.run import run
from benchmarks.mutation.suite import Subject
subject = Subject(Path(sys.argv[1]), ("tiny", "tests"), ("tiny/core.py",), ("tests/test_tiny.py",))
"""
JUDGE = """
source = (subject.root / "tiny/core.py").read_text()
dead = "import os; os.abort()"
mutants = mutants_of("tiny/core.py", source)
mutants.append(mutants[0]._replace(after="dead", source=dead))
clean, ran = recorded(subject, 3)
print(sorted(name for name in ran if name.startswith("tiny")), "|", clean.outcome)
for mutant, outcome in judged(subject, mutants, ran, 3, 2):
    print(mutant.after, "|", outcome.outcome, "|", outcome.by)
"""
RUN = """
def progress(done, total):
    print(done, total)
    if done == int(sys.argv[3]):
        raise KeyboardInterrupt

run(subject, 8, 0, 2, Path(sys.argv[2]), "command", progress)
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    for name, text in (("tiny/core.py", TINY), ("tests/test_tiny.py", TINY_TEST)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    return tmp_path


def script(text: str, *words: object) -> subprocess.CompletedProcess:
    """Run in a process of its own, as the tool forks and clears modules."""
    return subprocess.run(
        [sys.executable, "-c", HEAD + text, *map(str, words)], cwd=ROOT, capture_output=True, text=True
    )


def test_killed_survived_timed_out_and_crashed(tiny: Path) -> None:
    done = script(JUDGE, tiny)
    clean, *lines = done.stdout.splitlines()
    assert clean == "['tiny/core.py:<module>()', 'tiny/core.py:count()'] | survived", done.stderr
    found = dict(line.split(" | ", 1) for line in lines)
    test = "tests/test_tiny.py::test_count"
    assert found == {
        "done = 1": "survived | ",  # count(3) is 3 all the same: count(0) is not tested
        "while (done <= n):": f"killed | {test}",
        "while (done >= n):": f"killed | {test}",
        "done += 2": f"killed | {test}",
        "pass": "timeout | ",
        "return (done)": "survived | ",
        "return max(done, 1)": "survived | ",
        "return min(done, 0)": f"killed | {test}",
        "return (n)": "survived | no test runs it",
        "dead": "crashed | ",
    }, done.stderr


def test_an_interrupted_run_goes_on(tiny: Path, tmp_path: Path) -> None:
    (tiny / "tiny/core.py").write_text("def count(n):\n    return max(n, 0) + 2 * (n < 0) + (5 if n > 9 else 0)\n")
    out, whole = tmp_path / "out.json", tmp_path / "whole.json"
    stopped = script(RUN, tiny, out, 2)
    assert stopped.stderr.endswith("KeyboardInterrupt\n") and json.loads(out.read_text())["judged"] == 2
    first = json.loads(out.read_text())["mutants"]
    assert script(RUN, tiny, out, 0).stdout.split("\n")[0] == "3 8"
    assert script(RUN, tiny, whole, 0).returncode == 0
    resumed, once = (json.loads(path.read_text()) for path in (out, whole))
    assert all(row in resumed["mutants"] for row in first)
    for content in (resumed, once):
        assert (
            content["judged"] == content["sampled"] == 8 == content["killed"] + content["survived"] + content["timeout"]
        )
        for row in content["mutants"]:
            del row["seconds"]
    assert resumed == once
    assert script(RUN, tiny, out, 0).stdout == ""  # nothing is left to do


def test_a_suite_that_fails_and_a_file_of_other_sources(tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    (tiny / "tests/test_tiny.py").write_text(TINY_TEST.replace("== 3", "== 4"))
    failing = script(RUN, tiny, out, 0)
    assert "the suite fails without a fault (killed, tests/test_tiny.py::test_count)" in failing.stderr
    assert not out.exists()
    out.write_text(json.dumps({"schema": "specsim.mutation/1", "sources": "others"}))
    assert "is of another run (other sources, seed or size)" in script(RUN, tiny, out, 0).stderr


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--mutants", "0"], "mutants = 0 must be a whole number from 1"),
        (["--mutants", "x"], "--mutants"),
        (["--seed", "-1"], "seed = -1 must be"),
        (["--workers", "0"], "workers = 0 must be"),
        (["--out", "/dev/null/x.json"], "cannot write"),
        (["--what"], "--what"),
        (["here"], "extra argument"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], error: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert exit_status(lambda: app(words, standalone_mode=False)) == 2
    said = capsys.readouterr()
    assert said.out == "" and error in said.err and said.err.count("\n") == 1


def test_the_command_runs_in_a_checkout_only(tmp_path: Path) -> None:
    for where, words, error in ((tmp_path, [], "is no checkout of specsim"), (ROOT, ["--mutants", "0"], "mutants = 0")):
        command = [sys.executable, "-m", "benchmarks.mutation", *words]
        path = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=where, env=path, capture_output=True, text=True)
        assert done.returncode == 2 and done.stdout == ""
        assert error in done.stderr and done.stderr.count("\n") == 1
