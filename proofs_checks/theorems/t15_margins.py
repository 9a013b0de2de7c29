"""What T15 says of block verification, in masses and in runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.certificates import Program
from proofs_checks.frontiers.masses import laws
from proofs_checks.frontiers.verifiers import Verifier, joint_block
from proofs_checks.theorems.t08_given import COMPENSATED
from proofs_checks.theorems.t15_masses import corrected, equations, every_path, judged, passed, row, slacks, unrefused
from specsim import Chain, Jacobi, Strict, Table, exact
from specsim.arrays import Array, ratio
from specsim.laws import target_mass
from specsim.testing.domains import MODELS, Case, Domain
from specsim.testing.fields import Field, ModelField, OneOf, normalised
from specsim.testing.statements import equal

MOST_SEQUENCES = 27
"""V**N up to 27."""


def few(case: Case) -> bool:
    """Few enough sequences."""
    return bool(case.vocab**case.length <= MOST_SEQUENCES)


def steady(weights: Sequence[int], length: int) -> tuple:
    """The same law at every position, as a raw model."""
    return (normalised(weights),) * sum(len(weights) ** n for n in range(length))


def toys(length: int, **more: Any) -> list[dict[str, Any]]:
    """Equal laws at every position: a first draft with p/q = 2 and a second with 1/2; and three tokens."""
    pairs = (((1, 2), (2, 1)), ((2, 2, 2), (1, 2, 3)))
    return [{"target": steady(p, length), "draft": steady(q, length), **more} for p, q in pairs]


BLOCKS = Domain(dict(MODELS), (1, 2, 3), (1, 2, 3), few, cost=15, known=lambda: toys(2))
"""Blocks of L = N drafts."""
CUT = Domain({**MODELS, "drafts": OneOf((1, 2))}, (1, 2, 3), (2, 3), lambda case: case.drafts < case.length, cost=15)
"""Blocks cut off after 1 or 2 of N drafts."""
RUNS = Domain(
    {**MODELS, "lookahead": OneOf((1, 2, 3))}, (1, 2, 3), (1, 2, 3, 4), few, cost=24, known=lambda: toys(3, lookahead=2)
)
PROGRAMS = Domain(dict(MODELS), (1, 2, 3), (1, 2), cost=10, known=lambda: toys(2))
STEPS: dict[str, Field] = {"steps": ModelField()}
"""Three tokens, the law of each after the first depending on the token before it alone, as a table of two."""
FEW_STEPS: Mapping[int, int] = {1: 1, 2: 3}
MARKOV = Domain(
    {**STEPS, "decoder": OneOf((Jacobi(3, "gumbel", "uniform"), Jacobi(3, "gumbel", "onehot")))},
    *((1, 2), (2,)),
    cost=20,
    highest=FEW_STEPS,
)
MAXIMAL = Domain(
    {**STEPS, "decoder": OneOf((Jacobi(3, "maximal", "onehot"),))}, *((1, 2), (2,)), cost=20, highest=FEW_STEPS
)
TWO = Domain(
    {"target": ModelField(), "decoder": OneOf(tuple(Jacobi(w, "maximal", "uniform") for w in (1, 2)))},
    *((1, 2), (1, 2)),
    cost=20,
)
CANCELLING = replace(COMPENSATED, vocabs=(2,), lengths=(4,), cost=30)
"""T08's runs that err and make it good."""


def mismatch(first: Sequence[Array], second: Sequence[Array]) -> Fraction:
    """-(the largest difference of two lists of masses)."""
    return min(equal(one, other) for one, other in zip(first, second, strict=True))


def weights(target: Table, draft: Table, lookahead: int) -> list[Array]:
    """w_i of every prefix, [V**i], i = 1 .. L: w_i = min(1, w_(i-1) p_i/q_i), 0 where the prefix is never drafted."""
    found = [np.array([Fraction(1)], dtype=object)]
    for i in range(lookahead):
        p, q = target.at_length(i), draft.at_length(i)
        weight = np.minimum(ratio(found[-1][:, None] * p, q), 0 * p + 1)
        found.append(np.where(q > 0, weight, 0 * weight).reshape(-1))
    return found[1:]


def prefixes(model: Table, lookahead: int) -> list[Array]:
    """Masses of all prefixes, [V**i], i = 1 .. L."""
    return [target_mass(model, i) for i in range(1, lookahead + 1)]


def kept_is_weight(case: Case, rule: Any) -> Fraction:
    """P(at least i kept, x drafted up to i) = q(x) w_i(x)."""
    drafted, weight = prefixes(case.draft, case.length), weights(case.target, case.draft, case.length)
    wanted = [q * w for q, w in zip(drafted, weight, strict=True)]
    return mismatch(passed(rule, case.target, case.draft, case.length), wanted)


