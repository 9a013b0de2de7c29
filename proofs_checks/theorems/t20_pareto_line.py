"""T20: which rules are on the Pareto line P(reject) + TV(out, p) = TV(p, q), and what that means for trading."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.theorem import FAILS, HOLDS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems.t20_general import (
    ACCEPTED,
    COST,
    GENERAL,
    ONES,
    OTHERS,
    given,
    published,
    standard_suffices,
    traded,
)
from proofs_checks.theorems.t20_proofs import proof_of
from proofs_checks.theorems.t20_rules import (
    OFF_LINE,
    ON_LINE,
    Altered,
    BlockResampling,
    Resampling,
    Row,
    judge,
    of_class,
)
from specsim import RULES, Annealed, BlockVerification, Lenient, Optimal, Scheduled, Strict, Typical
from specsim.arrays import Array, normalise, positive_part, total_variation
from specsim.checking import codebooks
from specsim.checking.onetoken import figures
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import OneOf
from specsim.testing.statements import Statement, equal
from specsim.verification import standard_residual

ON_CODES = " (codes half apart on a line)"
SLOTS = OneOf((0, 1, 5))
FURTHER = {1: 1, 2: 4, 3: 4, 4: 2}
"""Denominators listed where a counterexample is looked for: LANTERN++ needs quarters at V = 3."""


def on_line(case: Case, version: Callable[[Any], Any]) -> Fraction:
    """Distance from the line = 0."""
    return equal(judge(version(case.rule), case).distance, Fraction(0))


def bars(case: Case, version: Callable[[Any], Any]) -> dict[str, Array]:
    """p, q, b and what comes out."""
    found = judge(version(case.rule), case)
    return {"target": case.target, "draft": case.draft, "accept": found.accept, "out": found.out}


def wasteful(row: Row, slot: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The pairs on which the released residuals of LANTERN and LANTERN++ waste: others may waste there too."""
    for target, draft in (((0, 4, 8), (6, 6, 0)), ((3, 3, 6), (3, 9, 0))):
        laws = [tuple(Fraction(n, 12) for n in law) for law in (target, draft)]
        for rule in row.rules:
            yield {"target": laws[0], "draft": laws[1], "rule": rule, **dict.fromkeys(slot, 1)}


def holding(name: str, row: Row) -> Part:
    """A rule that is on the line; factors of their own for every slot depend on the slot too."""
    text = f"{name}{row.around} is on the line P(reject) + TV(out, p) = TV(p, q): {row.why}"
    slot = {"slot": SLOTS} if isinstance(row.rules[0], (Annealed, Scheduled)) else {}
    domain = Domain({**PAIR, "rule": OneOf(row.rules), **slot}, cost=COST, known=lambda: list(wasteful(row, slot)))
    return Part(Statement(text, domain, on_line, published, shows=bars), proof=proof_of(name))


def failing(name: str, row: Row) -> Part:
    """A rule that is not."""
    settings = ", ".join(map(repr, row.rules))
    text = f"{name}{row.around} is on the line P(reject) + TV(out, p) = TV(p, q), at the settings {settings}"
    text += ON_CODES if any(map(codebooks.unbound, row.rules)) else ""
    domain = Domain({**PAIR, "rule": OneOf(row.rules)}, highest=FURTHER)
    statement = Statement(text, domain, on_line, published, shows=bars)
    return Part(statement, stated=FAILS, claimed=f"folklore: a relaxation wastes nothing; but {row.why}")


HELD, FAILED = of_class(ON_LINE), of_class(OFF_LINE)
BY_RULE = [holding(name, HELD[name]) for name in RULES if name in HELD]
BY_RULE += [failing(name, FAILED[name]) for name in RULES if name in FAILED]
PARTS = (*GENERAL, *BY_RULE)


def number_of(name: str) -> int:
    """The part on a rule that holds, counted from 1."""
    first = len(GENERAL)
    return next(
        n
        for n, part in enumerate(PARTS[first:], first + 1)
        if part.statement.text.split(" ")[0] == name and part.stated == HOLDS
    )


def redrawn(residual: Callable[[Array, Array, Array], Array]) -> Callable[[Any], Any]:
    """The rule with another replacement."""
    return lambda rule: Altered(rule, residual)


def target_itself(draft: Array, target: Array, accept: Array) -> Array:
    """G = p."""
    return target


def usual(draft: Array, target: Array, accept: Array) -> Array:
    """norm[p - q]+."""
    return standard_residual(draft, target)


def judged(accept: Callable[[Array, Array, Array], Array]) -> Callable[[Any], Any]:
    """The rule with another acceptance and norm[p - q]+."""
    return lambda rule: Altered(rule, usual, accept)


