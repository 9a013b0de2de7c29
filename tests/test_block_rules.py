"""Rules that judge whole blocks, against a second implementation, in Fractions."""

import math
from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest

from specsim import Chain, Jacobi, Lenient, SpecsimError, Strict, exact, output_law, random_table, table
from specsim.comparing.command import TOYS
from specsim.rules.block import BlockVerification
from specsim.rules.ledger import Ledger
from specsim.table_files import read_table
from tests import oracle, oracle_blocks


def same(decoder: Any, rule: Any, judge: Any, vocab: int, length: int, lookahead: int, seed: int) -> None:
    # Odd seeds have zeros: what the draft puts where the target never is has an account of its own in the ledger.
    target, draft = (random_table(vocab, length, seed + some, zeros=seed % 2 == 1) for some in (0, 1000))
    law = exact(decoder, target, draft, rule)
    models = oracle.model_of(target), oracle.model_of(draft)
    wanted = oracle.run(oracle_blocks.chain(models[0].get, models[1].get, judge, length, lookahead), length)
    mass = dict(zip(sorted(wanted.law), [wanted.law[x] for x in sorted(wanted.law)], strict=True))
    found = {x: m for x, m in zip(sequences(vocab, length), law.mass, strict=True) if m}
    assert found == {x: m for x, m in mass.items() if m}
    assert law.call_law == dict(wanted.calls)
    assert law.kept == tuple(wanted.kept[i] for i in range(len(law.kept)))


def sequences(vocab: int, length: int) -> list[tuple]:
    return list(product(range(vocab), repeat=length))


CASES = [(2, 4, 3, seed) for seed in range(6)] + [(3, 3, 2, seed) for seed in range(6)] + [(2, 5, 2, 1), (1, 3, 2, 0)]
CASES += [(3, 4, 3, seed) for seed in (7, 9, 11)]


@pytest.mark.parametrize(("vocab", "length", "lookahead", "seed"), CASES)
def test_block_verification(vocab: int, length: int, lookahead: int, seed: int) -> None:
    same(Chain(lookahead), BlockVerification(), oracle_blocks.block_verification, vocab, length, lookahead, seed)


@pytest.mark.parametrize(("vocab", "length", "lookahead", "seed"), CASES)
@pytest.mark.parametrize(("w", "nu"), [(1.5, 3.0), (4.0, 0.5), (1.0, 3.0)])
def test_the_ledger(vocab: int, length: int, lookahead: int, seed: int, w: float, nu: float) -> None:
    omegas = [max(F(1), F(str(w)) * F(math.exp(-nu * i))) for i in range(lookahead)]
    same(Chain(lookahead), Ledger(w, nu), oracle_blocks.ledger(omegas), vocab, length, lookahead, seed)


@pytest.mark.parametrize("seed", range(4))
def test_block_verification_is_lossless_and_never_slower_than_strict(seed: int) -> None:
    target, draft = random_table(3, 4, seed), random_table(3, 4, seed + 50)
    law, strict = (exact(Chain(3), target, draft, rule) for rule in (BlockVerification(), Strict()))
    assert law.tv(target) == 0 and law.calls <= strict.calls
    assert exact(Jacobi(3), target, rule=BlockVerification()).tv(target) == 0


@pytest.mark.parametrize("seed", range(4))
def test_the_ledger_at_one_is_strict(seed: int) -> None:
    target, draft = random_table(3, 3, seed), random_table(3, 3, seed + 50)
    law, strict = (exact(Chain(2), target, draft, rule) for rule in (Ledger(1.0), Strict()))
    assert (law.mass == strict.mass).all() and law.call_law == strict.call_law


def test_a_joint_rule_is_refused_in_a_coupled_window() -> None:
    with pytest.raises(SpecsimError, match="biased where a window is redrawn by a coupling"):
        exact(Jacobi(2, "maximal"), random_table(2, 3, 1), rule=BlockVerification())


@pytest.mark.parametrize("rule", [BlockVerification(), Ledger(1.5), Ledger(1.0)], ids=repr)
def test_one_block_alone_is_the_one_token_law(rule: Any) -> None:
    """A block of one draft: block verification is strict there, the ledger lenient with w."""
    target, draft = (random_table(4, 1, seed).laws[0] for seed in (1, 2))
    same = Lenient(rule.w) if isinstance(rule, Ledger) else Strict()
    slot = np.array(0)
    assert (output_law(rule, draft, target, slot) == output_law(same, draft, target, slot)).all()


@pytest.mark.parametrize("w", [732.2538337604533, 1.7, 3.0, 40.0])
def test_in_floats_no_acceptance_passes_1(w: float) -> None:
    """The first w once gave b = 1 + 2e-16, and the run was refused."""
    target, draft = (read_table(TOYS / f"fashion_{name}.json").floats() for name in ("target", "draft"))
    law = exact(Chain(3), target, draft, Ledger(w))
    assert abs(law.mass.sum() - 1) < len(law.mass) * np.finfo(float).eps


def test_the_ledger_spends_on_the_support_alone() -> None:
    """p = (1/2, 1/2, 0); q = (1, 0, 0), then (1/2, 1/10, 2/5): 33/20 calls, and 1157/680 if theta were a share of all
    that is left of the draft."""
    half, none = F(1, 2), F(0)
    first, later = [F(1), none, none], [half, F(1, 10), F(2, 5)]
    target = table([[[half, half, none]] * 3**n for n in range(3)], vocab=3)
    draft = table([[first]] + [[later] * 3**n for n in (1, 2)], vocab=3)
    assert exact(Chain(2), target, draft, Ledger(1.5, 3.0)).calls == F(33, 20)
