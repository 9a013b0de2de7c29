"""The ledger: a relaxed rule that keeps account of what earlier corrections have already put on a path."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from specsim.arrays import Array, at, column, divide, is_exact, namespace, normalise, number, positive_part, ratio
from specsim.errors import require_number
from specsim.rules.annealed import STEEPEST
from specsim.rules.lenient import MOST
from specsim.strength import Strength
from specsim.verification import Block, Drafted, first_rejection


class Account(NamedTuple):
    """What is known of the drafted path, relative to its target mass, both [B].

    alive: mass of blocks that kept all drafts so far; owed: 1 - the mass that earlier corrections already put here.
    """

    alive: Array
    owed: Array


class Entry(NamedTuple):
    """One slot: keep [B, V] the mass kept, wanted [B, V] = p owed, rejected [B] the mass refused."""

    keep: Array
    wanted: Array
    rejected: Array


@dataclass(frozen=True)
class Ledger:
    """keep = min(a q, omega_i p [d]+) and what is already paid for; b = keep/(a q), G = norm[p d - keep]+.  Biased.

    Along the drafted path a is the mass still alive and d = 1 - c, c being the mass that earlier corrections already
    put on this prefix, both relative to the target's.  omega_i = max(1, w exp(-nu i)).  The excess of earlier
    relaxation is spent: theta = clip(([a - d]+ - sum [keep - p [d]+]+) / sum (a q - keep), 0, 1) of what is left of
    the draft on p > 0 is kept too.  Strict for w = 1.  d is carried, not c: 1 - c loses digits.
    Source: found with the linear program of the block limit (proofs_checks/frontiers).
    """

    strength: ClassVar[Strength] = Strength("w", 1.0, MOST)
    w: float = 1.5
    nu: float = 3.0

    def __post_init__(self) -> None:
        require_number("Ledger", "w", self.w, 0, MOST, above=True)
        require_number("Ledger", "nu", self.nu, 0, STEEPEST)

    def omega(self, slot: int, like: Array) -> Any:
        """omega_i of a slot: exp is taken in float64 and converted once, as in `Annealed`."""
        decay = math.exp(-self.nu * slot)
        omega = number(self.w, like) * (Fraction(decay) if is_exact(like) else decay)
        return max(omega, number(1, like))

    def block(self, drafted: Drafted) -> Block:
        """Laws [B, S, V] -> stop [B, S], residual [B, S, V]; one pass along the slots."""
        xp, zero = namespace(drafted.target), number(0, drafted.target)
        start = 0 * at(drafted.target, drafted.tokens)[:, 0] + number(1, drafted.target)
        account, accepts, residuals = Account(start, start), [], []
        for slot in range(drafted.tokens.shape[1]):
            draft, target, token = drafted.draft[:, slot, :], drafted.target[:, slot, :], drafted.tokens[:, slot]
            entry = enter(account, draft, target, self.omega(slot, target))
            keep, drawn = at(entry.keep, token), account.alive * at(draft, token)
            accepts.append(divide(keep, drawn, zero))
            residuals.append(normalise(positive_part(entry.wanted - entry.keep), target))
            account = carry(account, entry, target, token)
        accept = xp.where(drafted.real, xp.stack(accepts, axis=1), zero)
        residual = xp.where(drafted.real[..., None], xp.stack(residuals, axis=1), drafted.target)
        return Block(first_rejection(accept), residual)


def enter(account: Account, draft: Array, target: Array, omega: Any) -> Entry:
    """What is kept of one slot's draft, draft and target [B, V]."""
    xp, zero = namespace(target), number(0, target)
    alive, owed = column(account.alive, target), column(account.owed, target)
    there, wanted = alive * draft, target * owed
    base = positive_part(wanted)
    keep = xp.minimum(there, omega * base)
    left = xp.where(target > 0, there - keep, zero)
    spare = positive_part(account.alive - account.owed) - xp.sum(positive_part(keep - base), axis=-1)
    room = xp.sum(left, axis=-1)
    share = xp.clip(divide(spare, room, zero), number(0, target), number(1, target))
    keep = keep + column(share, target) * left
    return Entry(keep, wanted, account.alive - xp.sum(keep, axis=-1))


def carry(account: Account, entry: Entry, target: Array, token: Array) -> Account:
    """The account after keeping `token` [B].

    owed' = owed - r G(v)/p(v), written without a difference of near numbers: (min(keep, p d) + (k/S) g(v)) / p(v) with
    g = [p d - keep]+, S = sum g and k = S - r.
    """
    xp = namespace(target)
    missing = positive_part(entry.wanted - entry.keep)
    total = xp.sum(missing, axis=-1)
    over = xp.sum(positive_part(entry.keep - entry.wanted), axis=-1) - (account.alive - account.owed)
    kept = at(xp.minimum(entry.keep, entry.wanted), token)
    own, spread = at(target, token), ratio(over, total) * at(missing, token)
    owed = xp.where(total > 0, ratio(kept + spread, own), account.owed - entry.rejected)
    return Account(ratio(at(entry.keep, token), own), owed)
