"""Blocks that a rule is put to: windows of mixed lengths, random laws with zeros.  Stops and residuals must be laws."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from specsim.arrays import Array, is_exact
from specsim.checking.forms import checked, shaped_block
from specsim.checking.validity import ALONE, ALONE_SLACK, LAW_SLACK, NotExact, failure, guarded
from specsim.errors import SpecsimError
from specsim.tables import random_table
from specsim.verification import Block, Drafted, Rule, carries_state, verify

ROWS = 24
"""Blocks of every shape, in one batch."""
MOST_DRAFTS = {2: 4, 3: 3}
"""Vocabulary -> drafts of the longest block."""


@lru_cache(maxsize=16)
def window(vocab: int, drafts: int) -> Drafted:
    """ROWS blocks of 0 to `drafts` drafts, in Fractions: laws of random tables, every third one having zeros and every
    sixth position equal laws; what stands in empty slots is of no meaning."""
    rng, slots = np.random.default_rng(vocab), drafts + 1
    laws = np.stack([random_table(vocab, 1, n, n % 3 == 0).laws[0] for n in range(2 * ROWS * slots)])
    draft, target = (laws[n::2].reshape(ROWS, slots, vocab) for n in (0, 1))
    draft = np.where((rng.random((ROWS, slots)) < 1 / 6)[..., None], target, draft)
    tokens = np.array([[rng.choice(np.flatnonzero(law)) for law in row] for row in draft])
    count = np.arange(ROWS) % slots  # short windows stand in the middle of the batch
    real = np.arange(slots)[None, :] < count[:, None]
    position = np.broadcast_to(np.arange(slots), tokens.shape)
    return frozen(Drafted(draft, target, tokens, real, position))


def frozen(drafted: Drafted) -> Drafted:
    """Read-only: a rule that writes into its arguments is caught."""
    for array in drafted:
        array.flags.writeable = False
    return drafted


def windows(vocabs: tuple[int, ...], exact: bool) -> Iterator[Drafted]:
    """The blocks over these vocabularies, in Fractions or in float64."""
    for vocab in vocabs:
        for drafts in range(1, MOST_DRAFTS.get(vocab, 2) + 1):
            some = window(vocab, drafts)
            yield some if exact else in_floats(some)


def in_floats(some: Drafted) -> Drafted:
    """The same laws in float64."""
    return some._replace(draft=some.draft.astype(np.float64), target=some.target.astype(np.float64))


def block_of(rule: Rule, drafted: Drafted) -> Block:
    """The checked block of a rule; SpecsimError for what is none, NotExact where Fractions do not stay Fractions."""
    exact = is_exact(drafted.target)
    try:
        with np.errstate(all="ignore"):
            if carries_state(rule):
                walk(rule, drafted)
            block = shaped_block(rule, verify(rule, drafted), drafted)
    except (SpecsimError, NotExact):
        raise
    except (Exception, SystemExit) as error:
        if exact:
            raise NotExact(f"on Fractions the rule raises {failure(rule, error)}") from error
        raise SpecsimError(f"{rule!r}: {failure(rule, error)}; correct the rule") from error
    if exact:
        require_fractions(block)
    require_laws(rule, block, drafted)
    return block


def require_fractions(block: Block) -> None:
    """NotExact where a block of exact laws is not exact."""
    for name, array in zip(Block._fields, block, strict=True):
        kinds = {type(x).__name__ for x in np.asarray(array).reshape(-1).tolist()}
        if kinds != {"Fraction"}:
            raise NotExact(f"on Fractions its {name} holds {', '.join(sorted(kinds - {'Fraction'}))}")


def walk(rule: Rule, drafted: Drafted) -> None:
    """Every step along the drafts of a path-state rule: shapes, probabilities and weights, while drafts are alive."""
    state, vocab = rule.begin(drafted.target[:, 0, 0]), drafted.target.shape[-1]
    alive = drafted.real[:, 0]
    for slot in range(drafted.tokens.shape[1] - 1):
        tokens = drafted.tokens[:, slot : slot + 1]
        step = rule.judge(state, drafted.draft[:, slot, :], drafted.target[:, slot, :], slot, tokens)
        checked(rule, step, state, tokens, vocab, slot)
        accept, refused = step.accept[:, 0], alive & np.asarray(step.accept[:, 0] < 1, dtype=bool)
        for bad, values, what in (
            (alive & ~as_bool((accept >= 0) & (accept <= 1)), accept, "accept is {}, not in [0, 1]; clip it"),
            (
                refused & ~as_bool((step.residual >= 0).all(axis=-1)),
                step.residual.min(axis=-1),
                "residual holds {}, below 0; take its positive part",
            ),
        ):
            complain(rule, bad, values, what, drafted, slot)
        alive = alive & drafted.real[:, slot + 1] & as_bool(accept > 0)
        state = type(state)(*(field[:, 0] for field in step.state))


def as_bool(array: Array) -> Array:
    """Comparisons of Fractions are Python objects."""
    return np.asarray(array, dtype=bool)


def require_laws(rule: Rule, block: Block, drafted: Drafted) -> None:
    """stop is a law on the slots up to the first empty one, and the residual one wherever a block can stop."""
    slack = 0 if is_exact(block.stop) else LAW_SLACK
    beyond = np.cumsum(~drafted.real, axis=-1) > 1
    for slot in range(block.stop.shape[1]):
        stop, residual = block.stop[:, slot], block.residual[:, slot, :]
        stops, total = as_bool(stop > 0), residual.sum(axis=-1)
        for bad, values, what in (
            (~as_bool(stop >= 0), stop, "stop is {}, not a probability; clip what it is made of"),
            (beyond[:, slot] & stops, stop, "stop is {} beyond the first empty slot; real says which hold a draft"),
            (stops & ~as_bool((residual >= 0).all(axis=-1)), residual.min(axis=-1), "residual holds {}; clip it"),
            (stops & ~as_bool(abs(total - 1) <= slack), total, "residual sums to {}, not to 1; normalise it"),
        ):
            complain(rule, bad, values, what, drafted, slot)
    total = block.stop.sum(axis=-1)
    complain(rule, ~as_bool(abs(total - 1) <= slack), total, "stop sums to {}, not to 1; it is a law", drafted, None)


def complain(rule: Rule, bad: Array, values: Array, what: str, drafted: Drafted, slot: int | None) -> None:
    """One line about the first bad block."""
    if bad.any():
        row = int(np.argmax(bad))
        value = str(values[row])
        fault, _, advice = what.format(value if len(value) < 40 else float(values[row])).partition("; ")
        where = "" if slot is None else f" at slot {slot}"
        raise SpecsimError(f"{rule!r}: {fault}{where}; {named(drafted, row)}; {advice}")


def named(drafted: Drafted, row: int) -> str:
    """A block in words."""
    drafts = [int(x) for x in drafted.tokens[row][drafted.real[row]]]
    return f"block {row} of {drafted.tokens.shape[1]} slots over {drafted.target.shape[-1]} tokens, drafts {drafts}"


def require_alone(rule: Rule, block: Block, drafted: Drafted) -> None:
    """A block does not depend on the others of its batch, nor on what stands in slots without a draft."""
    for row in range(min(ALONE + 2, len(drafted.tokens))):
        alone = Drafted(*(array[row : row + 1] for array in drafted))
        apart(rule, block, guarded(rule, verify, rule, alone), drafted, row, "is judged alone")
        apart(rule, block, guarded(rule, verify, rule, refilled(alone)), drafted, row, "has other empty slots")


def refilled(alone: Drafted) -> Drafted:
    """The block with other drafts where there are none, and other targets beyond the first such slot."""
    empty = ~alone.real
    beyond = empty & (np.cumsum(empty, axis=-1) > 1)
    draft = np.where(empty[..., None], alone.draft[..., ::-1], alone.draft)
    target = np.where(beyond[..., None], alone.target[..., ::-1], alone.target)
    tokens = np.where(empty, alone.draft.shape[-1] - 1 - alone.tokens, alone.tokens)
    return alone._replace(draft=draft, target=target, tokens=tokens)


def apart(rule: Rule, block: Block, other: Block, drafted: Drafted, row: int, when: str) -> None:
    """SpecsimError where a block moves."""
    stop = np.asarray(block.stop[row], np.float64)
    gap = abs(np.asarray(other.stop[0], np.float64) - stop).max()
    laws = abs(np.asarray(other.residual[0], np.float64) - np.asarray(block.residual[row], np.float64)).max(axis=-1)
    gap = max(gap, np.where(stop > ALONE_SLACK, laws, 0).max())
    if not gap <= ALONE_SLACK:
        raise SpecsimError(f"{rule!r}: its verdict moves by {gap:.3g} when the block {when}; {named(drafted, row)}")
