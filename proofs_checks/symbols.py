"""Symbols that specsim's own code computes with as if they were Fractions, and the paths that its comparisons open.

A Symbol is a polynomial of z3 over a product of polynomials that are positive where it was made.  It sits in object
arrays where a Fraction would.  Where the code asks whether one number is larger than another, the run goes on along one
answer that the hypotheses allow, and is repeated for the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np

FEASIBLE_SECONDS = 5.0
"""Time for "can this answer be?"; no answer counts as yes, which costs a path and never a proof."""


class Answer(NamedTuple):
    """An answer to a comparison.  free: the other one was possible too; last: and is done with."""

    formula: Any
    value: bool
    free: bool
    last: bool

    def fact(self) -> Any:
        """The formula, or its negation."""
        import z3

        return self.formula if self.value else z3.Not(self.formula)


class Paths:
    """Answers comparisons along one path after the other.

    assume: the hypotheses; taken: the answers on this path.
    """

    def __init__(self) -> None:
        import z3

        self.z3, self.solver = z3, z3.Solver()
        self.solver.set("timeout", int(FEASIBLE_SECONDS * 1000))
        self.assume: list[Any] = []
        self.taken: list[Answer] = []
        self.restart()

    def suppose(self, *formulas: Any) -> None:
        """Hypotheses, before the first comparison."""
        self.assume.extend(formulas)
        self.solver.add(*formulas)

    def variable(self, name: str) -> Symbol:
        """A real number of which nothing is known but what is supposed."""
        return Symbol(self, self.z3.Real(name), Counter())

    def lift(self, value: Any) -> Symbol:
        """A whole number or a Fraction as a Symbol."""
        if isinstance(value, Symbol):
            return value
        return Symbol(self, self.z3.RealVal(Fraction(value)), Counter())

    def restart(self) -> None:
        """Back to the first comparison, to give the answers of `taken` again."""
        self.asked, self.known = 0, dict[Any, bool]()

    def positive(self, term: Any) -> bool:
        """Whether a polynomial is above 0 on this path; each is asked once."""
        if self.z3.is_rational_value(term):
            return bool(term.as_fraction() > 0)
        if term not in self.known:
            self.known[term] = self.follow(term > 0)
        return self.known[term]

    def follow(self, formula: Any) -> bool:
        """The next answer: the one of `taken`, or a new one, True first where both can be."""
        if self.asked < len(self.taken) and not formula.eq(self.taken[self.asked].formula):
            raise Escaped("it asks other questions when it is run again, so it is no function of its inputs")
        if self.asked == len(self.taken):
            yes, no = self.can_be(formula), self.can_be(self.z3.Not(formula))
            self.take(Answer(formula, yes, free=yes and no, last=False))
        self.asked += 1
        return self.taken[self.asked - 1].value

    def require_all_asked(self) -> None:
        """A path that is run again asks what it asked before."""
        if self.asked < len(self.taken):
            raise Escaped("it asks fewer questions when it is run again, so it is no function of its inputs")

    def can_be(self, formula: Any) -> bool:
        """Whether the hypotheses and the answers so far allow it."""
        return bool(self.solver.check(formula) != self.z3.unsat)

    def take(self, answer: Answer) -> None:
        """Go on with an answer; one that follows from the others adds nothing to them."""
        self.taken.append(answer)
        if answer.free:
            self.solver.push()
            self.solver.add(answer.fact())

    def turn(self) -> bool:
        """On to the next path: the last free answer is turned; False when there is none left to turn."""
        while self.taken:
            answer = self.taken.pop()
            if answer.free:
                self.solver.pop()
            if answer.free and not answer.last:
                self.take(answer._replace(value=not answer.value, last=True))
                self.restart()
                return True
        return False

    def facts(self) -> list[Any]:
        """The free answers of this path."""
        return [answer.fact() for answer in self.taken if answer.free]


class Escaped(BaseException):
    """The code leaves the numbers that symbols stand for.  No Exception: what is being proved may not catch it."""


def of_numbers(method: Callable[[Symbol, Any], Any]) -> Callable[[Symbol, Any], Any]:
    """Leave arrays to the other operand; any other thing than an exact number is no proof's business."""

    def operator(self: Symbol, other: Any) -> Any:
        if isinstance(other, (Symbol, Fraction, int)):
            return method(self, self.paths.lift(other))
        if isinstance(other, np.ndarray):
            return NotImplemented
        raise Escaped(f"a symbol meets {type(other).__name__} {other!r}")

    return operator


class Symbol:
    """A polynomial over a product of polynomials, bottom, each above 0 on the path that made it."""

    def __init__(self, paths: Paths, top: Any, bottom: Counter[Any]) -> None:
        self.paths, self.top, self.bottom = paths, paths.z3.simplify(top, som=True), bottom

    def times(self, factors: Counter[Any]) -> Any:
        """The top multiplied by some factors."""
        return prod(factors.elements(), start=self.top)

    @of_numbers
    def __add__(self, other: Any) -> Symbol:
        bottom = self.bottom | other.bottom
        return Symbol(self.paths, self.times(bottom - self.bottom) + other.times(bottom - other.bottom), bottom)

    @of_numbers
    def __mul__(self, other: Any) -> Symbol:
        bottom = self.bottom + other.bottom
        for one, rest in ((self.top, other.top), (other.top, self.top)):
            if one in bottom:
                return Symbol(self.paths, rest, bottom - Counter([one]))
        return Symbol(self.paths, self.top * other.top, bottom)

    @of_numbers
    def __truediv__(self, other: Any) -> Symbol:
        if not other > 0:
            if other < 0:
                return -self / -other
            raise ZeroDivisionError("a symbol divided by one that is 0 here")
        raised = Symbol(self.paths, self.times(other.bottom - self.bottom), self.bottom - other.bottom)
        if self.paths.z3.is_rational_value(other.top):
            return raised * (1 / other.top.as_fraction())
        return raised * Symbol(self.paths, self.paths.z3.RealVal(1), Counter([other.top]))

    def __neg__(self) -> Symbol:
        return Symbol(self.paths, -self.top, self.bottom)

    @of_numbers
    def __sub__(self, other: Any) -> Symbol:
        return self + -other

    @of_numbers
    def __rsub__(self, other: Any) -> Symbol:
        return other - self

    @of_numbers
    def __rtruediv__(self, other: Any) -> Symbol:
        return other / self

    def __abs__(self) -> Symbol:
        return self if self >= 0 else -self

    @of_numbers
    def __gt__(self, other: Any) -> bool:
        return self.paths.positive((self - other).top)

    @of_numbers
    def __lt__(self, other: Any) -> bool:
        return (-self) > -other

    @of_numbers
    def __ge__(self, other: Any) -> bool:
        return not self < other

    @of_numbers
    def __le__(self, other: Any) -> bool:
        return not self > other

    @of_numbers
    def __eq__(self, other: Any) -> bool:
        return not (self > other or self < other)

    def __bool__(self) -> bool:
        return self != 0

    def __float__(self) -> float:
        raise Escaped("a symbol is made a float")

    def __int__(self) -> int:
        raise Escaped("a symbol is made an int")

    __index__ = __int__

    __radd__, __rmul__, __hash__ = __add__, __mul__, None  # type: ignore[assignment]
