"""A user's `flow` must belong to its `block`: every mutant is one line, every shipped rule passes."""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from specsim import Band, BlockVerification, Cactus, FuzzyKL, Lantern, Lenient, SpecsimError, Strict, cli, flows
from specsim.arrays import Array, number
from specsim.checking.block_flows import require_flow
from specsim.checking.result import check, require_rule
from specsim.checking.whole_blocks import vocabs_of
from specsim.flows import Flow
from specsim.verification import Block, Drafted

SHIPPED = [
    *(BlockVerification(), BlockVerification(Lenient(1.5)), BlockVerification(Cactus(0.1))),
    *(BlockVerification(Lantern(k=1, delta=0.4)), BlockVerification(FuzzyKL()), Band(1.0), Band(1.5), Band(4.0)),
]
RIGHT = BlockVerification(Lenient(1.5))


@dataclass(frozen=True)
class Flowing:
    """Relaxed block verification whose flow is changed; what `change` gets is (state, flow, carry, slot)."""

    change: Callable[..., Any]
    rule: ClassVar[Any] = RIGHT

    def block(self, drafted: Drafted) -> Block:
        return self.rule.block(drafted)

    def begin(self, like: Array) -> Any:
        return self.rule.begin(like)

    def flow(self, state: Any, draft: Array, target: Array, slot: int) -> Any:
        return self.change(state, *self.rule.flow(state, draft, target, slot), slot)

    def __repr__(self) -> str:
        return f"Flowing({self.change.__name__})"


