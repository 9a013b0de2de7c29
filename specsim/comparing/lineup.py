"""The systems of a comparison: each rule as it is, or retuned to the goal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from specsim.comparing.goals import Goal, Run, told_apart
from specsim.comparing.tuning import EXACT, Effort, Tuned, tune
from specsim.decoding import Decoder
from specsim.errors import SpecsimError
from specsim.strength import strength_of

AS_GIVEN, TUNED, FIXED = "as given", "tuned", "has none"
CHEAPER, DEARER = "jump, cheaper", "jump, dearer"
"""How a contender got its strength."""

RunOf = Callable[[Decoder, Any], Run]
"""run_of(decoder, rule): the run whose cost is tuned."""
Progress = Callable[[int, int], None]


class Contender(NamedTuple):
    """A system that is compared.  cost: in the goal's measure, while tuning (None without a goal)."""

    decoder: Decoder
    rule: Any
    how: str
    cost: float | None = None


class Absent(NamedTuple):
    """A rule that cannot reach the goal with this decoder, and the costs it can reach."""

    decoder: Decoder
    rule: Any
    reach: tuple[float, float]
    goal: float

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        ends = {"least": self.reach[0], "greatest": self.reach[1]}
        return {"decoder": repr(self.decoder), "rule": repr(self.rule), **ends}

    def __str__(self) -> str:
        _, least, greatest = told_apart(self.goal, *self.reach)
        return f"{self.rule!r} with {self.decoder!r} reaches {least} to {greatest}"


class Lineup(NamedTuple):
    """Who is compared, who cannot be, and what has to be said about the tuning."""

    contenders: list[Contender]
    absent: list[Absent]
    notes: list[str]


def has_strength(rule: Any) -> bool:
    """Whether a rule names a strength."""
    try:
        strength_of(rule)
    except SpecsimError:
        return False
    return True


def line_up(
    systems: Sequence[tuple[Decoder, Any]],
    goal: Goal | None,
    run_of: RunOf,
    effort: Effort = EXACT,
    progress: Progress | None = None,
) -> Lineup:
    """Bring every rule to the goal, a system given twice once; SpecsimError when not one of them can be.

    progress(systems done, systems) is called after each.
    """
    found, systems = Lineup([], [], []), distinct(systems)
    if goal is not None and not any(has_strength(rule) for _, rule in systems):
        raise SpecsimError(f"compare: no rule here has a strength to bring to {goal}; compare them as they are")
    for done, (decoder, rule) in enumerate(systems, start=1):
        add(found, decoder, rule, goal, run_of, effort)
        if progress is not None:
            progress(done, len(systems))
    if goal is not None and not any(c.how != FIXED for c in found.contenders):
        raise SpecsimError(f"compare: no rule reaches {goal}: {'; '.join(map(str, found.absent))}")
    return found


def distinct(systems: Sequence[tuple[Decoder, Any]]) -> list[tuple[Decoder, Any]]:
    """The systems, each once, as first given."""
    return list({(repr(decoder), repr(rule)): (decoder, rule) for decoder, rule in systems}.values())


def add(found: Lineup, decoder: Decoder, rule: Any, goal: Goal | None, run_of: RunOf, effort: Effort) -> None:
    """One system into the line-up."""
    if goal is None:
        join(found, [Contender(decoder, rule, AS_GIVEN)])
    elif not has_strength(rule):
        join(found, [Contender(decoder, rule, FIXED, goal.cost(run_of(decoder, rule)))])
    else:
        tuned = tune(lambda candidate: goal.cost(run_of(decoder, candidate)), rule, goal.value, effort)
        join(found, contenders(decoder, tuned, goal))
        if not tuned.points:
            found.absent.append(Absent(decoder, rule, tuned.reach, goal.value))
        said = remarks(decoder, rule, tuned, goal, effort)
        found.notes.extend(line for line in said if line not in found.notes)


def join(found: Lineup, several: Sequence[Contender]) -> None:
    """Into the line-up, each system once: two settings of a rule may be tuned to the same one."""
    there = {(repr(c.decoder), repr(c.rule)) for c in found.contenders}
    found.contenders.extend(c for c in several if (repr(c.decoder), repr(c.rule)) not in there)


def contenders(decoder: Decoder, tuned: Tuned, goal: Goal) -> list[Contender]:
    """The tuned rule, or the rules on both sides of a jump: the goal lies between their costs."""
    if tuned.met:
        return [Contender(decoder, point.rule, TUNED, point.cost) for point in tuned.points]
    sides = [(point, DEARER if goal.excess(point.cost) > 0 else CHEAPER) for point in tuned.points]
    return [Contender(decoder, point.rule, how, point.cost) for point, how in sides]


def remarks(decoder: Decoder, rule: Any, tuned: Tuned, goal: Goal, effort: Effort) -> list[str]:
    """What a reader must know: a jump, a cost that turns back, a goal that is passed more than once."""
    name, words = f"{type(rule).__name__} with {decoder!r}", goal.measure.words
    said = []
    if len(tuned.points) > 1:
        weak, strong = tuned.points
        field, (_, low, high) = strength_of(rule).field, told_apart(goal.value, weak.cost, strong.cost)
        said.append(
            f"{name}: cannot cost {goal} exactly; {words} jump from {low} to {high} between "
            f"{field} = {weak.value!r} and {strong.value!r}"
        )
    if tuned.backtrack > effort.slack:
        said.append(f"{name}: not monotone, {words} turn back by {tuned.backtrack:.4g} or more as the strength grows")
    if tuned.crossings > 1:
        said.append(f"{name}: passes {goal} {tuned.crossings} times; the weakest strength that does is taken")
    return said
