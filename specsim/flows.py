"""What a verified slot does to the mass of a path, for rules of every form: how much goes on, how much is corrected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from specsim.arrays import Array, arange, at, namespace, normalise
from specsim.errors import SpecsimError
from specsim.verification import Rule, carries_state, judges_blocks, verdict_at

Carry = Callable[[Array], Any]
"""carry(token [B]) -> the state of the paths that go on with these tokens."""


class Flow(NamedTuple):
    """Relative to the mass that reaches a slot, [..., V]: kept(v) goes on as the drafted token v, corrected(v) is put
    there after a rejection.  Both together are the law of the token there, and sum to 1."""

    kept: Array
    corrected: Array

    @property
    def law(self) -> Array:
        """kept + corrected, [..., V]."""
        return self.kept + self.corrected


def token_flow(rule: Rule, draft: Array, target: Array, position: Array) -> Flow:
    """A token-wise rule: kept = q b, corrected(v) = sum_x q(x) (1 - b(x)) G_x(v).

    draft, target: [..., V], position: [...].  A residual that does not depend on the drafted token is asked for once.
    """
    if draft.ndim == 1:  # arrays without dimensions turn into scalars, which a rule cannot index
        single = token_flow(rule, draft[None, :], target[None, :], position[None])
        return Flow(single.kept[0, ...], single.corrected[0, ...])
    xp = namespace(draft)
    if not (callable(rule) and not hasattr(rule, "at")):
        verdict = every_token(rule, draft, target, position)
        refused = draft * (1 - verdict.accept)
        return Flow(draft * verdict.accept, xp.sum(refused[..., None] * verdict.residual, axis=-2))
    verdict = rule(draft, target, position)
    kept = draft * verdict.accept
    return Flow(kept, xp.sum(draft - kept, axis=-1, keepdims=True) * verdict.residual)


def every_token(rule: Rule, draft: Array, target: Array, position: Array) -> Any:
    """Every token put to a rule -> accept [..., V], residual [..., V, V]."""
    xp, vocab = namespace(draft), draft.shape[-1]
    tokens = xp.broadcast_to(arange(vocab, position), draft.shape)
    wide = (*draft.shape[:-1], vocab, vocab)
    drawn, wanted = (xp.broadcast_to(law[..., None, :], wide) for law in (draft, target))
    return verdict_at(rule, drawn, wanted, tokens, xp.broadcast_to(position[..., None], tokens.shape))


def output_law(rule: Rule, draft: Array, target: Array, position: Array) -> Array:
    """The law of one verified token, [..., V]: out(v) = q(v) b(v) + sum_x q(x) (1 - b(x)) G_x(v).

    draft, target: [..., V], position: [...].  A rule that judges blocks is asked about a block of this one draft.
    """
    return token_flow(rule, draft, target, position).law


def begin(rule: Rule, like: Array) -> Any:
    """The state before a block's first draft; like [B] in the number type of the laws."""
    return rule.begin(like) if hasattr(rule, "begin") else ()


def flow(rule: Rule, state: Any, draft: Array, target: Array, slot: int) -> tuple[Flow, Carry]:
    """One slot of a block: state of [B], draft, target [B, V] -> the flow [B, V], and how the state goes on.

    For a rule that judges whole blocks: averaged over the drafts of the block not looked at yet, which it has to know
    itself: `begin(like)` and `flow(state, draft, target, slot)`.
    """
    if judges_blocks(rule):
        if not hasattr(rule, "flow"):
            raise SpecsimError(f"{rule!r} judges whole blocks and has no `flow`: its law along a path is not known")
        return answered(rule, rule.flow(state, draft, target, slot), draft, slot)
    if carries_state(rule):
        return path_flow(rule, state, draft, target, slot)
    return token_flow(rule, draft, target, same_slot(draft, slot)), lambda token: ()


def answered(rule: Rule, answer: Any, draft: Array, slot: int) -> tuple[Flow, Carry]:
    """What a rule's own `flow` returned, as a flow [B, V] and a way to go on."""
    pair = isinstance(answer, tuple) and len(answer) == 2 and callable(answer[1])
    if not (pair and all(hasattr(answer[0], name) for name in Flow._fields)):
        raise SpecsimError(
            f"{rule!r}: `flow` returned {type(answer).__name__} at slot {slot}, not (Flow(kept, corrected), carry); "
            "correct the rule"
        )
    found, need = answer[0], tuple(draft.shape)
    for name in Flow._fields:
        got = tuple(getattr(getattr(found, name), "shape", ()))
        if got != need:
            raise SpecsimError(f"{rule!r}: shape of {name} is {got} at slot {slot}, must be {need}; correct the rule")
    return Flow(found.kept, found.corrected), answer[1]


def same_slot(law: Array, slot: int) -> Array:
    """The slot number of every row of a law [B, V], [B]."""
    return 0 * arange(law.shape[0], law) + slot


def path_flow(rule: Rule, state: Any, draft: Array, target: Array, slot: int) -> tuple[Flow, Carry]:
    """One slot of a path-state rule, every token put to it."""
    xp, (rows, vocab) = namespace(draft), draft.shape
    tokens = xp.broadcast_to(arange(vocab, draft)[None, :], (rows, vocab))
    step = rule.judge(state, draft, target, slot, tokens)
    kept = draft * step.accept
    corrected = xp.sum(draft - kept, axis=-1, keepdims=True) * normalise(step.residual, target)

    def carry(token: Array) -> Any:
        return type(state)(*(at(field, token) for field in step.state))

    return Flow(kept, corrected), carry
