"""The figures of blocks along sequences: those of the block's own law, in Fractions, for rules of every form."""

from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from proofs_checks.frontiers.placed import place
from specsim import (
    AdditiveUnmasked,
    Annealed,
    BlockVerification,
    Cactus,
    Ensemble,
    LanternPlus,
    Ledger,
    Lenient,
    SpecsimError,
    Strict,
    Table,
    exact,
    random_table,
    table,
)
from specsim.arrays import at
from specsim.decoders import Autoregressive
from specsim.laws import target_mass
from specsim.tune import blocks as module
from specsim.tune.blocks import Blocks, blocks_along
from specsim.tune.divergences import DIVERGENCES
from specsim.tune.sequences import Sequences, every_block

LOOKAHEAD = 3
LOGARITHMS = 1e-12
"""Rounding of a divergence with logarithms, which are floats."""
ON_SUPPORT = [
    *(Strict(), Lenient(1.5), Annealed(2.0, 0.7), Cactus(0.5), Ledger(2.0), Ledger(5.0, 0.5)),
    *(BlockVerification(), BlockVerification(Lenient(1.5)), LanternPlus(1, 2.0)),
]
OFF_SUPPORT = [AdditiveUnmasked(0.3), Ensemble(0.5), BlockVerification(Ensemble(0.5))]
CODES = [[0.0], [1.0], [3.0]]
SEEDS = (2, 3, 4)


def models(seed: int, zeros: bool) -> tuple[Table, Table]:
    """Two tables; with zeros in both, at different places."""
    target, draft = (random_table(3, LOOKAHEAD, seed + shift, zeros) for shift in (0, 50))
    return Table(target.laws, LOOKAHEAD, CODES), draft


def figures(rule: Any, seed: int, zeros: bool) -> tuple[Sequences, Blocks, Any, Any]:
    """A rule's blocks along all sequences, and its own law by enumeration of drafted blocks."""
    target, draft = models(seed, zeros)
    everything = every_block(target, draft, LOOKAHEAD, "tables")
    return everything, everything.blocks(rule, LOOKAHEAD), place(rule, target, draft, LOOKAHEAD), target


def mean(everything: Sequences, values: Any) -> Any:
    """Weighed by the target, exactly."""
    return (everything.weight * values[:, 0]).sum()


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("rule", ON_SUPPORT, ids=repr)
def test_blocks_along_sequences_are_those_of_the_block(rule: Any, zeros: bool) -> None:
    for seed in SEEDS:
        everything, blocks, placed, target = figures(rule, seed, zeros)
        mass = target_mass(target, LOOKAHEAD)
        assert (blocks.ratio[:, 0] * mass).tolist() == placed.out.tolist()
        assert mean(everything, blocks.accepted) == placed.accepted
        assert mean(everything, blocks.local) == placed.local
        assert mean(everything, DIVERGENCES["tv"].values(blocks)) == abs(placed.out - mass).sum() / 2
        assert not blocks.off.any() and not blocks.unseen.any()


@pytest.mark.parametrize("rule", OFF_SUPPORT, ids=repr)
def test_what_leaves_the_support_is_measured_and_what_is_not_seen_is_bounded(rule: Any) -> None:
    left = behind = 0
    for seed in SEEDS:
        everything, blocks, placed, target = figures(rule, seed, True)
        mass = target_mass(target, LOOKAHEAD)
        off, unseen = mean(everything, blocks.off), mean(everything, blocks.unseen)
        assert off == placed.out[mass == 0].sum()
        assert mean(everything, DIVERGENCES["tv"].values(blocks)) == abs(placed.out - mass).sum() / 2
        for seen, all_of_it in ((blocks.accepted, placed.accepted), (blocks.local, placed.local)):
            assert mean(everything, seen) <= all_of_it <= mean(everything, seen) + unseen
        assert (everything.mean(DIVERGENCES["kl"].values(blocks)).value == np.inf) == (off > 0)
        left, behind = left + off, behind + placed.accepted - mean(everything, blocks.accepted)
    assert left > 0 and behind > 0


@pytest.mark.parametrize("rule", [Lenient(1.5), Ledger(2.0), BlockVerification(Lenient(1.5))], ids=repr)
@pytest.mark.parametrize("zeros", [False, True])
def test_divergences_are_those_of_the_blocks_law(rule: Any, zeros: bool) -> None:
    everything, blocks, placed, target = figures(rule, 4, zeros)
    mass, out = target_mass(target, LOOKAHEAD), placed.out
    seen = mass > 0
    both = seen & (out > 0)
    log = np.log((out[both] / mass[both]).astype(float))
    wanted = {
        "chi2": float(((out[seen] - mass[seen]) ** 2 / mass[seen]).sum()),
        "ratio": float(max(out[seen] / mass[seen])),
        "kl": float((out[both] * log).sum()),
        "kl_reverse": float(-(mass[both] * log).sum()) if (both == seen).all() else np.inf,
    }
    for name, value in wanted.items():
        found = everything.mean(np.asarray(DIVERGENCES[name].values(blocks), dtype=np.float64))
        assert found.value == pytest.approx(value, rel=0, abs=LOGARITHMS) and found.error == 0


