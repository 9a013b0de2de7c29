"""One block of a chain in masses, slot by slot, and one call of a decoder, enumerated: what several theorems speak of.

A_i(x_1..x_i) = prod_j q_j b_j is the mass of the paths kept up to slot i.  Prefixes are rows, in base-V order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from specsim import Table, Verdict, output_law
from specsim.arrays import Array, at, number, total_variation
from specsim.decoding import Decoder, Task, empty_rows
from specsim.exact_laws import BUDGET
from specsim.interpreters.exact import Exact
from specsim.rules.optimal import acceptance
from specsim.tasks import make_task
from specsim.verification import Block, Drafted, first_rejection

Judge = Callable[[Array, Array, int, int], tuple[Array, Array]]
"""judge(q [R, V], p [R, V], position, slot) -> q b [R, V], out = q b + what is put back [R, V]."""


class Slot(NamedTuple):
    """A drafted slot after every prefix: before [R] = A_(i-1); given the prefix q b, out, p and q, all [R, V]."""

    before: Array
    kept: Array
    out: Array
    target: Array
    draft: Array

    @property
    def after(self) -> Array:
        """A_i, [R V]"""
        return (self.before[:, None] * self.kept).reshape(-1)

    @property
    def corrected(self) -> Array:
        """R_i, the mass that leaves the block here, by the token put there, [R V]"""
        return (self.before[:, None] * (self.out - self.kept)).reshape(-1)


def by_rule(rule: Any) -> Judge:
    """What a token-wise rule makes of a slot."""

    def judge(draft: Array, target: Array, position: int, slot: int) -> tuple[Array, Array]:
        slots = np.full(len(draft), slot)
        return draft * acceptance(rule, draft, target, slots), output_law(rule, draft, target, slots)

    return judge


def walk(judge: Judge, target: Table, draft: Table, lookahead: int, start: int = 0, mass: Any = None) -> list[Slot]:
    """The slots of a block that starts at position `start` with mass [V**start] (default 1 at position 0)."""
    before = np.array([Fraction(1)], dtype=object) if mass is None else mass
    slots: list[Slot] = []
    for slot in range(lookahead):
        q, p = draft.at_length(start + slot), target.at_length(start + slot)
        slots.append(Slot(before, *judge(q, p, start + slot, slot), p, q))
        before = slots[-1].after
    return slots


def accepted(slots: Sequence[Slot]) -> Fraction:
    """E[accepted] = sum_i sum_x A_i(x)."""
    return sum((slot.after.sum() for slot in slots), Fraction(0))


def local_errors(slots: Sequence[Slot]) -> Fraction:
    """sum_i sum_(x<i) A_(i-1) TV(out_i, p_i)."""
    return sum(((slot.before * total_variation(slot.out, slot.target)).sum() for slot in slots), Fraction(0))


def errors(slots: Sequence[Slot]) -> Array:
    """A_(i-1) (out_i - p_i) target(what follows), [L, V**L]: what every slot adds to out - target of a sequence."""
    rows = []
    for i, slot in enumerate(slots):
        terms = (slot.before[:, None] * (slot.out - slot.target)).reshape(-1)
        for later in slots[i + 1 :]:
            terms = (terms[:, None] * later.target).reshape(-1)
        rows.append(terms)
    return np.stack(rows)


def block_error(slots: Sequence[Slot]) -> Fraction:
    """TV(out, target) of a block followed by the target."""
    return abs(errors(slots).sum(axis=0)).sum() / 2


def round_starts(judge: Judge, target: Table, draft: Table, lookahead: int) -> list[Array]:
    """W_n [V**n] for n < N: the probability that a call of the chain starts after a prefix."""
    length, vocab = target.length, target.vocab
    starts = [np.zeros(vocab**n, dtype=object) + Fraction(n == 0) for n in range(length + 1)]
    for n in range(length):
        size = min(lookahead, length - n - 1)
        slots = walk(judge, target, draft, size, n, starts[n])
        for i, slot in enumerate(slots):
            starts[n + i + 1] = starts[n + i + 1] + slot.corrected
        alive = slots[-1].after if slots else starts[n]
        bonus = alive[:, None] * target.at_length(n + size)
        starts[n + size + 1] = starts[n + size + 1] + bonus.reshape(-1)
    return starts[:length]


class Call(NamedTuple):
    """What the first call of a decoder can do: weight [R]; kept, reached, added [R]; tokens [R, N]."""

    weight: Array
    kept: Array
    reached: Array
    added: Array
    tokens: Array

    def mean(self, counts: Array) -> Fraction:
        """Expected value of counts [R]."""
        return (self.weight * counts).sum()

    def then_target(self, target: Table) -> Array:
        """Law [V**N] of what it adds, followed by plain decoding."""
        powers = target.vocab ** np.arange(target.length - 1, -1, -1)
        mass = np.array([Fraction(0)] * target.vocab**target.length, dtype=object)
        for n in range(target.length + 1):
            here = self.added == n
            codes = self.tokens[here, :n] @ powers[target.length - n :]
            level = np.array([Fraction(0)] * target.vocab**n, dtype=object)
            np.add.at(level, codes, self.weight[here])
            for position in range(n, target.length):
                level = (level[:, None] * target.at_length(position)).reshape(-1)
            mass = mass + level
        return mass


def first_call(decoder: Decoder, target: Table, draft: Table | None, rule: Any = None, verify: Any = None) -> Call:
    """One call of the decoder's own code, every branch of it."""
    task: Task = make_task(decoder, target, draft, rule, None, None)
    task = task if verify is None else task._replace(verify=verify)
    choose = Exact(target.laws, task.length, BUDGET, str)
    state, counts = decoder.step(decoder.start(task, empty_rows(1, task), choose), choose, task)
    return Call(choose.weight, counts.kept, counts.reached, state.length, state.tokens)


