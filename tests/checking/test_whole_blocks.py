"""Rules that judge blocks: what is right for one draft may be wrong in a block, and the check must see it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from specsim import BlockVerification, Ledger, Lenient, SpecsimError, Strict
from specsim.arrays import Array, namespace, number
from specsim.checking.parity import ParityRow
from specsim.checking.result import CheckResult, as_json, check, meets
from specsim.checking.show import render
from specsim.checking.windows import window
from specsim.rules.block import longest
from specsim.rules.ledger import Account
from specsim.verification import Block, Drafted, Step, first_rejection, verify
from tests.checking.test_result import shown

F = Fraction


@dataclass(frozen=True)
class Changed:
    """Block verification with its block changed."""

    change: Callable[[Drafted, Block], Any]

    def block(self, drafted: Drafted) -> Any:
        return self.change(drafted, BlockVerification().block(drafted))

    def __repr__(self) -> str:
        return f"Changed({self.change.__name__})"


def shortest_prefix(drafted: Drafted, right: Block) -> Block:
    """The first prefix that does not pass ends the block; h_i = P(i are kept | no more are) of the longest."""
    stop, one = right.stop, number(1, right.stop)
    fewer = np.cumsum(stop, axis=1)
    passes = np.where(fewer > 0, stop / np.where(fewer > 0, fewer, one), 0 * stop)
    return Block(first_rejection(np.concatenate([passes[:, 1:], 0 * passes[:, :1]], axis=1)), right.residual)


def wrong_in_slot_two(drafted: Drafted, right: Block) -> Block:
    """The third token comes from p where it should come from a residual."""
    third = (np.arange(right.stop.shape[1]) == 2)[None, :, None]
    return right._replace(residual=np.where(third, drafted.target, right.residual))


def nine_tenths(drafted: Drafted, right: Block) -> Block:
    return right._replace(stop=right.stop * number(0.9, right.stop))


def beyond(drafted: Drafted, right: Block) -> Block:
    """Counts a slot that holds no draft as kept."""
    return right._replace(stop=np.roll(right.stop, 1, axis=1))


def negative(drafted: Drafted, right: Block) -> Block:
    return right._replace(residual=2 * right.residual - drafted.target)


def looks_at_the_batch(drafted: Drafted, right: Block) -> Block:
    share = right.stop.mean(axis=0)[None, :]
    return right._replace(stop=(right.stop + share) / 2)


def looks_at_empty_slots(drafted: Drafted, right: Block) -> Block:
    """A window of nothing but token 0 is refused."""
    none = np.arange(right.stop.shape[1]) == 0
    refuse = (drafted.tokens == 0).all(axis=1) & ~drafted.real.all(axis=1)
    return right._replace(stop=np.where(refuse[:, None], none * number(1, right.stop), right.stop))


def no_block(drafted: Drafted, right: Block) -> Any:
    return right.stop


def too_short(drafted: Drafted, right: Block) -> Any:
    return right._replace(stop=right.stop[:, :-1])


def raising(drafted: Drafted, right: Block) -> Any:
    raise KeyError("w\nof slot")


def floats_only(drafted: Drafted, right: Block) -> Block:
    return right._replace(stop=np.sqrt(right.stop.astype(np.float64)) ** 2)


@dataclass(frozen=True)
class Forgetful(Ledger):
    """Does not carry what is alive."""

    def judge(self, account: Account, draft: Array, target: Array, slot: int, tokens: Array) -> Step:
        step = super().judge(account, draft, target, slot, tokens)
        alive, owed = step.state
        return step._replace(state=Account(0 * alive + number(1, alive), owed))


@cache
def checked(rule: Any) -> CheckResult:
    return check(rule, {})


def on_torch(rule: Any) -> list[ParityRow]:
    return list(check(rule, {"torch": torch.asarray}).parity)


WRONG_IN_BLOCKS = [Forgetful(w=1.0), Changed(shortest_prefix), Changed(wrong_in_slot_two)]


@pytest.mark.parametrize("rule", WRONG_IN_BLOCKS, ids=repr)
def test_right_for_one_draft_and_wrong_in_a_block(rule: Any) -> None:
    result = checked(rule)
    assert result.exactness == "exact" and result.tv.value == 0 and result.tv.smallest is None and result.on_line
    assert result.whole is not None and result.whole.tv > 0 and result.whole.exactness == "exact"
    assert result.verdict == "biased" and not meets(result, "lossless") and meets(result, "biased")
    run = result.whole.smallest
    assert run is not None and run.value > 0
    wanted, out = ([F(x) for x in law] for law in (run.wanted, run.out))
    assert sum(wanted) == sum(out) == 1
    assert sum(abs(a - b) for a, b in zip(wanted, out, strict=True)) / 2 == run.value
    assert "biased, but only in whole blocks" in shown(result)


def test_a_block_of_two_drafts_shows_less_than_one_of_three() -> None:
    """The smallest run of a mistake in slot 2 has three drafts."""
    whole = checked(Changed(wrong_in_slot_two)).whole
    assert whole is not None and whole.smallest is not None and "Chain(3)" in whole.smallest.name


NO_RULES: list[tuple[Any, str]] = [
    (
        Changed(nine_tenths),
        r"residual is|stop sums to 9/10, not to 1; block \d of \d slots over 2 tokens, drafts \[.*\]",
    ),
    (
        Changed(beyond),
        r"stop is .* beyond the first empty slot at slot 1; block 0 of 2 slots over 2 tokens, drafts \[\]",
    ),
    (Changed(negative), r"residual .*below 0"),
    (Changed(looks_at_the_batch), r"its verdict .*moves by .* is judged alone"),
    (Changed(looks_at_empty_slots), r"its verdict moves by .* when the block has other empty slots"),
    (Changed(no_block), r"`block` returned ndarray, not a Block"),
    (Changed(too_short), r"shape of stop is \(\d+, \d\), must be"),
    (Changed(raising), r"KeyError: 'w\\nof slot' at .*test_whole_blocks\.py:\d+; correct the rule"),
]


@pytest.mark.parametrize(("rule", "line"), NO_RULES, ids=lambda value: repr(value)[:30])
def test_what_is_no_block_is_one_line(rule: Any, line: str) -> None:
    with pytest.raises(SpecsimError) as caught:
        check(rule, {})
    said = str(caught.value)
    assert said.startswith(repr(rule)) and "\n" not in said and len(said) < 400 and re.search(line, said), said


class Count(NamedTuple):
    """Drafts kept."""

    kept: Array


@dataclass(frozen=True)
class Stepping:
    """A path-state rule made of one function of the ledger's right step."""

    change: Callable[[Any, Step, int], Any]

    def begin(self, like: Array) -> Account:
        return Ledger(1.0).begin(like)

    def judge(self, state: Account, draft: Array, target: Array, slot: int, tokens: Array) -> Any:
        return self.change(state, Ledger(1.0).judge(state, draft, target, slot, tokens), slot)

    def __repr__(self) -> str:
        return f"Stepping({self.change.__name__})"


