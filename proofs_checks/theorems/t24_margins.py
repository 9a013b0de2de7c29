"""What T24 says of the ledger, in masses, against the limit of a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.theorems.blocks import Slot, accepted, block_error, by_rule, local_errors, walk
from proofs_checks.theorems.t15_margins import few
from proofs_checks.theorems.t24_accounts import books, slots_of
from specsim import Annealed, Chain, Lenient, Strict, exact
from specsim.arrays import positive_part
from specsim.laws import target_mass
from specsim.rules.ledger import Ledger
from specsim.testing.domains import MODELS, PAIR, Case, Domain
from specsim.testing.fields import NumberField, OneOf
from specsim.testing.statements import equal, holds, implies
from specsim.verification import Verdict

Ledgers = Callable[..., Any]
"""ledgers(w, nu) -> a rule that carries an account."""
LATE = 1000.0
"""nu for which omega_i = 1 after the first slot."""
HALF, THREE_HALVES = Fraction(1, 2), Fraction(3, 2)


def models(rows: Sequence[Sequence[str]], **more: Any) -> dict[str, Any]:
    """Raw target and draft, written as text, shorter prefixes first."""
    read = [tuple(Fraction(entry) for entry in some.split()) for level in rows for some in level]
    return {"target": tuple(read[: len(read) // 2]), "draft": tuple(read[len(read) // 2 :]), **more}


def three_tokens() -> list[dict[str, Any]]:
    """Two tokens are relaxed alike; after one of them the next draft is always kept, after the other never."""
    return [models([["1/2 1/4 1/4", *["0 0 1"] * 3], ["0 1/2 1/2", "0 0 1", "0 0 1", "0 1 0"]], w=THREE_HALVES)]


def three_drafts() -> list[dict[str, Any]]:
    """What the first slot bought is spent at the second, and the third could use it better."""
    target = ["1/3 2/3", "0 1", "2/3 1/3", "0 1", "0 1", "0 1", "0 1"]
    return [models([target, ["1/2 1/2", "1 0", *["0 1"] * 5]], w=THREE_HALVES)]


def cooler() -> list[dict[str, Any]]:
    """COOL-SD keeps more here and errs less."""
    target = ["1/2 1/2", "1/2 1/2", "1/2 1/2", "0 1", "1 0", "0 1", "0 1"]
    return [models([target, ["1/3 2/3", *["0 1"] * 6]], w=Fraction(28), delta=Fraction(3))]


SLOT = Domain({**PAIR, "alive": NumberField(Fraction(1, 4), Fraction(2))}, cost=2)
"""A slot that a path reaches with the account a = d."""
STRENGTHS = OneOf((Fraction(3, 2), Fraction(4), Fraction(60)))
BLOCKS = Domain({**MODELS, "w": STRENGTHS, "nu": OneOf((3.0, 0.5))}, (1, 2, 3), (1, 2, 3), few, cost=12)
"""Blocks of L = N drafts."""
RUNS = Domain(
    {**MODELS, "lookahead": OneOf((1, 2, 3)), "w": OneOf((HALF, Fraction(1)))}, (1, 2, 3), (1, 2, 3), few, cost=25
)
OFF = Domain({**MODELS, "lookahead": OneOf((2,)), "w": STRENGTHS}, (1, 2, 3), (2, 3), few, cost=25)
FIRST = {**MODELS, "w": OneOf((THREE_HALVES, Fraction(4)))}
"""Relaxed in the first slot only."""
LATER = Domain(FIRST, (1, 2), (2,), cost=3)
ONE = Domain(FIRST, (1, 2, 3), (1,), cost=6)
TWO = Domain(FIRST, (1, 2), (1, 2), cost=10)
BEYOND = Domain({**MODELS, "w": OneOf((THREE_HALVES,))}, (2,), (2,), cost=12)
WIDER = Domain({**MODELS, "w": OneOf((THREE_HALVES,))}, (3,), (2,), cost=400, known=three_tokens)
LONGER = Domain({**MODELS, "w": OneOf((THREE_HALVES,))}, (2,), (3,), cost=400, known=three_drafts)
COOLER = Domain(
    {**MODELS, "w": OneOf((Fraction(4), Fraction(28))), "delta": OneOf((Fraction(2), Fraction(3)))},
    *((2,), (2, 3)),
    cost=60,
    known=cooler,
)


def strict_slot(case: Case, ledgers: Ledgers) -> Fraction:
    """With a = d a slot of omega 1 is strict, and a = d after it."""
    rule, tokens = ledgers(Fraction(1)), np.arange(case.vocab)[None]
    state = type(rule.begin(case.target[None, :1][:, 0]))(*(np.array([case.alive], dtype=object),) * 2)
    step = rule.judge(state, case.draft[None], case.target[None], 1, tokens)
    strict = Strict()(case.draft, case.target, np.array(1))
    drafted, weights = case.draft > 0, positive_part(step.residual[0])
    law = weights / weights.sum() if weights.sum() > 0 else case.target
    gaps = [equal((step.accept[0] - strict.accept)[drafted], 0 * case.draft[drafted]), equal(law, strict.residual)]
    alive, owed = (field[0][drafted & (case.target > 0)] for field in step.state)
    return min(*gaps, equal(alive, owed) if len(alive) else gaps[0])


def strict_run(case: Case, ledgers: Ledgers) -> Fraction:
    """The run of Strict: its law and its calls."""
    mine, strict = (exact(Chain(case.lookahead), case.target, case.draft, rule) for rule in (ledgers(case.w), Strict()))
    return min(equal(mine.mass, strict.mass), holds(mine.call_law == strict.call_law))


def strict_later(case: Case, ledgers: Ledgers) -> Fraction:
    """b of the second slot is that of Strict."""
    gaps = [Fraction(0)]
    for slot, book in enumerate(books(ledgers(case.w, LATE), case.target, case.draft, case.length)):
        there = book.live[:, None] & (book.draft > 0)
        if slot and there.any():
            strict: Verdict = Strict()(book.draft, book.target, np.array(slot))
            gaps.append(equal(book.accept[there], strict.accept[there]))
    return min(gaps)


def sound(case: Case, ledgers: Ledgers) -> Fraction:
    """b in [0, 1], 0 where p = 0; the residual is a law; the account is what the masses say."""
    gaps = [Fraction(0)]
    for book in books(ledgers(case.w, case.nu), case.target, case.draft, case.length):
        live = book.live
        if not live.any():
            continue
        accept, residual = book.accept[live], book.residual[live]
        drafted = book.draft[live] > 0
        gaps += [accept.min(), (1 - accept).min(), residual.min(), equal(residual.sum(axis=-1), 1 + 0 * accept[:, 0])]
        gaps.append(-(accept * ((book.target[live] == 0) & drafted)).max())
        gaps += [equal(mine[live], other[live]) for mine, other in zip(book.account, book.counted, strict=True)]
    return min(gaps)


def on_support(case: Case, ledgers: Ledgers) -> Fraction:
    """-(mass of sequences that the target never has)."""
    law = exact(Chain(case.lookahead), case.target, case.draft, ledgers(case.w))
    never = exact(Chain(case.lookahead), case.target, case.draft).mass == 0
    return -law.mass[never].sum()


def within_local_errors(case: Case, bound: Callable[[list[Slot]], Fraction]) -> Fraction:
    """bound - TV of a block."""
    slots = slots_of(Ledger(case.w, case.nu), case.target, case.draft, case.length)
    return bound(slots) - block_error(slots)


def excesses(slots: list[Slot]) -> Fraction:
    """sum_i sum A_(i-1) sum [q b - p]+"""
    return sum(((s.before * positive_part(s.kept - s.target).sum(axis=-1)).sum() for s in slots), Fraction(0))


Price = Callable[[Fraction, Fraction, Fraction], Fraction]
"""price(bought at a slot, alive, owed) -> TV added there, relative to the target's mass."""