def most_kept(target: Table, draft: Table, lookahead: int) -> list[Array]:
    """A_i <= min(q(x), A_(i-1) p): what a lossless verifier can keep at most, prefix by prefix."""
    bound, before = [], np.array([Fraction(1)], dtype=object)
    for i, drafted in enumerate(prefixes(draft, lookahead)):
        before = np.minimum(drafted, (before[:, None] * target.at_length(i)).reshape(-1))
        bound.append(before)
    return bound


def is_most(case: Case, rule: Any) -> Fraction:
    """What the rule keeps up to each prefix is that much."""
    models = case.target, case.draft, case.length
    return mismatch(passed(rule, *models), most_kept(*models))


def slot_is_target(case: Case, rule: Any) -> Fraction:
    """Kept and corrected mass of a slot is the mass of the prefix times the target's law."""
    models = case.target, case.draft, case.length
    kept, put = passed(rule, *models), corrected(rule, *models)
    before = [np.array([Fraction(1)], dtype=object), *kept[:-1]]
    wanted = [(mass[:, None] * case.target.at_length(i)).reshape(-1) for i, mass in enumerate(before)]
    return mismatch([a + r for a, r in zip(kept, put, strict=True)], wanted)


def more_kept(case: Case, rule: Any) -> Fraction:
    """No prefix is kept less often than by Strict."""
    models = case.target, case.draft, case.length
    pairs = zip(passed(rule, *models), passed(Strict(), *models), strict=True)
    return min((mine - strict).min() for mine, strict in pairs)


def same_when_cut(case: Case, rule: Any) -> Fraction:
    """A block with so many drafts and empty slots after them is judged as a block of so many slots."""
    count = case.drafts
    whole = judged(rule, every_path(case.target, case.draft, case.length, count))
    every = case.vocab ** (case.length - count)  # the paths of the longer block that start alike
    short = judged(rule, every_path(case.target, case.draft, count))
    stop, residual = whole.stop[::every, : count + 1], whole.residual[::every, :count, :]
    return min(equal(stop, short.stop), equal(residual, short.residual[:, :count, :]))


def chain_off(case: Case, rule: Any) -> Fraction:
    """-TV(run, target)."""
    return -exact(Chain(case.lookahead), case.target, case.draft, rule).tv(case.target)


def fewer_calls(case: Case, rule: Any) -> Fraction:
    """E[calls] of a run with Strict, less that with the rule."""
    mine, strict = (exact(Chain(case.lookahead), case.target, case.draft, some) for some in (rule, Strict()))
    return strict.calls - mine.calls


def window_calls(case: Case, rule: Any) -> Fraction:
    """The same of a window."""
    return exact(case.decoder, case.target).calls - exact(case.decoder, case.target, rule=rule).calls


def coupled_off(case: Case, rule: Any) -> Fraction:
    """-TV(run, target) of a window that the decoder would refuse."""
    return -unrefused(case.decoder, case.target, rule).tv(case.target)


def three_tokens(steps: Table) -> Table:
    """A first law and a law after each token -> a model of three positions."""
    after = steps.at_length(1)
    return Table(np.concatenate([steps.laws, np.concatenate([after] * steps.vocab)]), 3)


def markov_off(case: Case, rule: Any) -> Fraction:
    """The same for three tokens of a chain of tokens."""
    target = three_tokens(case.steps)
    return -unrefused(case.decoder, target, rule).tv(target)


def lossless_block(case: Case) -> Program:
    """max E[accepted] over all verifiers of a block whose law is the target's, as a share of L."""
    verifier = block_of(case)
    masses, wanted = verifier.masses, target_mass(case.target, case.length)
    cost = [-verifier.cost.get(column, Fraction(0)) / case.length for column in range(len(masses.columns))]
    rows, right = equations(masses), [*masses.right]
    for path, mass in zip(sorted(verifier.out), wanted, strict=True):
        rows.append({column: value for column, value in verifier.out[path].items() if value})
        right.append(mass)
    return Program([*cost, *(Fraction(0) for some in masses.loose if some)], rows, right)


def block_of(case: Case) -> Verifier:
    """Everything that can be done with a block whose decision may look at all of it."""
    return joint_block(laws(case.target, case.length), laws(case.draft, case.length), case.length)


def as_point(case: Case, rule: Any) -> list[Fraction]:
    """The program's masses of a rule, by the names that the program gives them."""
    models, vocab = (case.target, case.draft, case.length), case.vocab
    known, masses = {"kept": passed(rule, *models), "corrected": corrected(rule, *models)}, block_of(case).masses

    def mass(name: str, start: Any, path: Any = ()) -> Fraction:
        return known[name][len(path) - 1][row(path, vocab)] if path else Fraction(1)

    point = [mass(*key) for key in masses.columns]
    return [*point, *slacks(masses, point)]
