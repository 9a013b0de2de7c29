"""A statement that a machine can examine, and the search for a case on which it fails.

`margin(case, subject)` says how far a statement is from failing: it holds on a case iff the margin is at least 0 (for
floats: at least -slack).  The subject is what the statement is about: a rule, a decoder, a formula.  Another
subject in its place is a mutant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings

from specsim.testing.domains import Case, Domain
from specsim.testing.fields import Shape


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
MOST_SLACK = 1e-3
"""A margin of more than this is no rounding."""
WIDER = 9
"""Below this denominator smaller shapes are listed once more when a counterexample of a larger shape was found."""
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

    def __post_init__(self) -> None:
        if not 0 <= self.slack < MOST_SLACK:
            raise ValueError(f"slack {self.slack} must be a small number of at least 0")

    def measure(self, case: Case) -> Any:
        """The margin of a case, which must be a number: what is not a number fails, at -inf; TypeError for a yes or no
        (`holds` makes a margin of one), for +inf and for anything else."""
        margin = self.margin(case, self.subject)
        if isinstance(margin, (bool, np.bool_)) or not isinstance(margin, (int, float, Fraction, np.number)):
            raise TypeError(f"the margin is {margin!r}, must be a number")
        if margin != margin:
            return -math.inf
        if margin == math.inf:
            raise TypeError("the margin is infinite, must be a number")
        return margin

    def allows(self, margin: Any) -> bool:
        """Whether a case of this margin is no counterexample."""
        return bool(margin >= -self.slack)

    def fails(self, case: Case) -> bool:
        """Whether the case is a counterexample."""
        return not self.allows(self.measure(case))

    def about(self, subject: Any) -> Statement:
        """The same statement about something else."""
        return replace(self, subject=subject)


class Finding(NamedTuple):
    """What a search found.

    worst: the least margin; counterexample: the smallest failing case found, or None; minimal: whether every smaller
    size that can be listed was; listed, drawn: cases tried; complete: (V, N, largest denominator) for each shape of
    which everything up to that denominator was listed.
    """

    worst: Any
    counterexample: Case | None
    minimal: bool
    listed: int
    drawn: int
    complete: tuple[tuple[int, int, int], ...]

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
    """`search`, and for a counterexample that was listed also whether a smaller shape has one."""
    found = search(statement, profile)
    return smaller(statement, found, listed_at_most(statement, profile)) if found.minimal else found


def listed_at_most(statement: Statement, profile: Profile) -> int:
    """Cases to list."""
    return max(profile.listed // statement.domain.cost, LEAST_DRAWN)


def search(statement: Statement, profile: Profile) -> Finding:
    """List the smallest cases, then draw larger ones, until one fails."""
    listed = listing(statement, statement.domain.sizes(), listed_at_most(statement, profile))
    if listed.counterexample is not None:
        return listed
    known = remembered(statement)
    drawn = drawing(statement, max(profile.drawn // statement.domain.cost, LEAST_DRAWN), profile)
    last = drawn if known.counterexample is None else known
    margins = [some.worst for some in (listed, known, drawn) if some.worst is not None]
    worst = last.worst if last.counterexample is not None else min(margins, default=None)
    tried = known.drawn + (drawn.drawn if last is drawn else 0)
    return last._replace(worst=worst, listed=listed.listed, drawn=tried, complete=listed.complete)


def remembered(statement: Statement) -> Finding:
    """The known cases, to the smallest that fails; they count as drawn."""
    cases = sorted(statement.domain.known_cases(), key=lambda case: case.size)
    worst = None
    for tried, case in enumerate(cases, 1):
        margin = statement.measure(case)
        worst = margin if worst is None else min(worst, margin)
        if not statement.allows(margin):
            return Finding(margin, case, False, 0, tried, ())
    return Finding(worst, None, False, 0, len(cases), ())


def smaller(statement: Statement, found: Finding, most: int) -> Finding:
    """A counterexample of fewer tokens or positions, with denominators beyond the first list, if there is one."""
    assert found.counterexample is not None
    reached = found.counterexample.shape
    shapes = [shape for shape in statement.domain.shapes() if shape < reached]
    sizes = (
        (shape, d) for shape in shapes for d in range(statement.domain.highest_denominator(shape.vocab) + 1, WIDER)
    )
    wider = listing(statement, sizes, most)
    tried, complete = found.listed + wider.listed, merged(found.complete, wider.complete)
    if wider.counterexample is not None:
        return wider._replace(listed=tried, complete=complete)
    return found._replace(listed=tried, complete=complete)


def merged(first: tuple, second: tuple) -> tuple[tuple[int, int, int], ...]:
    """The largest denominator of each shape."""
    known = {(vocab, length): denominator for vocab, length, denominator in (*first, *second)}
    return tuple((*shape, denominator) for shape, denominator in sorted(known.items()))


def listing(statement: Statement, sizes: Iterable[tuple[Shape, int]], most: int) -> Finding:
    """Every case of the sizes in turn, at most so many; stops at the first one that fails."""
    worst, tried, looked, complete = None, 0, 0, dict[Shape, int]()
    for shape, denominator in sizes:
        for case in statement.domain.cases(shape, denominator):
            looked += 1
            if tried >= most or looked > most * LOOKED_AT:
                return Finding(worst, None, False, tried, 0, triples(complete))
            if statement.domain.where(case):
                tried, margin = tried + 1, statement.measure(case)
                worst = margin if worst is None else min(worst, margin)
                if not statement.allows(margin):
                    return Finding(margin, case, True, tried, 0, triples(complete))
        complete[shape] = denominator
    return Finding(worst, None, False, tried, 0, triples(complete))


def triples(complete: dict[Shape, int]) -> tuple[tuple[int, int, int], ...]:
    """(V, N, denominator)"""
    return tuple((*shape, denominator) for shape, denominator in complete.items())


def drawing(statement: Statement, most: int, profile: Profile) -> Finding:
    """Random cases; a failing one is shrunk.  Without a seed the same cases are drawn every time."""
    margins: list[Any] = []
    failing: list[Case] = []

    def once(case: Case) -> None:
        margin = statement.measure(case)
        margins.append(margin)
        if not statement.allows(margin):
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
    draws = quiet(given(statement.domain.strategy())(once))
    try:
        (draws if profile.seed is None else seed(profile.seed)(draws))()
    except Counterexample:
        # Hypothesis shrinks, and runs the smallest failing case last.
        case = failing[-1]
        return Finding(statement.measure(case), case, False, 0, len(margins), ())
    return Finding(min(margins, default=None), None, False, 0, len(margins), ())


class Counterexample(Exception):
    """Raised inside a search only."""


def shown(statement: Statement, case: Case) -> dict[str, Any]:
    """Vectors to draw and print for a case."""
    if statement.shows is not None:
        return statement.shows(case, statement.subject)
    loaded = {name: getattr(case, name) for name, _ in case.raw}
    return {name: value for name, value in loaded.items() if isinstance(value, np.ndarray) and value.ndim == 1}