def above_one(state: Account, step: Step, slot: int) -> Step:
    return step._replace(accept=step.accept + (slot == 1) * number(2, step.accept))


def below_zero_later(state: Account, step: Step, slot: int) -> Step:
    return step._replace(residual=step.residual - (slot == 1) * number(1, step.residual))


def another_state(state: Account, step: Step, slot: int) -> Step:
    return step._replace(state=Count(step.state.alive))


def flat_state(state: Account, step: Step, slot: int) -> Step:
    return step._replace(state=Account(*(field[:, 0] for field in step.state)))


def no_step(state: Account, step: Step, slot: int) -> Any:
    return step.accept, step.residual


NO_STEPS = [
    (
        above_one,
        r"accept is \S+, not in \[0, 1\] at slot 1; block \d+ of 3 slots over 2 tokens, drafts \[.*\]; clip it",
    ),
    (below_zero_later, r"residual holds -\S+, below 0 at slot 1; block \d+ of 3 slots .*; take its positive part"),
    (another_state, r"its state is a Account and Count; `begin` and `judge` must give the same NamedTuple"),
    (flat_state, r"shape of alive is \(\d+,\) at slot 0, must be \(\d+, \d+\); see Step"),
    (no_step, r"`judge` returned tuple, not a Step"),
]


