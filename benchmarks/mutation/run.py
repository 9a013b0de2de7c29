"""The run: a seeded sample of mutants judged one by one, kept as they come, and counted."""

from __future__ import annotations

import json
import os
import platform
import random
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from benchmarks.mutation.judging import Outcome, judged, preload, recorded
from benchmarks.mutation.mutants import Mutant, mutants_of
from benchmarks.mutation.suite import Subject
from specsim.errors import SpecsimError, require_whole
from specsim.files import read_json, ready_file, write_text

SCHEMA = "specsim.mutation/1"
MOST = 10**6
"""Mutants: more than there are."""
GOAL = 0.9
"""Kill rate to reach."""
LIMIT = 30
"""Seconds of processor time that one test may take: some 20 times the slowest, and more than the whole suite."""
EXPLAINED = Path(__file__).with_name("explained.json")
PLACE = ("file", "where", "before", "after")
"""What names a mutant whatever its line: an explanation is kept while these stay as they are."""


def run(subject: Subject, count: int, seed: int, workers: int, out: Path, command: str, progress: Callable) -> dict:
    """Judge what the file does not hold yet, writing it after every mutant -> its content."""
    require_whole("mutation", "seed", seed, 0, 2**32 - 1)
    require_whole("mutation", "workers", workers, 1, os.cpu_count() or 1)
    require_whole("mutation", "mutants", count, 1, MOST)
    ready_file(out)
    with snapshot(subject) as copy:
        population = [m for file in copy.core for m in mutants_of(file, (copy.root / file).read_text())]
        if count > len(population):
            raise SpecsimError(f"mutation: the core has only {len(population)} mutants, not {count}")
        chosen = random.Random(seed).sample(population, count)
        head = settings(copy, seed, count, len(population))
        rows = kept_rows(out, head)
        missing = [mutant for mutant in chosen if named(mutant) not in rows]
        head |= {"command": command, "commit": commit(subject.root), "python": platform.python_version()}
        for mutant, outcome in outcomes(copy, missing, workers):
            rows[named(mutant)] = row_of(mutant) | outcome._asdict()
            write_content(out, head, chosen, rows)
            progress(len(rows), count)
    return write_content(out, head, chosen, rows)


@contextmanager
def snapshot(subject: Subject) -> Iterator[Subject]:
    """The subject as it is now, in a folder of its own: an edit of the checkout cannot reach a run."""
    with tempfile.TemporaryDirectory(prefix="specsim-mutation-") as folder:
        for name in subject.copied:
            source, target = subject.root / name, Path(folder) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            elif source.exists():
                shutil.copy(source, target)
            else:
                raise SpecsimError(f"mutation: {source} is not there; run this from the root of a checkout")
        yield replace(subject, root=Path(folder).resolve())


def outcomes(subject: Subject, mutants: list[Mutant], workers: int) -> Iterator[tuple[Mutant, Outcome]]:
    """Judge mutants after a run of the suite without a fault, which must pass."""
    if not mutants:
        return
    preload(subject)
    clean, ran = recorded(subject, LIMIT)
    if clean.outcome != "survived":
        raise SpecsimError(f"mutation: the suite fails without a fault ({clean.outcome}, {clean.by or 'no test'})")
    for mutant, outcome in judged(subject, mutants, ran, LIMIT, workers):
        if outcome.outcome == "no tests":
            raise SpecsimError(f"mutation: no test was run for {mutant.file}:{mutant.line}")
        yield mutant, outcome


def settings(subject: Subject, seed: int, count: int, population: int) -> dict[str, Any]:
    """What two runs must share to be one."""
    state = sha256(repr((subject.core, subject.tests, sorted(subject.thinned.items()))).encode())
    for path in sorted(path for path in subject.root.rglob("*") if path.is_file()):
        state.update(str(path.relative_to(subject.root)).encode() + b"\0" + path.read_bytes())
    shared = {"seed": seed, "sampled": count, "population": population, "sources": state.hexdigest()[:16]}
    return {"schema": SCHEMA} | shared


def kept_rows(out: Path, head: dict[str, Any]) -> dict[tuple, dict[str, Any]]:
    """The rows of an earlier run of the same sources; SpecsimError for any other file."""
    if not out.exists():
        return {}
    content = read_json(out)
    if not isinstance(content, dict) or {name: content.get(name) for name in head} != head:
        raise SpecsimError(f"{out} is of another run (other sources, seed or size): delete it or choose another --out")
    return {(row["line"], *place(row)): row for row in content["mutants"]}


def row_of(mutant: Mutant) -> dict[str, Any]:
    """A mutant as data."""
    return {name: value for name, value in mutant._asdict().items() if name != "source"}


def place(row: dict[str, Any]) -> tuple:
    """What an explanation is kept by."""
    return tuple(row[name] for name in PLACE)


def named(mutant: Mutant) -> tuple:
    """What a row is kept by: two lines of one function may be alike."""
    return mutant.line, *place(row_of(mutant))


def write_content(out: Path, head: dict[str, Any], chosen: list[Mutant], rows: dict[tuple, dict]) -> dict[str, Any]:
    """Write the whole file, rows in the order of the sample."""
    found = [rows[named(mutant)] for mutant in chosen if named(mutant) in rows]
    content = head | summary(found) | {"survivors": survivors(found), "mutants": found}
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, json.dumps(content, indent=1, allow_nan=False) + "\n")
    return content


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts, and the kill rate with its 95 % interval (Clopper-Pearson)."""
    counts = Counter(row["outcome"] for row in rows)
    killed = len(rows) - counts["survived"]
    interval = binomtest(killed, len(rows)).proportion_ci(0.95, "exact") if rows else (0.0, 1.0)
    return {
        "judged": len(rows),
        **{name: counts[name] for name in ("killed", "timeout", "crashed", "survived")},
        "kill_rate": killed / len(rows) if rows else None,
        "interval95": [round(float(end), 4) for end in interval],
        "by_operator": shares(rows, "operator"),
        "by_file": shares(rows, "file"),
    }


def shares(rows: list[dict[str, Any]], field: str) -> dict[str, str]:
    """killed/sampled for each value of a field."""
    sampled = Counter(row[field] for row in rows)
    lived = Counter(row[field] for row in rows if row["outcome"] == "survived")
    return {name: f"{sampled[name] - lived[name]}/{sampled[name]}" for name in sorted(sampled)}


def survivors(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The mutants that no test noticed, with why that is no gap."""
    reasons = {place(row): row["why"] for row in read_json(EXPLAINED)}
    lived = [row for row in rows if row["outcome"] == "survived"]
    return [
        {name: row[name] for name in ("file", "line", *PLACE[1:], "operator")} | {"why": reasons.get(place(row))}
        for row in sorted(lived, key=lambda row: (row["file"], row["line"], row["after"]))
    ]


def commit(root: Path) -> str | None:
    """The checkout's commit, with "+" if it has changes; None outside one."""
    found = []
    for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--", "specsim", "tests")):
        try:
            done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, timeout=10, check=True)
        except (OSError, subprocess.SubprocessError):
            return None
        found.append(done.stdout.strip())
    return found[0] + ("+" if found[1] else "")
