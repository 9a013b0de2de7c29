"""Counterexamples: written down, read back and computed again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from specsim.checking.validity import NotExact
from specsim.errors import SpecsimError, shown
from specsim.files import read_json
from specsim.testing.claims import CLAIMS, Judged, known
from specsim.testing.domains import Case
from specsim.testing.statements import Statement
from specsim.testing.subjects import Subject, from_spec, rooted

SCHEMA = "specsim.counterexample/1"
LONGEST_MARGIN = 400


@dataclass(frozen=True)
class Counterexample:
    """A failing case as text.

    claim, part: the claim and the number (from 1) of the statement of it; statement: the part of a theorem instead,
    "T07.5"; subject: its spec, None where no command line can name it; margin: as text; minimal: whether every smaller
    size was tried.
    """

    subject: str | None
    case: dict[str, Any]
    margin: str
    minimal: bool
    claim: str = ""
    part: int = 1
    statement: str = ""

    def as_json(self) -> dict[str, Any]:
        """For a file; `read` takes it back."""
        what = {"claim": self.claim, "part": self.part} if self.claim else {"statement": self.statement}
        rest = {"subject": self.subject, "case": self.case, "margin": self.margin, "minimal": self.minimal}
        return {"schema": SCHEMA, **what, **rest}


@dataclass(frozen=True)
class Replayed:
    """A counterexample computed again.  margin: what it is now."""

    statement: Statement
    case: Case
    subject: str
    margin: Any

    @property
    def holds(self) -> bool:
        """Whether the statement holds on the case now."""
        return self.statement.allows(self.margin)


def counterexample(judged: Judged) -> Counterexample:
    """The failing case of a claim."""
    finding = judged.finding
    assert finding is not None and finding.counterexample is not None
    case, margin = finding.counterexample.as_json(), number_text(finding.worst)
    return Counterexample(judged.subject.text, case, margin, finding.minimal, judged.claim.name, judged.part)


def read_file(path: str | Path) -> Counterexample:
    """From a file; SpecsimError of one line that names it for anything else."""
    content = read_json(path)
    try:
        return read(content)
    except SpecsimError as error:
        raise SpecsimError(f"{path}: {error}") from error


def read(content: Any) -> Counterexample:
    """From JSON; SpecsimError for what is no counterexample.  The case is looked at when its domain is known."""
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise SpecsimError(f'no counterexample: "schema" must be "{SCHEMA}"')
    claim, statement = (content.get(name, "") for name in ("claim", "statement"))
    if not (isinstance(claim, str) and isinstance(statement, str)) or bool(claim) == bool(statement):
        raise SpecsimError('a counterexample has either a "claim" or a "statement", as text')
    subject, part, margin = content.get("subject"), content.get("part", 1), content.get("margin")
    if not (subject is None or isinstance(subject, str)):
        raise SpecsimError(f"subject {shown(subject)} must be text or null")
    if not (isinstance(margin, str) and len(margin) <= LONGEST_MARGIN):
        raise SpecsimError(f"margin {shown(margin)} must be a number as text")
    if type(part) is not int or type(content.get("minimal")) is not bool or not isinstance(content.get("case"), dict):
        raise SpecsimError("part must be a whole number, minimal true or false, and case an object")
    return Counterexample(subject, content["case"], margin, content["minimal"], claim, part, statement)


def subject_in(found: Counterexample, root: Path | None = None) -> Subject:
    """The rule or decoder that a counterexample names; its file is looked for below `root`."""
    if found.subject is None:
        raise SpecsimError("the counterexample names no subject: say which rule or decoder it is about")
    return from_spec(rooted(found.subject, root))


def replay_claim(found: Counterexample, subject: Subject) -> Replayed:
    """Compute the case of a claim again, in Fractions if the subject can."""
    claim = CLAIMS.get(found.claim)
    if claim is None:
        raise SpecsimError(f"unknown claim {shown(found.claim)}; known: {known(subject.kind)}")
    try:
        return replay(part_of(claim.parts(subject), found.part, found.claim), found, subject.name)
    except NotExact as reason:
        floats = subject.in_floats(str(reason))
        return replay(part_of(claim.parts(floats), found.part, found.claim), found, subject.name)


def part_of(parts: Any, number: int, name: str) -> Any:
    """The part of a number, from 1."""
    if not 1 <= number <= len(parts):
        raise SpecsimError(f"{name} has no part {shown(number)}; it has parts 1 to {len(parts)}")
    return parts[number - 1]


def replay(statement: Statement, found: Counterexample, subject: str) -> Replayed:
    """Compute the case of a statement again."""
    case = statement.domain.read(found.case)
    if not statement.domain.covers(case):
        raise SpecsimError(f"V = {case.vocab}, N = {case.length} is beyond what this statement is looked at for")
    return Replayed(statement, case, subject, statement.measure(case))


def number_text(value: Any) -> str:
    """A Fraction as it is, a float as it prints."""
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)
