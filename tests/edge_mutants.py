"""Mistakes that engines have made at the edges: rules, draws, races and readings of a task, each to be put in for the
right one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from specsim.arrays import Array, indicator, normalise, positive_part
from specsim.decoding import Task
from specsim.rules import Strict
from specsim.verification import Verdict, optimal_residual


@dataclass(frozen=True)
class Mutant:
    """The strict rule with another acceptance or another residual."""

    change: Callable[[Array, Array, Verdict], Verdict]

    def __call__(self, draft: Array, target: Array, position: Array) -> Verdict:
        return self.change(draft, target, Strict()(draft, target, position))


def leaking(draft: Array, target: Array, right: Verdict) -> Verdict:
    """A small number keeps the empty residual from dividing 0 by 0, all over the vocabulary."""
    return right._replace(residual=normalise(positive_part(target - draft) + 1e-9, target))


def softmaxed(draft: Array, target: Array, right: Verdict) -> Verdict:
    """The residual through a logarithm and a softmax."""
    logits = np.log(positive_part(target - draft))
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return right._replace(residual=weights / weights.sum(axis=-1, keepdims=True))


def unnormalised(draft: Array, target: Array, right: Verdict) -> Verdict:
    """[p - q]+ taken for a law."""
    return right._replace(residual=positive_part(target - draft))


def generous(draft: Array, target: Array, right: Verdict) -> Verdict:
    """A token the draft never says counts as accepted, whatever the target says of it."""
    return right._replace(accept=np.where(draft > 0, right.accept, 1).astype(draft.dtype))


def halved(draft: Array, target: Array, right: Verdict) -> Verdict:
    """The ratio in half precision."""
    ratio = target.astype(np.float16) / draft.astype(np.float16)
    return right._replace(accept=np.minimum(ratio, 1).astype(draft.dtype))


def uncapped(draft: Array, target: Array, right: Verdict) -> Verdict:
    """The ratio itself."""
    return right._replace(accept=np.where(draft > 0, target / draft, right.accept))


def averaged(draft: Array, target: Array, right: Verdict) -> Verdict:
    """A verdict that looks at the other rows of its batch."""
    accept = right.accept * (right.accept.mean() > 0.5)
    return Verdict(accept, optimal_residual(draft, target, accept))


def pick_closed(weights: Array, uniform: Array) -> Array:
    """Index i owns [F(i-1), F(i)]: u <= b accepts."""
    cumulative = np.cumsum(weights, axis=-1)
    return (cumulative < uniform[..., None] * cumulative[..., -1:]).sum(axis=-1)


def pick_unscaled(weights: Array, uniform: Array) -> Array:
    """The weights are taken to sum to 1."""
    passed = (np.cumsum(weights, axis=-1) <= uniform[..., None]).sum(axis=-1)
    return np.minimum(passed, weights.shape[-1] - 1)


def race_with_a_floor(noise: Array, law: Array) -> Array:
    """A small number keeps log 0 away."""
    return (np.log(law + law.dtype.type(1e-20)) - np.log(noise)).argmax(axis=-1)


@dataclass(frozen=True)
class Retasked:
    """A decoder that misunderstands its task."""

    decoder: Any
    change: Callable[[Task], Task]
    needs_draft = takes_rule = True

    def start(self, task: Task, rows: Any, choose: Any) -> Any:
        return self.decoder.start(task, rows, choose)

    def step(self, state: Any, choose: Any, task: Task) -> tuple:
        return self.decoder.step(state, choose, self.change(task))


def endless(task: Task) -> Task:
    """The end of sequence is a token like any other."""
    return task._replace(eos=None)


def bonus_from_draft(task: Task) -> Task:
    """The last, empty slot takes the draft's law in place of the target's."""

    def target(tokens: Array, start: Array, count: int) -> Array:
        laws = task.target(tokens, start, count)
        return np.concatenate([laws[:, :-1], task.draft(tokens, start + count - 1, 1)], axis=1)

    return task._replace(target=target)


def count_all(accept: Array) -> Array:
    """All that would be kept are counted, also after the first refusal; for acceptances of 0 and 1."""
    slots = np.arange(accept.shape[-1])
    return indicator(slots == accept.sum(axis=-1, keepdims=True), accept)


class Last(list):
    """Keeps what was added last, and no more."""

    def __iadd__(self, looks):
        self[:] = looks
        return self
