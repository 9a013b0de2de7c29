"""T21: which rules can emit a token of target probability 0.  Every rule of specsim is put to it as it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from proofs_checks.smt import EVERY, Proof
from proofs_checks.theorem import FAILS, HOLDS, Mutant, Part, Theorem, Weakened
from proofs_checks.theorems import t21_proofs as proofs
from proofs_checks.theorems.t21_rules import CAN, PROOFS, PUT, SINGLE_DRAFT
from specsim import LanternDynamic, LanternPlusDynamic, Optimal, Strict, output_law
from specsim.arrays import Array, positive_part
from specsim.checking import codebooks
from specsim.rules.optimal import acceptance
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import LawField, OneOf, ProbabilityField
from specsim.testing.statements import Statement
from specsim.verification import Verdict, optimal_residual

SLOT = np.array([0])


def has_zero(case: Case) -> bool:
    """Else there is nothing to emit."""
    return bool((case.target == 0).any())


def off_support(case: Case) -> bool:
    """The drafted token is one, and of target probability 0."""
    return case.drafted < case.vocab and bool(case.target[case.drafted] == 0)


def on_support(case: Case) -> bool:
    """The drafted token is one, and the target can emit it."""
    return case.drafted < case.vocab and bool(case.target[case.drafted] > 0)


ANY = Domain(PAIR, vocabs=(2, 3, 4), where=has_zero, cost=4)
# Thresholds of .1 and .15 need denominators of 10 and 7: the draft is a single token there.
DRAFTED = Domain(
    {"target": LawField(), "drafted": OneOf((0, 1, 2))}, vocabs=(2, 3), where=off_support, highest={2: 10, 3: 10}
)
DRAFTED_ON = Domain(
    {"target": LawField(), "drafted": OneOf((0, 1, 2))}, vocabs=(2, 3), where=on_support, highest={2: 10, 3: 10}
)
GIVEN = Domain({**PAIR, "accept": ProbabilityField()}, vocabs=(2, 3, 4), where=has_zero, cost=4)


@lru_cache(maxsize=512)
def bound(rule: Any, vocab: int) -> Any:
    """The rule with codes on a line, token v at v/2, where it needs a codebook."""
    return codebooks.bound(rule, vocab, None)


def off(case: Case, law: Array) -> Fraction:
    """Minus the mass of a law where p = 0."""
    return -law[case.target == 0].sum()


def certain(case: Case) -> Array:
    """The draft's law where one token is drafted for certain."""
    return np.array([Fraction(int(v == case.drafted)) for v in range(case.vocab)], dtype=object)


def comes_out(rule: Any, draft: Array, target: Array) -> Array:
    """out, [V]."""
    return output_law(bound(rule, len(draft)), draft[None], target[None], SLOT)[0]


def emitted(case: Case, rule: Any) -> Fraction:
    """Minus the mass that comes out where p = 0."""
    return off(case, comes_out(rule, case.draft, case.target))


def emitted_after(case: Case, rule: Any) -> Fraction:
    """The same, one token being drafted for certain."""
    return off(case, comes_out(rule, certain(case), case.target))


def shows(case: Case, rule: Any) -> dict[str, Array]:
    """p, q and what comes out."""
    draft = certain(case) if "drafted" in dict(case.raw) else case.draft
    return {"target": case.target, "draft": draft, "out": comes_out(rule, draft, case.target)}


def kept(case: Case, rule: Any) -> Fraction:
    """Minus the mass that is kept where p = 0."""
    draft, target = case.draft[None], case.target[None]
    return off(case, case.draft * acceptance(bound(rule, case.vocab), draft, target, SLOT)[0])


def replaced(case: Case, residual: Callable[[Array, Array, Array], Array]) -> Fraction:
    """Minus the mass of a residual where p = 0."""
    return off(case, residual(case.draft, case.target, case.accept))


