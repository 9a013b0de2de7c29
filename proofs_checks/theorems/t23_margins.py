"""What T23 says of a run: its metrics from the exact law, against masses and recursions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.smt import Obligation, reals
from proofs_checks.theorems.blocks import by_rule, kept_in_strict, repeated, round_starts, walk
from specsim import (
    Additive,
    Annealed,
    Cactus,
    CascadeOpt,
    Chain,
    Ensemble,
    Jacobi,
    Law,
    Lenient,
    RelaxedBonus,
    Strict,
    Typical,
    exact,
)
from specsim.arrays import Array
from specsim.rules.optimal import acceptance
from specsim.testing.domains import MODELS, PAIR, Case, Domain
from specsim.testing.fields import LawField, ModelField, OneOf
from specsim.testing.statements import equal, holds

SLOT_FREE = (Strict(), Lenient(1.5), Typical(), Ensemble(0.5), Cactus(0.5), Additive(0.25))
RULES = (*SLOT_FREE, CascadeOpt(1.0), Annealed(2.0, 0.7))
CHAIN = Domain({**MODELS, "lookahead": OneOf((1, 2)), "rule": OneOf(RULES)}, (1, 2, 3), (1, 2, 3), cost=10)
DECODERS = (Chain(1), Chain(2), RelaxedBonus(1), Jacobi(1), Jacobi(2, "maximal"))
RUN = Domain(
    {**MODELS, "decoder": OneOf(DECODERS), "rule": OneOf((Strict(), Lenient(1.5)))}, (1, 2, 3), (1, 2, 3), cost=12
)
REACHED = Domain(
    {**MODELS, "lookahead": OneOf((1, 2)), "rule": OneOf((Annealed(2.0, 0.7),))}, vocabs=(2, 3), lengths=(3,), cost=8
)
COUNTS = Domain({**PAIR, "decoder": OneOf(DECODERS)}, (1, 2, 3), (1, 2, 3), cost=8)
"""The same laws at every position, strict."""
WINDOWS = Domain(
    {
        "target": ModelField(),
        "decoder": OneOf((Jacobi(1), Jacobi(2), Jacobi(2, "maximal", "onehot"))),
        "rule": OneOf((Strict(), Typical())),
    },
    (1, 2, 3),
    (1, 2, 3),
    cost=12,
)
ONE_LAW = Domain(
    {"target": LawField(), "decoder": OneOf((Jacobi(1), Jacobi(2), Jacobi(2, "maximal")))},
    (1, 2, 3),
    (1, 2, 3, 4),
    cost=10,
)
"""The same law at every position, uniform tails, strict."""
EQUAL = Domain({**PAIR, "lookahead": OneOf((1, 2)), "rule": OneOf(SLOT_FREE)}, (1, 2, 3), (2, 3), cost=6)
BLOCK = Domain(MODELS, vocabs=(1, 2, 3), lengths=(2,), cost=3)
"""L = N = 2 slots."""
Definition = Callable[[Law], Any]
Rates = Callable[[Case], list[Fraction]]


def law_of(case: Case, decoder: Any, eos: int | None = None) -> Law:
    """A whole run."""
    draft = case.draft if decoder.needs_draft else None
    return exact(decoder, case.target, draft, rule=case.rule, eos=eos)


def one_added(case: Case, make: Callable[[int], Any]) -> Fraction:
    """E[tokens] = E[accepted] + E[calls]."""
    law = law_of(case, make(case.lookahead))
    return equal(law.tokens, law.accepted + law.calls)


def one_added_before_eos(case: Case, make: Callable[[int], Any]) -> Fraction:
    """The same where token 0 ends the sequence."""
    law = law_of(case, make(case.lookahead), eos=0)
    return equal(law.tokens, law.accepted + law.calls)


def bonuses(case: Case) -> Fraction:
    """Expected calls that refuse nothing, from masses."""
    judge, found = by_rule(case.rule), Fraction(0)
    for n, mass in enumerate(round_starts(judge, case.target, case.draft, case.lookahead)):
        slots = walk(judge, case.target, case.draft, min(case.lookahead, case.length - n - 1), n, mass)
        found += slots[-1].after.sum() if slots else mass.sum()
    return found


def three_kinds(case: Case, corrections: Definition) -> Fraction:
    """N = E[accepted] + E[corrections] + E[bonus tokens]."""
    law = law_of(case, Chain(case.lookahead))
    return equal(Fraction(case.length), law.accepted + corrections(law) + bonuses(case))


def refused(law: Law) -> Fraction:
    """Drafts judged and not kept: each is corrected once."""
    return sum(law.reached) - sum(law.kept) + Fraction(0)


def by_slots(case: Case, accepted: Definition) -> Fraction:
    """E[accepted] = sum_i kept_i, reached_(i+1) <= kept_i <= reached_i, sum reached <= drafted."""
    law = law_of(case, case.decoder)
    steps = [r - k for r, k in zip(law.reached, law.kept, strict=True)]
    steps += [k - r for k, r in zip(law.kept, law.reached[1:], strict=False)]
    return min([equal(law.accepted, accepted(law)), law.drafted - sum(law.reached), *steps])


def at_most_one_short(case: Case, most: int) -> Fraction:
    """0 <= E[accepted] + E[calls] - N <= most."""
    law = law_of(case, case.decoder)
    extra = law.accepted + law.calls - case.length
    return min(extra, most - extra)


def strictly_more(case: Case, least: int) -> Fraction:
    """E[accepted] + E[calls] - N > least."""
    law = law_of(case, case.decoder)
    return holds(law.accepted + law.calls - case.length > least)


def compressions(law: Law) -> tuple[Fraction, Fraction]:
    """Tokens per call and step compression."""
    return law.tokens_per_call, law.length / law.calls


def ends_kept(left: int, sure: int, window: int, alpha: Fraction) -> Fraction:
    """P(the last call keeps its whole window) of a run with r tokens left, s sure drafts; new ones kept with alpha."""
    size = min(window, left)
    if left <= 0:
        return Fraction(0)
    whole = Fraction(1) if size == left else ends_kept(left - size - 1, 0, window, alpha)
    found = alpha ** (size - sure) * whole
    for k in range(size - sure):
        done = sure + k + 1
        found += alpha**k * (1 - alpha) * ends_kept(left - done, size - done, window, alpha)
    return found


def window_run(case: Case) -> Law:
    """Strict Jacobi decoding of one law."""
    return exact(case.decoder, repeated(case.target, case.length))


def without_bonus(case: Case, last: Callable[[int, int, int, Fraction], Fraction]) -> Fraction:
    """E[accepted] + E[calls] - N = P(the last call keeps its whole window)."""
    law, uniform = window_run(case), case.target * 0 + Fraction(1, case.vocab)
    alpha = kept_in_strict(uniform, case.target)
    return equal(law.accepted + law.calls - case.length, last(case.length, 0, case.decoder.window, alpha))


def as_compression(case: Case, definition: Definition) -> Fraction:
    """Tokens per call = N / E[calls]."""
    law = law_of(case, case.decoder)
    return equal(definition(law), case.length / law.calls)


def mean_compression(law: Law) -> Fraction:
    """E[N / calls], an average over runs."""
    return sum((law.length * share / Fraction(calls) for calls, share in law.call_law.items()), Fraction(0))


def run_of_equal_laws(case: Case) -> Law:
    """A strict run, the same laws at every position."""
    target, draft = (repeated(law, case.length) for law in (case.target, case.draft))
    return exact(case.decoder, target, draft)


def averaged(case: Case, definition: Definition) -> Fraction:
    """The definition is N/E[calls]."""
    law = run_of_equal_laws(case)
    return equal(definition(law), case.length / law.calls)


def jensen(case: Case, definition: Definition) -> Fraction:
    """E[N / calls] >= N / E[calls], with equality iff every run takes the same number of calls."""
    law = run_of_equal_laws(case)
    gap = definition(law) - case.length / law.calls
    return min(gap, holds((gap == 0) == (sum(share > 0 for share in law.call_law.values()) == 1)))


def one_rate(case: Case, rate: Callable[[Case], Fraction]) -> Fraction:
    """kept_i / reached_i of every slot that is judged; equal context-free laws."""
    target, draft = (repeated(law, case.length) for law in (case.target, case.draft))
    law = exact(Chain(case.lookahead), target, draft, rule=case.rule)
    found = [share for share in law.acceptance_by_slot if share is not None]
    return min((equal(share, rate(case)) for share in found), default=Fraction(0))


def mean_accept(case: Case) -> Fraction:
    """E_q[b]"""
    return (case.draft * acceptance(case.rule, case.draft, case.target, case.draft.argmax() * 0)).sum()


def rates(case: Case, definition: Rates) -> Fraction:
    """kept_i / reached_i of a whole run."""
    found = [share for share in law_of(case, Chain(case.lookahead)).acceptance_by_slot if share is not None]
    expected = definition(case)
    return min([holds(len(found) == len(expected)), *map(equal, found, expected)])


def judged(case: Case, rounds: int, weigh: Callable[[Any], Array]) -> list[Fraction]:
    """alpha averaged over the prefixes at which a slot is judged."""
    judge, kept, reached = by_rule(case.rule), [Fraction(0)] * 2, [Fraction(0)] * 2
    for n, mass in enumerate(round_starts(judge, case.target, case.draft, case.lookahead)[:rounds]):
        size = min(case.lookahead, case.length - n - 1)
        for i, slot in enumerate(walk(judge, case.target, case.draft, size, n, mass)):
            weights = weigh(slot)
            kept[i] += (weights * slot.kept.sum(axis=-1)).sum()
            reached[i] += weights.sum()
    return [k / r for k, r in zip(kept, reached, strict=True) if r > 0]


def where_judged(case: Case) -> list[Fraction]:
    """In the masses W_n A_(i-1) with which they are met."""
    return judged(case, case.length, lambda slot: slot.before)


def second_slot(case: Case, weights: Callable[[Case], Array]) -> Fraction:
    """Strict, a block of two: kept_2 / reached_2 is the mean of 1 - TV in these weights."""
    first, second = walk(by_rule(Strict()), case.target, case.draft, 2)
    if first.after.sum() == 0:
        return Fraction(0)
    share = weights(case)
    return equal(second.after.sum() / first.after.sum(), (share * second.kept.sum(axis=-1)).sum() / share.sum())


def by_target(case: Case) -> Array:
    """Prefixes as the target writes them."""
    return case.target.at_length(0)[0]


def by_draft(case: Case) -> Array:
    """Prefixes as they are drafted."""
    return case.draft.at_length(0)[0]


def agreed(case: Case) -> Array:
    """min(p, q) of the first token: what the strict rule keeps."""
    return np.minimum(case.target.at_length(0)[0], case.draft.at_length(0)[0])


def tangent() -> list[Obligation]:
    """One run: 1/k >= 2/c - k/c^2, with equality iff k = c; its mean at c = E[calls] is 1/c.  Multiplied by k c^2."""
    k, c = reals("k c")
    above = c * c >= 2 * k * c - k * k
    return [
        Obligation("1/k lies above the tangent at c", [k > 0, c > 0], above),
        Obligation("and meets it at c alone", [k > 0, c > 0, c * c == 2 * k * c - k * k], k == c),
    ]
