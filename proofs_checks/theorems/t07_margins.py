"""What T07 says of a case: relaxation put at some slots of a block, its price in drafts, and what moving it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from proofs_checks.certificates import Program
from proofs_checks.theorems.blocks import (
    Judge,
    Slot,
    SlotWise,
    accepted,
    by_rule,
    context_free,
    kept_in_strict,
    local_errors,
    repeated,
    walk,
)
from proofs_checks.theorems.schemes import (
    Rates,
    Scheme,
    as_point,
    bound,
    filled,
    kept,
    least_bound,
    relax_first,
    rest,
    rules,
    shared,
)
from proofs_checks.theorems.slot_fields import ContextFreeField, PerSlotField
from specsim import Additive, Annealed, CascadeOpt, Ensemble, Lenient, Strict, Table, optimal_residual
from specsim.arrays import Array, total_variation
from specsim.testing.domains import MODELS, PAIR, Case, Domain
from specsim.testing.fields import NumberField, OneOf, ProbabilityField
from specsim.testing.statements import equal, holds

COOLING = Annealed(delta=3.5, nu=0.7)
"""Relaxes two slots; at the published delta 1.1 and 2 the clamp makes slot 2 strict, as 2 exp(-.7) < 1."""
NOT_BELOW = (
    Strict(),
    COOLING,
    Lenient(1.5),
    Additive(0.25),
    CascadeOpt(1.0),
    SlotWise((Ensemble(0.25), Lenient(2.0), Ensemble(0.5))),
)
"""Rules with b >= min(1, p/q) and an optimal residual, alike at all slots or not."""
UNIT = NumberField(Fraction(0), Fraction(1))
EQUAL = Domain({**PAIR, "lookahead": OneOf((1, 2, 3)), "rule": OneOf(NOT_BELOW)}, vocabs=(1, 2, 3), cost=5)
"""The same laws at every position."""
MODELLED = Domain({**MODELS, "rule": OneOf(NOT_BELOW)}, vocabs=(1, 2, 3), lengths=(1, 2, 3), cost=6)
"""L = N slots."""
RATES = Domain(
    {"strict": PerSlotField(), "shares": PerSlotField()}, vocabs=(1,), lengths=(1, 2, 3, 4), cost=2, highest={1: 4}
)
"""Acceptance rates of the strict rule and of another scheme, slot by slot."""
SORTED = replace(RATES, where=lambda case: falling(rest(case.strict)))
AT_LENGTH = replace(SORTED, fields={"strict": PerSlotField(), "share": UNIT}, cost=8)
"""E is `share` of the way from what the strict rule keeps to L."""
MOVED = Domain(
    {**MODELS, "first": ProbabilityField(), "less": ProbabilityField(), "second": UNIT},
    vocabs=(1, 2, 3),
    lengths=(2,),
    cost=6,
)
"""L = 2: b_1 lowered at some tokens, b_2 raised until E is the same."""
UNEQUAL = Domain(
    {"target": ContextFreeField(), "draft": ContextFreeField(), "shares": PerSlotField()},
    vocabs=(1, 2, 3),
    lengths=(1, 2, 3),
    cost=5,
)
"""Context-free positions that differ."""
Measure = Callable[[list[Slot]], Fraction]


def falling(values: Sequence[Fraction]) -> bool:
    """Never rising."""
    return list(values) == sorted(values, reverse=True)


def equal_slots(case: Case, rule: Any) -> list[Slot]:
    """A block of a pair of laws repeated."""
    target, draft = (repeated(law, case.lookahead) for law in (case.target, case.draft))
    return walk(by_rule(rule), target, draft, case.lookahead)


def formula_holds(case: Case, formula: Callable[[Fraction, Fraction, Fraction], Fraction]) -> Fraction:
    """(1 - a) E - a + a P_L."""
    slots = equal_slots(case, case.rule)
    a = kept_in_strict(case.draft, case.target)
    return equal(local_errors(slots), formula(a, accepted(slots), slots[-1].after.sum()))


def price_list(slots: list[Slot]) -> list[Array]:
    """T_i [V**i] of every path, i = 1 .. L: drafts kept from slot i on, i included, were the rest strict."""
    found = [slots[-1].after * 0 + 1]
    for slot in reversed(slots[1:]):
        found.append(1 + (np.minimum(slot.target, slot.draft) * found[-1].reshape(slot.kept.shape)).sum(axis=-1))
    return found[::-1]


def over_kept(slot: Slot) -> Array:
    """A_(i-1) (q b - min(p, q)), [V**i]: kept above the strict rule."""
    return (slot.before[:, None] * (slot.kept - np.minimum(slot.target, slot.draft))).reshape(-1)


def gain(case: Case, price: Callable[[list[Slot]], list[Array]]) -> Fraction:
    """E - E_strict = sum D T and bound = sum D."""
    slots = walk(by_rule(case.rule), case.target, case.draft, case.length)
    plain = walk(by_rule(Strict()), case.target, case.draft, case.length)
    extra = [over_kept(slot) for slot in slots]
    worth = sum(((x * t).sum() for x, t in zip(extra, price(slots), strict=True)), Fraction(0))
    paid = sum((x.sum() for x in extra), Fraction(0))
    return min(equal(accepted(slots) - accepted(plain), worth), equal(local_errors(slots), paid))


def least(case: Case, scheme: Scheme) -> Fraction:
    """No other scheme of the same E has a lower bound."""
    other = shared(case.strict, case.shares)
    rates = scheme(case.strict, kept(other))
    return min(equal(kept(rates), kept(other)), bound(case.strict, other) - bound(case.strict, rates))


def asked(case: Case) -> Fraction:
    """E, between what the strict rule keeps and L."""
    return kept(case.strict) + case.share * (len(case.strict) - kept(case.strict))


def program(case: Case) -> Program:
    """The least bound at E."""
    return least_bound(case.strict, asked(case))


def point(case: Case, scheme: Scheme) -> list[Fraction]:
    """Where the scheme is."""
    return as_point(case.strict, scheme(case.strict, asked(case)))


def rising(case: Case) -> bool:
    """0 < a_1 < 1 and T_1 < T_2: slot 2 buys more drafts for an error than slot 1."""
    first, second, _ = rest(case.strict)
    return bool(0 < case.strict[0] < 1 and first < second and case.share > 0)


def beaten(case: Case, order: Sequence[int]) -> Fraction:
    """Another order strictly beats relax-first, up to the E that both reach with one slot."""
    a = case.strict
    most = min(kept([Fraction(1), *a[1:]]), kept([a[0], Fraction(1), a[2]]))
    length = kept(a) + case.share * (most - kept(a))
    return holds(bound(a, filled(a, length, order)) < bound(a, relax_first(a, length)))


def raised(first: Array, second: Fraction) -> Judge:
    """min(1, p/q) raised by a share of what is missing, a share a token at slot 1 and one share at slot 2; G*."""

    def judge(draft: Array, target: Array, position: int, slot: int) -> tuple[Array, Array]:
        accept = Strict()(draft, target, np.array(slot)).accept
        accept = accept + (second if slot else first) * (1 - accept)
        kept_mass = draft * accept
        refused = 1 - kept_mass.sum(axis=-1, keepdims=True)
        return kept_mass, kept_mass + refused * optimal_residual(draft, target, accept)

    return judge


def block_of(case: Case, first: Array, second: Fraction) -> list[Slot]:
    """The block with these shares."""
    return walk(raised(first, second), case.target, case.draft, 2)


def backward(case: Case, after: list[Slot]) -> list[Slot]:
    """The block with less relaxation at slot 1, by `less` or as much of it as slot 2 can make good; the same E.

    E = alpha_1 + sum A_1 (a_2 + share (1 - a_2)), 2 alpha_1 at share 1.
    """
    draft, target, length = case.draft.at_length(0)[0], case.target.at_length(0)[0], accepted(after)
    lost = ((draft - np.minimum(draft, target)) * case.first * case.less).sum()
    part = min(Fraction(1), (2 * after[0].after.sum() - length) / (2 * lost)) if lost > 0 else Fraction(0)
    first = case.first * (1 - part * case.less)
    reached = walk(raised(first, Fraction(0)), case.target, case.draft, 1)[0].after
    strict = kept_in_strict(case.draft.at_length(1), case.target.at_length(1))
    missing, room = length - (reached * (1 + strict)).sum(), (reached * (1 - strict)).sum()
    return block_of(case, first, missing / room if room > 0 else Fraction(0))


def moving_forward(case: Case, measure: Measure) -> Fraction:
    """E is the same, and the measure does not rise."""
    after = block_of(case, case.first, case.second)
    before = backward(case, after)
    return min(equal(accepted(after), accepted(before)), measure(before) - measure(after))


def far_apart(case: Case) -> bool:
    """TV(p, q) > 2/5 after every prefix."""
    return bool((total_variation(case.target.laws, case.draft.laws) > Fraction(2, 5)).all())


def best_first(case: Case, measure: Measure) -> Fraction:
    """Relax-first against the other scheme, with rules that have these rates."""
    size = case.length
    strict = [kept_in_strict(case.draft.at_length(i)[0], case.target.at_length(i)[0]) for i in range(size)]
    other = shared(strict, case.shares)
    first, given = (
        walk(by_rule(rules(strict, rates)), case.target, case.draft, size)
        for rates in (relax_first(strict, kept(other)), other)
    )
    return measure(given) - measure(first)


def same_positions(case: Case) -> bool:
    """The same laws everywhere."""
    return all((laws == laws[0]).all() for laws in (case.target.laws, case.draft.laws))


def in_rates(case: Case, measure: Callable[[Rates, Rates], Fraction]) -> Fraction:
    """A block of rules with given rates: E and the sum of the local errors."""
    strict = [kept_in_strict(case.draft.at_length(i)[0], case.target.at_length(i)[0]) for i in range(case.length)]
    rates = [a if a == 1 else rate for a, rate in zip(strict, shared(strict, case.shares), strict=True)]
    slots = walk(by_rule(rules(strict, rates)), case.target, case.draft, case.length)
    return min(equal(accepted(slots), kept(rates)), equal(local_errors(slots), measure(strict, rates)))


def cooling_is_least(case: Case, rule: Any) -> Fraction:
    """COOL-SD's shape against relax-first."""
    slots = equal_slots(case, rule)
    strict = [kept_in_strict(case.draft, case.target)] * case.lookahead
    return bound(strict, relax_first(strict, accepted(slots))) - local_errors(slots)


