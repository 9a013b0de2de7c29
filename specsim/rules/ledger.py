"""The ledger: a relaxed rule that keeps account of what earlier corrections have already put on a path."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from specsim.arrays import (
    LEAST,
    Array,
    column,
    constant,
    is_exact,
    namespace,
    number,
    portion,
    positive_part,
    ratio,
    support,
)
from specsim.errors import require_number
from specsim.rules.annealed import STEEPEST
from specsim.rules.lenient import MOST
from specsim.strength import Shape, Strength
from specsim.verification import Step

LARGEST = 1e30
"""What a and |d| are held below in floats: float32 ends at 3e38, and p may be far smaller than q along a path whose
excess is spent.  There all that the target can give is kept, whether a is 1e30 or more."""


class Account(NamedTuple):
    """What is known of the drafted path, relative to its target mass, both [B].

    alive: mass of blocks that kept all drafts so far; owed: 1 - the mass that earlier corrections already put here.
    """

    alive: Array
    owed: Array


class Sums(NamedTuple):
    """The sums of one slot, [B, 1].

    missing: S = sum_v [p d - a q]+; excess: sum_v [min(a q, omega p d) - p d]+, what omega keeps beyond p d; off: sum
    of a q where p = 0, which is always refused.
    """

    missing: Array
    excess: Array
    off: Array


@dataclass(frozen=True)
class Ledger:
    """keep = min(a q, omega_i p [d]+) and what is already paid for; b = keep/(a q), G = norm[p d - keep]+.  Biased.

    Along the drafted path a is the mass still alive and d = 1 - c, c being the mass that earlier corrections already
    put on this prefix, both relative to the target's.  omega_i = max(1, w exp(-nu i)).  The excess of earlier
    relaxation is spent: theta = clip(([a - d]+ - sum [keep - p [d]+]+) / sum (a q - keep), 0, 1) of what is left of
    the draft on p > 0 is kept too.  Strict for w = 1.  d is carried, not c: 1 - c loses digits.
    Source: this project, found with the linear program of the block limit (proofs_checks/frontiers).
    """

    strength: ClassVar[Strength] = Strength("w", 1.0, MOST)
    shape: ClassVar[tuple[Shape, ...]] = (Shape("nu", 0.0, 6.0),)
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

    def begin(self, like: Array) -> Account:
        """Before the first draft: all is alive, nothing was put anywhere."""
        whole = 0 * like + number(1, like)
        return Account(whole, whole)

    def judge(self, account: Account, draft: Array, target: Array, slot: int, tokens: Array) -> Step:
        """account [B], laws [B, V], tokens [B, K] -> accept [B, K], residual weights [B, V], the accounts [B, K].

        [p d - keep]+ = [p d - a q]+: where a q < p d all of a q is kept, elsewhere at least p d is.
        """
        xp, more = namespace(target), constant(self.omega(slot, target) - 1, target)
        alive, owed = column(account.alive, target), column(account.owed, target)
        due = positive_part(owed)
        missing, sums = weigh(alive * draft, due * target, more, target)
        share, settled = balance(alive, owed, due, sums)
        own, likely = (xp.take_along_axis(law, tokens, axis=-1) for law in (target, draft))
        drawn, want = alive * likely, due * own
        first = xp.minimum(drawn, want + more * want)
        # At share 1 a sum of floats may pass drawn by its last bit, and no acceptance may pass 1.
        keep = xp.minimum(first + share * (drawn - first) * support(own), drawn)
        onward = Account(relative(keep, own), carried(sums, settled, owed, keep, drawn, own))
        return Step(portion(keep, drawn), missing, onward)


def weigh(there: Array, base: Array, more: Any, target: Array) -> tuple[Array, Sums]:
    """[p d - a q]+ [B, V] and the sums, of a q and p d; more = omega - 1.  Only arithmetic and minima on whole laws: to
    choose or to compare takes five to thirty times as long on a CPU."""
    xp, beyond = namespace(target), there - base
    over = positive_part(beyond)
    missing = over - beyond
    parts = missing, xp.minimum(over, more * base), there - there * support(target)
    return missing, Sums(*(xp.sum(part, axis=-1, keepdims=True) for part in parts))


def balance(alive: Array, owed: Array, due: Array, sums: Sums) -> tuple[Array, Array]:
    """The share theta of what omega leaves of the draft that is kept too, and k = S - r, r being the mass refused.

    What omega leaves of the draft on p > 0 is slack + under, slack = [a - d]+ - excess being what may be kept of it.
    No difference here contains alive twice: it can be many orders above owed, where the draft likes a path too well.
    """
    gap, wanted = alive - owed, sums.missing - sums.off
    ahead = positive_part(gap)
    slack, short = ahead - sums.excess, (ahead - gap) + (due - owed)
    spent = positive_part(slack)
    settled = namespace(gap).minimum(short + (spent - slack), wanted)
    return portion(spent, spent + positive_part(wanted - short)), settled


def carried(sums: Sums, settled: Array, owed: Array, keep: Array, drawn: Array, own: Array) -> Array:
    """owed' = owed - r G(v)/p(v) of each token [B, K], without a difference of near numbers:

    (min(keep, p d) + (k/S) [p d - keep]+) / p(v); where S = 0, G is p and only what is off the support is refused.
    """
    want = own * owed
    spread = settled * portion(positive_part(want - drawn), sums.missing)
    refused = sums.off * (1 - support(sums.missing))
    return relative(namespace(own).minimum(keep, want) + spread, own) - refused


def relative(mass: Array, own: Array) -> Array:
    """mass/p, [B, K]; in floats no larger than LARGEST, with the mass itself where p = 0."""
    if is_exact(own):
        return ratio(mass, own)
    xp = namespace(own)
    return mass / xp.maximum(own, xp.abs(mass) / constant(LARGEST, own) + constant(LEAST, own))
