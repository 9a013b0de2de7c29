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

from specsim.arrays import Array, is_exact, namespace, to_numpy
from specsim.checking.onetoken import OneToken, measure
from specsim.checking.pairs import Stack
from specsim.checking.validity import ask, failure, shaped
from specsim.errors import SpecsimError
from specsim.verification import Rule

Backends = Mapping[str, Callable[[np.ndarray], Array]]

ROUNDINGS = 64
"""A verdict on at most twenty tokens takes a few dozen roundings of numbers up to about 1, half an epsilon each."""
TOLERANCE = {name: ROUNDINGS * float(np.finfo(name).eps) for name in ("float64", "float32")}
"""Largest difference of an acceptance or of an output probability that is called rounding: 1.4e-14 and 7.6e-6."""
NUDGED = 4
"""At the edge of a threshold laws are nudged by one tolerance; a verdict there may follow by a few of them."""


@dataclass(frozen=True)
class ParityRow:
    """One backend and number type.

    difference: largest |acceptance - reference| or |out - reference|, None where nothing could be compared.
    leak: probability put where both the target and the reference have none, which no rounding explains, edges apart.
    edges: verdicts left out because the exact rule jumps there (a threshold met exactly), so rounding decides;
    looked for until a difference is found that is none.
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
        gaps, edge = gap(case, answer, TOLERANCE[numbers], NUDGES if worst <= TOLERANCE[numbers] else ())
        # np.maximum keeps a NaN, which max() loses.
        worst, leak = float(np.maximum(worst, gaps)), float(np.maximum(leak, leaked(case, answer, edge)))
        edges, notes = edges + int(edge.sum()), notes + [note] * (note not in notes)
    usable = bool(np.isfinite(worst) and np.isfinite(leak))
    note = "; ".join(note for note in notes if note) if usable else "a verdict is not a number"
    difference, leak = (worst, leak) if usable else (None, 0.0)
    return ParityRow(name, numbers, difference, TOLERANCE[numbers], leak, edges, note)


def on_backend(case: Known, convert: Callable[[np.ndarray], Array], numbers: str) -> tuple[Answer, str]:
    """What the backend computes, in float64, and a note on its number type."""
    draft, target = (convert(np.array(law, dtype=numbers)) for law in (case.stack.draft, case.stack.target))
    stack = case.stack._replace(draft=draft, target=target, position=convert(np.array(case.stack.position)))
    accept, residual = shaped(case.rule, ask(case.rule, stack), draft)
    if type(accept) is not type(draft):
        raise SpecsimError(f"laws in a {type(draft).__name__} give a verdict in a {type(accept).__name__}")
    with np.errstate(all="ignore"):
        out = emitted(draft, accept, residual)
    note = "" if out.dtype == draft.dtype else f"{draft.dtype} laws give a verdict in {out.dtype}"
    return Answer(*(to_numpy(array).astype(np.float64) for array in (accept, out))), note


def emitted(draft: Array, accept: Array, residual: Array) -> Array:
    """out = q b + the mass refused of every token x G_x, from one verdict: asked token by token, a whole-law rule could
    fall on both sides of a threshold in one law."""
    xp, refused = namespace(draft), draft * (1 - accept)
    if residual.ndim == draft.ndim:
        return draft * accept + xp.sum(refused, axis=-1, keepdims=True) * residual
    return draft * accept + xp.sum(refused[..., None] * residual, axis=-2)


def gap(case: Known, answer: Answer, tolerance: float, nudges: Nudges) -> tuple[float, np.ndarray]:
    """Largest difference from the reference, and which verdicts are left out as edges of a threshold, bool [M, S].

    nudges: the ways to look for an edge.
    """
    far = apart(answer, reference(case.figures), case.stack.draft)
    over, edge = ~(far <= tolerance), np.zeros(far.shape, dtype=bool)
    rows = np.flatnonzero(over.any(axis=-1))
    if len(rows):
        edge[rows] = over[rows] & at_edge(case, Answer(*(array[rows] for array in answer)), rows, tolerance, nudges)
    return float(np.where(edge, 0.0, far).max()), edge


def apart(answer: Answer, other: Answer, draft: Array) -> np.ndarray:
    """Largest difference of an acceptance or an output probability, [M, S]; NaN where one is missing.

    Acceptances count where the draft has mass: what is never drafted is never accepted.
    """
    accept, out = (abs(a - b) for a, b in zip(answer, other, strict=True))
    return np.maximum(np.where(draft > 0, accept, 0.0).max(axis=-1), out.max(axis=-1))


def reference(figures: OneToken) -> Answer:
    """The known verdict, in float64."""
    return Answer(figures.accept.astype(np.float64), figures.out.astype(np.float64))


def at_edge(case: Known, answer: Answer, rows: np.ndarray, tolerance: float, nudges: Nudges) -> np.ndarray:
    """Whether the answer is the reference of laws a rounding away: the rule jumps there, bool [rows, S].

    The nudged laws are judged in the numbers of the reference, so an error of the backend's own is not excused.
    """
    near = np.zeros(answer.accept.shape[:-1], dtype=bool)
    for (direction, shares), sign in product(nudges, (1, -1)):
        left = np.flatnonzero(~near.all(axis=-1))
        if not len(left) or (isinstance(direction, Scattered) and len(left) > FEW):
            break
        part = Answer(*(array[left] for array in answer))
        near[left] |= is_reference_of(case, part, rows[left], partial(direction, sign), tolerance, shares)
    return near


def is_reference_of(
    case: Known, answer: Answer, rows: np.ndarray, direction: Callable[..., Array], tolerance: float, shares: Shares
) -> np.ndarray:
    """Whether the answer is the reference of the laws nudged in one direction, bool [rows, S]."""
    laws = case.stack.target[rows], case.stack.draft[rows]
    signs = direction(*laws)
    target, draft = (nudged(law, signs, share * tolerance) for law, share in zip(laws, shares, strict=True))
    stack = Stack([case.stack.pairs[row] for row in rows], draft, target, case.stack.position)
    accept = ask(case.rule, stack).accept
    return apart(answer, reference(measure(case.rule, stack, accept)), draft) <= NUDGED * tolerance


def towards(sign: int, target: Array, draft: Array) -> Array:
    """+1 where the draft is above the target, -1 where it is below: moves TV(p, q)."""
    return sign * np.sign((draft - target).astype(np.float64)).astype(int)


def together(sign: int, target: Array, draft: Array) -> Array:
    """The same everywhere: moves the mass of the whole law, as rounding does."""
    return np.broadcast_to(np.array(sign), target.shape)


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
Shares = tuple[int, int]
"""How much of a nudge goes to the target, and how much to the draft: a threshold may read either."""
Nudges = tuple[tuple[Direction, Shares], ...]
NUDGES: Nudges = (
    *product((towards, together, alternating), ((1, 0), (0, 1))),
    *((Scattered(seed), (1, 1)) for seed in range(32)),
)
FEW = 4
"""Signs at random are tried while no more pairs than these are unexplained: laws with several tokens at an edge are
rare, and a backend that computes another rule differs on far more."""


def nudged(law: Array, signs: Array, step: float) -> Array:
    """The law with every probability scaled by 1 +- step; zeros stay zeros.

    Not renormalised: nor is a law of rounded numbers, and the TV of a point mass or of disjoint laws would not move.
    """
    return law if step == 0 else law * (1 + (Fraction(step) if is_exact(law) else step) * signs)


def leaked(case: Known, answer: Answer, edge: np.ndarray) -> float:
    """Largest probability where both the target and the reference law have none; edges [M, S] are left out."""
    none = (case.stack.target == 0) & (case.figures.out == 0)
    return float(np.where(none.astype(bool) & ~edge[..., None], abs(answer.out), 0.0).max())
