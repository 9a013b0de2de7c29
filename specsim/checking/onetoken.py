"""One verified token: the law that comes out, how far it is from the target, and how far from the Pareto line.

For every rule  P(reject) + TV(out, p) >= TV(p, q).  Equality is the line on which the best trades lie: acceptance can
be bought there with bias, one for one, and never more cheaply.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from specsim.arrays import Array, divide, is_exact, number, total_variation
from specsim.checking.pairs import Pair, Stack
from specsim.checking.validity import guarded
from specsim.errors import SpecsimError
from specsim.flows import output_law
from specsim.verification import Rule

FLOAT_SLACK = 1e-12
"""What counts as 0 for a TV or a line distance in float64: twenty tokens and a dozen operations round to below 1e-14.
In Fractions 0 is 0, and mass off the support is never rounding: it has no slack in any numbers."""


class OneToken(NamedTuple):
    """What a rule does to a stack of pairs.

    accept, residual, out: [M, S, V], the residual being the effective one, sum_x q(x)(1-b(x)) G_x / r.
    reject, tv, distance, off, ratio: [M, S]; off = mass where p = 0, ratio = max out/p over p > 0.
    """

    accept: Array
    residual: Array
    out: Array
    reject: Array
    tv: Array
    distance: Array
    off: Array
    ratio: Array


def measure(rule: Rule, stack: Stack, accept: Array) -> OneToken:
    """The one-token figures of a rule whose acceptances [M, S, V] are checked already."""
    draft, target = stack.draft, stack.target
    with np.errstate(all="ignore"):
        out = guarded(rule, output_law, rule, draft, target, stack.position)
    require_numbers(rule, stack, out)
    return figures(draft, target, accept, out)


def require_numbers(rule: Rule, stack: Stack, out: Array) -> None:
    """The law that comes out is asked for with a token dimension more than the verdict was: it must be numbers too."""
    bad = np.argwhere(out != out)  # a NaN is not even itself
    if len(bad):
        m, slot, token = (int(i) for i in bad[0])
        raise SpecsimError(
            f"{rule!r}: its output for token {token} is not a number; {stack.pairs[m]}, slot {stack.position[slot]}; "
            "a verdict must not depend on the shape of the batch"
        )


def figures(draft: Array, target: Array, accept: Array, out: Array) -> OneToken:
    """Everything that follows from the laws [..., V], the acceptances and the law that comes out."""
    zero = number(0, target)
    reject = (draft * (1 - accept)).sum(axis=-1)
    tv = total_variation(out, target)
    distance = reject + tv - total_variation(target, draft)
    off = np.where(target > 0, zero, out).sum(axis=-1)
    ratio = divide(out, target, zero).max(axis=-1)
    residual = divide(out - draft * accept, reject[..., None], zero)
    return OneToken(accept, residual, out, reject, tv, distance, off, ratio)


@dataclass(frozen=True)
class Example:
    """One pair at one slot, with everything the rule makes of it.  Numbers as text; no residual where r = 0."""

    pair: str
    group: str
    slot: int
    value: Any
    target: tuple[str, ...]
    draft: tuple[str, ...]
    accept: tuple[str, ...]
    residual: tuple[str, ...] | None
    out: tuple[str, ...]


@dataclass(frozen=True)
class Worst:
    """The largest value of a figure, where it is taken, and the smallest pair on which the figure is not 0."""

    value: Any
    where: str
    smallest: Example | None


class Seen(NamedTuple):
    """One pair at one slot of a measured stack."""

    pair: Pair
    slot: int
    row: OneToken


def each(measured: list[tuple[Stack, OneToken]]) -> Iterator[Seen]:
    """Every pair at every slot, smallest first; the slot decides between equals."""
    for some, figure in measured:
        for m, pair in enumerate(some.pairs):
            for s in range(len(some.position)):
                yield Seen(pair, int(some.position[s]), OneToken(*(array[m, s] for array in figure)))


def worst(seen: list[Seen], figure: str, slack: Any) -> Worst:
    """The worst case of a figure ("tv", "distance", "off"), and the smallest example above the slack."""
    top = max(seen, key=lambda some: getattr(some.row, figure))
    first = next((some for some in seen if getattr(some.row, figure) > slack), None)
    where = f"{top.pair.name}, slot {top.slot}"
    return Worst(plain(getattr(top.row, figure)), where, None if first is None else example(first, figure))


def example(seen: Seen, figure: str) -> Example:
    """A pair as a counterexample, in texts."""
    pair, slot, row = seen
    residual = texts(row.residual) if row.reject > 0 else None
    laws = (texts(pair.target), texts(pair.draft), texts(row.accept), residual, texts(row.out))
    return Example(pair.name, pair.group, slot, plain(getattr(row, figure)), *laws)


def plain(value: Any) -> Any:
    """A Fraction as it is, any other number as a Python float."""
    return value if isinstance(value, Fraction) else float(value)


def texts(values: Any) -> tuple[str, ...]:
    """Fractions as "1/3", floats as they print."""
    return tuple(str(plain(value)) for value in values)


def slack_of(array: Array) -> Any:
    """What counts as 0 in the numbers of `array`."""
    return 0 if is_exact(array) else FLOAT_SLACK
