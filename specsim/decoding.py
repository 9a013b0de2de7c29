"""What every decoder shares: its task, the state rows it works on, and how tokens become final.

A decoder never draws.  It asks an interpreter, `choose`, with these verbs:
    choose(law [B, K] or [B, S, K], live)   -> index, live      one draw per row (and slot), weights need no sum of 1
    choose.token(law, position, live)       -> index, live      the same for a token at an absolute position; beyond
                                                                the end of the sequence any token will do
    choose.race(law, position, live)        -> index, live      winner of the race with the noise shared at a position
    choose.forget(position)                                     noise before position [B] is never asked again
`live` is a tuple of the arrays [B, ...] the decoder still needs: an interpreter that forks rows hands them back
expanded, a sampling one hands them back untouched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from specsim.arrays import Array, arange, indicator, namespace, place
from specsim.errors import require
from specsim.verification import Verify

Model = Callable[[Array, Array, int], Array]
"""model(tokens [B, T], start [B], count) -> laws [B, count, V], laws[b, j] being the law of position start[b] + j given
tokens[b, :start[b] + j].  A pure function; positions at or beyond the end are legal and give any law."""


MOST_SLOTS = 4096
"""Longest window or lookahead: far beyond any published one, and short enough to be refused before memory is."""
NOWHERE = 2**31 - 1
"""A position beyond every sequence: what is drawn there cannot matter."""


def require_slots(name: str, field: str, value: Any) -> None:
    """A window or lookahead is a whole number of at least 1."""
    allowed = type(value) is int and 1 <= value <= MOST_SLOTS
    require(allowed, name, field, value, f"a whole number from 1 to {MOST_SLOTS}")


class Task(NamedTuple):
    """What is to be decoded.

    target, draft: models; verify: from `verification.verifier`; length: tokens of a full sequence;
    fresh: [V] law that new window positions are drawn from; eos: end-of-sequence id or None.
    """

    target: Model
    verify: Verify
    length: int
    fresh: Array
    draft: Model | None = None
    eos: int | None = None


def drafting(task: Task, length: Array) -> Any:
    """The draft model in a round that begins with the first length [B] tokens final.

    Most models know the tokens and nothing else.  One that drafts from what the target made of the final tokens, as a
    head on its features does (EAGLE), has `since(length) -> model`: how it drafts while no later token is final.
    """
    model: Any = task.draft
    return model.since(length) if hasattr(model, "since") else model


class Rows(NamedTuple):
    """State of a decoder that keeps nothing but final tokens: tokens [B, N] (0 beyond length), length [B]."""

    tokens: Array
    length: Array


class Round(NamedTuple):
    """What one target call did, all [B].

    kept: drafted tokens kept; reached: slots judged (kept ones included); drafted: slots that held a draft.
    """

    kept: Array
    reached: Array
    drafted: Array


class Decoder(Protocol):
    """`start` gives the state before the first target call, `step` makes one target call.

    Optional: `canonical(state, task)`, the state with whatever can matter no more set to one value; it is asked for
    exact laws only, where states that differ in nothing that matters should merge.
    """

    @property
    def needs_draft(self) -> bool: ...

    @property
    def takes_rule(self) -> bool: ...

    def start(self, task: Task, rows: Rows, choose: Any) -> Any: ...

    def step(self, state: Any, choose: Any, task: Task) -> tuple[Any, Round]: ...


def canonical(decoder: Decoder, state: Any, task: Task) -> Any:
    """The decoder's canonical state, or the state as it is where the decoder has nothing to say."""
    return decoder.canonical(state, task) if hasattr(decoder, "canonical") else state


def empty_rows(count: int, task: Task) -> Rows:
    """`count` rows with nothing decoded yet, in the namespace and on the device of `task.fresh`."""
    zeros = arange(count, task.fresh) * 0
    return Rows(namespace(zeros).broadcast_to(zeros[:, None], (count, task.length)), zeros)


def first_if(void: Array, law: Array) -> Array:
    """Where `void` [...], replace law [..., V] by certainty of index 0: a choice whose result cannot matter."""
    xp = namespace(void)
    certain = indicator(arange(law.shape[-1], void) == 0, law)
    return xp.where(void[..., None], certain, law)


def commit(task: Task, rows: Rows, values: Array, count: Array) -> tuple[Rows, Array]:
    """Make the first count [B] of values [B, S] final -> new rows, and how many of them are tokens of the output [B].

    Nothing is written beyond the end.  With an end of sequence, what follows the first one is dropped: the rest of
    the row is filled with it and the row is full.
    """
    xp = namespace(rows.tokens)
    column = arange(task.length, rows.tokens)
    end = xp.clip(rows.length + count, None, task.length)
    written = place(rows.tokens, rows.length, values)
    tokens = xp.where(column < end[:, None], written, 0 * written)
    if task.eos is None:
        return Rows(tokens, end), end - rows.length
    ended = (tokens == task.eos) & (column < end[:, None])
    past = xp.cumulative_sum(xp.astype(ended, xp.int64), axis=-1) > 0
    last = xp.sum(xp.astype(~past, xp.int64), axis=-1) + 1
    full = xp.any(ended, axis=-1)
    tokens = xp.where(past, 0 * tokens + task.eos, tokens)
    counted = xp.clip(xp.where(full, last, end) - rows.length, 0, None)
    return Rows(tokens, xp.where(full, 0 * end + task.length, end)), counted


def settle(task: Task, rows: Rows, values: Array, stop: Array, drafted: Array) -> tuple[Rows, Round]:
    """Commit the stop [B] kept tokens of values [B, S] and the one after them -> rows, and the round's counts.

    drafted [B]: how many of the slots held a draft.
    """
    xp = namespace(stop)
    after, counted = commit(task, rows, values, xp.clip(stop + 1, None, values.shape[1]))
    return after, Round(xp.minimum(stop, counted), xp.minimum(xp.minimum(stop + 1, drafted), counted), drafted)