EXAMPLE = [[Fraction(n, 20), Fraction(20 - n, 20)] for n in (5, 1, 9)]
"""p of three positions; q is p reversed."""


def example() -> tuple[Table, Table, Rates]:
    """Target, draft and a of the example."""
    laws = [np.array(law, dtype=object) for law in EXAMPLE]
    strict = [kept_in_strict(law[::-1], law) for law in laws]
    return context_free(laws), context_free([law[::-1] for law in laws]), strict


def at_length(make: Callable[[Any], Any], length: Fraction) -> tuple[Fraction, Fraction]:
    """The bound of a rule tuned to E, between two values: its strength is bisected, and the bound grows with it."""
    target, draft, _ = example()

    def block(strength: Fraction) -> list[Slot]:
        return walk(by_rule(make(strength)), target, draft, 3)

    low, high = Fraction(1), Fraction(16)
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if accepted(block(middle)) < length else (low, middle)
    return local_errors(block(low)), local_errors(block(high))


def in_order(case: Case, order: Callable[[list[Any]], list[Any]]) -> Fraction:
    """second only < uniform < cooling < relax-first."""
    _, _, strict = example()
    second, first = (bound(strict, filled(strict, case.E, way)) for way in ((1, 0, 2), (0, 1, 2)))
    uniform, cooling = (at_length(make, case.E) for make in (Lenient, lambda delta: Annealed(delta, 0.7)))
    spans = order([(second, second), uniform, cooling, (first, first)])
    return holds(all(below[1] < above[0] for below, above in pairwise(spans)))
