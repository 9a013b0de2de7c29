"""Rules that judge one drafted token at a time, as rules of the whole law: what V verdicts say, without asking V times.

Put to such a rule token by token, a law of V tokens takes V residuals of V numbers.  A flow needs only their mixture
sum_x q(x) (1 - b(x)) G_x, which the residuals of these rules give at the cost of one product with a fixed matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from specsim.arrays import Array, divide, indicator, namespace, normalise, number, positive_part
from specsim.rules import (
    Additive,
    AdditiveUnmasked,
    BlockVerification,
    ContentAware,
    ContentAwareUnmasked,
    Grouped,
    Lantern,
    LanternPlus,
    Lenient,
    Optimal,
    Strict,
)
from specsim.rules.codebooks import Fixed, held
from specsim.rules.lantern import limit
from specsim.rules.lantern_plus import budget
from specsim.verification import Verdict, standard_residual

ALIKE = (
    *(Strict, Lenient, Additive, AdditiveUnmasked, ContentAware, ContentAwareUnmasked),
    *(Lantern, LanternPlus, Grouped),
)
"""Rules whose verdict does not depend on the slot."""


def whole_law(rule: Any) -> Any:
    """The rule, or one of the whole law with the same acceptance and the same law of corrections.

    LANTERN, LANTERN++ and GSD (bound to their codebook), alone or in block verification; others as they are.
    """
    if type(rule) is BlockVerification:
        return replace(rule, rule=whole_law(rule.rule))
    if type(rule) is Grouped:
        return OneResidual(rule)
    if type(rule) in (Lantern, LanternPlus) and rule.neighbours is not None:
        return Borrowing(rule, Fixed(named(rule.neighbours.values)))
    return rule


def same_in_every_slot(rule: Any) -> bool:
    """The rule is known to judge every slot of a block alike.  Any other is asked slot by slot."""
    inner = rule.rule if isinstance(rule, (Optimal, OneResidual, Borrowing)) else rule
    return type(inner) in ALIKE  # a subclass may look at the slot


@dataclass(frozen=True)
class OneResidual:
    """A rule whose residual is norm[p - q]+ whatever was refused."""

    rule: Any

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        return Verdict(self.rule.acceptance(draft, target, position), standard_residual(draft, target))


@dataclass(frozen=True)
class Borrowing:
    """LANTERN's static residual, averaged over what was refused.  near: Fixed bool [V, V], row x the codes near x.

    With m = min(p, q), G_x = ([p - q]+ + m on the codes near x) / Z_x where x borrows, [p - q]+ / Z_x where it does
    not; p where Z_x = 0.
    """

    rule: Any
    near: Fixed

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        xp = namespace(target)
        accept = self.rule.acceptance(draft, target, position)
        near, borrows = indicator(self.near.beside(target), target), indicator(self.borrows(target), target)
        missing, shared = positive_part(target - draft), xp.minimum(target, draft)
        size = xp.sum(missing, axis=-1, keepdims=True) + borrows * (shared @ near.T)
        refused, nothing = draft * (1 - accept), number(0, target)
        each = divide(refused, size, nothing)
        bare = xp.sum(xp.where(size > 0, nothing * refused, refused), axis=-1, keepdims=True)
        mixed = missing * xp.sum(each, axis=-1, keepdims=True) + shared * ((each * borrows) @ near) + bare * target
        return Verdict(accept, normalise(mixed, target))

    def borrows(self, target: Array) -> Array:
        """Whether the nearest code of each token lends, bool [..., V]."""
        xp, ids = namespace(target), held(self.rule, "neighbours", target.shape[-1]).beside(target)
        if ids.shape[-1] == 0:
            return target < 0
        nearest = xp.take(target, ids[:, 0], axis=-1)
        return (nearest[..., None] <= allowed(self.rule, target))[..., 0]


def allowed(rule: Lantern | LanternPlus, target: Array) -> Any:
    """What tokens may borrow in all, a scalar or [..., V, 1]."""
    return limit(rule.delta, target) if isinstance(rule, Lantern) else budget(rule.lam, target)


def named(ids: np.ndarray) -> np.ndarray:
    """ids [V, n] -> bool [V, V], True where the row names the column."""
    found = np.zeros((len(ids), len(ids)), dtype=bool)
    np.put_along_axis(found, ids, True, axis=1)
    return found
