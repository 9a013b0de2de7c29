"""Exact laws of whole runs against the oracle and the target, as equalities of Fractions."""

import math
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from specsim import COUPLINGS, RULES, Law, SpecsimError, Table, exact, random_table, table
from specsim.decoders import DECODERS, Autoregressive, Chain, Jacobi, Race, RelaxedBonus
from specsim.decoding import Rows
from specsim.laws import target_mass
from specsim.rules import Additive, Annealed, ContentAware, Lantern, Lenient
from specsim.verification import carries_state, judges_blocks
from tests import oracle
from tests.test_one_token import plain

F = Fraction
ROUNDING = 1e-12
"""Room for some thousand float64 roundings of masses below 1 (each at most 2**-53)."""

CODEBOOK = [[0, 0], [1, 0], [0, 1]]
POINTS = [[[0, 1]], [[1, 0], [0, 1]], [[0, 1], [1, 0], ["1/2", "1/2"], [1, 0]]]


def pair(vocab: int, length: int, seed: int, zeros: bool = False) -> tuple[Table, Table]:
    """(target, draft) with the codebook that rules with neighbours read."""
    target, draft = (random_table(vocab, length, seed + i, zeros) for i in (0, 100))
    return Table(target.laws, length, CODEBOOK[:vocab]), draft


def flat(law: list, length: int) -> Table:
    """The same law in every context."""
    return table([[law] * len(law) ** n for n in range(length)])


TABLES: dict[str, tuple[Table, Table]] = {
    "V2": pair(2, 4, 1),
    "V2 zeros": pair(2, 4, 2, zeros=True),
    "V3": pair(3, 3, 3),
    "V3 zeros": pair(3, 3, 4, zeros=True),
    "V3 short": pair(3, 2, 9, zeros=True),
    "one token": pair(1, 2, 5),
    "one position": pair(3, 1, 6),
    "points": (table(POINTS, CODEBOOK[:2]), random_table(2, 3, 7)),
    "draft points": (pair(2, 3, 8)[0], table(POINTS)),
}
PLAIN_DECODERS = [
    *(Autoregressive(), Chain(1), Chain(2), Chain(5), RelaxedBonus(1), RelaxedBonus(2), RelaxedBonus(5)),
    *(Jacobi(*args) for args in product((1, 2, 5), COUPLINGS, ("uniform", "onehot")) if args[1] != "gumbel"),
]
"""Every decoder the oracle has; windows and lookaheads reach beyond the sequence."""
NOISY = [
    *(Race(), Race(Chain(2)), Race(RelaxedBonus(1))),
    *(Race(Jacobi(size, tail=tail)) for size in (2, 3) for tail in ("uniform", "onehot")),
    *(Jacobi(*args) for args in product((1, 2, 3), ("gumbel",), ("uniform", "onehot"))),
]


def oracle_of(decoder: Any, target: Table, draft: Table, rule: Any) -> tuple:
    p, q, length = oracle.model_of(target).get, oracle.model_of(draft).get, target.length
    token_wise = plain(rule, target.vocab)
    if isinstance(decoder, Jacobi):
        shape = (target.vocab, length, decoder.window, decoder.continuation, decoder.tail)
        return oracle.jacobi(p, token_wise, *shape)
    relaxed = isinstance(decoder, RelaxedBonus)
    return oracle.chain(p, q, token_wise, length, getattr(decoder, "lookahead", 0), relaxed)


def as_dict(law: Law) -> dict:
    """{sequence: mass} without the zeros."""
    sequences = product(range(law.vocab), repeat=law.length)
    return {x: mass for x, mass in zip(sequences, law.mass, strict=True) if mass}


def compare(law: Law, wanted: oracle.Outcome) -> None:
    """Law, calls, counts per slot: all exactly those of the oracle."""
    assert as_dict(law) == wanted.law
    assert law.call_law == wanted.calls
    assert law.calls == sum(calls * mass for calls, mass in wanted.calls.items())
    assert law.accepted == sum(wanted.kept.values())
    assert law.drafted == sum(wanted.drafted.values())
    assert [list(law.kept), list(law.reached)] == [[c[s] for s in range(len(law.kept))] for c in wanted[2:4]]
    rates = [wanted.kept[slot] / n if (n := wanted.judged[slot]) else None for slot in range(len(law.kept))]
    assert law.acceptance_by_slot == rates
    assert law.total == sum(law.call_law.values()) == 1


