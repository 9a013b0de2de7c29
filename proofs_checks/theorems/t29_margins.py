"""What T29 says of rules that verify several drafts of one position: the decoder's own source, and k-SEQ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofs_checks.several import rules
from proofs_checks.several.drafts import distinct, independent
from proofs_checks.several.limits import by_ratio, by_subsets, sorted_subsets
from proofs_checks.several.rules import Verified, factors, k_seq, recursive
from specsim import Strict
from specsim.arrays import Array
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import Field, OneOf
from specsim.testing.statements import equal
from specsim.verification import Verdict

Verifier = Callable[[Array, Array, int], Verified]
"""verifier(target, draft, count)"""
Factor = Callable[[Array, Array, int], Fraction]
"""factor(target, draft, count) of k-SEQ"""
ONE: Any = Fraction(1)
ROUNDED = 1e-6, "k-SEQ's factor is a root, rounded by 2^-24 (k - 1) to the side where it is lossless"

WAYS = {"independent": independent, "distinct": distinct}
FEW: dict[str, Field] = {**PAIR, "count": OneOf((1, 2, 3))}
TWO: dict[str, Field] = {**PAIR, "count": OneOf((2,))}
BOTH: dict[str, Field] = {**FEW, "siblings": OneOf(("independent", "distinct"))}
RUNS = Domain(BOTH, (1, 2, 3), cost=10)
SEQUENCES = Domain(FEW, cost=5)
PAIRS_OF_TWO = Domain(TWO, (1, 2, 3), highest={1: 1, 2: 6, 3: 4}, cost=4)


def worst_of_two() -> list[dict[str, Any]]:
    """Where k-SEQ keeps 8/9 and the recursive residual 23/27 of the limit; and near 3/4 without replacement."""
    ninth, half, little = Fraction(1, 9), Fraction(1, 2), Fraction(1, 100)
    return [
        {"target": (5 * ninth, 4 * ninth), "draft": (3 * ninth, 6 * ninth), "count": 2},
        {"target": (0 * half, half, half), "draft": (little, little, 1 - 2 * little), "count": 2},
    ]


def four_tokens() -> list[dict[str, Any]]:
    """Three drafts of four tokens."""
    some = [((1, 2, 3, 4), (4, 3, 2, 1)), ((0, 1, 5, 4), (2, 4, 1, 3)), ((1, 1, 4, 4), (3, 5, 1, 1))]
    return [
        {name: tuple(Fraction(n, 10) for n in law) for name, law in zip(("target", "draft"), pair, strict=True)}
        | {"count": 3}
        for pair in some
    ]


WORST = Domain(TWO, (1, 2, 3), highest={1: 1, 2: 6, 3: 4}, cost=10, known=worst_of_two)
SIBLINGS = Domain(FEW, (1, 2, 3), cost=15, known=four_tokens)


def limit(target: Array, draft: Array, count: int, siblings: str) -> Fraction:
    """T28's, by the order of p/q."""
    return by_subsets(target, WAYS[siblings](draft, count), sorted_subsets(by_ratio(target, draft)))


def sound(case: Case, verifier: Callable[[str], Verifier]) -> Fraction:
    """The output has the target's law, and no more is kept than the limit."""
    values = case.target, case.draft, case.count
    found = verifier(case.siblings)(*values)
    return min(equal(found.out, case.target), limit(*values, case.siblings) - found.kept)


def at_limit(case: Case, siblings: str) -> Fraction:
    """The recursive residual keeps as much as any."""
    values = case.target, case.draft, case.count
    return recursive(siblings)(*values).kept - limit(*values, siblings)


def share_kept(case: Case, subject: tuple[str, Verifier, Fraction]) -> Fraction:
    """kept - share * limit"""
    siblings, verifier, share = subject
    values = case.target, case.draft, case.count
    return verifier(*values).kept - share * limit(*values, siblings)


def guaranteed(case: Case, verifier: Verifier) -> Fraction:
    """kept - (1 - (1 - 1/k)^k) limit, independent drafts."""
    share = 1 - (1 - ONE / case.count) ** case.count
    return share_kept(case, ("independent", verifier, share))


def no_less(case: Case, verifiers: tuple[Verifier, Verifier]) -> Fraction:
    """What the first keeps less what the second keeps."""
    first, second = (verifier(case.target, case.draft, case.count).kept for verifier in verifiers)
    return first - second


def root(target: Array, draft: Array, count: int) -> Fraction:
    """k-SEQ's factor, rounded up."""
    return factors(target, draft, count)[1]


def with_factor(factor: Factor) -> Verifier:
    """k-SEQ with a factor."""
    return lambda target, draft, count: k_seq(target, draft, count, factor(target, draft, count))


def largest(target: Array, draft: Array, count: int) -> Fraction:
    """The factor k."""
    return ONE * count


def halfway(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake: half of the way from 1 to the root."""
    return (1 + factors(target, draft, count)[0]) / 2


def smallest(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake: the factor 1, so b = min(1, p/q) for every draft."""
    return ONE


def lossless(case: Case, factor: Factor) -> Fraction:
    """-|out - p|"""
    return equal(with_factor(factor)(case.target, case.draft, case.count).out, case.target)


def best(target: Array, draft: Array, count: int) -> Verified:
    """k-SEQ at its root."""
    return rules.at_root(target, draft, count)


def one_draft(target: Array, draft: Array, count: int) -> Verified:
    """Strict with the first draft only."""
    return recursive("distinct")(target, draft, 1)


@dataclass(frozen=True)
class NeverUpdated:
    """A mistake: after a refusal the next sibling is judged against the target's law again."""

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """b of Strict, the target in the residual's place."""
        return Verdict(Strict()(draft, target, position).accept, target)


@dataclass(frozen=True)
class NotDivided:
    """A mistake: [p - q]+ mixed with the target."""

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """b of Strict, half of each."""
        strict = Strict()(draft, target, position)
        return Verdict(strict.accept, (strict.residual + target) / 2)


def by_rule(rule: Any) -> Callable[[str], Verifier]:
    """The tree with another rule."""
    return lambda siblings: recursive(siblings, rule)


def as_drawn_otherwise(siblings: str) -> Verifier:
    """A mistake: drafts without replacement whatever is said."""
    return recursive("distinct")