def test_every_position_begins_a_block() -> None:
    """Sequences of four tokens with blocks of two: two blocks each, the second given the token before it."""
    target, draft = random_table(2, 4, 1), random_table(2, 4, 2)
    tokens = np.array([[i >> 3 & 1, i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(16)])
    start = np.zeros(16, dtype=np.int64)
    blocks = blocks_along(Ledger(2.0), target(tokens, start, 4), draft(tokens, start, 4), tokens, 2)
    assert blocks.ratio.shape == (16, 2)
    mass = exact(Autoregressive(), target).mass
    assert (mass * blocks.accepted[:, 0]).sum() == place(Ledger(2.0), cut(target, ()), cut(draft, ()), 2).accepted
    later = sum(
        target.laws[0, v] * place(Ledger(2.0), cut(target, (v,)), cut(draft, (v,)), 2).accepted for v in range(2)
    )
    assert (mass * blocks.accepted[:, 1]).sum() == later


def cut(model: Table, prefix: tuple[int, ...]) -> Table:
    """The laws of the two tokens after a prefix."""
    laws = model.laws.tolist()
    rows = {(): 0} | {p: 1 + p[0] for p in ((0,), (1,))} | {(a, b): 3 + 2 * a + b for a in (0, 1) for b in (0, 1)}
    return table([laws[rows[prefix]], [laws[rows[(*prefix, v)]] for v in (0, 1)]])


def test_floats_and_a_sample_come_near() -> None:
    """Sequences drawn from the target: the mean of their blocks is within five standard errors."""
    target, draft = random_table(3, 4, 7), random_table(3, 4, 8)
    law = np.asarray(exact(Autoregressive(), target).mass, dtype=np.float64)
    drawn = np.random.default_rng(0).choice(len(law), size=4000, p=law / law.sum())
    tokens = drawn[:, None] // 3 ** np.arange(3, -1, -1) % 3
    start = np.zeros(len(tokens), dtype=np.int64)
    sample = Sequences("drawn", tokens, target.floats()(tokens, start, 4), draft.floats()(tokens, start, 4))
    blocks = sample.blocks(Lenient(1.5), 3)
    placed = place(Lenient(1.5), target, draft, 3)
    for values, wanted in ((blocks.accepted, placed.accepted), (blocks.local, placed.local), (blocks.ratio, F(1))):
        found = sample.mean(values)
        assert 0 < found.error < 0.1 and abs(found.value - float(wanted)) < 5 * found.error


@pytest.mark.parametrize("lookahead", [0, 4, 9])
def test_a_lookahead_that_does_not_fit_is_refused(lookahead: int) -> None:
    everything = every_block(*models(2, False), LOOKAHEAD, "tables")
    with pytest.raises(SpecsimError, match=rf"lookahead = {lookahead} must be from 1 to 3: sequences have 4 tokens"):
        everything.blocks(Strict(), lookahead)


def never_alive(part: Any, target: Any) -> Any:
    """Off-support mass forgotten."""
    return 0 * part.keeps


def own_of_the_draft(table_: Any, tokens: Any) -> Any:
    """The next token's probability in place of the sequence's own."""
    return at(table_, (tokens + 1) % table_.shape[-1])


@pytest.mark.parametrize(("name", "wrong"), [("off_support", never_alive), ("at", own_of_the_draft)])
def test_wrong_figures_are_caught(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, name, wrong)
    with pytest.raises(AssertionError):
        test_blocks_along_sequences_are_those_of_the_block(Lenient(1.5), False)
        test_what_leaves_the_support_is_measured_and_what_is_not_seen_is_bounded(Ensemble(0.5))


def no_correction(rule: Any, *laws: Any) -> list[Any]:
    """Slots whose corrections are lost."""
    return [part._replace(corrected=0 * part.corrected) for part in RIGHT(rule, *laws)]


def all_go_on(rule: Any, *laws: Any) -> list[Any]:
    """Slots where a corrected token goes on as if it had been accepted."""
    return [part._replace(kept=part.kept + part.corrected) for part in RIGHT(rule, *laws)]


def no_state(rule: Any, *laws: Any) -> list[Any]:
    """Every slot taken for the first."""
    return [RIGHT(rule, *laws)[0]] * LOOKAHEAD


RIGHT = module.slots_along


@pytest.mark.parametrize("wrong", [no_correction, all_go_on, no_state])
def test_wrong_slots_are_caught(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "slots_along", wrong)
    with pytest.raises(AssertionError):
        test_blocks_along_sequences_are_those_of_the_block(Ledger(2.0), False)
