"""The forms of a rule: token by token, with a state along the path, or whole blocks; and the one-draft view of each.

What is known of one verified token is asked of a block of one draft where a rule judges blocks; the rest of such a rule
is the business of `whole_blocks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from array_api_compat import array_namespace

from specsim.arrays import Array, arange, normalise
from specsim.checking.pairs import SLOTS, Stack
from specsim.errors import SpecsimError
from specsim.verification import Block, Drafted, Rule, Step, Verdict, carries_state, judges_blocks, verdict_at

METHODS = ("block", "judge", "at", "__call__")
"""Where a rule says its verdict, whole blocks first."""


def whole(rule: Rule) -> bool:
    """What the rule says of a token depends on the block before it, or on all of the block."""
    return judges_blocks(rule) or carries_state(rule)


def by_token(rule: Rule) -> bool:
    """The replacement may depend on the drafted token, so the rule is asked about each."""
    return hasattr(rule, "at") or judges_blocks(rule)


def slots_of(rule: Rule) -> tuple[int, ...]:
    """Slots that a single token is judged at: a block of one draft has the first only."""
    return (0,) if whole(rule) else SLOTS


def require_form(rule: Rule) -> None:
    """A rule has one form: with two, decoders would use the one and figures of single tokens the other."""
    named = [name for name in METHODS[:2] if hasattr(rule, name)]
    if not (named or callable(rule) or hasattr(rule, "at")):
        raise SpecsimError(f"{rule!r} is no rule: give it __call__(draft, target, position), or `at` with a token")
    others = [name for name in METHODS if hasattr(rule, name)]
    if named and len(others) > 1:
        raise SpecsimError(f"{rule!r} has {' and '.join(others)}: a rule has one form, so leave one out")
    if carries_state(rule) and not hasattr(rule, "begin"):
        raise SpecsimError(f"{rule!r} has `judge` and no `begin`; give it begin(like [B]) -> the state before a block")


def wide(stack: Stack) -> tuple[Array, Array, Array, Array]:
    """draft, target [..., V, V], token and position [..., V]: every token put to the rule, on any backend."""
    xp, vocab = array_namespace(stack.draft), stack.draft.shape[-1]
    shape = (*stack.draft.shape, vocab)
    token = xp.broadcast_to(arange(vocab, stack.position), stack.draft.shape)
    position = xp.broadcast_to(stack.position[..., None], token.shape)
    draft, target = (xp.broadcast_to(law[..., None, :], shape) for law in (stack.draft, stack.target))
    return draft, target, token, position


def one_draft(rule: Rule, stack: Stack) -> Any:
    """What the rule answers, every token put to it: accept [..., V] with residual [..., V], or [..., V, V] by token."""
    require_form(rule)
    if judges_blocks(rule):
        return verdict_at(Shaped(rule), *wide(stack))
    if carries_state(rule):
        return first_step(rule, stack)
    return rule.at(*wide(stack)) if hasattr(rule, "at") else rule(stack.draft, stack.target, stack.position)


@dataclass(frozen=True)
class Shaped:
    """A rule that judges blocks, every answer being a block of the right shapes."""

    rule: Rule

    def block(self, drafted: Drafted) -> Block:
        """The rule's own block."""
        return shaped_block(self.rule, self.rule.block(drafted), drafted)


def shaped_block(rule: Rule, block: Any, drafted: Drafted) -> Block:
    """The answer as a block of the right shapes."""
    if not all(hasattr(block, name) for name in Block._fields):
        raise SpecsimError(f"{rule!r}: `block` returned {type(block).__name__}, not a Block(stop, residual)")
    for name, need in {"stop": drafted.tokens.shape, "residual": drafted.target.shape}.items():
        value = getattr(block, name)
        got = tuple(value.shape) if hasattr(value, "shape") else f"none, it is a {type(value).__name__}"
        if got != tuple(need):
            raise SpecsimError(f"{rule!r}: shape of {name} is {got}, must be {tuple(need)}, one for every slot")
    return Block(block.stop, block.residual)


def first_step(rule: Rule, stack: Stack) -> Verdict:
    """A path-state rule at the first slot of a block: there its verdict is that of a whole-law rule."""
    xp, vocab = array_namespace(stack.draft), stack.draft.shape[-1]
    draft, target = (xp.reshape(law, (-1, vocab)) for law in (stack.draft, stack.target))
    tokens = xp.broadcast_to(arange(vocab, stack.position)[None, :], draft.shape)
    state = rule.begin(target[:, 0])
    step = checked(rule, rule.judge(state, draft, target, 0, tokens), state, tokens, vocab, 0)
    residual = normalise(step.residual, target)
    return Verdict(*(xp.reshape(array, stack.draft.shape) for array in (step.accept, residual)))


def checked(rule: Rule, step: Any, state: Any, tokens: Array, vocab: int, slot: int) -> Step:
    """A step of the right shapes, tokens [B, K] having been put to `judge`."""
    if not all(hasattr(step, name) for name in Step._fields):
        raise SpecsimError(f"{rule!r}: `judge` returned {type(step).__name__}, not a Step(accept, residual, state)")
    if type(step.state) is not type(state) or not hasattr(state, "_fields"):
        kinds = " and ".join(dict.fromkeys(type(some).__name__ for some in (state, step.state)))
        raise SpecsimError(f"{rule!r}: its state is a {kinds}; `begin` and `judge` must give the same NamedTuple")
    shape = tuple(tokens.shape)
    parts = {"accept": step.accept, "residual": step.residual, **step.state._asdict()}
    for name, value in parts.items():
        need = (shape[0], vocab) if name == "residual" else shape
        got = tuple(value.shape) if hasattr(value, "shape") else f"none, it is a {type(value).__name__}"
        if got != need:
            raise SpecsimError(f"{rule!r}: shape of {name} is {got} at slot {slot}, must be {need}; see Step")
    return step