@pytest.mark.parametrize(("change", "line"), NO_STEPS, ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_no_step_is_one_line(change: Any, line: str) -> None:
    with pytest.raises(SpecsimError) as caught:
        check(Stepping(change), {})
    said = str(caught.value)
    assert said.startswith("Stepping(") and "\n" not in said and re.search(line, said), said


@dataclass(frozen=True)
class TwoForms(Ledger):
    def at(self, draft: Array, target: Array, token: Array, position: Array) -> Any:
        raise AssertionError


def test_a_rule_has_one_form() -> None:
    with pytest.raises(SpecsimError, match="has judge and at: a rule has one form, so leave one out"):
        check(TwoForms(), {})


def wrong_in_torch(drafted: Drafted, right: Block) -> Block:
    """Right in numpy."""
    xp = namespace(drafted.target)
    return right if xp is namespace(np.zeros(1)) else right._replace(residual=drafted.target)


def test_another_rule_on_another_backend_is_a_finding() -> None:
    rows = on_torch(Changed(wrong_in_torch))
    assert [row.agrees for row in rows] == [True, True, False, False]


@dataclass(frozen=True)
class WrongLaterInTorch(Ledger):
    """Right at the first slot everywhere."""

    def judge(self, account: Account, draft: Array, target: Array, slot: int, tokens: Array) -> Step:
        step = super().judge(account, draft, target, slot, tokens)
        return step._replace(residual=target) if slot and isinstance(target, torch.Tensor) else step


def test_parity_looks_at_whole_blocks() -> None:
    rows = on_torch(WrongLaterInTorch())
    assert [row.agrees for row in rows] == [True, True, False, False]
    assert all("whole blocks" in row.note for row in rows[2:])


def test_a_block_rule_without_fractions_is_valid_and_says_so() -> None:
    result = check(Changed(floats_only), {})
    assert result.exactness.startswith("float64: on Fractions") and result.verdict == "lossless"
    assert result.whole is not None and result.whole.exactness == "float64" and 0 < result.whole.tv < 1e-12


def test_the_figures_of_whole_blocks() -> None:
    strict, block, relaxed = (checked(rule).whole for rule in (Ledger(1.0), BlockVerification(), Ledger(2.0)))
    assert strict is not None and block is not None and relaxed is not None
    assert strict.calls == pytest.approx(strict.strict_calls, rel=1e-12)  # float64 sums against exact ones
    assert relaxed.calls < block.calls < strict.calls and (strict.lossless, relaxed.lossless) == (True, False)
    assert relaxed.smallest is not None and relaxed.smallest.name.startswith("Chain(1), 2 tokens")
    assert check(Strict(), {}).whole is None and check(Lenient(2), {}).slots != (0,)


def test_json_and_text() -> None:
    result = checked(Ledger(2.0))
    body = as_json(result)
    assert body["schema"] == "specsim.check/3" and body["whole"]["lossless"] is False and body["slots"] == [0]
    assert F(body["whole"]["tv"]["fraction"]) == result.whole.tv and as_json(check(Strict(), {}))["whole"] is None  # type: ignore[union-attr]
    text = shown(result)
    assert "smallest run with TV(out, target)" in text and "each a block of one draft" in text
    assert max(map(len, text.splitlines())) <= 80 and render(result) is not None


def test_windows_have_empty_slots_in_the_middle_of_a_batch() -> None:
    some = window(2, 3)
    count = some.real.sum(axis=1)
    assert set(count[1:-1]) == {0, 1, 2, 3} and (some.draft == 0).any() and (some.target == 0).any()
    for rule in (BlockVerification(), BlockVerification(Lenient(2)), Ledger(2.0), Ledger(4.0, 0.5), Strict()):
        whole = verify(rule, some)
        assert all(not whole.stop[row, n + 1 :].any() for row, n in enumerate(count))
        for row in range(len(count)):  # cut to its own window, the block is the same
            n = count[row] + 1
            cut = verify(rule, Drafted(*(array[row : row + 1, :n] for array in some)))
            assert cut.stop[0].tolist() == whole.stop[row, :n].tolist()
            assert cut.residual[0].tolist() == whole.residual[row, :n].tolist()


def test_longest_is_a_law() -> None:
    assert longest(np.array([[F(1), F(1, 2), F(0)]], dtype=object)).tolist() == [[F(1, 2), F(1, 2), F(0)]]
