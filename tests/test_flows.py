"""What a slot does to the mass of a path, for every form of rule, against the blocks themselves, in Fractions."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specsim import (
    Band,
    BlockVerification,
    Cactus,
    Lantern,
    Ledger,
    Lenient,
    SpecsimError,
    Strict,
    Table,
    Verdict,
    bind_codebook,
    flows,
    output_law,
    random_table,
)
from specsim.arrays import Array
from specsim.flows import Flow
from specsim.rules.ledger import Account
from specsim.verification import Drafted, Step, verify

F = Fraction
CODES = [[0.0], [1.0], [3.0]]
RULES = [
    *(Strict(), Lenient(1.5), bind_codebook(Lantern(k=1, delta=0.4), CODES), Cactus(0.1)),
    *(Ledger(1.0), Ledger(2.0), Ledger(4.0, 0.5), Ledger(1.5, 0.0)),
    *(BlockVerification(), BlockVerification(Lenient(1.5)), BlockVerification(Cactus(0.1))),
    *(Band(1.0), Band(1.5), Band(4.0)),
]
MODELS = [(3, 3, seed, seed > 1) for seed in range(4)]
"""(vocab, drafts, seed, zeros)."""
Masses = Counter[tuple[int, ...]]


def models(vocab: int, drafts: int, seed: int, zeros: bool) -> tuple[Table, Table]:
    """Target and draft; the target has one law more, for the bonus."""
    target, draft = (random_table(vocab, drafts + 1, seed + n, zeros) for n in (0, 100))
    return target, draft


def law(model: Table, path: tuple[int, ...]) -> np.ndarray:
    """The law after a prefix."""
    vocab = model.vocab
    return model.at_length(len(path))[sum(x * vocab ** (len(path) - 1 - n) for n, x in enumerate(path))]


def drafted_paths(draft: Table, drafts: int) -> dict[tuple[int, ...], F]:
    """Every drafted block with its probability."""
    found = {(): F(1)}
    for _ in range(drafts):
        found = {(*path, v): m * q for path, m in found.items() for v, q in enumerate(law(draft, path)) if q}
    return found


def from_blocks(rule: Any, target: Table, draft: Table, drafts: int) -> tuple[Masses, Masses]:
    """(kept, corrected) of every prefix, from the blocks of all drafted paths."""
    kept, corrected = Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
    real = np.arange(drafts + 1)[None] < drafts
    for path, mass in drafted_paths(draft, drafts).items():
        prefixes = [path[:n] for n in range(drafts + 1)]
        laws = [np.stack([law(model, prefix) for prefix in prefixes])[None] for model in (draft, target)]
        tokens = np.array([[*path, 0]])
        block = verify(rule, Drafted(*laws, tokens, real, np.arange(drafts + 1)[None]))
        for n, stop in enumerate(block.stop[0]):
            for i in range(1, n + 1):
                kept[path[:i]] += mass * stop
            for v, g in enumerate(block.residual[0, n]) if n < drafts else ():
                corrected[(*path[:n], v)] += mass * stop * g
    return kept, corrected


def from_flows(rule: Any, target: Table, draft: Table, drafts: int) -> tuple[Masses, Masses]:
    """The same from what each slot does."""
    kept, corrected = Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
    paths = {(): (F(1), flows.begin(rule, target.laws[:1, 0]))}
    for slot in range(drafts):
        found = {}
        for path, (alive, state) in paths.items():
            some, carry = flows.flow(rule, state, law(draft, path)[None], law(target, path)[None], slot)
            assert some.law.sum() == 1 and (some.kept >= 0).all() and (some.corrected >= 0).all()
            for v in range(target.vocab):
                kept[(*path, v)] += alive * some.kept[0, v]
                corrected[(*path, v)] += alive * some.corrected[0, v]
                if some.kept[0, v]:
                    found[(*path, v)] = alive * some.kept[0, v], carry(np.array([v]))
        paths = found
    return kept, corrected


def same(rule: Any, spec: tuple[int, int, int, bool]) -> bool:
    """Whether flows and blocks have the same masses."""
    target, draft = models(*spec)
    first, second = (made(rule, target, draft, spec[1]) for made in (from_blocks, from_flows))
    return all(+a == +b for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_flows_are_what_the_blocks_do(rule: Any) -> None:
    for spec in MODELS:
        assert same(rule, spec)


@dataclass(frozen=True)
class Forgetful(Ledger):
    """Blocks of the ledger; along a path, what is alive is forgotten."""

    def judge(self, account: Account, draft: Array, target: Array, slot: int, tokens: Array) -> Step:
        every = tokens.shape[1] > 1  # only flows ask for all tokens at once
        return super().judge(
            Account(0 * account.alive + F(1), account.owed) if every else account, draft, target, slot, tokens
        )


@dataclass(frozen=True)
class Flowing(BlockVerification):
    """Block verification with another flow."""

    change: Callable[[Any, Flow], Flow] = lambda prefix, right: right

    def flow(self, prefix: Any, draft: Array, target: Array, slot: int) -> tuple[Flow, Any]:
        right, carry = super().flow(prefix, draft, target, slot)
        return self.change(prefix, right), carry


@dataclass(frozen=True)
class FirstSlot(BlockVerification):
    """Every slot flows as the first."""

    def flow(self, prefix: Any, draft: Array, target: Array, slot: int) -> tuple[Flow, Any]:
        return super().flow(self.begin(draft[:, 0]), draft, target, slot)


def strict_mean(prefix: Any, right: Flow) -> Flow:
    """kept and corrected relative to the drafts, not to what is alive."""
    return Flow(right.kept * prefix.weight[:, None], right.corrected * prefix.weight[:, None])


@pytest.mark.parametrize(
    "rule", [Forgetful(2.0), FirstSlot(), Flowing(change=strict_mean)], ids=("forgetful", "first slot", "mean")
)
def test_another_flow_is_seen(rule: Any) -> None:
    def seen() -> bool:
        try:
            return not all(same(rule, spec) for spec in MODELS)
        except AssertionError:  # what is no law is seen too
            return True

    assert seen()


def test_a_flow_at_the_first_slot_is_the_law_of_one_token() -> None:
    for rule in RULES:
        for spec in MODELS:
            target, draft = (model.laws[:1] for model in models(*spec))
            some, _ = flows.flow(rule, flows.begin(rule, target[:, 0]), draft, target, 0)
            assert (some.law == output_law(rule, draft, target, np.array([0]))).all()


@dataclass(frozen=True)
class OnlyBlock:
    """A rule of whole blocks without a flow."""

    def begin(self, like: Array) -> tuple:
        return ()

    def block(self, drafted: Drafted) -> Any:
        return BlockVerification().block(drafted)


def test_a_block_rule_without_a_flow_is_one_line() -> None:
    laws = models(*MODELS[0])[0].laws[:1]
    with pytest.raises(SpecsimError, match="judges whole blocks and has no `flow`"):
        flows.flow(OnlyBlock(), (), laws, laws, 0)


def test_a_single_law_is_put_to_a_rule_as_a_row() -> None:
    """Sums of one law in Fractions are scalars; a rule that indexes them, as for [B, V], once failed."""

    def rule(draft: Any, target: Any, position: Any) -> Verdict:
        level = (draft - target).max(axis=-1)[..., None]
        return Verdict(0 * draft + level, target)

    target, draft = (random_table(3, 1, seed).laws[0] for seed in (1, 2))
    assert output_law(rule, draft, target, np.array(0)).sum() == 1
