"""The table of pairs: exact laws, in the right groups, smallest first."""

from fractions import Fraction

import numpy as np
import pytest

from specsim.checking.pairs import GROUPS, SLOTS, Pair, all_pairs, group_of, pair, stacks

PAIRS = all_pairs()


def named(name: str) -> Pair:
    return next(some for some in PAIRS if some.name == name)


def test_every_entry_is_a_law_of_fractions() -> None:
    for some in PAIRS:
        for law in (some.target, some.draft):
            assert all(type(entry) is Fraction and entry >= 0 for entry in law)
            assert sum(law) == 1
        assert len(some.target) == len(some.draft)


def test_names_are_unique_and_every_group_has_pairs() -> None:
    assert len({some.name for some in PAIRS}) == len(PAIRS)
    assert {some.group for some in PAIRS} == set(GROUPS)


def test_smallest_first_by_vocabulary_then_largest_denominator_then_their_sum() -> None:
    assert [some.size for some in PAIRS] == sorted(some.size for some in PAIRS)
    assert pair("x", "1/2 1/2", "1/4 3/4").size == (2, 4, 2 + 2 + 4 + 4)
    assert pair("x", "1/2 1/2", "0 1").size == (2, 2, 2 + 2 + 1 + 1)


def test_the_pairs_that_claims_hang_on_are_there_as_fractions() -> None:
    canonical = named("canonical pair")
    twentieths = (6, 4, 3, 2, 2, 1, 1, 1)
    assert canonical.target == tuple(Fraction(n, 20) for n in twentieths)
    assert canonical.draft == canonical.target[::-1]
    trap, gsd = named("LANTERN trap pair"), named("GSD refutation pair")
    assert trap.target == tuple(Fraction(n, 10) for n in (1, 1, 4, 4))
    assert trap.draft == (Fraction(1, 2), Fraction(1, 2), 0, 0)
    assert (gsd.target, gsd.draft) == (
        tuple(Fraction(n, 4) for n in (1, 1, 2)),
        tuple(Fraction(n, 4) for n in (2, 1, 1)),
    )
    assert {some.group for some in (canonical, trap, gsd)} == {"published"}


@pytest.mark.parametrize(
    ("target", "draft", "group"),
    [
        ("1", "1", "one token"),
        ("0 1", "0 1", "equal"),
        ("1 0", "0 1", "disjoint"),
        ("1 0", "1/2 1/2", "point masses"),
        ("1/2 1/2", "0 1", "point masses"),
        ("1/2 1/2 0", "1/4 1/4 1/2", "target zeros"),
        ("1/4 1/4 1/2", "1/2 1/2 0", "draft zeros"),
        ("1/3 2/3 0", "2/3 1/3 0", "shared zeros"),
        ("1/2 1/4 1/4", "1/4 1/2 1/4", "ties"),
        ("1/2 1/2", "1/3 2/3", "full support"),
    ],
)
def test_groups_follow_from_the_laws(target: str, draft: str, group: str) -> None:
    laws = [tuple(Fraction(x) for x in law.split()) for law in (target, draft)]
    assert group_of(*laws) == group


def test_random_pairs_repeat_and_hold_zeros() -> None:
    random = [some for some in PAIRS if some.group == "random"]
    assert random == [some for some in all_pairs() if some.group == "random"]
    assert {some.vocab for some in random} == {2, 3, 4, 5}
    assert sum(0 in some.target for some in random) > len(random) // 4


def test_stacks_have_a_block_of_slots_and_cannot_be_written() -> None:
    for dtype in (object, np.float64):
        piles = stacks(PAIRS, dtype)
        assert sum(len(pile.pairs) for pile in piles) == len(PAIRS)
        for pile in piles:
            vocab = pile.pairs[0].vocab
            assert pile.draft.shape == pile.target.shape == (len(pile.pairs), len(SLOTS), vocab)
            assert pile.draft.dtype == dtype and tuple(pile.position) == SLOTS
            assert tuple(pile.target[-1, 2]) == tuple(np.array(pile.pairs[-1].target, dtype=dtype))
            with pytest.raises(ValueError, match="read-only"):
                pile.draft[0, 0, 0] = 0
