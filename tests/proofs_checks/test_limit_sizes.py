"""The size of a program, counted before it is built: against the programs themselves, and what is refused."""

import tracemalloc
from itertools import product

import pytest

from proofs_checks.frontiers.limits import KINDS, limit
from proofs_checks.frontiers.memory import BYTES_FIXED, GIB, Size
from specsim import SpecsimError, random_table
from specsim.errors import TooLarge

SHAPES = [(1, 2, 3), (2, 1, 1), (2, 2, 3), (2, 3, 3), (3, 2, 4), (2, 4, 5), (2, 9, 4)]
"""vocab, lookahead, length; a lookahead may be longer than a run."""


@pytest.mark.parametrize(("kind", "shape"), [(k, s) for k, s in product(KINDS, SHAPES)])
def test_sizes_are_those_of_the_programs(kind: str, shape: tuple[int, int, int]) -> None:
    vocab, lookahead, length = shape
    if KINDS[kind].cost == "accepted":
        lookahead = length = min(lookahead, 4)
    target, draft = random_table(vocab, length, 1), random_table(vocab, length, 2)
    built = limit(KINDS[kind], target, draft, lookahead, "tv", length)
    cells = built.cells.terms
    found = Size(*built.rows.shape, len(built.rows.top), cells.shape[0], len(cells.top))
    assert found == KINDS[kind].size(vocab, lookahead, length)


@pytest.mark.parametrize("divergence", ["tv", "kl", "chi2"])
@pytest.mark.parametrize(
    ("kind", "lookahead", "length"), [("block", 5, 5), ("joint", 5, 5), ("run", 3, 5), ("free-run", 3, 5)]
)
def test_the_memory_of_the_program_is_within_the_estimate(
    kind: str, lookahead: int, length: int, divergence: str
) -> None:
    """What Python holds while it is built and solved; the solver's own memory is the rest of the estimate."""
    target, draft = random_table(3, 5, 1), random_table(3, 5, 2)
    tracemalloc.start()
    some = limit(KINDS[kind], target, draft, lookahead, divergence, length)
    some.at(some.range()[0] + (some.range()[1] - some.range()[0]) / 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    growing = KINDS[kind].size(3, lookahead, length).bytes - BYTES_FIXED
    assert growing / 8 < peak < growing


def test_zeros_make_a_program_smaller() -> None:
    target, draft = random_table(3, 3, 1, zeros=True), random_table(3, 3, 2, zeros=True)
    built = limit(KINDS["block"], target, draft, 3, "kl")
    full = KINDS["block"].size(3, 3, 3)
    assert built.rows.shape[0] < full.rows and built.rows.shape[1] < full.columns


@pytest.mark.parametrize(
    ("kind", "lookahead", "memory", "fits"),
    [
        ("block", 8, 0.1, "lookahead"),
        ("joint", 8, 0.1, "lookahead"),
        ("run", 2, 0.1, "length"),
        ("joint-run", 2, 0.1, "length"),
        ("free-run", 2, 0.1, "length"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_size_that_does(
    kind: str, lookahead: int, memory: float, fits: str
) -> None:
    vocab, longest = 3, 8
    target, draft = random_table(vocab, longest, 1), random_table(vocab, longest, 2)
    with pytest.raises(TooLarge) as error:
        limit(KINDS[kind], target, draft, lookahead, "tv", memory=memory)
    words = str(error.value)
    most = int(words.split(f"{fits} ")[-1].split(" would fit")[0])
    size = KINDS[kind].size
    takes = [size(vocab, n if fits == "lookahead" else lookahead, n).bytes / GIB for n in (most, most + 1)]
    assert takes[0] <= memory < takes[1] and "\n" not in words and f"above the {memory:g} GiB" in words


def test_where_nothing_fits_the_vocabulary_is_named() -> None:
    target = random_table(2, 1, 1)
    with pytest.raises(SpecsimError, match=r"no lookahead would fit: take a smaller vocabulary"):
        limit(KINDS["block"], target, target, 1, "tv", memory=0.01)


def test_a_large_vocabulary_is_refused_at_once() -> None:
    """The estimate builds nothing: 512 tokens and 4 drafts would be 10^11 masses."""
    size = KINDS["block"].size(512, 4, 4)
    assert size.columns > 10**11 and size.bytes > 10**13
