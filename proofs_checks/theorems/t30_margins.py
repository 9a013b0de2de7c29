"""What the margins of T30 measure: bounds of one draft, put to several siblings."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.several.relaxed import in_turn
from proofs_checks.several.rules import Verified, recursive
from proofs_checks.theorems.t28_limits import overlap
from proofs_checks.theorems.t29_margins import limit
from proofs_checks.theorems.t30_rules import CORNERS, HALF, Make, Wrap, bound, verified
from specsim import Optimal, Strict, Table, Tree, bind_codebook, exact
from specsim.arrays import Array, entropy, point, total_variation
from specsim.laws import target_mass
from specsim.rules import AdditiveUnmasked, ContentAware, ContentAwareUnmasked, Lantern, Lenient
from specsim.testing.domains import Case
from specsim.testing.statements import equal

Recursion = Callable[[Any, Array, Array, int, str], Verified]
Limit = Callable[[Array, Array, int, str], Fraction]
Bound = Callable[[Fraction, int], Fraction]
"""bound(strength, number of siblings)"""


def bias(case: Case, found: Verified) -> Fraction:
    """TV(out, p)"""
    return total_variation(found.out, case.target)


def apart(case: Case) -> Fraction:
    """TV(p, q)"""
    return total_variation(case.target, case.draft)


def agrees(case: Case, recursion: Recursion) -> Fraction:
    """The tree decoder of one level does what the recursion does."""
    rule = bound(case.rule, case.vocab)
    ours = recursion(rule, case.target, case.draft, case.count, case.siblings)
    theirs = recursive(case.siblings, rule)(case.target, case.draft, case.count)
    return min(equal(ours.out, theirs.out), equal(ours.kept, theirs.kept))


def as_independent(rule: Any, target: Array, draft: Array, count: int, siblings: str) -> Verified:
    """A mistake: the next sibling is drawn as if none had been refused."""
    return in_turn(rule, target, draft, count, "independent")


def one_fewer(rule: Any, target: Array, draft: Array, count: int, siblings: str) -> Verified:
    """A mistake: a sibling is forgotten."""
    return in_turn(rule, target, draft, max(1, count - 1), siblings)


def above_line(case: Case, most: Limit) -> Fraction:
    """limit + TV(out, p) - kept"""
    found = verified(case, case.rule)
    return most(case.target, case.draft, case.count, case.siblings) + bias(case, found) - found.kept


def of_one(target: Array, draft: Array, count: int, siblings: str) -> Fraction:
    """A mistake: the limit of one draft."""
    return overlap(target, draft, 1)


def of_fewer(target: Array, draft: Array, count: int, siblings: str) -> Fraction:
    """A mistake: the limit of a draft fewer."""
    return limit(target, draft, max(1, count - 1), siblings)


def no_farther(case: Case, wrap: Wrap) -> Fraction:
    """TV(p, q) - TV(out, p)"""
    return apart(case) - bias(case, verified(case, wrap(bound(case.rule, case.vocab))))


FORMS: dict[str, Any] = {"masked": ContentAware, "as published": ContentAwareUnmasked}
"""CSD's rule with and without a mask on the target's support."""


def within(case: Case, filter_of: Callable[[Fraction], Fraction]) -> Fraction:
    """delta - TV(out, p)"""
    rule = FORMS[case.form](case.lam, filter_of(case.delta))
    return case.delta - bias(case, verified(case, rule))


def within_entropy(case: Case, share: Fraction) -> Fraction:
    """share lam H(p) q(q > p) - TV(out, p)"""
    above = case.draft[case.draft > case.target].sum()
    found = verified(case, ContentAware(case.lam, case.delta))
    return share * case.lam * entropy(case.target) * above - bias(case, found)


def ratio(case: Case, make: Make) -> Fraction:
    """min over tokens of w p - out, and 1 - 1/w - TV(out, p)"""
    found = verified(case, make(case.kind, case.factor))
    return min((case.factor * case.target - found.out).min(), 1 - 1 / case.factor - bias(case, found))


def half_ratio(case: Case, make: Make) -> Fraction:
    """min over tokens of (w + 1)/2 p - out"""
    return ((case.factor + 1) / 2 * case.target - verified(case, make(case.kind, case.factor)).out).min()


def constant(law: Array, length: int) -> Table:
    """The model of one law at every position."""
    return Table(np.stack([law] * sum(len(law) ** n for n in range(length))), length)


def run_ratio(case: Case, exponent: Callable[[int, int], int]) -> Fraction:
    """w^k target - out, over whole sequences; k from the length and the depth of the tree."""
    target, draft = (constant(law, case.length) for law in (case.target, case.draft))
    depth = max(map(len, case.paths))
    out = exact(Tree(case.paths, case.siblings), target, draft, rule=Lenient(case.omega)).mass
    return (case.omega ** exponent(case.length, depth) * target_mass(target, case.length) - out).min()


def off_support(case: Case, wrap: Wrap) -> Fraction:
    """Minus the mass put out where p = 0."""
    out = verified(case, wrap(bound(case.rule, case.vocab))).out
    return -out[case.target == 0].sum() + 0 * HALF


def kept_off_support(case: Case, rule: Any) -> Fraction:
    """Minus what is kept of drafts none of which the target can put out."""
    return -verified(case, rule).kept


def disjoint(case: Case) -> bool:
    """No token has both p > 0 and q > 0."""
    return bool((case.target * case.draft == 0).all())


def compound(strength: Fraction, count: int) -> Fraction:
    """1 - (1 - x)^W"""
    return 1 - (1 - strength) ** count


def of_a_draft(strength: Fraction, count: int) -> Fraction:
    """x, the bound of one draft."""
    return strength


def shifted(case: Case, subject: tuple[Wrap, Bound]) -> Fraction:
    """The least of p + bound - out, of LANTERN."""
    wrap, most = subject
    out = verified(case, wrap(Lantern(1, case.delta))).out
    return (case.target + most(case.delta, case.count) - out).min()


def multiple(case: Case, subject: tuple[Callable[[Fraction], Any], Bound]) -> Fraction:
    """The least of bound p - out, of LANTERN++."""
    rule, most = subject
    return (most(case.lam, case.count) * case.target - verified(case, rule(case.lam)).out).min()


def widened(lam: Fraction, count: int) -> Fraction:
    """W lam + 1"""
    return count * lam + 1


def as_of_one(lam: Fraction, count: int) -> Fraction:
    """lam + 1, the bound of one draft."""
    return lam + 1


def added(case: Case, subject: tuple[Any, Bound]) -> Fraction:
    """bound - TV(out, p), of Addition."""
    form, most = subject
    return most(case.epsilon, case.count) - bias(case, verified(case, form(case.epsilon)))


def added_once(case: Case, form: Any) -> Fraction:
    """The least of p + epsilon q - out, and epsilon - TV(out, p)"""
    found = verified(case, form(case.epsilon))
    room = case.target + case.epsilon * case.draft - found.out
    return min(room.min(), case.epsilon - bias(case, found))


def reached(case: Case, most: Bound) -> Fraction:
    """out(v) = 1 - (1 - x)^W at a token of p = 0: LANTERN with G* at p = (0, x, 1 - x), and Addition without a mask."""
    nothing, share = Fraction(0), case.share
    laws = [np.array(law, dtype=object) for law in ((nothing, share, 1 - share), (nothing, 1 + nothing))]
    rules = bound(Optimal(Lantern(1, share)), 3), AdditiveUnmasked(share)
    drafts = [point(np.array(0), law) for law in laws]
    outs = [in_turn(*three, case.count, "independent").out[0] for three in zip(rules, laws, drafts, strict=True)]
    return min(equal(out, most(share, case.count)) for out in outs)


def neared(case: Case, subject: tuple[Callable[[Fraction], Any], Bound]) -> Fraction:
    """out/p - (1 - t) bound at token 1 of p = ((lam - 1) t^2, t^2, t, t, rest), two distinct siblings."""
    rule, most = subject
    t, lam = case.part / 20, case.lam
    small = lam * t * t
    target = np.array([small - t * t, t * t, t, t, 1 - 2 * t - small], dtype=object)
    draft = np.array([0 * t, small, (1 - small) / 2, (1 - small) / 2, 0 * t], dtype=object)
    out = in_turn(bind_codebook(rule(lam), CORNERS), target, draft, 2, "distinct").out
    return out[1] / target[1] - (1 - t) * most(lam, 2)


def can_lend(case: Case) -> bool:
    """0 < t <= lam - 1, so that tokens 2 and 3 can borrow t^2."""
    return bool(0 < case.part / 20 <= case.lam - 1)


def no_fewer(case: Case, wrap: Wrap) -> Fraction:
    """What a rule keeps less what Strict keeps."""
    found = verified(case, wrap(bound(case.rule, case.vocab)))
    return found.kept - verified(case, Strict()).kept


def best_released(rule: Any) -> Any:
    """A mistake: LANTERN++ as released where there is G*."""
    inner = getattr(rule, "rule", None)
    return inner if hasattr(inner, "lam") else rule
