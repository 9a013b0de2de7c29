"""What a rule can claim of one verified token, at every slot that `specsim check` looks at.

Masses are compared: q b kept, sum_x q (1 - b) G_x put back, out what comes of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise, product
from typing import Any

import numpy as np

from specsim.arrays import Array, positive_part
from specsim.checking.forms import slots_of, whole
from specsim.checking.onetoken import FLOAT_SLACK, OneToken, measure
from specsim.checking.pairs import LawRow, Pair, Stack, all_pairs
from specsim.checking.validity import LAW_SLACK, NotExact, ask, exact_verdict, failure, float_verdict, guarded, shaped
from specsim.errors import SpecsimError, is_number
from specsim.strength import Strength, strength_of
from specsim.testing.domains import PAIR, Case, Domain
from specsim.testing.fields import OneOf, exact
from specsim.testing.statements import Statement
from specsim.testing.subjects import Subject, at_strength, vocabs_of
from specsim.verification import Verdict

ROUNDING = "float64 laws of a few tokens, after a dozen operations, are right to 1e-14"
STEPS = (0, Fraction(1, 4), 1, 4, 16)
"""Strengths that are tried, counted from the weakest; of a range of at most 1 they count sixteenths of it."""
WHOLE_STEPS = (0, 1, 2, 4, 8)
KNOWN_SLOTS = (0, 2)
"""Slots at which the known pairs are tried."""
Gap = Callable[[OneToken, Array, Array], Any]


def token_domain(subject: Subject, cost: int = 1, **more: OneOf) -> Domain:
    """Two laws and a slot; the pairs of `specsim check` are known cases: rules with small thresholds fail on some."""
    slots = slots_of(subject.thing)
    fields, vocabs = {**PAIR, "slot": OneOf(slots), **more}, vocabs_of(subject, (1, 2, 3, 4))

    def known() -> Iterator[dict[str, Any]]:
        for pair, slot in product(all_pairs(), [slot for slot in KNOWN_SLOTS if slot in slots]):
            if len(pair.target) in vocabs or (len(vocabs) > 1 and len(pair.target) > max(vocabs)):
                first = {name: some.options[0] for name, some in more.items()}
                yield {"target": pair.target, "draft": pair.draft, "slot": slot, **first}

    return Domain(fields, vocabs, cost=cost, known=known)


def stack_of(subject: Subject, target: LawRow, draft: LawRow, slots: tuple[int, ...]) -> Stack:
    """A pair at some slots, shaped as a block: draft, target [1, S, V], position [S]."""
    shape = (1, len(slots), len(target))
    wide = [np.broadcast_to(subject.law(exact(law)), shape) for law in (draft, target)]
    return Stack([Pair("of the claim", "claim", target, draft)], wide[0], wide[1], np.array(slots))


@lru_cache(maxsize=1024)
def every_slot(subject: Subject, target: LawRow, draft: LawRow) -> OneToken:
    """What the rule makes of a pair, [S, ..]: a pair is asked about again at each of its slots."""
    rule, some = subject.rule(len(target)), stack_of(subject, target, draft, slots_of(subject.thing))
    verdict = exact_verdict(rule, some) if subject.exact else float_verdict(rule, some)
    return OneToken(*(array[0] for array in measure(rule, some, verdict.accept)))


def at_slot(case: Case, subject: Subject) -> tuple[OneToken, Array, Array]:
    """What the rule makes of a case; its target and draft [V]."""
    raw, slot = dict(case.raw), slots_of(subject.thing).index(case.slot)
    figures = every_slot(subject, raw["target"], raw["draft"])
    return OneToken(*(array[slot] for array in figures)), subject.law(case.target), subject.law(case.draft)


def columns(case: Case, subject: Subject) -> dict[str, Any]:
    """A counterexample token by token."""
    made, target, draft = at_slot(case, subject)
    refused = {"G": made.residual} if made.reject > 0 else {}
    return {"p": target, "q": draft, "b": made.accept, **refused, "out": made.out}


def token_statement(text: str, gap: Gap, subject: Subject) -> Statement:
    """A claim whose margin follows from what the rule makes of one pair at one slot."""

    def margin(case: Case, about: Subject) -> Any:
        return gap(*at_slot(case, about))

    return statement(text, token_domain(subject), margin, subject, columns)


def statement(text: str, domain: Domain, margin: Any, subject: Subject, shows: Any, slack: float = 0) -> Statement:
    """A statement in the numbers of its subject; of a rule that judges blocks, one token is a block of one draft."""
    text += " (a block of one draft)" if "slot" in domain.fields and whole(subject.thing) else ""
    allowed = 0.0 if subject.exact else slack or FLOAT_SLACK
    return Statement(text, domain, margin, subject, allowed, "" if subject.exact else ROUNDING, shows)


def biased(made: OneToken, target: Array, draft: Array) -> Any:
    """TV(out, p) = 0"""
    return -made.tv


def off_line(made: OneToken, target: Array, draft: Array) -> Any:
    """P(reject) + TV(out, p) = TV(p, q)"""
    return -abs(made.distance)


def off_support(made: OneToken, target: Array, draft: Array) -> Any:
    """out = 0 where p = 0"""
    return -made.off


def wasted(made: OneToken, target: Array, draft: Array) -> Any:
    """TV(out, p) = N(b)"""
    return positive_part(draft * made.accept - target).sum() - made.tv


def below_strict(made: OneToken, target: Array, draft: Array) -> Any:
    """q b >= min(p, q)"""
    return (draft * made.accept - np.minimum(target, draft)).min()


def above_strict(made: OneToken, target: Array, draft: Array) -> Any:
    """q b <= min(p, q)"""
    return (np.minimum(target, draft) - draft * made.accept).min()


def ratio_part(subject: Subject) -> tuple[Statement, ...]:
    """out <= max(1, omega) p, omega being a field of the rule."""
    omega = getattr(subject.thing, "omega", None)
    if not is_number(omega):
        raise SpecsimError(f"{subject.name} has no number omega; bounded-ratio says out(v) <= max(1, omega) p(v)")
    bound = max(Fraction(1), Fraction(str(omega)))

    def gap(made: OneToken, target: Array, draft: Array) -> Any:
        return ((bound if subject.exact else float(bound)) * target - made.out).min()

    return (token_statement(f"out(v) <= {bound} p(v) at every token", gap, subject),)


def one_part(text: str, gap: Gap) -> Callable[[Subject], tuple[Statement, ...]]:
    """Claims that are one statement on one token."""
    return lambda subject: (token_statement(text, gap, subject),)


def answer(case: Case, subject: Subject) -> Verdict:
    """The verdict at the slot of a case, not yet trusted; NotExact where Fractions do not stay Fractions."""
    raw, rule = dict(case.raw), subject.rule(case.vocab)
    some = stack_of(subject, raw["target"], raw["draft"], (case.slot,))
    if not subject.exact:
        found = shaped(rule, guarded(rule, ask, rule, some), some.draft)
        return Verdict(*(guarded(rule, np.asarray, array, np.float64)[0, 0] for array in found))
    try:
        given = ask(rule, some)
    except SpecsimError:
        raise
    except (Exception, SystemExit) as error:
        raise NotExact(f"on Fractions the rule raises {failure(rule, error)}") from error
    found = shaped(rule, given, some.draft)
    if any(type(x) is not Fraction for array in found for x in np.asarray(array).reshape(-1).tolist()):
        raise NotExact("on Fractions its verdict holds other numbers")
    return Verdict(*(array[0, 0] for array in found))


def validity(case: Case, subject: Subject) -> Any:
    """How far b is inside [0, 1] and G inside the laws; -1 for what is no number."""
    accept, residual = answer(case, subject)
    refused = subject.law(case.draft) * (1 - accept)
    drawn = residual[refused > 0] if residual.ndim == 2 else residual[None, :][[refused.sum() > 0]]
    if not subject.exact and not (np.isfinite(accept).all() and np.isfinite(drawn).all()):
        return -1.0
    inside = min(accept.min(), (1 - accept).min())
    sums = -abs(drawn.sum(axis=-1) - 1)
    return min([inside, *drawn.reshape(-1), *sums])


def verdict_columns(case: Case, subject: Subject) -> dict[str, Any]:
    """A counterexample to validity token by token."""
    accept, residual = answer(case, subject)
    after = enumerate(residual) if residual.ndim == 2 else ()
    laws = {f"G_{token}": law for token, law in after} or {"G": residual}
    return {"p": subject.law(case.target), "q": subject.law(case.draft), "b": accept, **laws}


def valid_part(subject: Subject) -> tuple[Statement, ...]:
    """The verdicts of a rule are probabilities and laws."""
    text = "b(v) is in [0, 1] at every token, and G is a law wherever a rejection can be"
    return (statement(text, token_domain(subject), validity, subject, verdict_columns, LAW_SLACK),)


def rungs(rule: Any, strength: Strength) -> list[tuple[float, float]]:
    """(weaker, stronger) settings, each beginning where the one before ends."""
    span, sign = abs(strength.strongest - strength.weakest), 1 if strength.strongest > strength.weakest else -1
    if strength.whole:
        values: list[float] = [strength.weakest + sign * min(step, int(span)) for step in WHOLE_STEPS]
    else:
        unit = Fraction(span) / 16 if span <= 1 else Fraction(1)
        values = [float(Fraction(strength.weakest) + sign * min(Fraction(span), step * unit)) for step in STEPS]
    own: Any = getattr(rule, strength.field, None)
    if is_number(own) and 0 <= (own - strength.weakest) * sign <= span:
        values.append(own)
    ladder = sorted(set(values), key=lambda value: sign * value)
    return list(pairwise(ladder))


def kept_less(case: Case, subject: Subject) -> Any:
    """Least growth of q b over the tokens when the strength goes up one rung."""
    weaker, stronger = (at_slot(case, at_strength(subject, value))[0].accept for value in case.step)
    return (subject.law(case.draft) * (stronger - weaker)).min()


def strength_columns(case: Case, subject: Subject) -> dict[str, Any]:
    """A counterexample token by token: b at both strengths."""
    accepts = {f"b at {value:g}": at_slot(case, at_strength(subject, value))[0].accept for value in case.step}
    return {"p": subject.law(case.target), "q": subject.law(case.draft), **accepts}


def monotone_part(subject: Subject) -> tuple[Statement, ...]:
    """A stronger setting never keeps a token less often."""
    strength = strength_of(subject.thing)
    domain = token_domain(subject, cost=2, step=OneOf(tuple(rungs(subject.thing, strength))))
    text = f"relaxing {strength.field} from one value to a stronger one never lowers q b at any token"
    return (statement(text, domain, kept_less, subject, strength_columns),)


LOSSLESS = "TV(out, p) = 0 for one token at every slot"
lossless_token = partial(token_statement, LOSSLESS, biased)
