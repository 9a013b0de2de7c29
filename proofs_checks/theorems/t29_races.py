"""What T29 says of races: match verification of siblings, and Gumbel-max list sampling."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proofs_checks.several.drafts import independent
from proofs_checks.several.limits import by_subsets
from proofs_checks.several.races import Bound, common, list_bound, listed, matched, ratios
from proofs_checks.several.rules import matching, recursive
from proofs_checks.theorems.t28_limits import overlap
from proofs_checks.theorems.t29_margins import FEW, limit
from specsim.arrays import Array
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import Field, OneOf
from specsim.testing.statements import equal

RACED = Domain(FEW, (1, 2, 3), cost=10)
"""The decoder's exact races: V <= 3."""
LISTS = Domain({**PAIR, "count": OneOf((1, 2, 3))}, (1, 2, 3), cost=5)
ALL_BUT_ONE: dict[str, Field] = {**PAIR, "less": OneOf((1,))}
Kept = Callable[[Array, Array, int], Fraction]
"""kept(target, draft, count)"""
ZERO: Any = Fraction(0)


def tenths(target: tuple[int, ...], draft: tuple[int, ...]) -> dict[str, Any]:
    """A pair of laws in tenths."""
    return {"target": tuple(Fraction(n, 10) for n in target), "draft": tuple(Fraction(n, 10) for n in draft)}


def four_tokens() -> list[dict[str, Any]]:
    """V = 4: three drafts."""
    some = (((1, 2, 3, 4), (4, 3, 2, 1)), ((0, 1, 5, 4), (2, 4, 1, 3)), ((6, 2, 1, 1), (1, 3, 3, 3)))
    return [{**tenths(*pair), "less": 1} for pair in some]


def thirds() -> list[dict[str, Any]]:
    """V = 4: the likeliest token of the target is never drafted, or there is one that shares little."""
    third = Fraction(1, 3)
    draft = (0 * third, third, third, third)
    targets = ((2 * third, 0 * third, 0 * third, third), (third, 0 * third, 0 * third, 2 * third))
    return [{"target": target, "draft": draft, "count": 2} for target in targets]


MOST = Domain(ALL_BUT_ONE, (2, 3), cost=10, known=four_tokens)
TWO_OF_FOUR = Domain({**PAIR, "count": OneOf((2,))}, (1, 2, 3), cost=5, known=thirds)
TWO_IN_LISTS = Domain({**PAIR, "count": OneOf((2,))}, (1, 2, 3), cost=2)


def met(case: Case) -> bool:
    """One draft, equal laws, or a draft that is certain."""
    return case.count == 1 or bool((case.target == case.draft).all()) or case.draft.max() == 1


MET = Domain(dict(LISTS.fields), (1, 2, 3), where=met, cost=5)


def sound_race(case: Case, formula: Kept) -> Fraction:
    """The race of a tree of distinct siblings puts out the target's law, keeps what the formula says, and no more than
    the limit."""
    values = case.target, case.draft, case.count
    found = matching("distinct")(*values)
    within = limit(*values, "distinct") - found.kept
    return min(equal(found.out, case.target), equal(found.kept, formula(*values)), within)


def one_winner(case: Case, formula: Kept) -> Fraction:
    """Independent siblings have one noise, so one token: what is kept is that of one draft."""
    found = matching("independent")(case.target, case.draft, case.count)
    return equal(found.kept, formula(case.target, case.draft, 1))


def all_but_one(case: Case, formula: Kept) -> Fraction:
    """k = V - less distinct drafts: what a race keeps less what the recursive residual keeps."""
    count = case.vocab - case.less
    return formula(case.target, case.draft, count) - recursive("distinct")(case.target, case.draft, count).kept


def more_kept(case: Case, ways: tuple[Kept, Kept]) -> Fraction:
    """The first less the second."""
    first, second = (way(case.target, case.draft, case.count) for way in ways)
    return first - second


def residual(siblings: str) -> Kept:
    """What the recursive residual keeps."""
    return lambda target, draft, count: recursive(siblings)(target, draft, count).kept


def strict(target: Array, draft: Array, count: int) -> Fraction:
    """1 - TV, what Strict keeps of one draft."""
    return overlap(target, draft, 1)


def bounded(case: Case, bound: Bound) -> Fraction:
    """bound <= kept of the lists <= limit of independent drafts."""
    values = case.target, case.draft, case.count
    kept = listed(*values)
    return min(kept - bound(*values), by_subsets(case.target, independent(case.draft, case.count)) - kept)


def reached(case: Case, bound: Bound) -> Fraction:
    """kept = bound"""
    values = case.target, case.draft, case.count
    return equal(listed(*values), bound(*values))


def looser(case: Case, bound: Bound) -> Fraction:
    """The list matching lemma less a bound that is no better."""
    values = case.target, case.draft, case.count
    return list_bound(*values) - bound(*values)


def with_draft_below(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake: (K - 1)/q_j."""
    tops = {v: sum(map(max, ratios(target, v), ratios(draft, v))) for v in common(target, draft)}
    return sum((count / (top + (count - 1) / draft[v]) for v, top in tops.items()), ZERO)


def nothing_below(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake: K times what one list gives, up to 1."""
    return min(1 + ZERO, count * list_bound(target, draft, 1))


def with_least(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake: min for max."""
    tops = {v: sum(map(min, ratios(target, v), ratios(draft, v))) for v in common(target, draft)}
    return sum((count / (top + (count - 1) / target[v]) for v, top in tops.items()), ZERO)


def one_race(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake: what one draft keeps, whatever the number."""
    return matched(target, draft, 1)


def exchanged(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake: p and q exchanged."""
    return matched(draft, target, count)


def one_fewer(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake: a draft is forgotten."""
    return matched(target, draft, max(1, count - 1))


def product_of_lists(target: Array, draft: Array, count: int) -> Fraction:
    """A mistake: 1 - (1 - m)^K, as if lists were tried one after another."""
    return 1 - (1 - matched(target, draft, 1)) ** count
