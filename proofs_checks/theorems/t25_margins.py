"""What T25 says of block verification against the law of a relaxed rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.theorems.slot_fields import ContextFreeField
from proofs_checks.theorems.t15_margins import few, mismatch
from proofs_checks.theorems.t15_masses import block_law, corrected, passed
from specsim import (
    Additive,
    Annealed,
    Cactus,
    CascadeOpt,
    Chain,
    Ensemble,
    Lenient,
    RelaxedBonus,
    Table,
    Typical,
    exact,
    output_law,
)
from specsim.arrays import Array, total_variation
from specsim.laws import target_mass
from specsim.testing.domains import MODELS, PAIR, Case, Domain
from specsim.testing.fields import Field, OneOf
from specsim.testing.statements import equal

ALIKE = (Lenient(1.5), Ensemble(0.5), CascadeOpt(0.5), Additive(0.25), Cactus(0.5))
"""Rules whose law does not depend on the slot."""
COOL = Annealed(2.0, 0.7)
ANY = (*ALIKE, Typical(), COOL)
Around = Callable[[Any], Any]
"""A rule that judges blocks, made of a token-wise one."""


def toys() -> list[dict[str, Any]]:
    """Equal laws at both positions: the first draft is likelier than under p', the second less likely."""
    third, half = Fraction(1, 3), Fraction(1, 2)
    models = {"target": ((third, 1 - third),) * 3, "draft": ((1 - third, third),) * 3}
    wide = {"target": ((third,) * 3,) * 4, "draft": ((third / 2, third, half),) * 4}
    return [{**some, "rule": rule} for some in (models, wide) for rule in (Lenient(1.5), Ensemble(0.5), COOL)]


def worse_run() -> list[dict[str, Any]]:
    """Five tokens, (0, 1) but after these prefixes."""
    half = (Fraction(1, 2), Fraction(1, 2))
    target, draft = {0: half, 6: half}, {2: half, 6: (Fraction(1), Fraction(0)), 13: half}
    sure = (Fraction(0), Fraction(1))
    rows = [tuple(some.get(row, sure) for row in range(31)) for some in (target, draft)]
    return [{"target": rows[0], "draft": rows[1], "lookahead": 2, "rule": Ensemble(0.5)}]


def costlier_run() -> list[dict[str, Any]]:
    """Laws of the first two tokens for which a block keeps more drafts when judged whole."""
    twelfth, third = Fraction(1, 12), Fraction(1, 3)
    return [{"target": (twelfth, 1 - twelfth), "draft": (1 - third, third), "rule": Lenient(4)}]


def cooling_run() -> list[dict[str, Any]]:
    """Three tokens, no law depending on the prefix."""
    sure, other, half = (Fraction(0), Fraction(1)), (Fraction(1), Fraction(0)), (Fraction(1, 2), Fraction(1, 2))
    target = ((Fraction(1, 3), Fraction(2, 3)), *(sure,) * 2, *(half,) * 4)
    return [{"target": target, "draft": (other, *(half,) * 2, *(sure,) * 4), "lookahead": 2, "rule": COOL}]


def named(case: Case) -> bool:
    """Tokens can be renamed position by position, so that the draft's likelier one is token 1."""
    return bool((case.draft.laws[:, 1] >= case.draft.laws[:, 0]).all())


def named_and_sure(case: Case) -> bool:
    """The same, and the last token, which is never drafted, is 1."""
    return named(case) and all(model.laws[-1, 1] == 1 for model in (case.target, case.draft))


BLOCKS = Domain({**MODELS, "rule": OneOf(ANY)}, (1, 2, 3), (1, 2, 3), few, cost=60, known=toys)
"""Blocks of L = N drafts."""
ON_LINE = replace(BLOCKS, fields={**MODELS, "rule": OneOf((*ALIKE, COOL))})
"""The same, rules on the Pareto line (T03, T20)."""
SETTINGS = {**MODELS, "lookahead": OneOf((1, 2, 3)), "rule": OneOf(ALIKE)}
RUNS = Domain(SETTINGS, (1, 2, 3), (1, 2, 3, 4), few, cost=60)
SHORT = Domain(SETTINGS, (1, 2, 3), (1, 2, 3, 4), lambda case: few(case) and case.length <= case.lookahead + 1, cost=60)
"""Runs of at most L + 1 tokens."""
FREE: dict[str, Field] = {"target": ContextFreeField(), "draft": ContextFreeField()}
THREE = Domain({**FREE, "rule": OneOf((Ensemble(0.5),))}, (2,), (3,), named, 12, {2: 2})
"""Blocks of three drafts, no law depending on the prefix."""
FOUR = Domain(
    {**FREE, "lookahead": OneOf((2,)), "rule": OneOf((Ensemble(0.5),))}, (2,), (4,), named_and_sure, 15, {2: 2}
)
"""Runs of four tokens, the same."""
FIVE = Domain(
    {**MODELS, "lookahead": OneOf((2,)), "rule": OneOf((Ensemble(0.5),))}, *((2,), (5,)), cost=400, known=worse_run
)
LATER_ON = Domain({**PAIR, "rule": OneOf((Lenient(4), Ensemble(0.5)))}, (2,), cost=400, known=costlier_run)
"""The first two of six tokens."""
COOLING = Domain(
    {**MODELS, "lookahead": OneOf((2,)), "rule": OneOf((COOL,))}, *((2,), (3,)), cost=400, known=cooling_run
)


