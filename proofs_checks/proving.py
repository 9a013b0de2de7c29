"""Running a theorem: every part searched, proved and certified, every mutant and weakened statement put to it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from proofs_checks.certificates import CERTIFIED_WITHIN, UNCERTIFIED, Certificate, certify
from proofs_checks.results import (
    CERTIFIED,
    OPEN,
    PROVED,
    REFUTED,
    TESTED,
    Counterexample,
    MutantResult,
    PartResult,
    TheoremResult,
    WeakenedResult,
)
from proofs_checks.smt import Outcome, discharge
from proofs_checks.theorem import FAILS, HOLDS, INCONCLUSIVE, Mutant, Part, Theorem, Weakened
from specsim.testing.domains import Case
from specsim.testing.statements import Finding, Profile, Statement, examine, search, shown

PROGRAM_COST = 10
"""A linear program takes about as long as ten cases."""

PATIENCE = 4
"""Where a counterexample is expected more cases are listed: the search ends with it, and should end with a smallest."""


class Programs(NamedTuple):
    """What the certificates of a part came to.

    programs: how many were solved; gap: the largest; failed: in words, or ""; ran: False where a solver had no answer.
    """

    programs: int
    gap: Fraction
    failed: str
    ran: bool


def prove(theorem: Theorem, profile: Profile) -> TheoremResult:
    """Everything a machine can say about a theorem."""
    start = time.perf_counter()
    parts = tuple(settle_or_say(f"{theorem.id}.{n}", part, profile) for n, part in enumerate(theorem.parts, 1))
    mutants = tuple(catch(theorem, mutant, profile) for mutant in theorem.mutants)
    weakened = tuple(weaken(theorem, some, profile) for some in theorem.weakened)
    seconds = time.perf_counter() - start
    return TheoremResult(theorem.id, theorem.title, theorem.source, parts, mutants, weakened, seconds)


def settle_or_say(name: str, part: Part, profile: Profile) -> PartResult:
    """A check that raises has found nothing: that is said, and the other theorems go on."""
    try:
        return settle(name, part, profile)
    except Exception as error:
        words = (part.statement.text, part.claimed, part.stated)
        note = f"the check itself failed: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return PartResult(name, *words, INCONCLUSIVE, OPEN, (note,), (), None, 0, None, 0.0)


def settle(name: str, part: Part, profile: Profile) -> PartResult:
    """One part: the search first, then the stronger methods where nothing was found."""
    start, statement = time.perf_counter(), part.statement
    found = examine(statement, profile if part.stated == HOLDS else patient(profile))
    failing = found.counterexample and counterexample(name, statement, found)
    proof = discharge(part.proof, profile.solver_seconds) if part.proof else None
    programs = run_programs(part.certificate, part.certificate.subject, profile) if part.certificate else None
    result, method = conclude(part, found, proof, programs)
    notes = tuple(remarks(part, found, proof, programs))
    margin = None if found.worst is None else written(found.worst)
    seconds = time.perf_counter() - start
    words = (statement.text, part.claimed, part.stated)
    missing = tuple(unreached(proof, programs)) if result == HOLDS else ()
    return PartResult(name, *words, result, method, notes, missing, margin, found.tried, failing or None, seconds)


def unreached(proof: Outcome | None, programs: Programs | None) -> Iterator[str]:
    """Methods that a part declares and that came to nothing: a missing solver is no silent pass."""
    if proof and not proof.proved:
        yield proof.note
    if programs and programs.failed:
        yield programs.failed


def patient(profile: Profile) -> Profile:
    """The profile with a longer list."""
    return replace(profile, listed=profile.listed * PATIENCE)


def conclude(part: Part, found: Finding, proof: Outcome | None, programs: Programs | None) -> tuple[str, str]:
    """(result, method)."""
    if found.counterexample is not None:
        return FAILS, REFUTED
    if part.stated == FAILS or not found.tried:  # a refutation needs a counterexample, whatever a solver says
        return INCONCLUSIVE, OPEN
    if (proof and proof.refuted) or (programs and programs.failed and programs.ran):
        return FAILS, REFUTED
    if part.proof and not part.proof.step and proof and proof.proved:
        return HOLDS, PROVED
    return HOLDS, CERTIFIED if programs and programs.ran else TESTED


def remarks(part: Part, found: Finding, proof: Outcome | None, programs: Programs | None) -> Any:
    """What each method has to say, in words."""
    if proof:
        words = "a step proved" if part.proof and part.proof.step else "proved"
        yield f"{words}: {proof.note}" if proof.proved else proof.note
    if programs:
        yield programs.failed or f"certified: {programs.programs} linear programs, largest gap {programs.gap}"
    kind = f"to {part.statement.slack:g}, {part.statement.why_slack}" if part.statement.slack else "exact"
    if found.counterexample is None:
        yield f"tested ({kind}): {found.listed} listed ({complete(found)}), {found.drawn} drawn"
    elif found.minimal:
        yield f"refuted ({kind}): smallest of the {found.listed} cases listed ({complete(found)})"
    else:
        yield f"refuted ({kind}): the smallest found; smaller ones were not ruled out"


def complete(found: Finding) -> str:
    """Up to which denominator each shape was listed whole: "all of V = 2 up to denominator 4"."""
    some = [f"V = {v}{f', N = {n}' * (n > 1)} up to denominator {d}" for v, n, d in found.complete]
    return f"all of {'; '.join(some)}" if some else "no size whole"


def run_programs(certificate: Certificate, subject: Any, profile: Profile) -> Programs:
    """Certify a sample of cases, the search deciding which."""
    gaps: list[Fraction] = []
    problems: list[str] = []

    def margin(case: Case, about: Any) -> Any:
        found = certify(certificate, case, about)
        if found.gap is None:
            problems.append(found.note)
            return Fraction(-1)
        gaps.append(found.gap)
        return CERTIFIED_WITHIN - found.gap

    domain = certificate.domain
    cheaper = replace(profile, listed=profile.listed // PROGRAM_COST, drawn=profile.drawn // PROGRAM_COST)
    found = examine(Statement(certificate.text, domain, margin, subject), cheaper)
    ran = not any(problem.startswith(UNCERTIFIED) for problem in problems)
    if found.counterexample is None:
        return Programs(len(gaps), max(gaps, default=Fraction(0)), "", ran)
    what = problems[-1] if problems else f"not optimal: gap {written(CERTIFIED_WITHIN - found.worst)}"
    return Programs(len(gaps), max(gaps, default=Fraction(0)), f"{what} (at {found.counterexample.as_json()})", ran)


def catch(theorem: Theorem, mutant: Mutant, profile: Profile) -> MutantResult:
    """Put a wrong subject in the place of the right one."""
    part, name = theorem.parts[mutant.part - 1], f"{theorem.id}.{mutant.part}"
    try:
        found = search(part.statement.about(mutant.subject), profile)
    except Exception as error:  # a mutant that cannot be run shows nothing
        return MutantResult(mutant.name, name, False, f"it cannot be run: {type(error).__name__}: {error}")
    if found.counterexample is not None:
        how = f"margin {written(found.worst)} at {found.counterexample.as_json()['values']}"
        return MutantResult(mutant.name, name, True, how)
    if part.certificate:
        programs = run_programs(part.certificate, mutant.subject, profile)
        return MutantResult(mutant.name, name, bool(programs.failed) and programs.ran, programs.failed or "survives")
    return MutantResult(mutant.name, name, False, f"survives {found.tried} cases")


def weaken(theorem: Theorem, some: Weakened, profile: Profile) -> WeakenedResult:
    """A weakened statement fails, or has a reason not to."""
    try:
        found = examine(some.statement, profile if some.equivalent else patient(profile))
    except Exception as error:
        return WeakenedResult(some.statement.text, f"cannot be run: {type(error).__name__}: {error}", "", None)
    if found.counterexample is not None:
        status = "not equivalent" if some.equivalent else REFUTED
        return WeakenedResult(
            some.statement.text, status, some.equivalent, counterexample(theorem.id, some.statement, found)
        )
    status = "equivalent" if some.equivalent else f"survives {found.tried} cases"
    return WeakenedResult(some.statement.text, status, some.equivalent, None)


def counterexample(name: str, statement: Statement, found: Finding) -> Counterexample:
    """A failing case as text."""
    case = found.counterexample
    assert case is not None
    bars = {key: [written(value) for value in values] for key, values in shown(statement, case).items()}
    return Counterexample(name, named(statement.subject), case.as_json(), written(found.worst), found.minimal, bars)


def written(value: Any) -> str:
    """A Fraction as it is, a float as it prints."""
    return str(value) if isinstance(value, (Fraction, int, str)) else repr(float(np.asarray(value)))


def named(subject: Any) -> str:
    """A function's name, those of a pair, or the repr of anything else."""
    if type(subject) is tuple:
        return f"({', '.join(map(named, subject))})"
    return getattr(subject, "__name__", None) or repr(subject)
