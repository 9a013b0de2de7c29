"""What T06 says of a block or run: its TV against the local errors of its slots."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from proofs_checks.theorems.blocks import (
    ByPath,
    Judge,
    Slot,
    block_error,
    by_rule,
    errors,
    first_call,
    local_errors,
    repeated,
    round_starts,
    walk,
)
from proofs_checks.theorems.slot_fields import PerPathField
from specsim import Additive, Annealed, Cactus, CascadeOpt, Chain, Ensemble, Lenient, Table, Typical, exact
from specsim.arrays import Array, positive_part, total_variation
from specsim.laws import target_mass
from specsim.testing.domains import MODELS, PAIR, Case, Domain
from specsim.testing.fields import ModelField, OneOf
from specsim.testing.fields import exact as exact_array
from specsim.testing.statements import equal, holds

KEEP_ALL = CascadeOpt(alpha=1.0)
"""Keeps every draft: out = q, any law."""
BY_PATH = Domain(
    {**MODELS, "accept": PerPathField(), "residual": ModelField()},
    vocabs=(1, 2, 3),
    lengths=(2, 3),
    cost=8,
)
"""Blocks of L = N - 1 drafts with b and G any functions of the path."""
SLOTS = Domain({**MODELS, "rule": OneOf((KEEP_ALL, Lenient(1.5)))}, vocabs=(1, 2, 3), lengths=(1, 2), cost=3)
"""The L = N slots of a block alone."""
EQUAL = Domain(
    {**PAIR, "lookahead": OneOf((1, 2)), "rule": OneOf((Lenient(1.5), KEEP_ALL, Ensemble(0.5)))},
    vocabs=(1, 2, 3),
    lengths=(1, 2, 3, 4),
    cost=8,
)
"""The same laws at every position, N tokens."""
RULES = (Lenient(1.5), KEEP_ALL, Typical(), Cactus(0.5), Additive(0.25), Annealed(2.0, 0.7))
RUN = Domain({**MODELS, "lookahead": OneOf((1, 2)), "rule": OneOf(RULES)}, (1, 2, 3), (1, 2, 3), cost=12)
Bound = Callable[[list[Slot]], Fraction]
Errors = Callable[[list[Slot]], Array]


def verifier(case: Case) -> ByPath:
    """b and G, a row of the table for every path."""
    return ByPath(case.accept, case.residual)


def decoded(case: Case) -> Array:
    """Law of one block followed by the target, from the decoder's own code."""
    call = first_call(Chain(case.length - 1), case.target, case.draft, verify=verifier(case).verify)
    return call.then_target(case.target)


def path_slots(case: Case) -> list[Slot]:
    """The same block in masses."""
    return walk(verifier(case).judge, case.target, case.draft, case.length - 1)


def rule_slots(case: Case) -> list[Slot]:
    """L = N slots judged by a rule, in masses."""
    return walk(by_rule(case.rule), case.target, case.draft, case.length)


def expanded(case: Case, terms: Errors) -> Fraction:
    """out - target of every sequence, of the decoder; the bonus comes from the target."""
    gap = terms(path_slots(case)).sum(axis=0)[:, None] * case.target.at_length(case.length - 1)
    return equal(decoded(case), target_mass(case.target, case.length) + gap.reshape(-1))


def bounded(case: Case, bound: Bound) -> Fraction:
    """TV <= the bound."""
    return bound(path_slots(case)) - total_variation(decoded(case), target_mass(case.target, case.length))


def attained(case: Case, bound: Bound) -> Fraction:
    """TV = the bound."""
    slots = rule_slots(case)
    return equal(bound(slots), block_error(slots))


def attained_when(case: Case, condition: Callable[[list[Slot]], bool]) -> Fraction:
    """TV = the bound iff the condition."""
    slots = rule_slots(case)
    return holds((local_errors(slots) == block_error(slots)) == condition(slots))


def same_signs(slots: list[Slot]) -> bool:
    """No sequence is given too much by one slot and too little by another."""
    terms = errors(slots)
    return bool(((terms >= 0).all(axis=0) | (terms <= 0).all(axis=0)).all())


def far_from_it(case: Case, factor: Callable[[int], int]) -> Fraction:
    """factor TV >= the bound."""
    slots = rule_slots(case)
    return factor(case.length) * block_error(slots) - local_errors(slots)


def run_bounded(case: Case, bound: Callable[[Case], Fraction]) -> Fraction:
    """A whole run."""
    law = exact(Chain(case.lookahead), case.target, case.draft, rule=case.rule)
    return bound(case) - law.tv(case.target)


def equal_laws(case: Case) -> Fraction:
    """TV of a run, the bound being that of its first block; the same laws at every position."""
    target, draft = (repeated(law, case.length) for law in (case.target, case.draft))
    law = exact(Chain(case.lookahead), target, draft, rule=case.rule)
    slots = walk(by_rule(case.rule), target, draft, min(case.lookahead, case.length - 1))
    return local_errors(slots) - law.tv(target)


def over_rounds(case: Case) -> Fraction:
    """Every round's local errors, in the mass with which it starts."""
    judge = by_rule(case.rule)
    starts = round_starts(judge, case.target, case.draft, case.lookahead)
    return sum((from_here(case, judge, n, mass) for n, mass in enumerate(starts)), Fraction(0))


def from_here(case: Case, judge: Judge, start: int, mass: Array) -> Fraction:
    """The local errors of the round that starts at a position."""
    lookahead = min(case.lookahead, case.length - start - 1)
    return local_errors(walk(judge, case.target, case.draft, lookahead, start, mass))


def excesses(slots: list[Slot]) -> Fraction:
    """sum_i sum A_(i-1) N_i, N_i = sum [q b - p]+: the error of the optimal residual."""
    return sum(((s.before * positive_part(s.kept - s.target).sum(axis=-1)).sum() for s in slots), Fraction(0))


def kept_slots(slots: list[Slot]) -> list[Slot]:
    """Every slot weighed with what it keeps itself."""
    return [slot._replace(before=slot.before * slot.kept.sum(axis=-1)) for slot in slots]


def kept_errors(slots: list[Slot]) -> Array:
    """The terms with such weights."""
    return errors(kept_slots(slots))


def kept_weights(slots: list[Slot]) -> Fraction:
    """The bound with such weights."""
    return local_errors(kept_slots(slots))


def family(s: Fraction) -> tuple[Table, Table]:
    """V = L = 2, all drafts kept: what slot 1 gives too much, slot 2 moves where the target has nothing.  0 < s < 1."""
    e = s / 2
    half = Fraction(1, 2)
    target = [[half - e, half + e], [Fraction(0), Fraction(1)], [s, 1 - s]]
    draft = [[half, half], [2 * e, 1 - 2 * e], [s * s, 1 - s * s]]
    return Table(exact_array(target), 2), Table(exact_array(draft), 2)


def nearly_three(case: Case, ratio: Callable[[Fraction], Fraction]) -> Fraction:
    """bound / TV of the family."""
    target, draft = family(case.s)
    slots = walk(by_rule(KEEP_ALL), target, draft, 2)
    return equal(local_errors(slots), ratio(case.s) * block_error(slots))


L3 = "every V, L <= 3, sequence by sequence"