def relaxed(rule: Any, target: Table, draft: Table, slot: int | None = None) -> Table:
    """The model of the laws p' that a rule gives its tokens: at slot 0, or at the position's own slot from 0 on."""
    count, length = len(target.laws), target.length
    slots = (
        np.repeat(np.arange(length), [target.vocab**n for n in range(length)]) if slot is None else np.full(count, slot)
    )
    return Table(output_law(rule, draft.laws, target.laws, slots), length)


def slot_is_relaxed(case: Case, around: Around) -> Fraction:
    """Kept and corrected mass of slot i = mass of the prefix times p'_i."""
    models = case.target, case.draft, case.length
    rule = around(case.rule)
    kept, put, law = passed(rule, *models), corrected(rule, *models), relaxed(case.rule, case.target, case.draft)
    before = [np.array([Fraction(1)], dtype=object), *kept[:-1]]
    wanted = [(mass[:, None] * law.at_length(i)).reshape(-1) for i, mass in enumerate(before)]
    return mismatch([a + r for a, r in zip(kept, put, strict=True)], wanted)


def kept_more(case: Case, around: Around) -> Fraction:
    """No prefix is kept less often than by the rule alone."""
    models = case.target, case.draft, case.length
    pairs = zip(passed(around(case.rule), *models), passed(case.rule, *models), strict=True)
    return min((mine - alone).min() for mine, alone in pairs)


def block_error(rule: Any, case: Case) -> Fraction:
    """TV of one block, corrections followed by the target."""
    law = block_law(rule, case.target, case.draft, case.length)
    return total_variation(law, target_mass(case.target, case.length))


def same_error(case: Case, around: Around) -> Fraction:
    """The same TV of a block."""
    return equal(block_error(around(case.rule), case), block_error(case.rule, case))


def errs_no_less(case: Case, around: Around) -> Fraction:
    """No smaller TV of a block."""
    return block_error(around(case.rule), case) - block_error(case.rule, case)


def run(case: Case, rule: Any, decoder: type = Chain) -> Any:
    """The law of a run."""
    return exact(decoder(case.lookahead), case.target, case.draft, rule)


def relaxed_throughout(case: Case, around: Around) -> Fraction:
    """With a bonus that is a relaxed draft too, the run has the law p' at every position."""
    wanted: Array = target_mass(relaxed(case.rule, case.target, case.draft, 0), case.length)
    return equal(run(case, around(case.rule), RelaxedBonus).mass, wanted)


def fewer_calls(case: Case, around: Around, decoder: type = Chain) -> Fraction:
    """E[calls] with the rule alone, less that of block verification."""
    return run(case, case.rule, decoder).calls - run(case, around(case.rule), decoder).calls


def same_run(case: Case, around: Around, decoder: type = Chain) -> Fraction:
    """The same law of a run."""
    return equal(run(case, around(case.rule), decoder).mass, run(case, case.rule, decoder).mass)


def errs_no_more(case: Case, around: Around) -> Fraction:
    """No larger TV of a run."""
    return run(case, case.rule).tv(case.target) - run(case, around(case.rule)).tv(case.target)


def six_tokens(case: Case) -> tuple[Table, Table]:
    """The first two tokens as the case says; the third is drafted 0 and mostly 1 under the target; after a third 0 the
    models agree, after a third 1 they never do."""
    sure, other = np.array([Fraction(0), Fraction(1)]), np.array([Fraction(1), Fraction(0)])
    third = np.array([Fraction(1, 4), Fraction(3, 4)])
    levels: list[tuple[list[Array], list[Array]]] = [
        ([case.target], [case.draft]),
        ([case.target] * 2, [case.draft] * 2),
    ]
    levels.append(([third] * 4, [other] * 4))
    for n in (3, 4, 5):
        failing = np.arange(2**n) >> (n - 3) & 1  # the third token
        levels.append(([sure] * 2**n, [other if fails else sure for fails in failing]))
    target, draft = (np.stack([law for level in levels for law in level[i]]) for i in (0, 1))
    return Table(target, 6), Table(draft, 6)


def fewer_later(case: Case, around: Around) -> Fraction:
    """E[calls] of these runs with Chain(2), with the rule alone, less that of block verification."""
    models = six_tokens(case)
    alone, whole = (exact(Chain(2), *models, rule).calls for rule in (case.rule, around(case.rule)))
    return alone - whole
