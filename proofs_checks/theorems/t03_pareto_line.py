"""T03: P(reject) + TV(out, p) >= TV(p, q) for every rule of one token, and exactly which rules lie on that line."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.certificates import Certificate
from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t03_given import (
    ABOVE_STRICT,
    BY_TOKEN,
    FIXED,
    LENIENT,
    SLOT,
    Given,
    Judged,
    Measure,
    as_drafted,
    by_token,
    distance,
    doubled,
    first_only,
    lifted,
    plain_mean,
    point,
    program,
    replaced_by,
    single,
)
from proofs_checks.theorems.t03_proofs import coordinate, effective, equality, spending
from specsim import Lenient, Optimal, Partitioned, optimal_residual, output_law
from specsim.arrays import Array, normalise, positive_part, total_variation
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.statements import Statement, equal, holds, implies
from specsim.verification import standard_residual

Residual = Callable[[Array, Array, Array], Array]
Member = Callable[[Array, Array, Array, Array], bool]


def above_line(case: Case, measure: Measure) -> Fraction:
    """P(reject) + TV(out, p) - TV(p, q) for a fixed replacement law."""
    return measure(single(case))


def above_line_by_token(case: Case, measure: Measure) -> Fraction:
    """The same with G_x."""
    return measure(by_token(case))


def same_law(case: Case, law: Callable[..., Array]) -> Fraction:
    """The law that comes out = q b + r G, r G = sum_x q(x) (1 - b(x)) G_x."""
    draft, replacement = case.laws.at_length(0)[0], case.laws.at_length(1)
    refused = draft * (1 - case.accept)
    effective = sum((refused[x] * replacement[x] for x in range(case.vocab)), 0 * draft)
    return equal(law(Given(case.accept, replacement), draft, case.target, SLOT), draft * case.accept + effective)


def in_line_set(draft: Array, target: Array, accept: Array, replaced: Array) -> bool:
    """q b >= min(p, q) and r G <= [p - q b]+ at every token; replaced [V] = r G."""
    kept = draft * accept
    return bool(((kept >= np.minimum(target, draft)) & (replaced <= positive_part(target - kept))).all())


def enough(draft: Array, target: Array, accept: Array, replaced: Array) -> bool:
    """Half of the condition: q b >= min(p, q)."""
    return bool((draft * accept >= np.minimum(target, draft)).all())


def best(draft: Array, target: Array, accept: Array, replaced: Array) -> bool:
    """The other half: r G <= [p - q b]+."""
    return bool((replaced <= positive_part(target - draft * accept)).all())


def exactly_the_set(case: Case, member: Member) -> Fraction:
    """On the line iff in the set, G_x entering through its effective law alone."""
    judged = by_token(case)
    draft, target, accept, out = judged
    return holds((distance(judged) == 0) == member(draft, target, accept, out - draft * accept))


def price(judged: Judged) -> Fraction:
    """Margin of TV(out, p) = E_q[b] - (1 - TV(p, q))."""
    draft, target, accept, out = judged
    kept = (draft * accept).sum()
    return equal(total_variation(out, target), kept - (1 - total_variation(target, draft)))


def price_above_strict(case: Case, residual: Residual) -> Fraction:
    """b at or above strict."""
    return price(lifted(case, residual))


def price_of_any(case: Case, residual: Residual) -> Fraction:
    """Any b whatever."""
    return price(replaced_by(case, case.lift, residual))


def price_of_rule(case: Case, rule: Any) -> Fraction:
    """A rule as it is."""
    accept = rule(case.draft, case.target, SLOT).accept
    return price(Judged(case.draft, case.target, accept, output_law(rule, case.draft, case.target, SLOT)))


def any_residual(case: Case, measure: Measure) -> Fraction:
    """On the line with any residual, if b >= min(1, p/q)."""
    judged = single(case)
    return implies(enough(*judged), equal(measure(judged), Fraction(0)))


def shows(case: Case, subject: Any) -> dict[str, Array]:
    """p, q, b and what comes out."""
    draft, target, accept, out = by_token(case)
    return {"target": target, "draft": draft, "accept": accept, "out": out}


LINE = "P(reject) + TV(out, p) >= TV(p, q)"
BY_PARTS = "P(reject) + TV(out, p) = TV(p, q) iff q b >= min(p, q) and r G <= [p - q b]+ at every token"

T03 = Theorem(
    "T03",
    "P(reject) + TV(out, p) >= TV(p, q): acceptance is bought with bias, at best one for one",
    "Leviathan et al. 2023 and Chen et al. 2023 for TV(out, p) = 0; the line and its rules are shown here",
    parts=(
        Part(
            Statement(f"{LINE} for every acceptance b and replacement law G", FIXED, above_line, distance),
            proof=Proof(EVERY, coordinate),
        ),
        Part(
            Statement(
                f"{LINE} also where the replacement G_x depends on the refused token x",
                *(BY_TOKEN, above_line_by_token, distance),
                shows=shows,
            ),
            proof=Proof(EVERY, coordinate),
        ),
        Part(
            Statement(
                "for r > 0 the rule (b, G_x) has the law out = q b + r G of a law G = sum_x q(x) (1 - b(x)) G_x / r",
                *(BY_TOKEN, same_law, output_law),
                shows=shows,
            ),
            proof=Proof("V = 2", effective),
        ),
        Part(
            Statement(
                f"{BY_PARTS}, G being the effective replacement", BY_TOKEN, exactly_the_set, in_line_set, shows=shows
            ),
            proof=Proof(EVERY, equality),
        ),
        Part(
            Statement(
                "if b >= min(1, p/q) and G = G* then TV(out, p) = E_q[b] - (1 - TV(p, q))",
                *(ABOVE_STRICT, price_above_strict, optimal_residual),
            ),
            proof=Proof(EVERY, spending),
            certificate=Certificate("min P(reject) + TV over all (b, G)", LENIENT, program, point, Lenient),
        ),
        Part(
            Statement("with G* every acceptance b is on the line", ABOVE_STRICT, price_of_any, optimal_residual),
            stated=FAILS,
            claimed="folklore; the best residual does not make up for a b below min(1, p/q)",
        ),
        Part(
            Statement(
                "groups that partition the vocabulary keep at least 1 - TV(p, q), so with G* they are on the line",
                *(Domain(PAIR), price_of_rule, Optimal(Partitioned(size=2))),
            ),
            stated=FAILS,
            claimed="folklore; GSD (arXiv 2508.07747) proves the first half only",
        ),
    ),
    mutants=(
        Mutant("TV(p, q) without its half", doubled, 1),
        Mutant("P(reject) without the draft's law", plain_mean, 1),
        Mutant("TV(p, q) without its half, G_x", doubled, 2),
        Mutant("replacements weighted by q(x) alone", as_drafted, 3),
        Mutant("one replacement law for all", first_only, 3),
        Mutant("the condition on b alone", enough, 4),
        Mutant("the condition on G alone", best, 4),
        Mutant("b >= min(1, p q) for min(1, p/q)", lambda q, p, b, back: enough(q, q * p * q, b, back), 4),
        Mutant("the target as residual", lambda draft, target, accept: target, 5),
        Mutant("norm[q b - p]+", lambda q, p, b: normalise(positive_part(q * b - p), p), 5),
        Mutant("norm[q - p]+", lambda draft, target, accept: standard_residual(target, draft), 5),
    ),
    weakened=(
        Weakened(Statement("<= instead of >=", FIXED, lambda case, f: -above_line(case, f), distance)),
        Weakened(Statement("> instead of >=", FIXED, lambda case, f: holds(above_line(case, f) > 0), distance)),
        Weakened(Statement("on the line for b >= min(1, p/q) and any residual", FIXED, any_residual, distance)),
    ),
)
