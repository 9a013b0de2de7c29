"""What T27 says of the band, in masses of one block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from proofs_checks.theorems.t15_margins import few, mismatch, toys
from proofs_checks.theorems.t15_masses import corrected, every_path, judged, passed
from specsim import Chain, Lenient, Table, exact
from specsim.arrays import Array
from specsim.laws import target_mass
from specsim.rules.band import Path, levels
from specsim.rules.block import BlockVerification
from specsim.testing.domains import MODELS, PAIR, Case, Domain
from specsim.testing.fields import OneOf
from specsim.testing.statements import equal, holds, implies

Bands = Callable[[Any], Any]
"""bands(omega) -> a rule that judges blocks and has a flow."""
ONE: Any = Fraction(1)
WIDE = OneOf((Fraction(3, 2), Fraction(4), Fraction(60)))


def two_drafts() -> list[dict[str, Any]]:
    """The first is off the target's support half of the time; the first is overrated, the second as it should be."""
    half, third = Fraction(1, 2), Fraction(1, 3)
    off = {"target": ((0 * half, half, half),) * 4, "draft": ((half, half, 0 * half),) * 4}
    even = {"target": ((third, 2 * third),) * 3, "draft": ((2 * third, third), *((third, 2 * third),) * 2)}
    return [{**some, "omega": Fraction(3, 2)} for some in (off, even)]


BLOCKS = Domain({**MODELS, "omega": WIDE}, (1, 2, 3), (1, 2, 3), few, cost=15, known=two_drafts)
"""Blocks of L = N drafts."""
NARROW = Domain(dict(MODELS), (1, 2, 3), (1, 2, 3), few, cost=20)
RUNS = Domain(
    {**MODELS, "lookahead": OneOf((2, 3))}, (1, 2), (1, 2, 3), few, cost=40, known=lambda: toys(3, lookahead=2)
)
ONE_DRAFT = Domain({**PAIR, "omega": WIDE}, (1, 2, 3), cost=2)
STEPPED = Domain({**PAIR, "omega": OneOf((Fraction(2),))}, (1, 2, 3), cost=2, known=lambda: missing_level())
RELAXED = Domain({**MODELS, "omega": OneOf((Fraction(3, 2),))}, (1, 2), (1, 2), few, cost=10)


def missing_level() -> list[dict[str, Any]]:
    """A token drafted as it should be counts as above its level, which makes the steps short."""
    target, draft = ((Fraction(n, 7) for n in some) for some in ((1, 1, 5), (1, 2, 4)))
    return [{"target": tuple(target), "draft": tuple(draft), "omega": Fraction(2)}]


def better_without() -> list[dict[str, Any]]:
    """A first draft that is relaxed, a second that is drafted for certain."""
    third = Fraction(1, 3)
    sure = (ONE, 0 * ONE)
    target = ((2 * third, third), (third, 2 * third), sure)
    return [
        {"target": target, "draft": ((third, 2 * third), sure, sure), "omega": Fraction(3, 2), "w": Fraction(33, 25)}
    ]


AGAINST = Domain(
    {**MODELS, "omega": OneOf((Fraction(3, 2),)), "w": OneOf((Fraction(4, 3), Fraction(33, 25)))},
    *((2,), (1, 2)),
    cost=80,
    known=better_without,
)


def sound(case: Case, bands: Bands) -> Fraction:
    """Stop and residual are laws, and nothing is kept or put where the target never is."""
    models = case.target, case.draft, case.length
    some, rule = every_path(*models), bands(case.omega)
    block = judged(rule, some)
    reached = (block.stop > 0)[..., None]
    never = some.target == 0
    gaps = [block.stop.min(), equal(block.stop.sum(axis=-1), ONE), block.residual.min()]
    put: Array = np.where(reached, block.residual, some.target)
    gaps += [equal(put.sum(axis=-1), ONE)]
    gaps.append(-np.where(reached & never, block.residual, 0 * block.residual).max())
    for i, kept in enumerate(passed(rule, *models), 1):
        gaps.append(-(kept * (target_mass(case.target, i) == 0)).max())
    return min(gaps)


def along(rule: Any, target: Table, draft: Table, length: int) -> list[Path]:
    """The rule's own account after every prefix, [V**i] each, i = 1 .. L."""
    path, found, vocab = rule.begin(target.laws[:1, 0]), [], target.vocab
    for i in range(length):
        _, carry = rule.flow(path, draft.at_length(i), target.at_length(i), i)
        after = [carry(np.full(vocab**i, v)) for v in range(vocab)]
        path = type(path)(*(np.stack(fields, axis=1).reshape(-1) for fields in zip(*after, strict=True)))
        found.append(path)
    return found


def put_there(rule: Any, target: Table, draft: Table, length: int) -> list[Array]:
    """C(x): mass that corrections have put on a prefix, those of its own last token among them."""
    found, before = [], np.array([0 * ONE], dtype=object)
    for i, now in enumerate(corrected(rule, target, draft, length)):
        before = (before[:, None] * target.at_length(i)).reshape(-1) + now
        found.append(before)
    return found


