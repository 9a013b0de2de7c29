"""What T03 looks at: rules given by their numbers, with one replacement law or one for each refused token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from proofs_checks.certificates import Program
from specsim import Verdict, output_law
from specsim.arrays import Array, positive_part, total_variation
from specsim.checking.onetoken import figures
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import LawField, ModelField, NumberField, ProbabilityField
from specsim.verification import capped_ratio

FIXED = Domain({**PAIR, "accept": ProbabilityField(), "residual": LawField()})
# A table of two positions is a law and one law for each token: the draft, and what replaces each refused token.
BY_TOKEN = Domain(
    {"target": LawField(), "laws": ModelField(), "accept": ProbabilityField()}, vocabs=(1, 2, 3), lengths=(2,), cost=3
)
ABOVE_STRICT = Domain({**PAIR, "lift": ProbabilityField()})
LENIENT = Domain({**PAIR, "omega": NumberField(Fraction(1), Fraction(4))})
SLOT = np.array(0)


@dataclass(frozen=True)
class Given:
    """A rule by its numbers: accept [V], and the law that replaces each refused token, residual [V, V]."""

    accept: Array
    residual: Array

    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
        """b and G_x of the tokens."""
        return Verdict(self.accept[token], self.residual[token])


class Judged(NamedTuple):
    """One verified token: draft, target, accept and the law that comes out, [V] each."""

    draft: Array
    target: Array
    accept: Array
    out: Array


Measure = Callable[[Judged], Fraction]


def single(case: Case) -> Judged:
    """A rule with one replacement law."""
    rule = Given(case.accept, np.stack([case.residual] * case.vocab))
    return Judged(case.draft, case.target, case.accept, output_law(rule, case.draft, case.target, SLOT))


def by_token(case: Case) -> Judged:
    """A rule whose replacement depends on the refused token."""
    draft = case.laws.at_length(0)[0]
    out = output_law(Given(case.accept, case.laws.at_length(1)), draft, case.target, SLOT)
    return Judged(draft, case.target, case.accept, out)


def lifted(case: Case, residual: Callable[[Array, Array, Array], Array]) -> Judged:
    """Any b >= min(1, p/q): the strict one and a part of what is missing to 1."""
    strict = capped_ratio(case.target, case.draft)
    return replaced_by(case, strict + case.lift * (1 - strict), residual)


def replaced_by(case: Case, accept: Array, residual: Callable[[Array, Array, Array], Array]) -> Judged:
    """b with the residual that belongs to it."""
    kept = case.draft * accept
    out = kept + (1 - kept.sum()) * residual(case.draft, case.target, accept)
    return Judged(case.draft, case.target, accept, out)


def distance(judged: Judged) -> Fraction:
    """P(reject) + TV(out, p) - TV(p, q), as the checks of a rule measure it."""
    return figures(*(array[None] for array in judged)).distance[0]


def doubled(judged: Judged) -> Fraction:
    """A mistake: TV(p, q) without its half."""
    return distance(judged) - total_variation(judged.target, judged.draft)


def plain_mean(judged: Judged) -> Fraction:
    """A mistake: P(reject) as the mean of 1 - b, without the draft's law."""
    refused = 1 - judged.accept
    return distance(judged) - (judged.draft * refused).sum() + refused.sum() / len(refused)


def as_drafted(rule: Any, draft: Array, target: Array, position: Array) -> Array:
    """A mistake: replacements weighted by q(x) alone, as if every token were refused."""
    return draft * rule.accept + (1 - (draft * rule.accept).sum()) * (draft[:, None] * rule.residual).sum(axis=0)


def first_only(rule: Any, draft: Array, target: Array, position: Array) -> Array:
    """A mistake: one replacement law for all refused tokens."""
    return draft * rule.accept + (1 - (draft * rule.accept).sum()) * rule.residual[0]


def program(case: Case) -> Program:
    """min sum u + t over u + a = q, sum (a + R) = 1, t >= a + R - p.  Columns a, u, R, t, slack; all in [0, 1]."""
    vocab, one = case.vocab, Fraction(1)
    cost = [0 * one] * vocab + [one] * vocab + [0 * one] * vocab + [one] * vocab + [0 * one] * vocab
    rows: list[dict[int, Fraction]] = [{v: one, vocab + v: one} for v in range(vocab)]
    # The slack of t >= a + R - p can reach 2, so it counts in halves.
    rows += [{3 * vocab + v: one, v: -one, 2 * vocab + v: -one, 4 * vocab + v: Fraction(-2)} for v in range(vocab)]
    rows.append({v: one for block in (0, 2) for v in range(block * vocab, (block + 1) * vocab)})
    return Program(cost, rows, [*case.draft, *(-case.target), one])


def point(case: Case, family: Callable[[Any], Any]) -> Sequence[Fraction]:
    """What a rule makes of the variables."""
    verdict = family(case.omega)(case.draft, case.target, SLOT)
    kept = case.draft * verdict.accept
    replaced = (1 - kept.sum()) * verdict.residual
    gap = kept + replaced - case.target
    return [*kept, *(case.draft - kept), *replaced, *positive_part(gap), *((positive_part(gap) - gap) / 2)]
