"""What T05 says of a block or run: drafts kept and tokens added, against masses and closed forms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

from proofs_checks.smt import Obligation, reals, total
from proofs_checks.theorems.blocks import Slot, accepted, by_rule, first_call, repeated, walk
from specsim import Additive, Annealed, Cactus, Chain, Ensemble, Lenient, Optimal, Strict, Typical, exact
from specsim.rules.optimal import acceptance
from specsim.testing.domains import MODELS, PAIR, Case, Domain
from specsim.testing.fields import OneOf
from specsim.testing.statements import equal, holds

SLOT_FREE = (Strict(), Lenient(1.5), Additive(0.25), Ensemble(0.5), Cactus(0.5), Typical())
"""Rules that judge every slot alike."""
COOLING = Annealed(delta=2.0, nu=0.7)
RELAXED = (Lenient(1.5), Additive(0.25), Ensemble(0.5))

BLOCK = Domain(
    {**MODELS, "rule": OneOf((*SLOT_FREE, COOLING, Optimal(Typical())))}, vocabs=(1, 2, 3), lengths=(2, 3), cost=10
)
"""A block of L = N - 1 drafts, none cut off."""
SLOTS = Domain({**MODELS, "rule": OneOf((Strict(),))}, vocabs=(1, 2, 3), lengths=(1, 2), cost=3)
"""The L = N slots of a block alone."""
EQUAL = Domain({**PAIR, "lookahead": OneOf((1, 2, 3)), "rule": OneOf(SLOT_FREE)}, vocabs=(1, 2, 3), cost=8)
"""The same laws p and q at every position."""
RUN = Domain(
    {**PAIR, "lookahead": OneOf((1, 2)), "rule": OneOf(SLOT_FREE)}, vocabs=(1, 2, 3), lengths=(1, 2, 3, 4), cost=5
)
"""The same laws at every position, N tokens."""
Formula = Callable[[list[Slot]], Fraction]
Closed = Callable[[Fraction, int], Fraction]


def slots_of(case: Case, lookahead: int) -> list[Slot]:
    """The block's slots in masses."""
    return walk(by_rule(case.rule), case.target, case.draft, lookahead)


def counted(case: Case, formula: Formula) -> Fraction:
    """Drafts that the first call keeps."""
    call = first_call(Chain(case.length - 1), case.target, case.draft, case.rule)
    return equal(call.mean(call.kept), formula(slots_of(case, case.length - 1)))


def added(case: Case, formula: Formula) -> Fraction:
    """Tokens that the first call adds."""
    call = first_call(Chain(case.length - 1), case.target, case.draft, case.rule)
    return equal(call.mean(call.added), formula(slots_of(case, case.length - 1)))


def cut_off(case: Case, formula: Formula) -> Fraction:
    """The same with N = L: the last draft is cut off."""
    call = first_call(Chain(case.length), case.target, case.draft, case.rule)
    return equal(call.mean(call.kept), formula(slots_of(case, case.length)))


def rate(case: Case) -> Fraction:
    """alpha = E_q[b] of one pair of laws."""
    slot = first_slot(case)
    return (case.draft * acceptance(case.rule, case.draft, case.target, slot)).sum()


def first_slot(case: Case) -> Any:
    """The first slot, index 0, in the shape of a law's batch."""
    return case.draft.argmax() * 0


def geometric(alpha: Fraction, lookahead: int) -> Fraction:
    """(1 - alpha^(L+1)) / (1 - alpha), and L + 1 at alpha = 1."""
    return Fraction(lookahead + 1) if alpha == 1 else (1 - alpha ** (lookahead + 1)) / (1 - alpha)


def block_of_equal_laws(case: Case, closed: Closed, alpha: Callable[[Case], Fraction] = rate) -> Fraction:
    """Tokens of one call against a closed form."""
    target, draft = (repeated(law, case.lookahead + 1) for law in (case.target, case.draft))
    call = first_call(Chain(case.lookahead), target, draft, case.rule)
    return equal(call.mean(call.added), closed(alpha(case), case.lookahead))


