"""How large the program of a limit is, counted before it is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from specsim.errors import TooLarge

GIB = 2**30
BYTES_FIXED = 64 * 2**20
BYTES_EACH = 1000


class Size(NamedTuple):
    """Of models without zeros.  rows, columns, nonzeros: what a verifier can do, and its cost; cells, entries: rows and
    non-zeros of the law put out."""

    rows: int
    columns: int
    nonzeros: int
    cells: int
    entries: int

    @property
    def bytes(self) -> int:
        """Memory of the program and of its solver, on the high side."""
        return BYTES_FIXED + BYTES_EACH * (self.nonzeros + self.entries + self.rows + self.columns + self.cells)


SizeOf = Callable[[int, int, int], Size]
"""(vocab, lookahead, length) -> Size."""


def prefixes(vocab: int, depth: int) -> int:
    """Paths shorter than `depth`: 1 + V + .. + V**(depth - 1)."""
    return sum(vocab**n for n in range(depth))


def block_size(vocab: int, lookahead: int, length: int) -> Size:
    """Of a block, whatever its decisions look at."""
    judged, sequences = prefixes(vocab, lookahead), vocab**lookahead
    drafts = vocab * judged
    rows, columns, nonzeros = drafts + judged + 2, 2 * drafts + 1, 2 * drafts + (2 * vocab + 1) * judged + 1 + drafts
    return Size(rows, columns, nonzeros, sequences, (lookahead + 1) * sequences)


def run_size(vocab: int, lookahead: int, length: int) -> Size:
    """Of a whole run, whatever its decisions look at."""
    decided, handed = rounds_size(vocab, lookahead, length), 0
    for n, size in round_sizes(lookahead, length):
        handed += vocab ** (n + size + 1) * (n + size + 1 < length)
    entries = sum(vocab**length for n, size in round_sizes(lookahead, length) if n + size + 1 == length)
    return decided._replace(nonzeros=decided.nonzeros + handed, entries=entries)


def free_run_size(vocab: int, lookahead: int, length: int) -> Size:
    """Of a whole run whose bonus tokens follow any law: one for each path at which a whole block can end."""
    decided = rounds_size(vocab, lookahead, length)
    alive = sum(vocab ** (n + size) for n, size in round_sizes(lookahead, length))
    ends = {n + size for n, size in round_sizes(lookahead, length)}
    laws, tokens = sum(vocab**n for n in ends), sum(vocab ** (n + 1) for n in ends)
    handed = tokens - vocab**length
    nonzeros = decided.nonzeros + alive + tokens + handed
    return decided._replace(
        rows=decided.rows + laws, columns=decided.columns + tokens, nonzeros=nonzeros, entries=vocab**length
    )


def round_sizes(lookahead: int, length: int) -> list[tuple[int, int]]:
    """(tokens before a round, drafts in it)."""
    return [(n, min(lookahead, length - n - 1)) for n in range(length)]


def rounds_size(vocab: int, lookahead: int, length: int) -> Size:
    """Of the rounds of a run but for their bonus tokens."""
    rows, columns, nonzeros = 1, 0, 0
    for n, size in round_sizes(lookahead, length):
        starts, judged = vocab**n, prefixes(vocab, size)
        drafts = vocab * judged
        rows += starts * (1 + drafts + judged)
        columns += starts * (1 + 2 * drafts)
        # A start and its cost; the drafts, each of which may be replaced, and what that hands to a later round.
        nonzeros += starts * (2 + 3 * drafts + (2 * vocab + 1) * judged)
    return Size(rows, columns, nonzeros, vocab**length, 0)


def refuse_too_large(size_of: SizeOf, vocab: int, lookahead: int, length: int, memory: float, run: bool) -> None:
    """TooLarge when the program is estimated to take more than `memory` GiB, with the size that would fit."""
    size = size_of(vocab, lookahead, length)
    if size.bytes <= memory * GIB:
        return
    longest = length if run else lookahead
    fits = [n for n in range(1, longest) if size_of(vocab, lookahead if run else n, n).bytes <= memory * GIB]
    name = "length" if run else "lookahead"
    advice = f"{name} {max(fits)} would fit" if fits else f"no {name} would fit: take a smaller vocabulary"
    program = f"{size.rows:,} rows, {size.columns:,} columns and {size.nonzeros + size.entries:,} non-zeros"
    raise TooLarge(
        f"frontier: {name} {longest} at vocab {vocab} is a program of {program}, about {size.bytes / GIB:.2g} GiB, "
        f"above the {memory:g} GiB of memory; {advice}"
    )
