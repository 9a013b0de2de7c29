"""Whether the `flow` of a rule that judges blocks belongs to its `block`.

Laws along paths are taken from `flow` and decoders run `block`: where the two differ, no figure of the one is true of
the other.  On small models the masses of paths that follow from the flows are compared with the blocks of all drafts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from specsim import flows
from specsim.arrays import Array, at, is_exact, number
from specsim.checking.codebooks import bound
from specsim.checking.pairs import as_row
from specsim.checking.validity import LAW_SLACK, NotExact, failure
from specsim.checking.windows import as_bool, block_of, frozen, in_floats, require_fractions
from specsim.errors import SpecsimError
from specsim.strength import strength_of, with_strength
from specsim.tables import random_table
from specsim.verification import Block, Drafted, Rule, judges_blocks

MODELS = ((1, 0, False), (2, 1, False), (2, 2, True), (3, 3, False), (3, 4, True))
"""(drafts, seed, zeros): a flow does not know how many drafts are to come, so blocks of every length must agree."""
MOST_PATHS = 16
"""Drafted paths of a model: more are left out, but blocks of up to two drafts are always put to a rule."""

RELAXED = 0.25
"""How far from its weakest a rule is looked at too: far enough to relax, and little enough not to keep everything."""


class Trail(NamedTuple):
    """A slot of every drafted path [B], and the mass that is still alive there."""

    drafted: Drafted
    slot: int
    alive: Array

    @property
    def draft(self) -> Array:
        """The laws that the slot's tokens are drafted from."""
        return self.drafted.draft[:, self.slot, :]

    @property
    def target(self) -> Array:
        """The target's laws at the slot."""
        return self.drafted.target[:, self.slot, :]

    @property
    def token(self) -> Array:
        """The tokens drafted there."""
        return self.drafted.tokens[:, self.slot]


