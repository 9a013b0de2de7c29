"""The rule on laws that a real model met, one for each drafted token.

Everything is float64 on renormalised laws, so what is measured is the rule, not the precision of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from specsim.arrays import Array, divide, normalise
from specsim.checking.forms import by_token
from specsim.checking.met_file import Met
from specsim.checking.onetoken import OneToken, figures
from specsim.checking.pairs import Stack
from specsim.checking.validity import ask, guarded, require_valid, shaped
from specsim.errors import SpecsimError
from specsim.verification import Rule, Verdict, judges_blocks

MET_SLACK = 1e-9
"""What counts as 0 in a TV or a line distance here: float64 sums over 65,536 tokens round to below 2e-11."""
CHUNK = 2**22
"""Numbers in one array while laws are judged, 32 MiB in float64; a rule holds about ten such arrays at once."""
ONE_LAW, TOKEN_WORK = 2**25, 2**28
"""An `at` rule is asked for every token of a law: numbers that one law may need at most (256 MiB), and all of them
together (a few seconds)."""
FIGURES = ("acceptance", "tv", "distance", "off", "ratio", "strict acceptance")
"""What is measured; the last is 1 - TV(p, q), what the strict rule would accept."""


@dataclass(frozen=True)
class MetLaws:
    """The one-token figures over real laws.

    laws, judged: rows in the file, and rows put to the rule; mean, maximum: by the names of `FIGURES`, empty when no
    row was judged; worst: the row of the largest TV; skipped: what was left out, in words.
    """

    file: str
    laws: int
    vocab: int
    judged: int
    mean: dict[str, float]
    maximum: dict[str, float]
    worst: int | None
    skipped: str

    @property
    def lossless(self) -> bool:
        """No bias beyond rounding, and no mass off the support."""
        return not self.judged or (self.maximum["tv"] <= MET_SLACK and self.maximum["off"] == 0)

    @property
    def on_line(self) -> bool:
        """On the Pareto line up to rounding."""
        return not self.judged or self.maximum["distance"] <= MET_SLACK


def judge(rule: Rule, met: Met, progress: Callable[[int, int], None]) -> MetLaws:
    """Put the laws to the rule, a chunk at a time.  progress(laws done, laws) is called after each."""
    count, vocab = met.draft.shape
    rows, skipped = affordable(rule, count, vocab)
    step = max(1, CHUNK // cost(rule, vocab))
    parts = [np.zeros((0, len(FIGURES)))]
    for first in range(0, len(rows), step):
        parts.append(chunk(rule, met, rows[first : first + step]))
        progress(min(first + step, len(rows)), len(rows))
    table = np.concatenate(parts)
    if not len(table):
        return MetLaws(met.name, count, vocab, 0, {}, {}, None, skipped)
    mean, top = (dict(zip(FIGURES, f(table, axis=0).tolist(), strict=True)) for f in (np.mean, np.max))
    return MetLaws(met.name, count, vocab, len(rows), mean, top, int(rows[np.argmax(table[:, 1])]), skipped)


def cost(rule: Rule, vocab: int) -> int:
    """Numbers one law needs: V x neighbours, and V times as many where the rule is asked token by token."""
    return (vocab if by_token(rule) and not flowing(rule) else 1) * vocab * (1 + min(getattr(rule, "reach", 0), vocab))


def affordable(rule: Rule, count: int, vocab: int) -> tuple[np.ndarray, str]:
    """Rows that will be judged, evenly spread over the file, and in words what is left out."""
    need = cost(rule, vocab)
    most = count if flowing(rule) or not by_token(rule) else min(count, TOKEN_WORK // need) if need <= ONE_LAW else 0
    if most == count:
        return np.arange(count), ""
    why = f"the replacement depends on the token, {need:,} numbers for each law"
    return np.arange(most) * count // max(most, 1), f"{count - most:,} of {count:,} laws not judged: {why}"


def chunk(rule: Rule, met: Met, rows: np.ndarray) -> np.ndarray:
    """The figures of some laws, [rows, FIGURES]."""
    draft, target = (as_laws(values[rows]) for values in (met.draft, met.target))
    with np.errstate(all="ignore"):
        accept, out = outcome(rule, Stack((), draft, target, met.slot[rows]), f"of {met.name}", rows)
    seen: OneToken = figures(draft, target, accept, out)
    strict = np.minimum(draft, target).sum(axis=-1)
    return np.stack([1 - seen.reject, seen.tv, seen.distance, seen.off, seen.ratio, strict], axis=-1)


def as_laws(values: np.ndarray) -> np.ndarray:
    """Stored laws as float64 laws that sum to 1."""
    laws = values.astype(np.float64)
    return laws / laws.sum(axis=-1, keepdims=True)


def outcome(rule: Rule, stack: Stack, file: str, rows: np.ndarray) -> tuple[Array, Array]:
    """(accept, out) [m, V].  A whole-law rule needs no more than out = q b + r G: nothing of size V x V is built."""
    if flowing(rule):
        return first_flow(rule, stack, file, rows)
    answer = shaped(rule, guarded(rule, ask, rule, stack), stack.draft)
    verdict = Verdict(*(guarded(rule, np.asarray, array, np.float64) for array in answer))
    require_valid(rule, verdict, stack.draft, lambda index: f"law {rows[index[0]]} {file}", MET_SLACK)
    refused = stack.draft * (1 - verdict.accept)
    if by_token(rule):
        replaced = (refused[..., None] * verdict.residual).sum(axis=-2)
    else:
        replaced = refused.sum(axis=-1, keepdims=True) * verdict.residual
    return verdict.accept, stack.draft * verdict.accept + replaced


def flowing(rule: Rule) -> bool:
    """A rule of whole blocks that says itself what a slot does to all tokens at once."""
    return judges_blocks(rule) and hasattr(rule, "flow") and hasattr(rule, "begin")


def first_flow(rule: Rule, stack: Stack, file: str, rows: np.ndarray) -> tuple[Array, Array]:
    """(accept, out) [m, V] at the first slot of a block, where nothing of size V x V is needed."""
    state = guarded(rule, rule.begin, stack.target[:, 0])
    kept, corrected = guarded(rule, rule.flow, state, stack.draft, stack.target, 0)[0]
    accept = divide(kept, stack.draft, 0.0)
    verdict = Verdict(accept, normalise(corrected, stack.target))
    require_valid(rule, verdict, stack.draft, lambda index: f"law {rows[index[0]]} {file}", MET_SLACK)
    out = kept + corrected
    far = abs(out.sum(axis=-1) - 1)
    if not far.max() <= MET_SLACK:
        row = int(np.argmax(far))
        raise SpecsimError(f"{rule!r}: its flow sums to {out[row].sum():.12g}; law {rows[row]} {file}")
    return accept, out