@pytest.mark.parametrize("decoder", PLAIN_DECODERS, ids=repr)
@pytest.mark.parametrize("name", TABLES)
def test_strict_runs(decoder: Any, name: str) -> None:
    """Without an end of sequence, and with each token as one (0 is also what unwritten tokens hold)."""
    target, draft = TABLES[name]
    for eos in (None, *range(target.vocab)):
        law = exact(decoder, target, draft, eos=eos)
        wanted = oracle.run(oracle_of(decoder, target, draft, RULES["Strict"]()), target.length, eos)
        compare(law, wanted)
        ends = {x: x.index(eos) + 1 if eos in x else len(x) for x in wanted.law}
        assert law.tokens == sum(mass * ends[x] for x, mass in wanted.law.items())
        if getattr(decoder, "continuation", None) != "maximal_stale":
            assert law.mass.tolist() == target_mass(target, target.length, eos).tolist()
            assert law.tv(target) == sum(law.token_tv(target)) == 0


# Rules of whole blocks and of paths have an oracle of their own, tests/oracle_blocks.py.
RELAXED = [some for rule in RULES.values() if not (judges_blocks(some := rule()) or carries_state(some))]
RELAXED += [Lenient(0.5), Annealed(2.0, 0.7, clamp=False), Additive(0.4)]
RELAXED += [ContentAware(0.5, 0.8), Lantern(1, 0.4)]


@pytest.mark.parametrize("rule", RELAXED, ids=repr)
@pytest.mark.parametrize("name", ["V2", "V3 zeros"])
def test_relaxed_runs(rule: Any, name: str) -> None:
    target, draft = TABLES[name]
    windows = (Jacobi(2), Jacobi(2, "maximal_stale"), Jacobi(3, "maximal"), Jacobi(4, "maximal", "onehot"))
    for decoder, eos in product((Chain(1), Chain(2), RelaxedBonus(1), *windows), (None, 1)):
        law = exact(decoder, target, draft, rule, eos=eos)
        compare(law, oracle.run(oracle_of(decoder, target, draft, rule), target.length, eos))


@pytest.mark.parametrize("decoder", [decoder() for decoder in DECODERS.values()], ids=repr)
@pytest.mark.parametrize("name", ["V2 zeros", "one token"])
def test_every_decoder_is_lossless_as_it_comes(decoder: Any, name: str) -> None:
    target, draft = TABLES[name]
    law = exact(decoder, target, draft)
    assert law.mass.tolist() == target_mass(target, target.length).tolist()


@pytest.mark.parametrize("decoder", NOISY, ids=repr)
@pytest.mark.parametrize("name", ["V2", "V2 zeros", "V3 short", "one token"])
def test_shared_noise_is_lossless(decoder: Any, name: str) -> None:
    target, draft = TABLES[name]
    for eos in (None, 0):
        law = exact(decoder, target, draft, eos=eos)
        assert law.mass.tolist() == target_mass(target, target.length, eos).tolist()
        assert sum(law.call_law.values()) == 1


@pytest.mark.parametrize("decoder", [Race(Chain(2)), Jacobi(2, "gumbel"), Jacobi(3, "gumbel")], ids=repr)
def test_shared_noise_at_three_tokens(decoder: Any) -> None:
    """Three positions of three tokens: cells are polygons, and they number hundreds."""
    target, draft = TABLES["V3 zeros"]
    assert exact(decoder, target, draft).mass.tolist() == target_mass(target, 3).tolist()


@pytest.mark.parametrize("name", ["V2", "V3 zeros"])
def test_in_a_window_of_two_the_coupling_changes_nothing(name: str) -> None:
    """A position is then redrawn once at most, so only the marginal law of its new token matters."""
    target = TABLES[name][0]
    first, *others = (exact(Jacobi(2, c), target) for c in COUPLINGS if COUPLINGS[c].lossless)
    assert all(other.call_law == first.call_law for other in others)


def test_gumbel_and_maximal_over_a_whole_run() -> None:
    """At V = 2 two laws have one maximal coupling, and shared noise is it: a second redraw is the same.

    In a window of three there is no third.  The first redraw never depends on a one-hot tail token; on a
    uniform one it does for maximal and cannot for gumbel, so there the runs differ.
    """
    target = random_table(2, 5, 0)
    names = ("independent", "maximal", "gumbel")
    alone, coupled, shared = (exact(Jacobi(3, name, "onehot"), target) for name in names)
    assert coupled.call_law == shared.call_law != alone.call_law
    assert exact(Jacobi(3, "maximal"), target).calls > exact(Jacobi(3, "gumbel"), target).calls


