"""Wrong programs are caught: each check passes for the right one and fails for every mutant of it."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

from proofs_checks.frontiers import verifiers
from proofs_checks.frontiers.divergences import DIVERGENCES, Divergence, chi_square, kl, kl_reverse
from proofs_checks.frontiers.limits import Limit
from proofs_checks.frontiers.masses import Laws, Masses, Terms, laws
from proofs_checks.frontiers.placed import place
from proofs_checks.frontiers.verifiers import Run, Verifier, joint_block, sequential_block, whole_run
from specsim import Chain, Lenient, Table, exact, random_table, table
from specsim.laws import target_mass

CLOSED = 1e-8
"""Values of the programs here are right to this."""


def steady(law: list[F], length: int) -> Table:
    """The same law after every prefix."""
    return table([[law] * len(law) ** n for n in range(length)], vocab=len(law))


P, Q = [F(1, 3), F(2, 3)], [F(2, 3), F(1, 3)]
Make = Callable[[Laws, Laws, int], Verifier]


def near(found: float, wanted: float) -> bool:
    return abs(found - wanted) <= CLOSED


# One draft, everything kept: out = q, at TV 1/3.  Two drafts: 10/9 kept without bias, 1/24 at 11/9.
def check_block(make: Make) -> None:
    one = make(laws(steady(P, 1), 1), laws(steady(Q, 1), 1), 1)
    two = make(laws(steady(P, 2), 2), laws(steady(Q, 2), 2), 2)
    line, toy = (Limit(verifier, DIVERGENCES["tv"]) for verifier in (one, two))
    assert near(line.at(F(1)).value, 1 / 3) and near(line.at(F(5, 6)).value, 1 / 6)
    assert near(toy.at(F(10, 9)).value, 0) and near(toy.at(F(11, 9)).value, 1 / 24)


def without_row(matches: Callable[[Terms, Masses], bool]) -> Make:
    """The sequential block with one row less: the first that matches."""

    def make(target: Laws, draft: Laws, lookahead: int) -> Verifier:
        verifier = sequential_block(target, draft, lookahead)
        masses = verifier.masses
        first = next(i for i, row in enumerate(masses.rows) if matches(row, masses))
        kept = [i for i in range(len(masses.rows)) if i != first]
        rows, right, loose = ([part[i] for i in kept] for part in (masses.rows, masses.right, masses.loose))
        return replace(verifier, masses=Masses(masses.columns, rows, right, loose))

    return make


def names(row: Terms, masses: Masses) -> set:
    """The masses of a row."""
    by_column = {column: key for key, column in masses.columns.items()}
    return {by_column[column] for column in row}


MUTANTS: dict[str, Make] = {
    # Token 1, of which there are too few drafts, may be kept more often than it is drafted.
    "keeps what was not drafted": without_row(lambda row, m: ("kept", (), (1,)) in names(row, m) and len(row) == 2),
    "mass is made in a correction": without_row(lambda row, m: ("corrected", (), (0,)) in names(row, m)),
    "the first round may weigh less": without_row(lambda row, m: names(row, m) == {("start", ())}),
    "decides on the whole block": joint_block,
    "the models are swapped": lambda target, draft, lookahead: sequential_block(
        laws(steady([F(1, 3), F(2, 3)], 2), lookahead), laws(steady([F(1, 3), F(2, 3)], 2), lookahead), lookahead
    ),
}


def test_the_block_passes() -> None:
    check_block(sequential_block)


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_blocks_are_caught(name: str) -> None:
    with pytest.raises(AssertionError):
        check_block(MUTANTS[name])


# N = 4, L = 2, p = (.3, .7), q reversed: bias 0 from 2.362 calls on, strict verification takes more.
def check_run(make: Callable[[Laws, Laws], Verifier]) -> None:
    target, draft = steady([F(3, 10), F(7, 10)], 4), steady([F(7, 10), F(3, 10)], 4)
    run = Limit(make(laws(target, 4), laws(draft, 4)), DIVERGENCES["tv"])
    strict = exact(Chain(2), target, draft)
    assert run.range() == (2, 4) and run.at(F(2360, 1000)).value > 1e-4 and run.at(F(2362, 1000)).value <= CLOSED
    assert run.at(strict.calls).value <= CLOSED
    all_kept = exact(Chain(2), target, draft, Lenient(9))
    assert all_kept.calls == 2 and CLOSED < run.at(F(2)).value <= all_kept.tv(target)


def test_the_run_passes() -> None:
    check_run(lambda target, draft: whole_run(target, draft, 2, 4))


def bonus_of_draft(run: Run, path: tuple[int, ...], alive: int) -> None:
    """A bonus token of the draft's law."""
    for token, share in enumerate(run.pair.draft[path]):
        run.arrives.setdefault((*path, token), {})[alive] = share


def test_a_bonus_that_is_not_the_targets_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError):
        check_run(lambda target, draft: whole_run(target, draft, 2, 4, free_bonus=True))
    monkeypatch.setattr(verifiers, "bonus_of_target", bonus_of_draft)
    with pytest.raises(AssertionError):
        check_run(lambda target, draft: whole_run(target, draft, 2, 4))


def test_a_run_of_another_lookahead_is_caught() -> None:
    with pytest.raises(AssertionError):
        check_run(lambda target, draft: whole_run(target, draft, 3, 4))


# One draft of q = (3/4, 1/4) for p = (1/2, 1/2), all kept: out = q.
def check_divergence(name: str, row: Divergence) -> None:
    target, draft = steady([F(1, 2), F(1, 2)], 1), steady([F(3, 4), F(1, 4)], 1)
    point = Limit(sequential_block(laws(target, 1), laws(draft, 1), 1), row).at(F(1))
    by_hand = {
        "kl": 3 / 4 * np.log(3 / 2) + 1 / 4 * np.log(1 / 2),
        "kl_reverse": 1 / 2 * np.log(2 / 3) + 1 / 2 * np.log(2),
        "chi2": 1 / 8 + 1 / 8,
        "tv": 1 / 4,
        "local": 1 / 4,
        "ratio": 3 / 2,
    }
    assert near(point.value, by_hand[name]) and point.bound is not None and near(float(point.bound), by_hand[name])


@pytest.mark.parametrize("name", DIVERGENCES)
def test_divergences_pass(name: str) -> None:
    check_divergence(name, DIVERGENCES[name])


@pytest.mark.parametrize(("name", "other"), [("kl", kl_reverse), ("kl_reverse", kl), ("kl", chi_square), ("chi2", kl)])
def test_swapped_arguments_are_caught(name: str, other: Callable) -> None:
    with pytest.raises(AssertionError):
        check_divergence(name, replace(DIVERGENCES[name], pose=other))


def test_local_errors_of_the_whole_law_are_caught() -> None:
    """The TV of the block in place of the sum over its tokens: lower than a rule can be."""
    target, draft = random_table(2, 2, 3), random_table(2, 2, 4)
    placed = place(Lenient(3), target, draft, 2)
    verifier = sequential_block(laws(target, 2), laws(draft, 2), 2)
    right, wrong = (
        Limit(verifier, row).at(placed.accepted).value
        for row in (DIVERGENCES["local"], replace(DIVERGENCES["local"], cells=DIVERGENCES["tv"].cells))
    )
    tv = abs(placed.out - target_mass(target, 2)).sum() / 2
    assert wrong <= float(tv) < right <= float(placed.local) + CLOSED
