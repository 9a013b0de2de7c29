"""`specsim check --claims` and `specsim replay`: what they compute, write and show."""

from __future__ import annotations

import json
import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis.configuration import set_hypothesis_home_dir
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from specsim.errors import SpecsimError
from specsim.files import collide, ready_directory, write_together
from specsim.testing.assertions import profile_of
from specsim.testing.claims import Judged, chosen, judge_all
from specsim.testing.counterexamples import (
    Counterexample,
    Replayed,
    counterexample,
    number_text,
    read_file,
    replay_claim,
    subject_in,
)
from specsim.testing.showing import grid, view, written_test
from specsim.testing.subjects import Subject, from_spec

CLAIMS_SCHEMA, REPLAY_SCHEMA = "specsim.claims/1", "specsim.replay/1"


class Answer(NamedTuple):
    """content: for JSON; view: for people; failed: names of what does not hold."""

    content: dict[str, Any]
    view: RenderableType
    failed: list[str]


def file_names(claim: str) -> tuple[str, str]:
    """Names of a counterexample's file and of its test."""
    return f"{claim}.json", f"test_{claim.replace('-', '_')}.py"


def check_claims(spec: str, names: str, profile: str, directory: str, progress: Callable[[int, int], None]) -> Answer:
    """Judge the claims of the rule or decoder that a spec names; failing ones are written in the directory."""
    subject, effort = from_spec(spec), profile_of(profile)
    claims = chosen(names.split(","), subject)
    names_of_files = [name for claim in claims for name in file_names(claim.name)]
    ready_directory(directory, names_of_files)
    keep_own_file(spec, directory, names_of_files)
    with without_traces():
        judged = judge_all(claims, subject, effort, lambda done: progress(done, len(claims)))
    failing = [some for some in judged if some.finding is not None and not some.holds]
    write_together(Path(directory), dict(item for some in failing for item in files_of(some, Path(directory)).items()))
    content = {
        "schema": CLAIMS_SCHEMA,
        "subject": spec,
        "kind": subject.kind,
        "profile": effort.name,
        "holds": all(some.holds for some in judged),
        "claims": [as_json(some, directory) for some in judged],
    }
    shown = Group(*parts(subject, judged, directory))
    return Answer(content, shown, [some.claim.name for some in judged if not some.holds])


def keep_own_file(spec: str, directory: str, names: list[str]) -> None:
    """A counterexample may not take the place of the file that the rule itself is in, not even through a link."""
    own = re.match(r"(.+\.py)(:|$)", spec)
    for name in names if own else ():
        target = Path(directory) / name
        if own and collide(own[1], target):
            raise SpecsimError(f"{target} would take the place of {own[1]}; choose another --out")


def files_of(judged: Judged, directory: Path) -> dict[str, bytes]:
    """The counterexample, and a test that fails as long as it is one."""
    texts = (json.dumps(counterexample(judged).as_json(), indent=1) + "\n", written_test(judged, directory))
    return {name: text.encode() for name, text in zip(file_names(judged.claim.name), texts, strict=True)}


def as_json(judged: Judged, directory: str) -> dict[str, Any]:
    """One claim as a record."""
    record: dict[str, Any] = {"claim": judged.claim.name, "theorem": judged.claim.theorem, "holds": judged.holds}
    if judged.finding is None:
        return {**record, "skipped": judged.skipped}
    record |= {"numbers": judged.subject.numbers, "tried": judged.tried, "complete": judged.finding.complete}
    if judged.holds:
        return record
    files = [os.path.join(directory, name) for name in file_names(judged.claim.name)]
    return {**record, "file": files[0], "test": files[1], "counterexample": counterexample(judged).as_json()}