@lru_cache(maxsize=16)
def every_path(vocab: int, drafts: int, seed: int, zeros: bool) -> Drafted:
    """All blocks that a model of small random laws can draft, in Fractions."""
    code = np.arange(vocab**drafts)
    target, draft = (random_table(vocab, drafts + 1, 100 * seed + n, zeros) for n in (0, 1))
    laws = [
        np.stack([model.at_length(n)[code // vocab ** (drafts - n)] for n in range(drafts + 1)], axis=1)
        for model in (draft, target)
    ]
    digits = [code // vocab ** (drafts - 1 - n) % vocab for n in range(drafts)]
    tokens = np.stack([*digits, 0 * code], axis=1)
    position = np.broadcast_to(np.arange(drafts + 1), tokens.shape)
    possible = as_bool(at(laws[0], tokens)[:, :-1] > 0).all(axis=1)
    return frozen(Drafted(*(array[possible] for array in (*laws, tokens, position < drafts, position))))


def require_flow(rule: Rule, codebook: Any, vocabs: tuple[int, ...], exact_too: bool) -> None:
    """SpecsimError where a rule's own `flow` is not what its `block` does; in Fractions where the rule can, and not."""
    if not (judges_blocks(rule) and hasattr(rule, "flow")):
        return
    require_one(rule, codebook, vocabs, exact_too)
    for other in turned(rule):
        require_one(other, codebook, vocabs, False)


def turned(rule: Rule) -> tuple[Rule, ...]:
    """The rule at a strength of its own range: a flow that is right at one strength may be wrong at those searched."""
    try:
        strength = strength_of(rule)
        span = strength.strongest - strength.weakest
        step = (1 if strength.whole else RELAXED) * (1 if span > 0 else -1)
        return (with_strength(rule, strength.weakest + (step if abs(span) > abs(step) else span)),)
    except SpecsimError:  # no strength to turn, which is the business of those that turn it
        return ()


def require_one(rule: Rule, codebook: Any, vocabs: tuple[int, ...], exact_too: bool) -> None:
    """SpecsimError where the flow of this one rule is not what its block does."""
    cases = [(v, *some) for v in vocabs for some in MODELS if some[0] <= 2 or v ** some[0] <= MOST_PATHS]
    for case in cases:
        ready, some = bound(rule, case[0], codebook), every_path(*case)
        try:
            if exact_too:
                compare(ready, some)
        except NotExact:
            exact_too = False
        compare(ready, in_floats(some))


def compare(rule: Rule, drafted: Drafted) -> None:
    """Slot by slot, the flows against the blocks."""
    block = block_of(rule, drafted)
    mass = at(drafted.draft, drafted.tokens)[:, :-1].prod(axis=1)
    state = own(rule, drafted, flows.begin, rule, drafted.target[:, 0, 0])
    alive = 0 * mass + number(1, mass)
    for slot in range(drafted.tokens.shape[1] - 1):
        trail = Trail(drafted, slot, alive)
        found, carry = own(rule, drafted, flows.flow, rule, state, trail.draft, trail.target, slot)
        if is_exact(mass):
            require_fractions(Block(*found))
        require_law(rule, found, trail)
        require_same(rule, found, block, mass, trail)
        alive = np.where(alive > 0, alive * at(found.kept, trail.token), 0 * alive)
        state = own(rule, drafted, carry, trail.token)


def own(rule: Rule, drafted: Drafted, call: Any, *arguments: Any) -> Any:
    """What the rule's own code makes of the arguments; NotExact where it can not be computed in Fractions."""
    try:
        with np.errstate(all="ignore"):
            return call(*arguments)
    except SpecsimError:
        raise
    except (Exception, SystemExit) as error:
        if is_exact(drafted.target):
            raise NotExact(f"on Fractions the rule raises {failure(rule, error)}") from error
        raise SpecsimError(f"{rule!r}: {failure(rule, error)}; correct the rule") from error


def require_law(rule: Rule, found: flows.Flow, trail: Trail) -> None:
    """kept and corrected are a law together, and no more is kept than is drafted."""
    slack, total = slack_of(trail.alive), found.law.sum(axis=-1)
    before = at(trail.drafted.draft, trail.drafted.tokens)[:, : trail.slot].prod(axis=1)
    excess = (trail.alive[:, None] * found.kept - before[:, None] * trail.draft).max(axis=-1)
    least = (found.kept.min(axis=-1), found.corrected.min(axis=-1))
    for good, value, what in (
        (least[0] >= 0, least[0], "kept holds {}, not a probability"),
        (least[1] >= 0, least[1], "corrected holds {}, not a probability"),
        (abs(total - 1) <= slack, total, "kept + corrected sums to {}, not to 1"),
        (excess <= slack, excess, "keeps of a token a mass of {} more than is drafted"),
    ):
        complain(rule, ~as_bool(good), what, (value,), trail)


def require_same(rule: Rule, found: flows.Flow, block: Block, mass: Array, trail: Trail) -> None:
    """The mass of each path that goes on, and that is corrected to each token, against the blocks of all its drafts."""
    slot, tokens, slack = trail.slot, trail.drafted.tokens, slack_of(mass)
    going = together(tokens[:, : slot + 1]) @ (mass * block.stop[:, slot + 1 :].sum(axis=-1))
    kept = trail.alive * at(found.kept, trail.token)
    what = "keeps a mass of {} of token {}, `block` {}"
    complain(rule, ~as_bool(abs(kept - going) <= slack), what, (kept, trail.token, going), trail)
    stops = block.stop[:, slot, None]
    weights = mass[:, None] * np.where(stops > 0, stops * block.residual[:, slot, :], 0 * stops)
    put = together(tokens[:, :slot]) @ weights
    corrected = trail.alive[:, None] * found.corrected
    for token in range(put.shape[1]):
        values, what = (corrected[:, token], put[:, token]), f"corrects a mass of {{}} to token {token}, `block` {{}}"
        complain(rule, ~as_bool(abs(values[0] - values[1]) <= slack), what, values, trail)


def together(prefixes: Array) -> Array:
    """Prefixes [B, n] -> bool [B, B], whether two paths share theirs."""
    return (prefixes[:, None, :] == prefixes[None, :, :]).all(axis=-1)


def slack_of(like: Array) -> Any:
    """How far a mass may be off by rounding."""
    return 0 if is_exact(like) else LAW_SLACK


def complain(rule: Rule, bad: Array, what: str, values: tuple[Array, ...], trail: Trail) -> None:
    """One line about the first path that is alive and bad."""
    bad = bad & as_bool(trail.alive > 0)
    if not bad.any():
        return
    row = int(np.argmax(bad))
    drafts = [int(token) for token in trail.drafted.tokens[row, : trail.slot]]
    laws = f"p = ({as_row(trail.target[row])}), q = ({as_row(trail.draft[row])})"
    fault = what.format(*(short(array[row]) for array in values))
    raise SpecsimError(
        f"{rule!r}: its `flow` {fault}, at slot {trail.slot} of a block of {trail.drafted.tokens.shape[1] - 1} drafts "
        f"after {drafts}, {laws}; it must be the average of `block` over the drafts to come"
    )


def short(value: Any) -> str:
    """A value; a long Fraction as a float."""
    return str(value) if len(str(value)) < 40 else str(float(value))
