"""From a rule to a verified block: every kind of rule becomes a `Block`, and decoders know nothing else.

A block has S slots.  A slot is *real* when it holds a drafted token; the last slot never does, so the bonus token is
simply the correction of a slot that holds nothing, and short windows and the end of a sequence need no other code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from specsim.arrays import Array, arange, at, indicator, namespace, normalise, number, positive_part, ratio

Rule = Any


class Verdict(NamedTuple):
    """What a rule says of one drafted position.

    accept:   [..., V] probability of keeping each token, were it drafted; [...] from a rule's `at`.
    residual: [..., V] law of the replacement after a rejection (each row sums to 1).
    """

    accept: Array
    residual: Array


class Drafted(NamedTuple):
    """A drafted block with the target's answer.

    draft, target: [B, S, V] laws, tokens: [B, S], real: bool [B, S] (False = empty slot), position: [B, S] absolute.
    Trees of drafts are another kind, with the same methods (`specsim.trees`).
    """

    draft: Array
    target: Array
    tokens: Array
    real: Array
    position: Array

    def arrays(self) -> tuple[Array, ...]:
        """What an interpreter that forks rows must hand back."""
        return tuple(self)

    def having(self, arrays: tuple[Array, ...]) -> Drafted:
        """The block with the arrays handed back."""
        return Drafted(*arrays)

    def by(self, rule: Rule) -> Block:
        """As a rule verifies it."""
        return verify(rule, self)

    def compared(self, nowhere: int) -> Array:
        """[B, S]: position of the token each target law is compared at, `nowhere` where no draft is."""
        return namespace(self.real).where(self.real, self.position, nowhere)

    def matched(self, winner: Array) -> Block:
        """Kept where the draft is the token `winner` [B, S]; what replaces it has the target's law."""
        return Block(first_rejection(indicator(self.real & (winner == self.tokens), self.target)), self.target)


class Block(NamedTuple):
    """A verified block.  stop: [B, S] law of how many are kept; residual: [B, S, V] law of the token put there."""

    stop: Array
    residual: Array


Verify = Callable[[Any, Any, tuple], tuple[Block, tuple]]
"""verify(choose, drafted, live) -> block, live; drafted: a `Drafted` or another kind with its methods."""


def optimal_residual(draft: Array, target: Array, accept: Array) -> Array:
    """G* = norm[p - q b]+, the replacement law that minimises TV(out, p) for given b; p where that is empty.

    draft, target, accept: [..., V] -> [..., V].  Source: COOL-SD (arXiv 2601.09212), equation 5.
    """
    return normalise(positive_part(target - draft * accept), target)


def standard_residual(draft: Array, target: Array) -> Array:
    """norm[p - q]+, the residual of lossless speculative sampling; p where that is empty (p == q up to rounding)."""
    return normalise(positive_part(target - draft), target)


def capped_ratio(weights: Array, draft: Array) -> Array:
    """min(1, weights / q) [..., V]; where q(v) = 0: 1 if weights(v) > 0, else 0.

    For rules that judge groups the weights there are the group's mass, so it can be 1 where p(v) = 0: such a token is
    never drafted, and its value has no effect.

    Computed as weights / max(weights, q), which is the same and needs no case for q = 0.
    """
    return ratio(weights, namespace(weights).maximum(weights, draft))


def verdict_at(rule: Rule, draft: Array, target: Array, token: Array, position: Array) -> Verdict:
    """The verdict on drafted tokens [...]: from the rule's `at`, or from its whole-law verdict read at the token.

    A rule that judges whole blocks or carries a state along them is asked about a block of this one draft.
    """
    if draft.ndim == 1:  # arrays without dimensions turn into scalars, which have no namespace
        single = verdict_at(rule, draft[None, :], target[None, :], token[None], position[None])
        return Verdict(single.accept[0, ...], single.residual[0, ...])
    if hasattr(rule, "at"):
        return rule.at(draft, target, token, position)
    if judges_blocks(rule) or carries_state(rule):
        return first_of_block(rule, draft, target, token)
    verdict = rule(draft, target, position)
    return Verdict(at(verdict.accept, token), verdict.residual)


def first_rejection(accept: Array) -> Array:
    """accept [..., S] -> law [..., S] of the number kept before the first rejection, the last entry being 0.

    stop(i) = b_0 ... b_(i-1) (1 - b_i); a slot that holds no draft has b = 0 and always stops.
    """
    xp = namespace(accept)
    alive = xp.cumulative_prod(accept, axis=-1)
    before = xp.concat([alive[..., :1] * 0 + 1, alive[..., :-1]], axis=-1)
    return before * (1 - accept)


