"""Margins, hypotheses and wrong variants of one token for T16."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.theorems.t16_runs import Bound, tight_pair
from specsim import ContentAware, ContentAwareUnmasked, Verdict, output_law
from specsim.arrays import Array, entropy, indicator, positive_part, total_variation
from specsim.rules.additive import raised_ratio
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import Field, NumberField, OneOf
from specsim.testing.statements import equal
from specsim.verification import standard_residual

Rule = Callable[[Any, Any], Any]
UNMASKED, MASKED = "unmasked", "masked"
FORMS: dict[str, Rule] = {UNMASKED: ContentAwareUnmasked, MASKED: ContentAware}
LAM, DELTA = NumberField(Fraction(0), Fraction(3)), NumberField(Fraction(0), Fraction(1))
FIELDS: dict[str, Field] = {**PAIR, "lam": LAM, "delta": DELTA}
ONE = Domain(FIELDS, cost=4)


def tight_cases() -> list[dict[str, Any]]:
    """Pairs at which the bound is met, which few small ones are."""
    thirds, three = (Fraction(1, 3), Fraction(2, 3)), Fraction(3, 4)
    pair: dict[str, Any] = {"target": thirds, "draft": (Fraction(1), Fraction(0))}
    return [{**pair, "lam": Fraction(1), "delta": three, "form": form} for form in (UNMASKED, MASKED)]


BOTH = Domain({**FIELDS, "form": OneOf((UNMASKED, MASKED))}, cost=4, known=tight_cases)


def emitted(case: Case, rule: Rule) -> Array:
    """The law of one verified token."""
    return output_law(rule(case.lam, case.delta), case.draft, case.target, np.array(0))


def gap(case: Case) -> Fraction:
    """TV(p, q)."""
    return total_variation(case.draft, case.target)


def bonus(case: Case) -> Fraction:
    """lam H(p), H in nats; in float64 once, as the rule has it."""
    return case.lam * entropy(case.target)


def excess_of(case: Case, raised: Fraction) -> Array:
    """min(q - p, e q) where q > p, else 0: [V]."""
    return positive_part(np.minimum(case.draft - case.target, raised * case.draft))


def exact_loss(case: Case, rule: Rule) -> Fraction:
    """TV(out, p) = sum over q > p of min(q - p, e q), e = lam H(p) where TV(p, q) < delta, else 0."""
    raised = bonus(case) if gap(case) < case.delta else Fraction(0)
    return equal(total_variation(emitted(case, rule), case.target), excess_of(case, raised).sum())


def exact_masked_loss(case: Case, rule: Rule) -> Fraction:
    """The same sum over p > 0 only, and nothing emitted where p = 0."""
    raised = bonus(case) if gap(case) < case.delta else Fraction(0)
    out, on = emitted(case, rule), case.target > 0
    loss = excess_of(case, raised)[on].sum()
    return min(equal(total_variation(out, case.target), loss), -out[~on].sum())


def support(case: Case, rule: Rule) -> Fraction:
    """Minus the mass emitted where p = 0."""
    return -emitted(case, rule)[case.target == 0].sum()


def rational_loss(case: Case, mask: Callable[[Array, Array], Array]) -> Fraction:
    """The formula for a bonus that is any rational number."""

    def rule(draft: Array, target: Array, position: Array) -> Verdict:
        accept = mask(raised_ratio(draft, target, case.bonus), target)
        return Verdict(accept, standard_residual(draft, target))

    out = output_law(rule, case.draft, case.target, np.array(0))
    return equal(total_variation(out, case.target), excess_of(case, case.bonus).sum())


def bound_of(case: Case, bound: Bound) -> Fraction:
    """bound - TV(out, p), for either form."""
    return bound(case) - total_variation(emitted(case, FORMS[case.form]), case.target)


def attained(case: Case, bound: Callable[[Fraction, Fraction], Fraction]) -> Fraction:
    """TV(out, p) = min(t, lam H(p)) at the tight pair, for every t < delta."""
    target, draft = tight_pair(case.share)
    out = output_law(FORMS[case.form](case.lam, case.delta), draft, target, np.array(0))
    return equal(total_variation(out, target), bound(case.share, case.lam * entropy(target)))


def filtered(case: Case) -> bool:
    """t < delta."""
    return bool(case.share < case.delta)


def relaxed(case: Case) -> bool:
    """TV(p, q) < delta, lam > 0, and a token with p = 0 < q."""
    return bool(case.lam > 0 and ((case.target == 0) & (case.draft > 0)).any() and gap(case) < case.delta)


def saturated(case: Case) -> bool:
    """TV(p, q) < delta and lam H(p) >= 1."""
    return bool(gap(case) < case.delta and bonus(case) >= 1)


def whole_draft(case: Case, rule: Rule) -> Fraction:
    """out = q."""
    return equal(emitted(case, rule), case.draft)


def variant(raised: Callable[[tuple[Any, Any], Array, Array], Array]) -> Rule:
    """A rule whose bonus is raised((lam, delta), draft, target), [..., 1]."""

    def make(lam: Any, delta: Any) -> Any:
        def rule(draft: Array, target: Array, position: Array) -> Verdict:
            accept = raised_ratio(draft, target, raised((lam, delta), draft, target)[..., None])
            return Verdict(accept, standard_residual(draft, target))

        return rule

    return make


def passed(draft: Array, target: Array, delta: Any) -> Array:
    """1 where TV(p, q) < delta, else 0."""
    return indicator(total_variation(draft, target) < delta, target)


def closest(case: Case) -> Fraction:
    """min(TV(p, q), lam H(p) q(q > p)) where TV(p, q) < delta, else 0."""
    above = case.draft[case.draft > case.target].sum()
    return min(gap(case), bonus(case) * above) if gap(case) < case.delta else Fraction(0)


def least_of_both(case: Case) -> Fraction:
    """min(delta, lam H(p))."""
    return min(case.delta, bonus(case))
