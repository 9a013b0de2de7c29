"""A ledger with one of its parts wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from specsim.arrays import Array, column, divide, normalise, positive_part
from specsim.rules.ledger import Account, Ledger
from specsim.verification import Step

ZERO: Any = Fraction(0)
ONE: Any = Fraction(1)


def wanted(account: Account, target: Array) -> Array:
    """p [d]+"""
    return target * positive_part(column(account.owed, target))


def spare(account: Account) -> Array:
    """[a - d]+"""
    return positive_part(account.alive - account.owed)


def on_support(draft: Array, target: Array) -> Array:
    """p > 0"""
    return target > 0


def own_residual(account: Account, keep: Array, target: Array) -> Array:
    """[p d - keep]+"""
    return positive_part(target * column(account.owed, target) - keep)


def counted(account: Account, keep: Array, rejected: Array, residual: Array, target: Array) -> Account:
    """a' = keep/p, d' = d - r G/p"""
    return Account(divide(keep, target, ZERO), column(account.owed, target) - divide(rejected * residual, target, ZERO))


@dataclass(frozen=True)
class Booking:
    """The ledger from its formulas, with d in the place of 1 - c: base, excess, where, residual, carry replaceable."""

    w: Any
    nu: Any = 3.0
    base: Callable[[Account, Array], Array] = wanted
    excess: Callable[[Account], Array] = spare
    where: Callable[[Array, Array], Array] = on_support
    residual: Callable[[Account, Array, Array], Array] = own_residual
    carry: Callable[[Account, Array, Array, Array, Array], Account] = counted

    def begin(self, like: Array) -> Account:
        """All alive, all owed."""
        return Account(0 * like + 1, 0 * like + 1)

    def judge(self, account: Account, draft: Array, target: Array, slot: int, tokens: Array) -> Step:
        """account [B], laws [B, V], tokens [B, K] -> the step."""
        there, base = column(account.alive, target) * draft, self.base(account, target)
        keep = np.minimum(there, Ledger(self.w, self.nu).omega(slot, target) * base)
        left = np.where(self.where(draft, target), there - keep, 0 * there)
        spend = self.excess(account) - positive_part(keep - base).sum(axis=-1)
        share = np.clip(divide(spend, left.sum(axis=-1), ZERO), ZERO, ONE)
        keep = keep + column(share, target) * left
        residual = normalise(self.residual(account, keep, target), target)
        rejected = (there - keep).sum(axis=-1, keepdims=True)
        after = self.carry(account, keep, rejected, residual, target)
        found = (divide(keep, there, ZERO), *after)
        accept, alive, owed = (np.take_along_axis(array, tokens, axis=1) for array in found)
        return Step(accept, residual, Account(alive, owed))


def all_wanted(account: Account, target: Array) -> Array:
    """A mistake: base = p, whatever was put there already."""
    return target


def unspent(account: Account) -> Array:
    """A mistake: the excess is never spent."""
    return 0 * account.alive


def whole_excess(account: Account) -> Array:
    """A mistake: a - d + 1."""
    return account.alive - account.owed + 1


def everywhere(draft: Array, target: Array) -> Array:
    """A mistake: p = 0 too."""
    return target >= 0


def plain_residual(account: Account, keep: Array, target: Array) -> Array:
    """A mistake: [p - keep]+, as if nothing were put there yet."""
    return positive_part(target - keep)


def never_owed_less(account: Account, keep: Array, rejected: Array, residual: Array, target: Array) -> Account:
    """A mistake: corrections are not entered."""
    return Account(divide(keep, target, ZERO), column(account.owed, target) + 0 * keep)


def unscaled(account: Account, keep: Array, rejected: Array, residual: Array, target: Array) -> Account:
    """A mistake: d' = d - r G, not relative to the target."""
    return Account(divide(keep, target, ZERO), column(account.owed, target) - rejected * residual)


def shares_only(account: Account, keep: Array, rejected: Array, residual: Array, target: Array) -> Account:
    """A mistake: a' = keep/(a p), the mass kept at this slot alone."""
    kept, owed = counted(account, keep, rejected, residual, target)
    return Account(divide(kept, column(account.alive, target) + 0 * kept, ZERO), owed)


def with_part(**part: Any) -> Callable[..., Booking]:
    """A family with one part wrong."""
    return lambda w, nu=3.0: replace(Booking(w, nu), **part)
