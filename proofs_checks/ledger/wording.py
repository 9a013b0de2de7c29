"""A ledger in words: cases, counts and the line at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from proofs_checks.results import REFUTED, Counterexample, PartResult, TheoremResult
from proofs_checks.theorem import FAILS, HOLDS

LONGEST = 10
"""Numbers of more characters are shown as decimals."""


def brief(text: str) -> str:
    """A number written as text, short."""
    if len(text) <= LONGEST or "/" not in text:
        return text
    over, under = text.split("/")
    return f"~{int(over) / int(under):.6g}"


def case_words(case: dict[str, Any]) -> str:
    """target = (0, 1), draft = (1/2, 1/2); a model is the list of its laws, shorter prefixes first."""
    return ", ".join(f"{name} = {value_words(value)}" for name, value in case["values"].items())


def value_words(value: Any) -> str:
    """One value of a case."""
    if isinstance(value, list):
        inner = [value_words(some) if isinstance(some, list) else str(some) for some in value]
        return f"({', '.join(inner)})" if not any(isinstance(some, list) for some in value) else " ".join(inner)
    return str(value)


def counterexample_words(some: Counterexample) -> str:
    """The case, its margin and whether it is minimal."""
    kind = "smallest" if some.minimal else "smallest found"
    return f"{kind}: {case_words(some.case)}; margin {brief(some.margin)}"


def verdict_words(part: PartResult) -> str:
    """ "holds, proved", "refuted" (as stated) or what went wrong."""
    if not part.agrees:
        return f"UNEXPECTED: {part.result}, stated to {'hold' if part.stated == HOLDS else 'fail'}"
    return REFUTED if part.result == FAILS else part.method


def parts_of(results: Iterable[TheoremResult]) -> list[PartResult]:
    """All parts."""
    return [part for result in results for part in result.parts]


def summary(results: list[TheoremResult]) -> list[str]:
    """The counts."""
    parts, mutants = parts_of(results), [some for result in results for some in result.mutants]
    weakened = [some for result in results for some in result.weakened]
    methods = Counter(verdict_words(part) for part in parts if part.agrees)
    lines = [
        f"{len(results)} theorem{'s' * (len(results) != 1)} of {len(parts)} statements: "
        + ", ".join(f"{count} {method}" for method, count in sorted(methods.items())),
        f"mutants caught: {sum(some.caught for some in mutants)} of {len(mutants)}; weakened statements settled: "
        f"{sum(some.settled for some in weakened)} of {len(weakened)}",
    ]
    return [*lines, *problems(results)]


def problems(results: Iterable[TheoremResult]) -> list[str]:
    """Everything that did not come out as the theorems state; empty when all is well."""
    found = []
    for result in results:
        found += [f"{part.id}: {verdict_words(part)}: {part.text}" for part in result.parts if not part.agrees]
        found += [f"{part.id}: declared, and {why}" for part in result.parts for why in part.missing]
        found += [f"{result.id}: mutant survives: {some.name}" for some in result.mutants if not some.caught]
        found += [f"{result.id}: weakened, {some.status}: {some.text}" for some in result.weakened if not some.settled]
    return found
