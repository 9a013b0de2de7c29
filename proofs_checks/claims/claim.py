"""A claim, its aspects, and how evidence becomes a verdict.

An aspect is one thing that the sentence says; it holds if all its evidence speaks for it, fails if any speaks against
it, and is open otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

from proofs_checks.claims.published import PUBLISHED, Table
from proofs_checks.theorem import Theorem
from proofs_checks.theorems import THEOREMS
from specsim.errors import SpecsimError

FOR, AGAINST, OPEN = "for", "against", "open"
HOLDS, REFUTED, IN_PART, UNDECIDED = "holds", "refuted", "holds in part", "undecided"
CONSISTENT, CONSISTENT_IN_PART = "consistent with its own table", "consistent in part with its own table"
"""As HOLDS and IN_PART, where all that speaks for the claim is printed in its own paper: nobody else measured it."""
CONTRADICTED, INCONSISTENT = "contradicted by its own table", "contradicts itself"
OUT_OF_REACH = "not checkable here"
VERDICTS = (
    *(HOLDS, REFUTED, IN_PART, CONSISTENT, CONSISTENT_IN_PART),
    *(CONTRADICTED, INCONSISTENT, UNDECIDED, OUT_OF_REACH),
)
TABLE, TEXT = "table", "text"
RESULTS = Path(__file__).parents[2] / "results"
"""Measured figures, in a checkout of the repository; an installed package has none, and then they are open."""


class Weighed(NamedTuple):
    """One piece of evidence, looked at.

    stance: for, against or open; line: what it says, with its figures; own: "table" or "text" where it is printed in
    the claim's own paper; reachable: False where nothing here could ever tell; counts: False for what is only told;
    paper: where a figure is printed, "" for what no paper prints.
    """

    stance: str
    line: str
    own: str = ""
    reachable: bool = True
    counts: bool = True
    paper: str = ""


@dataclass(frozen=True)
class Context:
    """Everything that evidence may look at.  parts: part id -> "holds", "fails", "inconclusive"."""

    parts: Mapping[str, str]
    theorems: Mapping[str, Theorem]
    tables: Mapping[str, Table]
    results: Path

    @cached_property
    def texts(self) -> dict[str, dict[str, str]]:
        """Theorem id -> part id -> its sentence."""
        return {
            name: {f"{name}.{n}": some.statement.text for n, some in enumerate(theorem.parts, 1)}
            for name, theorem in self.theorems.items()
        }


class Evidence(Protocol):
    """Something that can be looked at."""

    def weigh(self, context: Context) -> Weighed: ...


@dataclass(frozen=True)
class Claim:
    """id: C01 ..; text: the sentence, in our words; source: paper and place; aspects: {what it says: evidence}."""

    id: str
    text: str
    source: str
    aspects: Mapping[str, Sequence[Evidence]]


class ClaimResult(NamedTuple):
    """A claim with the verdict that its evidence gives it, and every piece of it in a line."""

    id: str
    text: str
    source: str
    verdict: str
    evidence_lines: tuple[str, ...]


def part(theorem: str, words: str, texts: Mapping[str, Mapping[str, str]]) -> str:
    """The id of the one part of a theorem whose sentence has these words in it; SpecsimError unless it is one."""
    if theorem not in texts:
        raise SpecsimError(f"no theorem {theorem}; there are {', '.join(texts)}")
    found = [name for name, text in texts[theorem].items() if words in text]
    if len(found) != 1:
        raise SpecsimError(f"{len(found)} parts of {theorem} say {words!r}; use words of exactly one of its sentences")
    return found[0]


def settle(
    claims: Sequence[Claim],
    part_results: Mapping[str, str],
    theorems: Mapping[str, Theorem] = THEOREMS,
    tables: Mapping[str, Table] = PUBLISHED,
    results: Path = RESULTS,
) -> list[ClaimResult]:
    """Every claim with its verdict.  part_results: part id -> result word, parts that were not run left out."""
    context = Context(part_results, theorems, tables, results)
    return [decide(claim, context) for claim in claims]


def decide(claim: Claim, context: Context) -> ClaimResult:
    """Look at all evidence of one claim."""
    weighed = {
        name: [placed(some.weigh(context), claim.source) for some in pieces] for name, pieces in claim.aspects.items()
    }
    lines = tuple(told(name, piece) for name, pieces in weighed.items() for piece in pieces)
    return ClaimResult(claim.id, claim.text, claim.source, verdict(list(weighed.values())), lines)


def placed(piece: Weighed, source: str) -> Weighed:
    """A figure that another paper prints is not the claim's own."""
    return piece if piece.paper in source else piece._replace(own="")


def told(aspect: str, piece: Weighed) -> str:
    """One line: the stance, what it is about, what it says."""
    stance = piece.stance if piece.counts else "beside"
    return f"{stance}, {aspect}: {piece.line}"


def verdict(aspects: Sequence[Sequence[Weighed]]) -> str:
    """The word that the aspects add up to."""
    counting = [found for pieces in aspects if (found := [piece for piece in pieces if piece.counts])]
    states = [state(pieces) for pieces in counting]
    against = [piece for pieces in counting for piece in pieces if piece.stance == AGAINST]
    if FOR in states:
        return held([pieces for pieces, some in zip(counting, states, strict=True) if some == FOR], len(states))
    if against:
        places = {piece.own for piece in against}
        return CONTRADICTED if places == {TABLE} else INCONSISTENT if places == {TEXT} else REFUTED
    hopeless = [not piece.reachable for pieces in counting for piece in pieces]
    return OUT_OF_REACH if hopeless and all(hopeless) else UNDECIDED


def held(supported: Sequence[Sequence[Weighed]], aspects: int) -> str:
    """The word for a claim some of whose aspects hold: all of them or not, and on whose figures."""
    printed = all(piece.own == TABLE for pieces in supported for piece in pieces)
    if len(supported) == aspects:
        return CONSISTENT if printed else HOLDS
    return CONSISTENT_IN_PART if printed else IN_PART


def state(pieces: Sequence[Weighed]) -> str:
    """Of one aspect: against if anything is, for if everything is, open otherwise."""
    stances = {piece.stance for piece in pieces}
    if AGAINST in stances:
        return AGAINST
    return FOR if stances == {FOR} else OPEN