def slots(drafted: Drafted) -> Array:
    """0-based slot numbers [S] of a block, the `position` that rules see."""
    return arange(drafted.tokens.shape[-1], drafted.tokens)


def verify_each(rule: Rule, drafted: Drafted) -> Block:
    """Lift a token-wise rule to a block: each slot judged by its own laws, the first rejection ends the block."""
    xp = namespace(drafted.target)
    verdict = verdict_at(rule, drafted.draft, drafted.target, drafted.tokens, slots(drafted))
    accept = xp.where(drafted.real, verdict.accept, number(0, drafted.target))
    residual = xp.where(drafted.real[..., None], verdict.residual, drafted.target)
    return Block(first_rejection(accept), residual)


class Step(NamedTuple):
    """One slot of a rule that carries a state, tokens [B, K] being put to it.

    accept: [B, K] probability of keeping each; residual: [B, V] weights of the replacement, the target where they are
    all 0; state: of the path that goes on with each token, the same type as before with fields [B, K].
    """

    accept: Array
    residual: Array
    state: Any


def carries_state(rule: Rule) -> bool:
    """The rule carries a state along the drafted path: it has `begin(like [B]) -> state` (a NamedTuple of arrays [B])
    and `judge(state, draft [B, V], target [B, V], slot, tokens [B, K]) -> Step`."""
    return hasattr(rule, "judge")


def verify_path(rule: Rule, drafted: Drafted) -> Block:
    """Lift a path-state rule to a block: one pass along the slots, the state following the drafted tokens."""
    xp, zero = namespace(drafted.target), number(0, drafted.target)
    state = rule.begin(drafted.target[:, 0, 0])
    accepts, residuals = [], []
    for slot in range(drafted.tokens.shape[1] - 1):  # the last slot never holds a draft
        laws = drafted.draft[:, slot, :], drafted.target[:, slot, :]
        step = rule.judge(state, *laws, slot, drafted.tokens[:, slot : slot + 1])
        accepts.append(step.accept[:, 0])
        residuals.append(step.residual)
        state = type(state)(*(field[:, 0] for field in step.state))
    accept = xp.stack([*accepts, 0 * drafted.target[:, 0, 0]], axis=1)
    weights = xp.stack([*residuals, drafted.target[:, -1, :]], axis=1)
    residual = xp.where(drafted.real[..., None], normalise(weights, drafted.target), drafted.target)
    return Block(first_rejection(xp.where(drafted.real, accept, zero)), residual)


def judges_blocks(rule: Rule) -> bool:
    """The rule judges whole blocks: it has `block(drafted) -> Block` in place of verdicts on single tokens."""
    return hasattr(rule, "block")


def verify(rule: Rule, drafted: Drafted) -> Block:
    """The block that a rule of any form makes."""
    if judges_blocks(rule):
        return rule.block(drafted)
    return verify_path(rule, drafted) if carries_state(rule) else verify_each(rule, drafted)


def verifier(rule: Rule) -> Verify:
    """The `verify` of a task: no noise is asked of `choose`, whatever the rule's form."""
    return lambda choose, drafted, live: (drafted.by(rule), live)


def first_of_block(rule: Rule, draft: Array, target: Array, token: Array) -> Verdict:
    """What a rule that judges blocks says of a block of one draft: laws [..., V], token [...]."""
    xp, vocab = namespace(target), target.shape[-1]
    flat = [xp.reshape(law, (-1, 1, vocab)) for law in (draft, target)]
    tokens = xp.reshape(token, (-1, 1))
    slot = 0 * tokens
    wide = [xp.concat([array, array], axis=1) for array in (*flat, tokens, slot)]
    real = xp.concat([slot == 0, slot != 0], axis=1)
    block = verify(rule, Drafted(wide[0], wide[1], wide[2], real, wide[3]))
    return Verdict(
        xp.reshape(block.stop[:, 1], token.shape), xp.reshape(block.residual[:, 0, :], (*token.shape, vocab))
    )


def draw_stop(block: Block, choose: Any, live: tuple) -> tuple[Array, tuple]:
    """Draw how many drafted tokens are kept, [B].

    The draw runs from all kept down to none kept, so that at least i are kept iff u < b_0 ... b_(i-1); for one
    drafted token this is "accept iff u < b".
    """
    xp = namespace(block.stop)
    index, live = choose(xp.flip(block.stop, axis=-1), live)
    return block.stop.shape[-1] - 1 - index, live