def right_account(case: Case, bands: Bands) -> Fraction:
    """w = A/Q and c = C/A on every path that is alive."""
    models, gaps = (case.target, case.draft, case.length), [0 * ONE]
    rule = bands(case.omega)
    masses = zip(along(rule, *models), passed(rule, *models), put_there(rule, *models), strict=True)
    for i, (path, kept, put) in enumerate(masses, 1):
        gaps.append(equal(path.weight * target_mass(case.draft, i), kept))
        gaps.append(equal(np.where(kept > 0, path.put * kept, put), put))
    return min(gaps)


def out_masses(rule: Any, case: Case) -> list[Array]:
    """M(x) of every prefix, [V**i], i = 0 .. L: kept and put there, a correction being followed by the target."""
    models = case.target, case.draft, case.length
    pairs = zip(passed(rule, *models), put_there(rule, *models), strict=True)
    return [np.array([ONE], dtype=object), *(kept + put for kept, put in pairs)]


def within(case: Case, bands: Bands) -> Fraction:
    """omega p(v) M(x) - M(x v)"""
    masses, gaps = out_masses(bands(case.omega), case), []
    for i, (before, after) in enumerate(pairwise(masses)):
        gaps.append((case.omega * (before[:, None] * case.target.at_length(i)).reshape(-1) - after).min())
    return min(gaps)


def no_more(case: Case, bands: Bands) -> Fraction:
    """p(v) M(x) - M(x v): the same without omega."""
    masses = out_masses(bands(case.omega), case)
    pairs = enumerate(pairwise(masses))
    return min(((a[:, None] * case.target.at_length(i)).reshape(-1) - b).min() for i, (a, b) in pairs)


def block_of_one(case: Case, bands: Bands) -> Fraction:
    """At omega = 1 the masses of block verification."""
    models = case.target, case.draft, case.length
    rules = bands(ONE), BlockVerification()
    return min(mismatch(*(read(rule, *models) for rule in rules)) for read in (passed, corrected))


def same_run(case: Case, bands: Bands) -> Fraction:
    """At omega = 1 the run of block verification: its law and its calls."""
    runs = [exact(Chain(case.lookahead), case.target, case.draft, rule) for rule in (bands(ONE), BlockVerification())]
    return min(equal(runs[0].mass, runs[1].mass), holds(runs[0].call_law == runs[1].call_law))


def missed(case: Case) -> Fraction:
    """g at the level that the three steps reach, for one draft."""
    draft, target = case.draft[None], case.target[None]
    up, down = levels(draft - target, target, np.array([[case.omega - 1]], dtype=object), case.omega)
    return np.minimum(np.maximum(draft - target, -down * target), up * target).sum()


def found(case: Case, bands: Bands) -> Fraction:
    """-|g|"""
    return -abs(missed(case))


def clamped(case: Case, bands: Bands) -> Fraction:
    """One draft: out is max(low p, min(q, omega low p)) for the low that makes it a law, where the steps find it."""
    draft, target = case.draft[None], case.target[None]
    rule = bands(case.omega)
    out = rule.flow(rule.begin(target[:, 0]), draft, target, 0)[0].law[0]
    up = levels(draft - target, target, np.array([[case.omega - 1]], dtype=object), case.omega)[0][0, 0]
    low = (1 + up) / case.omega
    law = np.maximum(low * case.target, np.minimum(case.draft, case.omega * low * case.target))
    return implies(missed(case) == 0, equal(out, law))


def lossless(case: Case, bands: Bands) -> Fraction:
    """-TV of one block."""
    models = case.target, case.draft, case.length
    rule = bands(case.omega)
    law = passed(rule, *models)[-1] + put_there(rule, *models)[-1]
    return -abs(law - target_mass(case.target, case.length)).sum() / 2


def kl(out: Array, target: Array) -> Fraction:
    """KL in nats, the logarithms in float64."""
    ratios = [(a, float(a / b)) for a, b in zip(out, target, strict=True) if a]
    return sum((a * Fraction(float(np.log(ratio))) for a, ratio in ratios), 0 * ONE)


def no_better(case: Case, bands: Bands) -> float:
    """Where BlockVerification(Lenient(w)) keeps as many drafts, its KL is no smaller."""
    models = case.target, case.draft, case.length
    rules: Sequence[Any] = (bands(case.omega), BlockVerification(Lenient(case.w)))
    kept = [sum((some.sum() for some in passed(rule, *models)), 0 * ONE) for rule in rules]
    laws = [passed(rule, *models)[-1] + put_there(rule, *models)[-1] for rule in rules]
    mine, other = (kl(law, target_mass(case.target, case.length)) for law in laws)
    return float(implies(kept[1] >= kept[0], other - mine))
