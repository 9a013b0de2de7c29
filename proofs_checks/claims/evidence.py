"""Evidence of four kinds: a part of a theorem, arithmetic on printed figures, two printed figures, and none at all.

What is measured is in measured.py, what is computed on the spot in computed.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from proofs_checks.claims.claim import AGAINST, FOR, OPEN, TABLE, TEXT, Context, Evidence, Weighed, part
from proofs_checks.claims.published import LOWER_IS_BETTER, Table
from proofs_checks.theorem import FAILS, HOLDS


@dataclass(frozen=True)
class Interval:
    """All numbers that a printed figure can stand for: within half a unit of its last digit.  Positive ones only."""

    low: Fraction
    high: Fraction

    def __truediv__(self, other: Interval) -> Interval:
        return Interval(self.low / other.high, self.high / other.low)

    def __mul__(self, other: Interval) -> Interval:
        return Interval(self.low * other.low, self.high * other.high)

    def meets(self, other: Interval) -> bool:
        """Some number is in both."""
        return self.low <= other.high and other.low <= self.high

    def __str__(self) -> str:
        return f"{float(self.low):.4g} to {float(self.high):.4g}"


def read(digits: str) -> Interval:
    """The interval of a printed figure."""
    half = Fraction(1, 2 * 10 ** len(digits.partition(".")[2]))
    return Interval(Fraction(digits) - half, Fraction(digits) + half)


def exactly(number: str) -> Interval:
    """A number that is not rounded."""
    return Interval(Fraction(number), Fraction(number))


Numbers = Callable[[str, str], Interval]
"""(system, figure) -> what is printed of it."""


def printed(stance: str, line: str, table: Table) -> Weighed:
    """Evidence that a paper prints."""
    return Weighed(stance, f"{line} ({table.source})", own=TABLE, paper=table.paper)


@dataclass(frozen=True)
class Proven:
    """The part of a theorem with these words in it; it speaks for the claim if its result is `supports`."""

    theorem: str
    words: str
    supports: str = HOLDS

    def weigh(self, context: Context) -> Weighed:
        """For, against, or open where the part was not run or came to nothing."""
        name = part(self.theorem, self.words, context.texts)
        result = context.parts.get(name, "was not run")
        stance = FOR if result == self.supports else AGAINST if result in (HOLDS, FAILS) else OPEN
        return Weighed(stance, f"{name} {result}: {context.texts[self.theorem][name]}")


@dataclass(frozen=True)
class Agrees:
    """A formula of printed figures gives the printed result, rounding allowed for."""

    words: str
    table: str
    formula: Callable[[Numbers], Interval]
    printed: str

    def weigh(self, context: Context) -> Weighed:
        """For if the interval of the formula meets that of the printed digits."""
        table = context.tables[self.table]
        found = self.formula(lambda system, figure: read(table.rows[system][figure]))
        stance = FOR if found.meets(read(self.printed)) else AGAINST
        return printed(stance, f"{self.words} = {found}, printed {self.printed}", table)


def ratio(table: str, over: str, under: str, figure: str, printed: str) -> Agrees:
    """A printed speed-up."""
    return Agrees(f"{over}/{under}, {figure}", table, lambda at: at(over, figure) / at(under, figure), printed)


@dataclass(frozen=True)
class Together:
    """Formulas of different rows stand for one number."""

    words: str
    table: str
    formulas: tuple[Callable[[Numbers], Interval], ...]

    def weigh(self, context: Context) -> Weighed:
        """For if all intervals have a number in common."""
        table = context.tables[self.table]
        found = [formula(lambda system, figure: read(table.rows[system][figure])) for formula in self.formulas]
        common = max(some.low for some in found) <= min(some.high for some in found)
        return printed(FOR if common else AGAINST, f"{self.words}: {'; '.join(map(str, found))}", table)


@dataclass(frozen=True)
class Beats:
    """A printed figure of one system is better than that of another, or as good where a tie is allowed."""

    table: str
    first: str
    second: str
    figure: str
    ties: bool = False

    def weigh(self, context: Context) -> Weighed:
        """For or against; open where one of them is not printed."""
        table = context.tables[self.table]
        digits = [table.rows[system].get(self.figure) for system in (self.first, self.second)]
        where = f"{self.figure} of {self.first} and {self.second}"
        if digits[0] is None or digits[1] is None:
            shown = ["not printed" if some is None else some for some in digits]
            return printed(OPEN, f"{where}: {shown[0]}, {shown[1]}", table)
        gain = Fraction(digits[1]) - Fraction(digits[0])
        better = (gain if LOWER_IS_BETTER[self.figure] else -gain) > 0 or (self.ties and gain == 0)
        word = "lower is better" if LOWER_IS_BETTER[self.figure] else "higher is better"
        return printed(FOR if better else AGAINST, f"{where}: {digits[0]}, {digits[1]}; {word}", table)


@dataclass(frozen=True)
class Within:
    """A formula of printed figures is at most so much, rounding allowed for."""

    words: str
    table: str
    formula: Callable[[Numbers], Interval]
    most: str
    reason: str

    def weigh(self, context: Context) -> Weighed:
        """For if the whole interval is below, against if none of it is."""
        table = context.tables[self.table]
        found, most = self.formula(lambda system, figure: read(table.rows[system][figure])), Fraction(self.most)
        stance = FOR if found.high <= most else AGAINST if found.low > most else OPEN
        return printed(stance, f"{self.words} = {found}, at most {self.most}: {self.reason}", table)


@dataclass(frozen=True)
class SameOrder:
    """The source takes two properties for one, and says of both where there is more of it."""

    words: str
    first: str
    second: str

    def weigh(self, context: Context) -> Weighed:
        """Against if the two places differ."""
        line = f"{self.words}: {self.first}; {self.second}"
        return Weighed(FOR if self.first == self.second else AGAINST, line, own=TEXT)


@dataclass(frozen=True)
class Unseen:
    """Nothing here can tell, and why."""

    reason: str

    def weigh(self, context: Context) -> Weighed:
        """Open for good."""
        return Weighed(OPEN, self.reason, reachable=False)


@dataclass(frozen=True)
class Beside:
    """Evidence that is told but does not count, because it is of another model or another question."""

    evidence: Evidence

    def weigh(self, context: Context) -> Weighed:
        """The same line, without weight."""
        return self.evidence.weigh(context)._replace(counts=False)