def run_of_equal_laws(case: Case) -> Fraction:
    """Tokens per call of a whole run."""
    target, draft = (repeated(law, case.length) for law in (case.target, case.draft))
    return exact(Chain(case.lookahead), target, draft, rule=case.rule).tokens_per_call


def not_above(case: Case, closed: Closed) -> Fraction:
    """What a whole run can reach."""
    return closed(rate(case), case.lookahead) - run_of_equal_laws(case)


def reached_when(case: Case, condition: Callable[[Case], bool]) -> Fraction:
    """Equality iff the condition."""
    return holds((run_of_equal_laws(case) == geometric(rate(case), case.lookahead)) == condition(case))


def nothing_wasted(case: Case) -> bool:
    """alpha = 0, or alpha = 1 and L + 1 divides N."""
    alpha = rate(case)
    return alpha == 0 or bool(alpha == 1 and case.length % (case.lookahead + 1) == 0)


def measured(case: Case, closed: Closed) -> Fraction:
    """The formula with alpha = drafts kept / drafts judged of the same block, L = N: the bonus has no law here."""
    slots = slots_of(case, case.length)
    judged = sum((slot.before.sum() for slot in slots), Fraction(0))
    return equal(accepted(slots) + 1, closed(accepted(slots) / judged, case.length))


def of_the_first_token(case: Case, closed: Closed) -> Fraction:
    """The formula with alpha of the empty prefix, on models whose laws differ."""
    slots = slots_of(case, case.length)
    return equal(accepted(slots) + 1, closed(accepted(slots[:1]), case.length))


def chances(lookahead: int) -> tuple[list[Any], list[Any], list[Any]]:
    """S_i = sum_x A_i(x), R_i refused at slot i, and S_(i-1) = S_i + R_i, S_0 = 1."""
    alive = list(reals(" ".join(f"S{i}" for i in range(lookahead + 1))))
    refused = list(reals(" ".join(f"R{i}" for i in range(1, lookahead + 1))))
    splits = [before == after + out for before, after, out in zip(alive[:-1], alive[1:], refused, strict=True)]
    return alive, refused, [alive[0] == 1, *splits, *(some >= 0 for some in (*alive, *refused))]


def counts(extra: int) -> list[Obligation]:
    """A call that refuses slot i kept i - 1 drafts (and adds one token more), one that refuses none kept L."""

    def of(lookahead: int) -> Obligation:
        alive, refused, assume = chances(lookahead)
        mean = total([*((i + extra) * out for i, out in enumerate(refused)), (lookahead + extra) * alive[-1]])
        return Obligation(f"L = {lookahead}", assume, mean == total(alive[1:]) + extra)

    return [of(lookahead) for lookahead in (1, 2, 3, 4)]


def powers() -> list[Obligation]:
    """S_i = alpha S_(i-1): (1 - alpha)(S_0 + .. + S_L) = 1 - alpha S_L."""

    def of(lookahead: int) -> Obligation:
        alive, _, assume = chances(lookahead)
        (alpha,) = reals("alpha")
        steps = [after == alpha * before for before, after in pairwise(alive)]
        return Obligation(f"L = {lookahead}", [*assume, *steps], (1 - alpha) * total(alive) == 1 - alpha * alive[-1])

    return [of(lookahead) for lookahead in (1, 2, 3, 4)]


def of_means(slots: list[Slot]) -> Fraction:
    """Prefixes weighted alike instead of by A: acceptances taken for independent of the path."""
    alive, expected = Fraction(1), Fraction(0)
    for slot in slots:
        alive *= slot.kept.sum() / len(slot.kept)
        expected += alive
    return expected


CONTEXT_FREE = "equal context-free laws, a rule that judges slots alike"