def refused_beyond(draft: Array, target: Array, accept: Array) -> Array:
    """Nothing kept where the filter says no, instead of the strict rule."""
    return accept * (total_variation(target, draft) < Fraction(7, 20))[..., None]


def halved(draft: Array, target: Array, accept: Array) -> Array:
    """Without the draft's share of the mixture."""
    return Strict()(draft, target, np.zeros(1)).accept / 2


def raised_law(draft: Array, target: Array, accept: Array) -> Array:
    """norm[q b - q/2]+, a residual of the raised law alone."""
    return normalise(positive_part(draft * accept - draft / 2), target)


WRONG = (
    ("the replacement drawn from p", "Strict", redrawn(target_itself)),
    ("omega inverted", "Lenient", lambda rule: Lenient(1 / rule.omega)),
    ("the clamp forgotten", "Annealed", lambda rule: replace(rule, clamp=False, mu=2.0)),
    ("the replacement drawn from p", "Additive", redrawn(target_itself)),
    ("norm[q - p]+, the wrong side", "AdditiveUnmasked", redrawn(lambda q, p, b: standard_residual(p, q))),
    ("refusal instead of strict beyond the filter", "ContentAware", judged(refused_beyond)),
    ("refusal instead of strict beyond the filter", "ContentAwareUnmasked", judged(refused_beyond)),
    ("the draft's share forgotten", "Ensemble", judged(halved)),
    ("a residual of the raised law alone", "Cactus", redrawn(raised_law)),
    ("the replacement drawn from p", "FuzzyKL", redrawn(target_itself)),
    ("the replacement drawn from q", "FuzzyJS", redrawn(lambda q, p, b: q)),
    ("norm[q - p]+, the wrong side", "CascadeOpt", redrawn(lambda q, p, b: standard_residual(p, q))),
    ("the inner rule's own replacement", "Optimal", lambda rule: rule.rule),
    ("around a rule off the line", "BlockVerification", lambda rule: BlockVerification(Typical())),
    ("the replacement drawn from p", "Ledger", Resampling),
    ("the replacement drawn from p", "Band", BlockResampling),
)


def no_half(draft: Array, target: Array, accept: Array, out: Array) -> Any:
    """The figures with the distance counted as sum |out - p|."""
    found = figures(draft, target, accept, out)
    return found._replace(distance=found.distance + found.tv)


T20 = Theorem(
    "T20",
    "Which rules are on the Pareto line P(reject) + TV(out, p) = TV(p, q)",
    "the line: CSD (arXiv 2606.27829), Theorem 3.2, and COOL-SD (arXiv 2601.09212); the table of rules is shown here",
    parts=PARTS,
    mutants=(
        Mutant("TV without its half", no_half, 1),
        Mutant("figures of another draft", lambda q, p, b, out: figures(p, p, b, out), 1),
        Mutant("norm[p - q]+ for G*", redrawn(usual), 2),
        Mutant("norm[q - p]+, the wrong side", lambda draft, target: standard_residual(target, draft), 3),
        Mutant("p itself", lambda draft, target: target, 3),
        Mutant("the replacement drawn from p", redrawn(target_itself), 4),
        Mutant("half of the drafts refused", judged(lambda q, p, b: b / 2), 6),
        *(Mutant(words, version, number_of(name)) for words, name, version in WRONG),
    ),
    weakened=(
        Weakened(
            Statement(
                "norm[p - q]+ is an optimal replacement whatever b is",
                Domain(ACCEPTED, cost=6),
                standard_suffices,
                standard_residual,
            )
        ),
        Weakened(
            Statement(
                "Lenient is on the line for omega < 1 too",
                Domain({**PAIR, "rule": OneOf((Lenient(0.8), Lenient(0.5)))}, cost=COST),
                on_line,
                published,
            )
        ),
        Weakened(
            Statement(
                "Annealed is on the line without its clamp",
                Domain({**PAIR, "rule": OneOf((Annealed(clamp=False),)), "slot": SLOTS}, cost=COST),
                on_line,
                published,
            )
        ),
        Weakened(
            Statement(
                "Optimal(rule) is on the line whatever b is",
                Domain(ACCEPTED, cost=6),
                lambda case, wrapper: equal(judge(wrapper(given(case)), case).distance, Fraction(0)),
                Optimal,
            )
        ),
        Weakened(
            Statement(
                "TV(out, p) falls by what P(reject) rises, though one of the two rules is not on the line",
                Domain({**PAIR, "rule": OneOf(ONES), "other": OneOf((Typical(), *OTHERS))}, cost=COST),
                traded,
                published,
            )
        ),
    ),
)