@dataclass(frozen=True)
class ByPath:
    """Any verifier whose b and G are functions of the path kept so far: accept and residual hold a row a prefix.

    Whatever state a rule carries along the path is such a function.  For blocks that start at position 0.
    """

    accept: Table
    residual: Table

    def judge(self, draft: Array, target: Array, position: int, slot: int) -> tuple[Array, Array]:
        """In masses."""
        kept = draft * self.accept.at_length(position)
        return kept, kept + (1 - kept.sum(axis=-1, keepdims=True)) * self.residual.at_length(position)

    def verify(self, choose: Any, drafted: Drafted, live: tuple) -> tuple[Block, tuple]:
        """For a decoder's task."""
        rows = self.accept.rows(drafted.tokens)
        keep = np.where(drafted.real, at(self.accept.laws[rows], drafted.tokens), number(0, drafted.target))
        residual = np.where(drafted.real[..., None], self.residual.laws[rows], drafted.target)
        return Block(first_rejection(keep), residual), live


@dataclass(frozen=True)
class SlotWise:
    """Another rule at every slot; the last one from there on."""

    rules: tuple[Any, ...]

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        """draft, target [..., V], position [...] -> accept [..., V], residual [..., V]."""
        accept, residual = self.rules[-1](draft, target, position)
        for slot, rule in enumerate(self.rules[:-1]):
            here = np.asarray(position == slot)[..., None]
            verdict = rule(draft, target, position)
            accept, residual = np.where(here, verdict.accept, accept), np.where(here, verdict.residual, residual)
        return Verdict(accept, residual)


def context_free(laws: Sequence[Array]) -> Table:
    """A model whose law of a position is the same after every prefix."""
    rows = [law for n, law in enumerate(laws) for _ in range(len(law) ** n)]
    return Table(np.stack(rows), len(laws))


def repeated(law: Array, length: int) -> Table:
    """The same law at every position."""
    return context_free([law] * length)


def kept_in_strict(draft: Array, target: Array) -> Array:
    """a = 1 - TV(p, q) = E_q[min(1, p/q)], [...]"""
    return 1 - total_variation(target, draft)