def priced(case: Case, price: Price) -> Fraction:
    """TV of a block = sum over prefixes alive of T(x) price."""
    rule, total = Ledger(case.w, case.nu), Fraction(0)
    for slot, book in enumerate(books(rule, case.target, case.draft, case.length)):
        alive, owed = (field[:, None] for field in book.account)
        base = book.target * positive_part(owed)
        bought = positive_part(np.minimum(alive * book.draft, rule.omega(slot, base) * base) - base).sum(axis=-1)
        mass = target_mass(case.target, slot)
        total += sum(
            (mass[x] * price(bought[x], alive[x, 0], owed[x, 0]) for x in np.flatnonzero(book.live)), total * 0
        )
    return equal(block_error(slots_of(rule, case.target, case.draft, case.length)), total)


def optimal_slot(case: Case, ledgers: Ledgers) -> Fraction:
    """TV(out_i, p_i) = sum [q b - p]+ wherever a path is alive."""
    slots = slots_of(ledgers(case.w, case.nu), case.target, case.draft, case.length)
    return equal(local_errors(slots), excesses(slots))


def lenient_slot(case: Case, ledgers: Ledgers) -> Fraction:
    """A block of one draft is lenience: what is kept, and what comes out."""
    mine = slots_of(ledgers(case.w, 3.0), case.target, case.draft, 1)[0]
    other = walk(by_rule(Lenient(case.w)), case.target, case.draft, 1)[0]
    return min(equal(mine.kept, other.kept), equal(mine.out, other.out))


def no_cooler(case: Case, ledgers: Ledgers) -> Fraction:
    """Where COOL-SD with delta and nu .7 keeps as many drafts, its TV is no smaller."""
    mine = slots_of(ledgers(case.w, 3.0), case.target, case.draft, case.length)
    other = walk(by_rule(Annealed(case.delta, 0.7)), case.target, case.draft, case.length)
    return implies(accepted(other) >= accepted(mine), block_error(other) - block_error(mine))