class OneBlock(NamedTuple):
    """A chain that stops after one target call, whatever it has then."""

    chain: Chain
    needs_draft: bool = True
    takes_rule: bool = True

    def start(self, task: Any, rows: Rows, choose: Any) -> Rows:
        return rows

    def step(self, state: Rows, choose: Any, task: Any) -> tuple:
        (tokens, length), counts = self.chain.step(state, choose, task)
        return Rows(tokens, 0 * length + task.length), counts


def test_figures_of_the_literature() -> None:
    """Expected calls of a strict chain; 10/9 accepted in a block of two, where a joint rule has 11/9."""
    assert exact(Chain(2), flat([0.3, 0.7], 4), flat([0.7, 0.3], 4)).calls == F(302, 125)
    third, two_thirds = F(1, 3), F(2, 3)
    block = exact(OneBlock(Chain(2)), flat([third, two_thirds], 3), flat([two_thirds, third], 3))
    assert (block.accepted, block.calls, block.acceptance_by_slot) == (F(10, 9), 1, [F(2, 3)] * 2)


@pytest.mark.parametrize("decoder", [Chain(2), Race(), *(Jacobi(2, name) for name in COUPLINGS)], ids=repr)
def test_float64_follows_the_fractions(decoder: Any) -> None:
    target, draft = TABLES["V3 zeros"]
    law, close = exact(decoder, target, draft), exact(decoder, target.floats(), draft.floats())
    assert close.mass.dtype == np.float64
    assert np.abs(law.mass.astype(float) - close.mass).max() < ROUNDING
    assert close.calls == pytest.approx(float(law.calls), abs=ROUNDING)
    assert [float(k) for k in law.kept] == pytest.approx(list(close.kept), abs=ROUNDING)


def relaxed_law() -> tuple[Law, Table, dict, dict]:
    """A biased law and its target, as dicts too."""
    target, draft = TABLES["V2"]
    law = exact(Chain(2), target, draft, Lenient(2))
    return law, target, as_dict(law), as_dict(exact(Autoregressive(), target))


def test_distances() -> None:
    law, target, mine, theirs = relaxed_law()
    assert law.tv(target) == sum(abs(mine[x] - theirs[x]) for x in theirs) / 2 > 0
    assert law.max_ratio(target) == max(mine[x] / theirs[x] for x in mine) <= 2**4
    by_hand = sum(float(mass) * math.log(mass / theirs[x]) for x, mass in mine.items())
    assert law.kl(target) == pytest.approx(by_hand, abs=ROUNDING)
    assert sum(law.token_kl(target)) == pytest.approx(law.kl(target), abs=ROUNDING)
    assert law.tokens_per_call == 4 / law.calls
    other = exact(Autoregressive(), target)
    assert (law.tv(other), law.max_ratio(other)) == (law.tv(target), law.max_ratio(target))


def test_marginals_and_token_distances() -> None:
    law, target, mine, theirs = relaxed_law()

    def mass(of: dict, *prefix: int) -> Fraction:
        return sum((m for x, m in of.items() if x[: len(prefix)] == prefix), F(0))

    for n in range(4):
        assert law.marginals[n].tolist() == [sum(m for x, m in mine.items() if x[n] == v) for v in (0, 1)]
        prefixes = list(product((0, 1), repeat=n))
        shares = {x: mass(theirs, *x, 0) / mass(theirs, *x) for x in prefixes}
        # At V = 2 the distance of two laws is their gap at one token.
        gaps = [abs(mass(mine, *x, 0) - mass(mine, *x) * shares[x]) for x in prefixes]
        assert law.token_tv(target)[n] == sum(gaps)


@pytest.mark.parametrize("decoder", [Jacobi(2, "gumbel"), Race(Jacobi(2))], ids=repr)
@pytest.mark.parametrize("length", [2, 7])
def test_shared_noise_beyond_three_tokens_is_refused_for_what_it_is(decoder: Any, length: int) -> None:
    """Also where an estimate comes first: the reason is the vocabulary, not the memory."""
    with pytest.raises(SpecsimError, match="exact for vocab 1, 2 and 3, not 4"):
        exact(decoder, random_table(4, length, 1).floats())


def test_what_is_far_too_large_is_refused_by_an_estimate() -> None:
    """Before any work on it, with a length that would fit; a fork's own refusal speaks of rows instead."""
    with pytest.raises(SpecsimError, match=r"needs about 10\^\d\.\d bytes.*length \d would fit"):
        exact(Jacobi(4, "maximal"), random_table(3, 8, 1).floats(), budget=2**20)