def part(name: str, rule: Any) -> Part:
    """One rule."""
    domain, margin = (DRAFTED, emitted_after) if name in SINGLE_DRAFT else (ANY, emitted)
    text = f"{rule!r} emits no token of target probability 0"
    text += " (codes half apart on a line)" if codebooks.unbound(rule) else ""
    text += ", such a token being drafted for certain" if name in SINGLE_DRAFT else ""
    statement = Statement(text, domain, margin, rule, shows=shows)
    if name in CAN:
        return Part(statement, FAILS, claimed=f"folklore; {CAN[name]}")
    return Part(statement, HOLDS, Proof(EVERY, PROOFS[name]) if name in PROOFS else None)


def number(name: str) -> int:
    """The number of a rule's part."""
    return list(PUT).index(name) + 1


@dataclass(frozen=True)
class Leaking:
    """A mistake: a small constant over the whole vocabulary keeps the residual from being empty."""

    rule: Any

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """The rule's b; norm([p - q]+ + 1/1000)."""
        weights = positive_part(target - draft) + Fraction(1, 1000)
        return Verdict(self.rule(draft, target, position).accept, weights / weights.sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class Raised:
    """A mistake: (p + epsilon)/q instead of p/q."""

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """min(1, (p + 1/10)/q) with its own residual."""
        raised = target + Fraction(1, 10)
        accept = raised / np.maximum(raised, draft)
        return Verdict(accept, optimal_residual(draft, target, accept))


def uniform_if_empty(draft: Array, target: Array, accept: Array) -> Array:
    """A mistake: uniform where [p - q b]+ is empty."""
    weights = positive_part(target - draft * accept)
    return weights / weights.sum() if weights.any() else 0 * target + Fraction(1, len(target))


def of_the_draft(draft: Array, target: Array, accept: Array) -> Array:
    """A mistake: norm[q b - p]+."""
    return optimal_residual(target, draft, np.ones_like(accept))


T21 = Theorem(
    "T21",
    "which rules can emit a token of target probability 0",
    "shown here for the rules of the papers named",
    parts=(
        *(part(name, rule) for name, rule in PUT.items()),
        Part(
            Statement("LanternPlusDynamic keeps no token of target probability 0", ANY, kept, LanternPlusDynamic()),
            proof=Proof(EVERY, proofs.lantern_plus_kept),
        ),
        Part(
            Statement(
                f"{LanternPlusDynamic()!r} emits no token of target probability 0 after a draft on the target's "
                "support, one token being drafted for certain (codes half apart on a line)",
                *(DRAFTED_ON, emitted_after, LanternPlusDynamic()),
                shows=shows,
            ),
            stated=FAILS,
            claimed="folklore; the uniform fallback does not ask what was drafted",
        ),
        Part(
            Statement(
                "G* = norm[p - q b]+, p where that is empty, has no mass where p = 0, whatever b is",
                *(GIVEN, replaced, optimal_residual),
            ),
            proof=Proof(EVERY, proofs.optimal),
        ),
    ),
    mutants=(
        Mutant("a constant in the residual", Leaking(Strict()), number("Strict")),
        Mutant("(p + epsilon)/q", Raised(), number("Lenient")),
        Mutant("Addition unmasked", PUT["AdditiveUnmasked"], number("Additive")),
        Mutant("CSD unmasked", PUT["ContentAwareUnmasked"], number("ContentAware")),
        Mutant("LANTERN's budget", LanternDynamic(), number("LanternPlus")),
        Mutant("LANTERN's dynamic residual", LanternPlusDynamic(), number("LanternPlus")),
        Mutant("a mixture with the draft", PUT["Ensemble"], number("Cactus")),
        Mutant("everything kept when close", PUT["FuzzyJS"], number("Typical")),
        Mutant("Addition unmasked, kept", PUT["AdditiveUnmasked"], len(PUT) + 1),
        Mutant("uniform where the residual is empty", uniform_if_empty, len(PUT) + 3),
        Mutant("norm[q - p]+", of_the_draft, len(PUT) + 3),
    ),
    weakened=(
        Weakened(Statement("no rule with G* emits there", ANY, emitted, Optimal(PUT["AdditiveUnmasked"]))),
        Weakened(
            Statement("no rule that keeps nothing there emits there", ANY, emitted, LanternPlusDynamic()),
        ),
    ),
)