def parts(subject: Subject, judged: list[Judged], directory: str) -> Iterator[RenderableType]:
    """The table of claims, then every counterexample."""
    yield Text(f"claims of {subject.name}, a {subject.kind}", style="bold")
    yield overview(judged)
    if any(some.holds for some in judged):
        yield Text("holds: no counterexample found, and every case of the sizes shown was tried; this is no proof")
    for reason in dict.fromkeys(some.skipped for some in judged if some.skipped):
        yield Text(reason)
    for note in dict.fromkeys(some.subject.numbers for some in judged if not some.subject.exact):
        yield Text(f"not in Fractions but in {note}")
    for some in judged:
        if some.finding is not None and not some.holds:
            yield from failure(some, directory)


def overview(judged: list[Judged]) -> Table:
    """One row for each claim."""
    table = grid("claim", "", "cases", "all cases of V, N, up to denominator d", "rests on")
    for column in table.columns[1:]:
        column.justify = "left"
    for some in judged:
        word = "holds" if some.holds else "not judged" if some.skipped else "FAILS"
        table.add_row(some.claim.name, word, f"{some.tried:,}", whole_sizes(some), some.claim.theorem or "-")
    return table


def whole_sizes(judged: Judged) -> str:
    """Up to which denominator d every case of each shape was tried."""
    complete = judged.finding.complete if judged.finding is not None and judged.holds else ()
    shapes = [f"V{vocab}{f' N{length}' * (length > 1)} d{d}" for vocab, length, d in complete if vocab > 1]
    return ", ".join(shapes) or "-"


def failure(judged: Judged, directory: str) -> Iterator[RenderableType]:
    """A counterexample and where it was written."""
    statement, finding = judged.statement, judged.finding
    assert statement is not None and finding is not None and finding.counterexample is not None
    size = "the smallest counterexample" if finding.minimal else "the smallest counterexample found"
    yield Text()
    yield view(statement, finding.counterexample, finding.worst, f"{judged.claim.name} fails; {size}")
    file, test = (os.path.join(directory, name) for name in file_names(judged.claim.name))
    yield unbroken(f"wrote {file}")
    yield unbroken(f"  and {test}, which fails until this is mended")
    yield unbroken(f"see it again: specsim replay {shlex.quote(file)}")


def unbroken(line: str) -> Text:
    """A line to be copied, however narrow the terminal."""
    return Text(line, no_wrap=True, overflow="ignore")


@contextmanager
def without_traces() -> Iterator[None]:
    """Hypothesis keeps notes of its own in a directory; a command leaves none behind."""
    with tempfile.TemporaryDirectory() as directory:
        set_hypothesis_home_dir(directory)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)


StatementOf = Callable[[Counterexample], Replayed]


def replay_counterexample(path: Path, spec: str | None, theorem: StatementOf) -> Answer:
    """Compute the counterexample of a file again.

    spec: a rule or decoder in place of the one it names; theorem: computes one that belongs to a part of a theorem.
    """
    found = read_file(path)
    try:
        again = replayed(found, spec, theorem)
    except SpecsimError as error:
        raise SpecsimError(f"{path}: {error}") from error
    what = found.claim or found.statement
    content = {
        "schema": REPLAY_SCHEMA,
        "file": str(path),
        "claim" if found.claim else "statement": what,
        "text": again.statement.text,
        "subject": again.subject,
        "case": again.case.as_json(),
        "recorded_margin": found.margin,
        "margin": number_text(again.margin),
        "holds": again.holds,
    }
    verdict = "holds on this case" if again.holds else "still fails on this case"
    about = f" of {again.subject}" if found.claim else ""
    title = f"{what}{about} {verdict} (margin when it was written: {found.margin})"
    return Answer(content, view(again.statement, again.case, again.margin, title), [] if again.holds else [what])


def replayed(found: Counterexample, spec: str | None, theorem: StatementOf) -> Replayed:
    """The case of a claim or of a theorem's part, computed again."""
    if found.claim:
        return replay_claim(found, subject_in(found) if spec is None else from_spec(spec))
    if spec is not None:
        raise SpecsimError("--subject says nothing of a theorem's statement, which has its own; leave it out")
    return theorem(found)
