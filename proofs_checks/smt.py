"""Proofs by SMT (z3): the hypotheses can be met, and with the negation of the goal they cannot.

Masses are the variables: a = q b instead of b, R = r G instead of G.  Then the statements are linear and z3 answers at
once.  A statement that is a sum over tokens needs one token only: what holds for every term holds for the sum, at
every V.  "unknown" is not a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

MISSING = "not proved: z3 is not installed (pip install z3-solver)"
EVERY = "every V"


class Obligation(NamedTuple):
    """One thing to prove: assume (z3 formulas) => goal."""

    name: str
    assume: list[Any]
    goal: Any


@dataclass(frozen=True)
class Proof:
    """scope: for which V and L, in words; obligations: made when asked for, so that z3 may be missing.

    step: only one step of the argument is proved here and the rest is by hand, so that the statement itself counts as
    tested.
    """

    scope: str
    obligations: Callable[[], list[Obligation]]
    step: bool = False


class Outcome(NamedTuple):
    """proved: all obligations are discharged; refuted: z3 found a counterexample; note: in words."""

    proved: bool
    refuted: bool
    note: str


def discharge(proof: Proof, seconds: float) -> Outcome:
    """Ask z3 about every obligation; the first that is not discharged is named."""
    try:
        import z3
    except ImportError:
        return Outcome(False, False, MISSING)
    obligations = proof.obligations()
    if not obligations:
        return Outcome(False, False, "not proved: there is nothing to prove")
    for some in obligations:
        problem = ask(z3, some, seconds)
        if problem is not None:
            return problem
    return Outcome(True, False, f"{proof.scope} ({len(obligations)} SMT obligation{'s' * (len(obligations) > 1)})")


def ask(z3: Any, some: Obligation, seconds: float) -> Outcome | None:
    """None when the obligation is discharged, else what is wrong."""
    met = verdict(z3, some.assume, seconds)
    if met == z3.unsat:
        return Outcome(False, False, f"not proved: {some.name}: the hypotheses contradict each other")
    denied = verdict(z3, [*some.assume, z3.Not(some.goal)], seconds)
    if denied == z3.sat:
        return Outcome(False, True, f"refuted by SMT: {some.name}")
    if z3.unknown in (met, denied):
        return Outcome(False, False, f"not proved: {some.name}: z3 gave no answer in {seconds:g} s")
    return None


def verdict(z3: Any, formulas: list[Any], seconds: float) -> Any:
    """sat, unsat or unknown."""
    solver = z3.Solver()
    solver.set("timeout", int(seconds * 1000))
    solver.add(*formulas)
    return solver.check()


def positive(value: Any) -> Any:
    """[x]+"""
    import z3

    return z3.If(value > 0, value, 0 * value)


def least(first: Any, second: Any) -> Any:
    """min(x, y)"""
    import z3

    return z3.If(first < second, first, second)


def magnitude(value: Any) -> Any:
    """|x|"""
    import z3

    return z3.If(value < 0, -value, value)


def reals(names: str) -> Iterator[Any]:
    """Real variables, "target draft" -> two of them."""
    import z3

    return iter(z3.Reals(names))


def law(name: str, vocab: int) -> tuple[list[Any], list[Any]]:
    """A law of V variables, and the formulas that make it one."""
    import z3

    values = [z3.Real(f"{name}{v}") for v in range(vocab)]
    return values, [*(value >= 0 for value in values), total(values) == 1]


def total(values: list[Any]) -> Any:
    """Their sum, a z3 term even for one value."""
    import z3

    return z3.Sum(values)


def both(*formulas: Any) -> Any:
    """and"""
    import z3

    return z3.And(*formulas)


def either(*formulas: Any) -> Any:
    """or"""
    import z3

    return z3.Or(*formulas)