def as_it_is(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    return right, carry


def in_floats_only(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    return Flow(*(np.sqrt(part.astype(np.float64)) ** 2 for part in right)), carry


def kept_doubled(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    return right._replace(kept=2 * right.kept), carry


def more_kept(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    """Still a law: a part of what is corrected is called kept."""
    part = right.corrected / number(8, right.kept)
    return Flow(right.kept + part, right.corrected - part), carry


def less_kept(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    part = right.kept / number(8, right.kept)
    return Flow(right.kept - part, right.corrected + part), carry


def swapped_corrections(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    return right._replace(corrected=right.corrected[:, ::-1]), carry


def below_zero(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    return Flow(right.law + 1, 0 * right.law - 1), carry


def wrong_later(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    return less_kept(state, right, carry, slot) if slot == 2 else (right, carry)


def forgetful(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    """Every slot begins anew."""
    return right, lambda token: RIGHT.begin(0 * carry(token).weight)


def not_a_number(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    return right._replace(kept=right.kept.astype(np.float64) * np.nan), carry


MUTANTS = [
    (kept_doubled, r"its `flow` kept \+ corrected sums to \S+, not to 1, at slot 0 of a block of 1 drafts after \[\]"),
    (more_kept, r"keeps of a token a mass of \S+ more than is drafted|keeps a mass of \S+ of token \d, `block` \S+,"),
    (less_kept, r"keeps a mass of \S+ of token \d, `block` \S+, at slot 0"),
    (swapped_corrections, r"corrects a mass of \S+ to token \d, `block` \S+, at slot \d"),
    (below_zero, r"corrected holds -\S+, not a probability"),
    (wrong_later, r"at slot 2 of a block of 3 drafts after \[\d, \d\]"),
    (forgetful, r"at slot [12] of a block of \d drafts after \[\d(, \d)?\]"),
    (not_a_number, r"kept holds nan, not a probability"),
]


@pytest.mark.parametrize("rule", [*SHIPPED, Flowing(as_it_is), Flowing(in_floats_only)], ids=repr)
def test_a_flow_that_belongs_to_its_block_passes(rule: Any) -> None:
    require_flow(rule, None, vocabs_of(rule), True)


@pytest.mark.parametrize(("change", "line"), MUTANTS, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("exact_too", [True, False])
def test_a_flow_of_another_rule_is_one_line(change: Any, line: str, exact_too: bool) -> None:
    with pytest.raises(SpecsimError) as caught:
        require_flow(Flowing(change), None, (2, 3), exact_too)
    said = str(caught.value)
    assert said.startswith("Flowing(") and "\n" not in said and len(said) < 400 and re.search(line, said), said


def three(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    return 3


def no_carry(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    return right


def too_narrow(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    return right._replace(corrected=right.corrected[:, :1]), carry


def raising(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    raise KeyError("w\nof slot")


def carry_raises(state: Any, right: Flow, carry: Any, slot: int) -> Any:
    return right, lambda token: token.nothing


NO_FLOWS = [
    (three, r"`flow` returned int at slot 0, not \(Flow\(kept, corrected\), carry\); correct the rule"),
    (no_carry, r"`flow` returned Flow at slot 0, not \(Flow"),
    (too_narrow, r"shape of corrected is \(\d, 1\) at slot 0, must be \(\d, 2\); correct the rule"),
    (raising, r"KeyError: 'w\\nof slot' at .*test_block_flows\.py:\d+; correct the rule"),
    (carry_raises, r"AttributeError: .* at .*test_block_flows\.py:\d+; correct the rule"),
]


@pytest.mark.parametrize(("change", "line"), NO_FLOWS, ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_no_flow_is_one_line(change: Any, line: str) -> None:
    with pytest.raises(SpecsimError) as caught:
        require_flow(Flowing(change), None, (2, 3), True)
    said = str(caught.value)
    assert said.startswith("Flowing(") and "\n" not in said and re.search(line, said), said


@pytest.mark.parametrize("asked", [require_rule, lambda rule: check(rule, {})], ids=["require_rule", "check"])
def test_rules_are_asked_for_their_flow(asked: Any) -> None:
    with pytest.raises(SpecsimError, match=r"Flowing\(less_kept\): its `flow` keeps"):
        asked(Flowing(less_kept))


def test_a_flow_that_is_none_is_said_without_a_check() -> None:
    law = np.full((1, 2), 0.5)
    with pytest.raises(SpecsimError, match=r"Flowing\(three\): `flow` returned int"):
        flows.flow(Flowing(three), RIGHT.begin(law[:, 0]), law, law, 0)


@dataclass(frozen=True)
class Blocking:
    """A block that is none."""

    change: Callable[[Block], Any]

    def block(self, drafted: Drafted) -> Any:
        return self.change(BlockVerification(Strict()).block(drafted))

    def __repr__(self) -> str:
        return "Blocking()"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda right: None, r"Blocking\(\): `block` returned NoneType, not a Block\(stop, residual\)"),
        (lambda right: right._replace(stop=right.stop[:, :1]), r"shape of stop is \(\d+, 1\), must be \(\d+, 2\)"),
        (lambda right: right._replace(residual=right.stop), r"shape of residual is \(\d+, 2\), must be \(\d+, 2, \d\)"),
        (lambda right: right._replace(stop=3), r"shape of stop is none, it is a int, must be"),
    ],
)
def test_what_is_no_block_says_what_it_is(change: Any, line: str) -> None:
    with pytest.raises(SpecsimError) as caught:
        require_rule(Blocking(change))
    assert re.match(r"Blocking\(\): ", str(caught.value)) and re.search(line, str(caught.value)), str(caught.value)


OWN = """
from dataclasses import dataclass
from specsim import BlockVerification, Lenient, flows
from specsim.strength import Strength

@dataclass(frozen=True)
class Mine:
    w: float = {w}
    strength = Strength("w", 1.0, 100.0)
    block = lambda self, drafted: BlockVerification(Lenient(self.w)).block(drafted)
    begin = lambda self, like: BlockVerification().begin(like)
    def flow(self, state, draft, target, slot):
        right, carry = BlockVerification(Lenient(self.w)).flow(state, draft, target, slot)
        part = right.corrected * ({part})
        return flows.Flow(right.kept + part, right.corrected - part), carry
"""


@pytest.mark.parametrize(("w", "part", "status"), [(1, "0", 0), (2, ".5", 2), (1, "0 if self.w == 1 else .5", 2)])
def test_tune_refuses_a_flow_of_another_rule(
    w: int, part: str, status: int, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    """The last one is wrong at the strengths that are searched alone."""
    (tmp_path / "own.py").write_text(OWN.format(w=w, part=part))
    words = ["--rule", f"{tmp_path}/own.py:Mine()", "--at-accepted", "2.4", "--lookahead", "3"]
    monkeypatch.setattr(sys, "argv", ["specsim", "tune", *words])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    err = capsys.readouterr().err
    assert stop.value.code == status and (not status or ("its `flow`" in err and "Mine(w=" in err)), err
