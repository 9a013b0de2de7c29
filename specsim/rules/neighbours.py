"""What the LANTERN rules share: a token borrows the probability of its nearest codes, up to a budget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from specsim.arrays import Array, arange, at, hits, namespace, normalise, number, positive_part, ratio
from specsim.rules.codebooks import Fixed, nearest


class Loan(NamedTuple):
    """What drafted tokens [...] borrow.

    ids: [..., n] the codes looked up, nearest first, one more than may be borrowed from; lent: bool [..., n], which of
    them lend, a run of m from the start; gain: [...] what they lend together.
    """

    ids: Array
    lent: Array
    gain: Array


def reach(rule: Any) -> int:
    """How many neighbours of each code a rule reads."""
    return rule.k + 1


def codes(rule: Any) -> int:
    """Codes a rule is bound to; 0: it waits for a codebook."""
    return len(rule.neighbours or ())


def bind(rule: Any, codebook: Any) -> Any:
    """The rule with its neighbours filled in from a codebook [V, d]."""
    return replace(rule, neighbours=Fixed(nearest(codebook, reach(rule))))


def lenders(masses: Array, budget: Any) -> Array:
    """The longest run of neighbour masses, nearest first, with sum <= budget: bool [..., k], true along the run.

    masses [..., k]; budget a scalar or [..., 1].
    """
    return namespace(masses).cumulative_sum(masses, axis=-1) <= budget


def total(masses: Array, member: Array) -> Array:
    """The sum of the members' masses over the last axis."""
    xp = namespace(masses)
    return xp.sum(xp.where(member, masses, number(0, masses)), axis=-1)


def loan(neighbours: Fixed, target: Array, token: Array, k: int, budget: Any) -> Loan:
    """What tokens [...] borrow from at most k nearest codes.  target [..., V]; budget a scalar or [..., 1]."""
    xp = namespace(target)
    ids = xp.take(neighbours.beside(token), xp.reshape(token, (-1,)), axis=0)
    ids = xp.reshape(ids, (*token.shape, ids.shape[-1]))
    masses = xp.take_along_axis(target, ids, axis=-1)
    lent = lenders(masses, budget) & (arange(ids.shape[-1], ids) < k)
    return Loan(ids, lent, total(masses, lent))


def gains(neighbours: Fixed, target: Array, k: int, budget: Any) -> Array:
    """What every token borrows, [..., V].  budget a scalar or [..., V, 1]."""
    xp = namespace(target)
    ids = neighbours.beside(target)
    ids = ids[:, : min(k, ids.shape[-1])]
    masses = xp.take(target, xp.reshape(ids, (-1,)), axis=-1)
    masses = xp.reshape(masses, (*target.shape, ids.shape[-1]))
    return total(masses, lenders(masses, budget))


def among(ids: Array, member: Array, vocab: int) -> Array:
    """ids [..., n] with member bool [..., n or 1] -> bool [..., V], the tokens that some member names."""
    return namespace(ids).any(hits(ids, vocab) & member[..., None], axis=-2)


def taken_out(loan: Loan, vocab: int) -> Array:
    """bool [..., V]: what a refusal takes out, every code that was looked up where any lends, else none."""
    return among(loan.ids, namespace(loan.ids).any(loan.lent, axis=-1)[..., None], vocab)


def static_residual(draft: Array, target: Array, loan: Loan) -> Array:
    """norm[p - q']+ with q' = q but 0 on the codes taken out; p where that is empty.

    In exact numbers it is empty only where q = p off those codes, and then b = 1: only rounding gets there.
    """
    xp, vocab = namespace(draft), target.shape[-1]
    left = positive_part(target - xp.where(taken_out(loan, vocab), number(0, draft), draft))
    return normalise(left, target)


def dynamic_residual(target: Array, token: Array, loan: Loan) -> Array:
    """norm of p but 0 on the token and on the codes taken out; uniform where that is empty."""
    xp, vocab = namespace(target), target.shape[-1]
    left = xp.where(taken_out(loan, vocab) | hits(token, vocab), number(0, target), target)
    return normalise(left, number(1, target) / vocab)


def certain(target: Array, token: Array, loan: Loan) -> Array:
    """p(v) + what v borrows, [...].

    Divided by itself and the mass of all other tokens, which is 1 but for rounding: so it is exactly 1, and nothing
    is refused, where v and its lenders hold all the mass.
    """
    vocab = target.shape[-1]
    kept = at(target, token) + loan.gain
    rest = total(target, ~(among(loan.ids, loan.lent, vocab) | hits(token, vocab)))
    return ratio(kept, kept + rest)
