"""Rules that judge blocks in float32 and float64 over 64 slots, against Fractions along the same drafted path."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from specsim import Band, BlockVerification, Ledger, Lenient
from specsim.arrays import Array, divide, namespace, normalise, number, positive_part, ratio, to_numpy
from specsim.rules.block import longest, prefix_weights
from specsim.rules.ledger import LARGEST, Account
from specsim.verification import Block, Drafted, Step, verify

F = Fraction
SLOTS = 64
BITS = 200
"""Exact accounts are cut to so many bits after each slot: a share of the excess squares their length every time."""
ACCEPT, STATE = 16, 64
"""Roundings (in epsilons) that are allowed: of b and G about a dozen operations each on numbers up to 1, most of them
from the account; of the account itself (relative to its size) a few for each slot in which it is multiplied by p/q."""
SETTINGS = [Ledger(w, nu) for w in (1.0, 1.5, 4.0) for nu in (0.0, 0.5, 3.0)]
REACHED = (1e-30, LARGEST / 10)
"""Accounts that are compared: below, float32 has fewer digits, and nothing is alive; above, floats are held back."""


class Path(NamedTuple):
    """Laws [64, V] of float32 numbers, and the drafted tokens [64]."""

    draft: np.ndarray
    target: np.ndarray
    tokens: np.ndarray


class Walk(NamedTuple):
    """b [64], G [64, V], and the account after every slot, two lists."""

    accept: np.ndarray
    residual: np.ndarray
    alive: np.ndarray
    owed: np.ndarray


@cache
def path(vocab: int, sharp: int, near: int, swing: bool) -> Path:
    """A random model: weights 1..9 to the power `sharp`, the target with `near` times the draft mixed in; tokens drawn
    from the draft, or with `swing` those it overrates most, then those it underrates most."""
    rng = np.random.default_rng(vocab)
    draft, target = (rng.integers(1, 10, (SLOTS, vocab)).astype(np.float64) ** sharp for _ in range(2))
    target = target + near * draft
    draft, target = (laws / laws.sum(axis=-1, keepdims=True) for laws in (draft, target))
    drawn = np.array([rng.choice(vocab, p=law) for law in draft])
    far = draft / target
    forced = np.where(np.arange(SLOTS) < SLOTS // 2, far.argmax(axis=-1), far.argmin(axis=-1))
    return Path(draft.astype(np.float32), target.astype(np.float32), forced if swing else drawn)


PATHS = [(4, 1, 0, False), (8, 1, 3, False), (5, 3, 0, False), (6, 6, 0, False)]
PATHS += [(4, 1, 0, True), (5, 3, 0, True), (4, 1, 5, True), (4, 6, 1, True)]
"""(V, sharp, near, swing): flat laws and near ones, sharp ones with probabilities down to 1e-6."""
NUMBERS: dict[str, Callable[[np.ndarray], Any]] = {
    "numpy float32": lambda laws: laws.astype(np.float32),
    "numpy float64": lambda laws: laws.astype(np.float64) / laws.astype(np.float64).sum(axis=-1, keepdims=True),
    "torch float32": lambda laws: torch.asarray(laws.astype(np.float32)),
}


def exact(laws: np.ndarray) -> np.ndarray:
    """The float32 laws as Fractions that sum to 1."""
    found = np.frompyfunc(lambda x: F(float(x)), 1, 1)(laws)
    return found / found.sum(axis=-1, keepdims=True)


def cut(value: Any) -> Any:
    """A Fraction to BITS bits; any other number as it is."""
    if not isinstance(value, F) or value == 0:
        return value
    scale = F(2) ** (BITS - value.numerator.bit_length() + value.denominator.bit_length())
    return F(round(value * scale)) / scale


def walk(rule: Any, some: Path, convert: Callable[[np.ndarray], Any]) -> Walk:
    """A path-state rule along a path, in the numbers of `convert`."""
    draft, target = convert(some.draft), convert(some.target)
    tokens = torch.asarray(some.tokens) if isinstance(draft, torch.Tensor) else some.tokens
    state, steps = rule.begin(target[:1, 0]), []
    for slot in range(SLOTS):
        laws = draft[slot : slot + 1], target[slot : slot + 1]
        step = rule.judge(state, *laws, slot, tokens[slot : slot + 1][None])
        state = Account(*(field[:, 0] for field in step.state))
        if target.dtype == object:
            state = Account(*(np.array([cut(x) for x in field], dtype=object) for field in state))
        steps.append((step.accept[0, 0], to_numpy(normalise(step.residual, laws[1]))[0], *(x[0] for x in state)))
    return Walk(*(np.array(column).astype(np.float64) for column in zip(*steps, strict=True)))


@cache
def exact_walk(rule: Any, spec: tuple) -> Walk:
    return walk(rule, path(*spec), exact)


class Gaps(NamedTuple):
    """Largest differences: of b, of G wherever it can be drawn, of the account relative to its size."""

    accept: float
    residual: float
    state: float


def gaps(rule: Any, spec: tuple, convert: Callable[[np.ndarray], Any], reference: Any = None) -> Gaps:
    """A rule in floats against the exact one along the same path, wherever the account is within REACHED."""
    wanted, found = exact_walk(reference or rule, spec), walk(rule, path(*spec), convert)
    before = np.concatenate([[1.0], wanted.alive[:-1]])
    held = np.maximum.accumulate(np.maximum(wanted.alive, abs(wanted.owed))) < REACHED[1]
    live = (before > REACHED[0]) & np.concatenate([[True], held[:-1]])
    accept = np.where(live, abs(found.accept - wanted.accept), 0)
    residual = np.where(live & (wanted.accept < 1), abs(found.residual - wanted.residual).max(axis=-1), 0)
    states = [abs(a - b) / np.maximum(abs(b), 1e-30) for a, b in ((found[2], wanted[2]), (found[3], wanted[3]))]
    state = np.where(live & held & (wanted.alive > REACHED[0]), np.maximum(*states), 0)
    return Gaps(*(float(x.max()) for x in (accept, residual, state)))  # a NaN fails every comparison


def epsilon(name: str) -> float:
    return float(np.finfo(name.split()[1]).eps)


def good(found: Gaps, eps: float) -> bool:
    return found.accept <= ACCEPT * eps and found.residual <= ACCEPT * eps and found.state <= STATE * eps


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("spec", PATHS, ids=str)
def test_the_ledger_over_64_slots(spec: tuple, name: str) -> None:
    for rule in SETTINGS:
        found = gaps(rule, spec, NUMBERS[name])
        assert good(found, epsilon(name)), (rule, found)


@dataclass(frozen=True)
class CarryingMass(Ledger):
    """The ledger as it is defined, with c = 1 - d carried: 1 - c loses digits as c comes near 1."""

    def judge(self, account: Account, draft: Array, target: Array, slot: int, tokens: Array) -> Step:
        xp, (alive, mass) = namespace(target), (field[:, None] for field in account)
        zero, one, omega = (number(x, target) for x in (0, 1, self.omega(slot, target)))
        base = target * positive_part(one - mass)
        there = alive * draft
        keep = xp.minimum(there, omega * base)
        excess = xp.sum(positive_part(keep - base), axis=-1, keepdims=True)
        room = xp.sum(xp.where(target > 0, there - keep, zero), axis=-1, keepdims=True)
        slack = positive_part(alive + mass - one) - excess
        keep = keep + xp.clip(divide(slack, room, zero), zero, one) * xp.where(target > 0, there - keep, zero)
        missing = positive_part(target * (one - mass) - keep)
        put = (alive - xp.sum(keep, axis=-1, keepdims=True)) * normalise(missing, target)
        taken = [xp.take_along_axis(x, tokens, axis=-1) for x in (keep, there, target, put)]
        state = Account(ratio(taken[0], taken[2]), mass + ratio(taken[3], taken[2]))
        return Step(divide(taken[0], taken[1], zero), missing, state)

    def begin(self, like: Array) -> Account:
        whole = 0 * like + number(1, like)
        return Account(whole, 0 * whole)


@dataclass(frozen=True)
class SumsOfAlive(Ledger):
    """The right account, with what is refused taken as a - sum keep: nothing is left of it where a is large."""

    def judge(self, account: Account, draft: Array, target: Array, slot: int, tokens: Array) -> Step:
        step, xp = super().judge(account, draft, target, slot, tokens), namespace(target)
        every = super().judge(account, draft, target, slot, xp.arange(target.shape[-1])[None, :])
        kept = xp.sum(account.alive[:, None] * draft * every.accept, axis=-1, keepdims=True)
        refused = account.alive[:, None] - kept
        own = xp.take_along_axis(target, tokens, axis=-1)
        put = xp.take_along_axis(normalise(step.residual, target), tokens, axis=-1)
        return step._replace(state=Account(step.state.alive, account.owed[:, None] - refused * put / own))


def within(rule: Any, reference: Any, states: bool) -> bool:
    """Whether a formulation would pass in float32."""
    eps = float(np.finfo(np.float32).eps)
    every = [gaps(rule, spec, NUMBERS["numpy float32"], reference) for spec in PATHS]
    return all(good(found if states else found._replace(state=0.0), eps) for found in every)


def test_carrying_the_mass_loses_the_digits_of_its_complement() -> None:
    """Its b is off already; its account is of c, so it is not compared."""
    with np.errstate(all="ignore"):
        assert [within(CarryingMass(w, 0.5), Ledger(w, 0.5), states=False) for w in (1.0, 1.5)] == [False, False]


def test_a_difference_of_large_sums_loses_what_is_owed() -> None:
    with np.errstate(all="ignore"):
        assert not within(SumsOfAlive(1.5, 0.0), Ledger(1.5, 0.0), states=True)


def test_both_wrong_formulations_are_the_ledger_in_fractions() -> None:
    """They are formulas of the same rule: only rounding tells them apart."""
    for spec in PATHS[:2]:
        wanted = exact_walk(Ledger(1.5, 0.5), spec)
        for rule in (CarryingMass(1.5, 0.5), SumsOfAlive(1.5, 0.5)):
            assert np.allclose(walk(rule, path(*spec), exact).accept, wanted.accept, rtol=0, atol=1e-15)


@pytest.mark.parametrize("convert", NUMBERS.values(), ids=NUMBERS)
def test_an_excess_beyond_all_numbers_is_held(convert: Callable[[np.ndarray], Any]) -> None:
    """Four tokens of target probability 1e-20, drafted for certain and paid for: a = 1e80 is no float32."""
    target = np.array([[1e-20, 1.0]] * 8)
    tokens = np.array([[0] * 6 + [1] * 2])
    draft = np.array([[1.0, 0.0]] * 6 + [[0.5, 0.5]] * 2)
    for some in (Ledger(1e9, 0.0), Ledger(4.0, 0.0)):
        state = some.begin(convert(target)[:1, 0])
        for slot in range(8):
            laws = [convert(x)[slot : slot + 1] for x in (draft, target)]
            token = tokens[:, slot : slot + 1]
            step = some.judge(state, *laws, slot, torch.asarray(token) if isinstance(laws[0], torch.Tensor) else token)
            state = Account(*(field[:, 0] for field in step.state))
            numbers = [to_numpy(x) for x in (step.accept, step.residual, *state)]
            assert all(np.isfinite(x).all() for x in numbers)
            assert 0 <= numbers[0] <= 1 and abs(numbers[2]) <= LARGEST and abs(numbers[3]) <= LARGEST


BLOCKS = [BlockVerification(), BlockVerification(Lenient(1.5))]
STOP = 32
"""Roundings of P(i or more are kept): the weight is a product of up to 64 ratios, half a rounding each for a quotient
and a product that mostly cancel, and h takes a few more.  A weight that comes back from below REACHED is not compared:
it is a martingale of the drafts, so a path on which it does is as rare as it was small."""


def one_block(some: Path, convert: Callable[[np.ndarray], Any]) -> Drafted:
    """A path as one block of 64 drafts and a bonus."""
    laws = [convert(np.concatenate([x, x[:1]]))[None] for x in (some.draft, some.target)]
    tokens, real = np.append(some.tokens, 0)[None], np.arange(SLOTS + 1)[None] < SLOTS
    rest = [tokens, real, np.arange(SLOTS + 1)[None]]
    return Drafted(*laws, *(map(torch.asarray, rest) if isinstance(laws[0], torch.Tensor) else rest))


def survival(block: Block) -> np.ndarray:
    """P(i or more are kept), [65]."""
    return np.cumsum(to_numpy(block.stop)[0, ::-1].astype(np.float64))[::-1]


def put(block: Block) -> np.ndarray:
    """Probability of stopping at a slot and putting a token there, [65, V]."""
    stop, residual = (to_numpy(array)[0].astype(np.float64) for array in block)
    return stop[:, None] * residual


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("rule", BLOCKS, ids=repr)
def test_block_verification_over_64_slots(rule: Any, name: str) -> None:
    for spec in PATHS:
        wanted, found = (one_block(path(*spec), convert) for convert in (exact, NUMBERS[name]))
        reference, block = verify(rule, wanted), verify(rule, found)
        eps, weights = epsilon(name), [to_numpy(prefix_weights(some))[0].astype(np.float64) for some in (found, wanted)]
        reached = np.minimum.accumulate(weights[1]) > REACHED[0]
        assert (abs(weights[0] - weights[1]) <= STOP * eps * weights[1])[reached].all()
        if (weights[1][~reached] > REACHED[0]).any():  # drafted less often than once in 1e30 times
            continue
        assert abs(survival(block) - survival(reference)).max() <= STOP * eps
        assert abs(put(block) - put(reference)).max() <= STOP * eps


BANDS = [Band(omega) for omega in (1.0, 1.5, 4.0)]


class Judged(NamedTuple):
    """A block, and the least weight of a prefix that a later one passes again."""

    block: Block
    lowest: float


def cut_block(rule: Band, some: Path) -> Judged:
    """What the band makes of a path in Fractions, its two numbers cut to BITS bits after each slot."""
    draft, target = exact(some.draft), exact(some.target)
    path, passes, residuals, weights = rule.begin(target[:1, 0]), [], [], []
    for i, token in enumerate(some.tokens):
        flow, carry = rule.flow(path, draft[i : i + 1], target[i : i + 1], i)
        rest = path.weight * flow.corrected.sum(axis=-1)
        passes.append(divide(rest, rest + 1 - path.weight, F(1))[0])
        residuals.append(normalise(flow.corrected, target[i : i + 1])[0])
        weights.append(float(path.weight[0]))
        path = type(path)(*(np.array([cut(x) for x in field], dtype=object) for field in carry(np.array([token]))))
    stop = longest(np.array([[*passes, path.weight[0]]], dtype=object).astype(np.float64))
    below = np.minimum.accumulate(weights)
    again = [low for low, weight in zip(below, weights, strict=True) if weight > REACHED[0] > low]
    return Judged(
        Block(stop, np.array([[*residuals, target[0]]], dtype=object).astype(np.float64)), min(again, default=1)
    )


@cache
def exact_band(rule: Band, spec: tuple) -> Judged:
    return cut_block(rule, path(*spec))


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("rule", BANDS, ids=repr)
def test_the_band_over_64_slots(rule: Band, name: str) -> None:
    """As above; floats hold small weights and large corrections, and take the same steps towards the level."""
    for spec in PATHS:
        (reference, lowest), block = exact_band(rule, spec), verify(rule, one_block(path(*spec), NUMBERS[name]))
        numbers = [to_numpy(array) for array in block]
        assert all(np.isfinite(array).all() and (array >= 0).all() for array in numbers)
        if lowest > REACHED[0]:
            assert abs(survival(block) - survival(reference)).max() <= STOP * epsilon(name)
            assert abs(put(block) - put(reference)).max() <= STOP * epsilon(name)


def test_only_one_path_comes_back_from_below() -> None:
    assert [spec for spec in PATHS if exact_band(BANDS[0], spec).lowest < REACHED[0]] == [(5, 3, 0, True)]
