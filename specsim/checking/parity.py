"""Does the rule say the same on every array backend?  Each is compared with the exact verdict (or the float64 one).

A mismatch is a finding, not an error: the rule is fine in numpy and something else runs on the device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from specsim.arrays import Array, is_exact, normalise
from specsim.checking.onetoken import OneToken, measure
from specsim.checking.pairs import Stack
from specsim.checking.validity import ask, failure, shaped
from specsim.errors import SpecsimError
from specsim.sampling import to_numpy
from specsim.verification import Rule, output_law

Backends = Mapping[str, Callable[[np.ndarray], Array]]

ROUNDINGS = 64
"""A verdict on at most eight tokens takes a few dozen roundings of numbers up to about 1, half an epsilon each."""
TOLERANCE = {name: ROUNDINGS * float(np.finfo(name).eps) for name in ("float64", "float32")}
"""Largest difference of an acceptance or of an output probability that is called rounding: 1.4e-14 and 7.6e-6."""
NUDGED = 4
"""At the edge of a threshold laws are nudged by one tolerance; a verdict there may follow by a few of them."""


@dataclass(frozen=True)
class ParityRow:
    """One backend and number type.

    difference: largest |acceptance - reference| or |out - reference|, None where nothing could be compared.
    leak: probability put where both the target and the reference have none, which no rounding explains.
    edges: verdicts left out because the exact rule jumps there (a threshold met exactly), so rounding decides.
    """

    backend: str
    numbers: str
    difference: float | None
    tolerance: float
    leak: float
    edges: int
    note: str

    @property
    def agrees(self) -> bool:
        """The backend computes the same rule, up to rounding."""
        return self.difference is not None and self.difference <= self.tolerance and self.leak == 0


class Answer(NamedTuple):
    """What a backend computes, as float64 in numpy: the acceptances and the law that comes out, [M, S, V]."""

    accept: np.ndarray
    out: np.ndarray


class Known(NamedTuple):
    """A stack that was measured: the reference."""

    rule: Rule
    stack: Stack
    figures: OneToken


def parity(known: list[Known], backends: Backends) -> tuple[ParityRow, ...]:
    """One row for every backend and number type; numpy is always among them."""
    everywhere: Backends = {"numpy": np.asarray, **backends}
    return tuple(compare(known, name, convert, n) for name, convert in everywhere.items() for n in TOLERANCE)


def compare(known: list[Known], name: str, convert: Callable[[np.ndarray], Array], numbers: str) -> ParityRow:
    """One backend in one number type, over all stacks."""
    worst, leak, edges, notes = 0.0, 0.0, 0, list[str]()
    for case in known:
        try:
            answer, note = on_backend(case, convert, numbers)
        except Exception as error:  # whatever fails on another backend is what the row has to say
            told = str(error) if isinstance(error, SpecsimError) else failure(case.rule, error)
            return ParityRow(name, numbers, None, TOLERANCE[numbers], 0.0, 0, told)
        gaps, at_edge = gap(case, answer, TOLERANCE[numbers])
        # np.maximum keeps a NaN, which max() loses.
        worst, leak = float(np.maximum(worst, gaps)), float(np.maximum(leak, leaked(case, answer)))
        edges, notes = edges + at_edge, notes + [note] * (note not in notes)
    usable = bool(np.isfinite(worst) and np.isfinite(leak))
    note = "; ".join(note for note in notes if note) if usable else "a verdict is not a number"
    difference, leak = (worst, leak) if usable else (None, 0.0)
    return ParityRow(name, numbers, difference, TOLERANCE[numbers], leak, edges, note)


def on_backend(case: Known, convert: Callable[[np.ndarray], Array], numbers: str) -> tuple[Answer, str]:
    """What the backend computes, in float64, and a note on its number type."""
    draft, target = (convert(np.array(law, dtype=numbers)) for law in (case.stack.draft, case.stack.target))
    stack = case.stack._replace(draft=draft, target=target, position=convert(np.array(case.stack.position)))
    accept = shaped(case.rule, ask(case.rule, stack), draft).accept
    if type(accept) is not type(draft):
        raise SpecsimError(f"laws in a {type(draft).__name__} give a verdict in a {type(accept).__name__}")
    with np.errstate(all="ignore"):
        out = output_law(case.rule, draft, target, stack.position)
    note = "" if out.dtype == draft.dtype else f"{draft.dtype} laws give a verdict in {out.dtype}"
    return Answer(*(to_numpy(array).astype(np.float64) for array in (accept, out))), note


def gap(case: Known, answer: Answer, tolerance: float) -> tuple[float, int]:
    """Largest difference from the reference, and how many verdicts were left out as edges of a threshold."""
    far = apart(answer, reference(case.figures))
    over = ~(far <= tolerance)
    rows = np.flatnonzero(over.any(axis=-1))
    if len(rows):
        near = np.zeros_like(over)
        near[rows] = at_edge(case, Answer(*(array[rows] for array in answer)), rows, tolerance)
        over, far = over & near, np.where(over & near, 0.0, far)
    return float(far.max()), int(over.sum())


def apart(answer: Answer, other: Answer) -> np.ndarray:
    """Largest difference of an acceptance or an output probability, [M, S]; NaN where one is missing."""
    return np.maximum(*(abs(a - b).max(axis=-1) for a, b in zip(answer, other, strict=True)))


def reference(figures: OneToken) -> Answer:
    """The known verdict, in float64."""
    return Answer(figures.accept.astype(np.float64), figures.out.astype(np.float64))


def at_edge(case: Known, answer: Answer, rows: np.ndarray, tolerance: float) -> np.ndarray:
    """Whether the answer is the reference of laws a rounding away: the rule jumps there, bool [rows, S].

    The nudged laws are judged in the numbers of the reference, so an error of the backend's own is not excused.
    """
    near = np.zeros(answer.accept.shape[:-1], dtype=bool)
    for direction, sign in product(DIRECTIONS, (1, -1)):
        left = np.flatnonzero(~near.all(axis=-1))
        if not len(left) or (isinstance(direction, Scattered) and len(left) > FEW):
            break
        part = Answer(*(array[left] for array in answer))
        near[left] |= is_reference_of(case, part, rows[left], partial(direction, sign), tolerance)
    return near


def is_reference_of(
    case: Known, answer: Answer, rows: np.ndarray, direction: Callable[..., Array], tolerance: float
) -> np.ndarray:
    """Whether the answer is the reference of the laws nudged in one direction, bool [rows, S]."""
    draft = case.stack.draft[rows]
    target = nudged(case.stack.target[rows], draft, direction, tolerance)
    stack = Stack([case.stack.pairs[row] for row in rows], draft, target, case.stack.position)
    accept = ask(case.rule, stack).accept
    return apart(answer, reference(measure(case.rule, stack, accept))) <= NUDGED * tolerance


def towards(sign: int, target: Array, draft: Array) -> Array:
    """+1 where the draft is above the target, -1 where it is below: moves TV(p, q)."""
    return sign * np.sign((draft - target).astype(np.float64)).astype(int)


def alternating(sign: int, target: Array, draft: Array) -> Array:
    """+1, -1, +1, ...: moves the mass of neighbouring tokens."""
    return np.broadcast_to(sign * (1 - 2 * (np.arange(target.shape[-1]) % 2)), target.shape)


@dataclass(frozen=True)
class Scattered:
    """Signs at random: of several tokens of one law that are at an edge, each may fall on either side."""

    seed: int

    def __call__(self, sign: int, target: Array, draft: Array) -> Array:
        signs = np.random.default_rng(self.seed).choice((-1, 1), target.shape[-1])
        return np.broadcast_to(sign * signs, target.shape)


Direction = Callable[[int, Array, Array], Array]
DIRECTIONS: tuple[Direction, ...] = (towards, alternating, *(Scattered(seed) for seed in range(32)))
FEW = 4
"""Signs at random are tried while no more pairs than these are unexplained: laws with several tokens at an edge are
rare, and a backend that computes another rule differs on far more."""


def nudged(target: Array, draft: Array, direction: Callable[..., Array], tolerance: float) -> Array:
    """The target with every probability scaled by 1 +- tolerance and renormalised; zeros stay zeros."""
    step = Fraction(tolerance) if is_exact(target) else tolerance
    return normalise(target * (1 + step * direction(target, draft)), target)


def leaked(case: Known, answer: Answer) -> float:
    """Largest probability where both the target and the reference law have none."""
    none = (case.stack.target == 0) & (case.figures.out == 0)
    return float(np.where(none.astype(bool), abs(answer.out), 0.0).max())
