"""Proofs of the source itself: a statement's margin, and with it the code it is about, run on symbols on every path.

Code that looks at the type of its numbers, or remembers answers, is beyond this; where it shows, there is no proof.
What a path returns is proved under the answers that led to it: hypotheses and answers => margin >= 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from proofs_checks.smt import Obligation, Proof
from proofs_checks.symbols import Escaped, Paths, Symbol
from specsim.testing.domains import Case
from specsim.testing.fields import Field, LawField, ModelField, NumberField, OneOf, ProbabilityField, Shape, rows
from specsim.testing.statements import Statement


def raw(field: Field, name: str, shape: Shape, paths: Paths) -> Any:
    """A field's raw value in symbols; their bounds become hypotheses."""
    if isinstance(field, LawField):
        return law(name, shape.vocab**field.order, paths)
    if isinstance(field, ModelField):
        return tuple(law(f"{name}{row}_", shape.vocab, paths) for row in range(rows(shape)))
    if isinstance(field, ProbabilityField):
        return tuple(number(f"{name}{v}", 0, 1, paths) for v in range(shape.vocab))
    if isinstance(field, NumberField):
        return number(name, field.low, field.high, paths)
    raise TypeError(f"{field!r} has no form in symbols")


def number(name: str, low: Any, high: Any, paths: Paths) -> Symbol:
    """A variable from low to high."""
    some = paths.variable(name)
    paths.suppose((some - low).top >= 0, (high - some).top >= 0)
    return some


def law(name: str, count: int, paths: Paths) -> tuple[Any, ...]:
    """A law of which all but the last entry are variables."""
    free = [number(f"{name}{v}", 0, 1, paths) for v in range(count - 1)]
    last = paths.lift(1) - sum(free)
    paths.suppose(last.top >= 0)
    return (*free, last)


def every_path(statement: Statement, shape: Shape) -> Iterator[Obligation]:
    """One obligation for each path: the hypotheses and the answers => the margin is at least 0."""
    fields = statement.domain.fields
    options = {name: some.options for name, some in fields.items() if isinstance(some, OneOf)}
    for chosen in product(*options.values()):
        paths = Paths()
        symbols = {name: raw(some, name, shape, paths) for name, some in fields.items() if name not in options}
        case = statement.domain.case(shape, {**symbols, **dict(zip(options, chosen, strict=True))})
        more = True
        while more:
            goal, facts = reached(statement, case, paths), paths.facts()
            if goal is not None:
                where = " ".join(fact.sexpr() for fact in facts)
                yield Obligation(f"V = {shape.vocab}, N = {shape.length}, {where}", [*paths.assume, *facts], goal)
            more = paths.turn()


def reached(statement: Statement, case: Case, paths: Paths) -> Any:
    """Run the margin once: the formula that it is at least 0, False where it divides by 0, None beyond the domain."""
    try:
        if not statement.domain.where(case):
            return None
        margin = paths.lift(statement.margin(case, statement.subject))
        paths.require_all_asked()
        return margin.top >= 0
    except ZeroDivisionError:
        return paths.z3.BoolVal(False)
    except Escaped as error:
        raise TypeError(f"no proof by the source: {error}") from None


def by_source(statement: Statement, *shapes: Shape) -> Proof:
    """A statement proved by running its own margin, and so the code it is about, on symbols."""
    names = [f"V = {shape.vocab}" + f" N = {shape.length}" * (shape.length > 1) for shape in shapes]
    return Proof(
        f"the source itself, path by path, at {', '.join(names)}",
        lambda: [one for shape in shapes for one in every_path(statement, shape)],
    )
