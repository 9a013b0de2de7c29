"""A statement that a machine can examine, and the search for a case on which it fails.

`margin(case, subject)` says how far a statement is from failing: it holds on a case iff the margin is at least 0 (for
floats: at least -slack).  The subject is what the statement is about: a rule, a decoder, a formula.  Another
subject in its place is a mutant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings

from specsim.arrays import Array
from specsim.testing.domains import Case, Domain


@dataclass(frozen=True)
class Profile:
    """How hard to look.  listed, drawn: cases of one token that are listed from the smallest on, and drawn at random
    (dearer domains get fewer); seed: None draws the same cases every time; solver_seconds: for each SMT question."""

    name: str
    listed: int
    drawn: int
    seed: int | None = None
    solver_seconds: float = 20.0


CI = Profile("ci", listed=1500, drawn=150)
THOROUGH = Profile("thorough", listed=60_000, drawn=6_000, seed=0, solver_seconds=300.0)
PROFILES = {profile.name: profile for profile in (CI, THOROUGH)}
LEAST_DRAWN = 15
"""Random cases of even the dearest domain."""
LOOKED_AT = 50
"""Cases looked at for each one that may be listed: a hypothesis can be rare."""


@dataclass(frozen=True)
class Statement:
    """text: one sentence; margin(case, subject) >= -slack on every case of the domain.

    slack is 0 for exact margins; where a logarithm makes one a float, `why_slack` says what the number is.
    shows(case, subject): vectors to draw and print, {name: [..]}; by default the laws of the case.
    """

    text: str
    domain: Domain
    margin: Callable[[Case, Any], Any]
    subject: Any = None
    slack: float = 0.0
    why_slack: str = ""
    shows: Callable[[Case, Any], dict[str, Any]] | None = None

    def fails(self, case: Case) -> bool:
        """Whether the case is a counterexample."""
        return bool(self.margin(case, self.subject) < -self.slack)

    def about(self, subject: Any) -> Statement:
        """The same statement about something else."""
        return replace(self, subject=subject)


class Finding(NamedTuple):
    """What a search found.

    worst: the least margin; counterexample: the smallest failing case found, or None; minimal: whether every smaller
    size was listed; listed, drawn: cases tried; exhausted: (V, N, denominator) of the last size listed whole.
    """

    worst: Any
    counterexample: Case | None
    minimal: bool
    listed: int
    drawn: int
    exhausted: tuple[int, int, int] | None

    @property
    def tried(self) -> int:
        """Cases that were tried."""
        return self.listed + self.drawn


def equal(first: Any, second: Any) -> Any:
    """Margin of first == second: minus their largest difference."""
    gap = abs(first - second)
    return -gap.max() if isinstance(gap, np.ndarray) else -gap


def implies(condition: bool, margin: Any) -> Any:
    """Margin of a statement under a condition; beyond it there is nothing to fail."""
    return margin if condition else Fraction(1)


def holds(condition: Any) -> Fraction:
    """Margin of a plain yes or no: 0 or -1."""
    return Fraction(0) if condition else Fraction(-1)


def examine(statement: Statement, profile: Profile = CI) -> Finding:
    """List the smallest cases, then draw larger ones, until one fails."""
    listed = listing(statement, max(profile.listed // statement.domain.cost, LEAST_DRAWN))
    if listed.counterexample is not None:
        return listed
    drawn = drawing(statement, max(profile.drawn // statement.domain.cost, LEAST_DRAWN), profile)
    margins = [some.worst for some in (listed, drawn) if some.worst is not None]
    return drawn._replace(
        worst=min(margins, default=None), listed=listed.listed, exhausted=listed.exhausted, minimal=False
    )


def listing(statement: Statement, most: int) -> Finding:
    """Every case in the order of size, at most so many; stops at the first one that fails."""
    worst, tried, looked, exhausted = None, 0, 0, None
    for shape, denominator in statement.domain.sizes():
        for case in statement.domain.cases(shape, denominator):
            looked += 1
            if tried >= most or looked > most * LOOKED_AT:
                return Finding(worst, None, False, tried, 0, exhausted)
            if statement.domain.where(case):
                tried, margin = tried + 1, statement.margin(case, statement.subject)
                worst = margin if worst is None else min(worst, margin)
                if margin < -statement.slack:
                    return Finding(margin, case, True, tried, 0, exhausted)
        exhausted = (*shape, denominator)
    return Finding(worst, None, False, tried, 0, exhausted)


def drawing(statement: Statement, most: int, profile: Profile) -> Finding:
    """Random cases; a failing one is shrunk.  Without a seed the same cases are drawn every time."""
    margins: list[Any] = []
    failing: list[Case] = []

    def once(case: Case) -> None:
        margin = statement.margin(case, statement.subject)
        margins.append(margin)
        if margin < -statement.slack:
            failing.append(case)
            raise Counterexample

    quiet = settings(
        max_examples=most,
        derandomize=profile.seed is None,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    search = quiet(given(statement.domain.strategy())(once))
    try:
        (search if profile.seed is None else seed(profile.seed)(search))()
    except Counterexample:
        # Hypothesis shrinks, and runs the smallest failing case last.
        case = failing[-1]
        return Finding(statement.margin(case, statement.subject), case, False, 0, len(margins), None)
    return Finding(min(margins, default=None), None, False, 0, len(margins), None)


class Counterexample(Exception):
    """Raised inside a search only."""


def shown(statement: Statement, case: Case) -> dict[str, Any]:
    """Vectors to draw and print for a case."""
    if statement.shows is not None:
        return statement.shows(case, statement.subject)
    loaded = {name: getattr(case, name) for name, _ in case.raw}
    return {name: value for name, value in loaded.items() if isinstance(value, np.ndarray) and value.ndim == 1}


def vector(values: Array) -> list[str]:
    """A vector as text."""
    return [str(value) for value in values]
