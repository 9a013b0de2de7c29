"""Block verification: the whole drafted block is judged at once, and the longest prefix that passes is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from specsim.arrays import Array, at, column, divide, namespace, normalise, number, positive_part, ratio
from specsim.errors import require
from specsim.flows import Flow, same_slot, token_flow
from specsim.rules.strict import Strict
from specsim.rules.wrapping import around_a_rule
from specsim.verification import Block, Drafted, carries_state, judges_blocks, slots


class Prefix(NamedTuple):
    """weight [B]: w_i of the prefix so far; blocks that go on are w_i times as likely as their drafts."""

    weight: Array


@around_a_rule
@dataclass(frozen=True)
class BlockVerification:
    """w_0 = 1, w_i = min(1, w_(i-1) p'_i/q_i); keep the longest prefix i with u_i < h_i.  Lossless where `rule` is.

    p' is the law that the token-wise `rule` gives its tokens, p'_i = q b + sum_x q(x) (1 - b(x)) G_x at slot i; p
    itself for Strict(), the published rule.  S_i = sum_v [w_i p'(v) - q(v)]+, h_i = S_i / (S_i + 1 - w_i) (0/0 = 1),
    h_L = w_L, the u_i independent; after i kept drafts the token comes from norm[w_i p' - q]+, after all from p.
    Slot by slot the tokens of a block have the law p', and never fewer drafts are kept than by `rule` alone.
    It is joint over the block: a Jacobi window may only be redrawn independently of it.
    Source: block verification (arXiv 2403.10444); a relaxed law in the target's place is this project's.
    [sun2025block]
    """

    independent_only: ClassVar[bool] = True
    rule: Any = Strict()

    def __post_init__(self) -> None:
        usable = (callable(self.rule) or hasattr(self.rule, "at")) and not isinstance(self.rule, type)
        fit = usable and not (judges_blocks(self.rule) or carries_state(self.rule))
        require(fit, "BlockVerification", "rule", self.rule, "a token-wise rule such as Lenient(omega=1.3)")

    def block(self, drafted: Drafted) -> Block:
        """Laws [B, S, V] -> stop [B, S], residual [B, S, V]."""
        xp = namespace(drafted.target)
        position = xp.broadcast_to(slots(drafted)[None, :], drafted.tokens.shape)
        relaxed = token_flow(self.rule, drafted.draft, drafted.target, position).law
        return longest_prefix(drafted._replace(target=xp.where(drafted.real[..., None], relaxed, drafted.target)))

    def begin(self, like: Array) -> Prefix:
        """Before the first draft; like [B]."""
        return Prefix(0 * like + number(1, like))

    def flow(self, prefix: Prefix, draft: Array, target: Array, slot: int) -> tuple[Flow, Callable[[Array], Prefix]]:
        """prefix [B], laws [B, V] -> what goes on and what is corrected, averaged over the drafts to come.

        P(i drafts or more are kept | these i) = w_i, so min(q, w p') of the drafts' mass goes on and [w p' - q]+ is put
        there; both relative to w.
        """
        law = token_flow(self.rule, draft, target, same_slot(draft, slot)).law
        weight = column(prefix.weight, law)
        wanted = weight * law
        passed, missing = namespace(law).minimum(draft, wanted), positive_part(wanted - draft)

        def carry(token: Array) -> Prefix:
            return Prefix(ratio(at(passed, token), at(draft, token)))

        return Flow(ratio(passed, weight), ratio(missing, weight)), carry


def longest_prefix(drafted: Drafted) -> Block:
    """Block verification of drafts [B, S] for the laws in the target's place."""
    xp, zero = namespace(drafted.target), number(0, drafted.target)
    draft = xp.where(drafted.real[..., None], drafted.draft, zero)
    weight = prefix_weights(drafted)
    missing = positive_part(weight[..., None] * drafted.target - draft)
    total = xp.sum(missing, axis=-1)
    passes = divide(total, total + (1 - weight), number(1, total))
    return Block(longest(xp.where(reachable(drafted.real), passes, zero)), normalise(missing, drafted.target))


def prefix_weights(drafted: Drafted) -> Array:
    """w_i of the prefix before each slot, [B, S]: w_0 = 1, w_i = min(1, w_(i-1) p_i/q_i)."""
    xp, one = namespace(drafted.target), number(1, drafted.target)
    likely, drawn = at(drafted.target, drafted.tokens), at(drafted.draft, drafted.tokens)
    weights = [0 * likely[:, 0] + one]
    for slot in range(likely.shape[1] - 1):
        wanted = weights[-1] * likely[:, slot]
        weights.append(ratio(wanted, xp.maximum(wanted, drawn[:, slot])))  # p/q alone may be beyond the largest number
    return xp.stack(weights, axis=1)


def reachable(real: Array) -> Array:
    """Slots [B, S] where a block can end: those with a draft, and the first without."""
    xp = namespace(real)
    return xp.concat([real[:, :1] | True, real[:, :-1]], axis=1)


def longest(passes: Array) -> Array:
    """passes [B, S] -> law [B, S] of the last slot that passes; slot 0 where none does."""
    xp = namespace(passes)
    fails = xp.flip(xp.cumulative_prod(xp.flip(1 - passes, axis=-1), axis=-1), axis=-1)
    later = xp.concat([fails[:, 1:], 0 * fails[:, :1] + 1], axis=1)
    return xp.concat([later[:, :1], (passes * later)[:, 1:]], axis=1)
