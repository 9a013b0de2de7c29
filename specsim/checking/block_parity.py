"""Does a rule that judges blocks say the same of whole blocks on every array backend?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from specsim.arrays import Array, to_numpy
from specsim.checking.codebooks import bound
from specsim.checking.forms import whole
from specsim.checking.parity import Backends, ParityRow
from specsim.checking.validity import NotExact, failure
from specsim.checking.whole_blocks import vocabs_of
from specsim.checking.windows import block_of, in_floats, windows
from specsim.errors import SpecsimError
from specsim.verification import Block, Drafted, Rule, verify


def with_blocks(rows: tuple[ParityRow, ...], rule: Rule, codebook: Any, backends: Backends) -> tuple[ParityRow, ...]:
    """The rows of a parity table with whole blocks looked at too: stops, and what is put where a block stops."""
    if not whole(rule):
        return rows
    everywhere: Backends = {"numpy": np.asarray, **backends}
    ready = [(bound(rule, some.target.shape[-1], codebook), some) for some in windows(vocabs_of(rule), True)]
    return tuple(joined(row, ready, everywhere[row.backend]) for row in rows)


def joined(row: ParityRow, ready: list[tuple[Rule, Drafted]], convert: Callable[[np.ndarray], Array]) -> ParityRow:
    """One row of the table with the largest difference of its blocks."""
    if row.difference is None:
        return row
    worst, leak = 0.0, 0.0
    for rule, some in ready:
        try:
            gap, off = compared(rule, some, convert, row.numbers)
        except Exception as error:
            told = str(error) if isinstance(error, SpecsimError) else failure(rule, error)
            return ParityRow(row.backend, row.numbers, None, row.tolerance, 0.0, row.edges, f"in a block: {told}")
        worst, leak = float(np.maximum(worst, gap)), float(np.maximum(leak, off))
    if not (np.isfinite(worst) and np.isfinite(leak)):
        return ParityRow(row.backend, row.numbers, None, row.tolerance, 0.0, row.edges, "in a block: not a number")
    note = [row.note] * bool(row.note) + ["the largest is of whole blocks"] * (worst > row.difference)
    return ParityRow(
        *(row.backend, row.numbers, max(worst, row.difference), row.tolerance, max(leak, row.leak), row.edges),
        "; ".join(note),
    )


def compared(rule: Rule, some: Drafted, convert: Callable[[np.ndarray], Array], numbers: str) -> tuple[float, float]:
    """Largest difference of a stop or of the mass put on a token, and the mass put where the reference puts none."""
    found, wanted = outcome(on_backend(rule, some, convert, numbers)), outcome(reference(rule, some))
    gaps = [float(abs(a - b).max()) for a, b in zip(found, wanted, strict=True)]
    return float(np.max(gaps)), float(np.where(wanted[1] == 0, abs(found[1]), 0.0).max())


def reference(rule: Rule, some: Drafted) -> Block:
    """The block in Fractions, or in float64 where the rule has none."""
    try:
        return block_of(rule, some)
    except NotExact:
        return block_of(rule, in_floats(some))


def on_backend(rule: Rule, some: Drafted, convert: Callable[[np.ndarray], Array], numbers: str) -> Block:
    """The block that a backend computes."""
    laws = [convert(np.array(law, dtype=numbers)) for law in (some.draft, some.target)]
    rest = [convert(np.array(array)) for array in (some.tokens, some.real, some.position)]
    with np.errstate(all="ignore"):
        block = verify(rule, Drafted(*laws, *rest))
    if type(block.stop) is not type(laws[0]):
        raise SpecsimError(f"laws in a {type(laws[0]).__name__} give a block in a {type(block.stop).__name__}")
    return block


def outcome(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """stop [B, S] and the mass put on every token, stop x residual [B, S, V], in float64."""
    stop, residual = (np.asarray(to_numpy(array), dtype=np.float64) for array in block)
    return stop, np.where(stop[..., None] > 0, stop[..., None] * residual, 0.0)
