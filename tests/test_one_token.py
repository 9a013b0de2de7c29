"""One verified token: every rule against hand-computed figures, the oracle, and the traps rules fall into."""

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from specsim import RULES, bind_codebook, optimal_residual, output_law
from specsim.arrays import entropy, total_variation
from specsim.rules import (
    Additive,
    AdditiveUnmasked,
    Annealed,
    Band,
    BlockVerification,
    Cactus,
    CascadeOpt,
    ContentAware,
    ContentAwareUnmasked,
    Ensemble,
    FuzzyJS,
    FuzzyKL,
    Grouped,
    Lantern,
    LanternDynamic,
    LanternPlus,
    LanternPlusDynamic,
    Ledger,
    Lenient,
    Optimal,
    Partitioned,
    Scheduled,
    Strict,
    Typical,
)
from specsim.rules.annealed import mean_mu
from specsim.verification import verdict_at
from tests import oracle, oracle_blocks, oracle_rules

F = Fraction
ROUNDING = 2.0**-50
"""Room for a few float64 roundings of a number near 1 (each is at most 2**-53)."""

SETTINGS = [
    *(rule() for rule in RULES.values()),
    *(Lenient(2.0), Lenient(0.5), Additive(0.4), ContentAware(0.5, 0.8)),
    *(Annealed(2.0, 0.7), Annealed(1.1, 0.7, clamp=False), Annealed(2.0, -0.3, 0.5)),
    *(Lantern(1, 0.4), Lantern(2, 1.0), Optimal(Lantern(1, 0.4)), LanternDynamic(1, 0.4), LanternDynamic(3, 1.0)),
    *(LanternPlus(1, 2), LanternPlus(4, 20.0), LanternPlusDynamic(2, 3.0), Optimal(LanternPlus(2, 3.0))),
    *(Grouped(2, 2, 99), Grouped(3, 0.3, 1.5), Grouped(14, 0.4, 4.5, 2), Partitioned(2), Partitioned(3)),
    *(Optimal(Grouped(3, 0.3, 1.5)), Optimal(Partitioned(2)), Optimal(Typical()), Optimal(LanternDynamic(2, 0.5))),
    *(Typical(0.3, 1.0), Ensemble(0.8), Ensemble(0), Cactus(0.1), Optimal(Cactus()), Optimal(Lenient(0.5))),
    *(FuzzyKL(0.1), FuzzyJS(0.01), FuzzyKL(3), FuzzyJS(1), CascadeOpt(0), CascadeOpt(2), AdditiveUnmasked(0.4)),
    ContentAwareUnmasked(0.5, 0.8),
    *(BlockVerification(Lenient(2.0)), BlockVerification(Typical(0.3, 1.0)), BlockVerification(Lantern(1, 0.4))),
    *(Ledger(4.0, 0.5), Ledger(1.0), Ledger(0.5)),
    *(Band(1.0), Band(1.5), Band(4.0)),
    *(Scheduled((1.0, 3.0, 1.5), 0.5), Scheduled((4.0,), 0.25), Scheduled((2.5, 2.5), 0)),
]
MASKED_RULES = (Strict, Lenient, Annealed, Additive, ContentAware, Typical, Cactus, Ledger, Band, Scheduled)
"""They keep and emit nothing that the target never emits."""
MASKED = [rule for rule in SETTINGS if isinstance(getattr(rule, "rule", rule), (*MASKED_RULES, LanternPlus))]
UNMASKED_RULES = (AdditiveUnmasked, ContentAwareUnmasked, Ensemble, FuzzyKL, FuzzyJS, CascadeOpt)
OFF_THE_LINE = (Lantern, LanternDynamic, LanternPlus, LanternPlusDynamic, Grouped, Partitioned, Typical)
CANONICAL = tuple(F(x, 20) for x in (6, 4, 3, 2, 2, 1, 1, 1))
CODEBOOK = [[0, 0], [1, 0], [0, 1], [3, 3], [2, 0], [5, 1], [0, 4], [1, 1]]


def array(law: Any) -> np.ndarray:
    return np.array([F(x) for x in law], dtype=object)


def bound(rule: Any, vocab: int) -> Any:
    return bind_codebook(rule, CODEBOOK[:vocab])


def plain(rule: Any, vocab: int) -> oracle.Rule:
    """The oracle's rule of the same name; one that the oracle lacks is tested against its own verdicts."""
    decimal, near = (lambda value: F(str(value))), oracle.nearest(CODEBOOK[:vocab])
    match type(rule).__name__:
        case "Strict":
            return oracle.strict
        case "Lenient":
            return oracle.annealed([decimal(rule.omega)] * 99)
        case "Annealed":
            factors = [F(math.exp(-rule.nu * i - rule.mu)) for i in range(99)]
            return oracle.annealed([max(decimal(rule.delta) * f, F(rule.clamp)) for f in factors])
        case "Scheduled":
            factors = [1 + decimal(rule.scale) * (decimal(omega) - 1) for omega in rule.omegas]
            return oracle.annealed([*factors, *[factors[-1]] * 99])
        case "Additive":
            return oracle.raised(lambda law: decimal(rule.epsilon), 2)
        case "ContentAware":
            return oracle.raised(lambda law: decimal(rule.lam) * oracle.nats(law), decimal(rule.delta))
        case "AdditiveUnmasked":
            return oracle_rules.raised(lambda law: decimal(rule.epsilon), 2)
        case "ContentAwareUnmasked":
            return oracle_rules.raised(lambda law: decimal(rule.lam) * oracle.nats(law), decimal(rule.delta))
        case "Lantern":
            return oracle.lantern(rule.k, decimal(rule.delta), near)
        case "LanternDynamic":
            return oracle_rules.lantern(rule.k, near, lambda own: decimal(rule.delta), certain=True)
        case "LanternPlus" | "LanternPlusDynamic" as name:
            certain = name.endswith("Dynamic")
            return oracle_rules.lantern(rule.k, near, lambda own: (decimal(rule.lam) - 1) * own, certain)
        case "Optimal":
            return oracle_rules.best(plain(rule.rule, vocab))
        case "Grouped":
            return oracle_rules.grouped(rule, CODEBOOK)
        case "Partitioned":
            return oracle_rules.partitioned(rule.size)
        case "Typical":
            return oracle_rules.typical(decimal(rule.epsilon), decimal(rule.delta))
        case "Ensemble":
            return oracle_rules.mixture(decimal(rule.weight))
        case "Cactus":
            return oracle_rules.cactus(decimal(rule.d))
        case "FuzzyKL":
            return oracle_rules.all_where(oracle_rules.kl_within(decimal(rule.threshold)))
        case "FuzzyJS":
            return oracle_rules.all_where(oracle_rules.js_within(decimal(rule.threshold)))
        case "CascadeOpt":
            return oracle_rules.all_where(oracle_rules.as_sure(decimal(rule.alpha)))
        case "BlockVerification":
            return oracle_rules.towards(plain(rule.rule, vocab), oracle_blocks.block_verification)
        case "Band":
            return oracle_rules.one_draft(oracle_blocks.band(decimal(rule.omega)))
        case "Ledger":
            return oracle_rules.one_draft(oracle_blocks.ledger([max(F(1), decimal(rule.w))]))
    return lambda q, p, x, slot: verdict(rule, q, p, x, slot)


def verdict(rule: Any, q: Any, p: Any, token: int, slot: int = 0) -> tuple:
    """(b, G) of one drafted token, from the core."""
    one = verdict_at(bound(rule, len(p)), array(q)[None], array(p)[None], np.array([token]), np.array([slot]))
    return one.accept[0], tuple(one.residual[0])


def out(rule: Any, q: Any, p: Any, slot: int = 0) -> np.ndarray:
    return output_law(bound(rule, len(p)), array(q), array(p), np.array(slot))


def accepted(rule: Any, q: Any, p: Any) -> Fraction:
    return sum(a * verdict(rule, q, p, x)[0] for x, a in enumerate(q))


def pairs(count: int, vocab: int, seed: int = 0) -> list[tuple]:
    """(draft, target) pairs with small numerators, many zeros, and the two laws equal now and then."""
    rng, found = random.Random(seed), []
    for _ in range(count):
        laws = []
        for _ in range(2):
            weights = [rng.choice((0, 0, 1, 2, 3, 5, 8)) for _ in range(vocab)]
            weights[rng.randrange(vocab)] += not any(weights)
            laws.append(tuple(F(w, sum(weights)) for w in weights))
        found.append((laws[0], rng.choice((laws[0], laws[1], laws[1], laws[1]))))
    return found


SOME_PAIRS = [*pairs(8, 3, seed=11), *pairs(8, 5, seed=12), (CANONICAL[::-1], CANONICAL)]


@pytest.mark.parametrize("rule", SETTINGS, ids=repr)
@pytest.mark.parametrize("vocab", [1, 2, 3, 5])
def test_entry_by_entry(rule: Any, vocab: int) -> None:
    """Probabilities of keeping, replacements and the law of the token are those of the oracle, exactly."""
    for slot, (q, p) in enumerate(pairs(12, vocab)):
        law = [F(0)] * vocab
        for x in (x for x in range(vocab) if q[x]):
            keep, residual = plain(rule, vocab)(q, p, x, slot % 5)
            assert verdict(rule, q, p, x, slot % 5) == (keep, residual)
            law = [law[y] + q[x] * ((1 - keep) * residual[y] + (y == x) * keep) for y in range(vocab)]
        assert out(rule, q, p, slot % 5).tolist() == law
        assert sum(law) == 1


@pytest.mark.parametrize(
    ("rule", "kept", "tv", "ratio"),
    [
        (Strict(), F(1, 2), 0, 1),
        (Lenient(1.25), F(43, 80), F(3, 80), F(5, 4)),
        (Lenient(2), F(13, 20), F(3, 20), 2),
        (Lenient(5), F(19, 20), F(9, 20), 5),
        (Lenient(6), 1, F(1, 2), 6),
        (Lenient(100), 1, F(1, 2), 6),  # everything is kept, so out is q and max q/p is 6
        (Annealed(2, 0), F(13, 20), F(3, 20), 2),
        (Additive(0.1), F(113, 200), F(13, 200), F(8, 5)),
        (ContentAware(0.5, 0.35), F(1, 2), 0, 1),  # TV is .5: not close enough to be relaxed
    ],
    ids=repr,
)
def test_figures_of_the_canonical_pair(rule: Any, kept: Fraction, tv: Fraction, ratio: Fraction) -> None:
    q = CANONICAL[::-1]
    law, p = out(rule, q, CANONICAL), array(CANONICAL)
    assert total_variation(array(q), p) == F(1, 2)
    assert (accepted(rule, q, CANONICAL), total_variation(law, p), max(law / p)) == (kept, tv, ratio)


def test_pairs_by_hand() -> None:
    """q = (3/4, 1/4), p = (1/4, 3/4): one third of token 0 is kept, and all of token 1."""
    q, p = (F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))
    assert verdict(Strict(), q, p, 0) == (F(1, 3), (0, 1))
    assert verdict(Strict(), q, p, 1) == (1, (0, 1))
    assert out(Lenient(2), q, p).tolist() == [F(1, 2), F(1, 2)]
    assert out(Additive(F(1, 6)), q, p).tolist() == [F(3, 8), F(5, 8)]
    assert verdict(Lenient(F(1, 2)), q, p, 0) == (F(1, 6), (F(1, 5), F(4, 5)))
    assert verdict(Lenient(1.1), q, p, 0)[0] == F(11, 30)  # a decimal is the decimal that was written


def on_the_line(rule: Any) -> bool:
    """b >= min(1, p/q) with an optimal residual; not so LANTERN and GSD as released, nor omega < 1."""
    below = getattr(rule, "omega", 1) == 0.5 or not getattr(rule, "clamp", True)
    if isinstance(rule, BlockVerification):
        return on_the_line(rule.rule)
    if isinstance(rule, Optimal):
        return not isinstance(rule.rule, (LanternDynamic, Grouped, Partitioned, Typical, Lenient))
    return not (below or isinstance(rule, OFF_THE_LINE))


@pytest.mark.parametrize("rule", SETTINGS, ids=repr)
def test_the_line(rule: Any) -> None:
    """P(reject) + TV(out, p) >= TV(p, q), with equality for rules at least as lenient as the strict one."""
    for q, p in pairs(40, 4, seed=1):
        spent = 1 - accepted(rule, q, p) + total_variation(out(rule, q, p), array(p))
        gap = spent - total_variation(array(q), array(p))
        assert gap == 0 if on_the_line(rule) else gap >= 0


def test_no_residual_beats_the_optimal_one() -> None:
    """TV(out, p) of q b + r G for G* and for G* with mass moved between two tokens, for any b."""
    rng, step = random.Random(3), F(1, 50)
    for q, p in pairs(20, 3, seed=3):
        keep = array([F(rng.randrange(5), 4) for _ in p])
        best, base = optimal_residual(array(q), array(p), keep), array(q) * keep
        reference = total_variation(base + (1 - base.sum()) * best, array(p))
        assert reference == sum(max(a - b, 0) for a, b in zip(base, p, strict=True))
        for i, j in ((i, j) for i in range(3) for j in range(3) if i != j and best[i] >= step):
            moved = best + array([step * ((v == j) - (v == i)) for v in range(3)])
            assert total_variation(base + (1 - base.sum()) * moved, array(p)) >= reference


@pytest.mark.parametrize("rule", [Lenient(0.5), Lenient(0.9), Annealed(0.5, 0.0, clamp=False)], ids=repr)
def test_trap_omega_below_one_is_lossless_and_dominated(rule: Any) -> None:
    for q, p in pairs(40, 3, seed=4):
        assert out(rule, q, p).tolist() == list(p)
        assert all(verdict(rule, q, p, x)[0] <= verdict(Strict(), q, p, x)[0] for x in range(3))
    assert accepted(rule, CANONICAL[::-1], CANONICAL) < F(1, 2)


@pytest.mark.parametrize("rule", MASKED, ids=repr)
def test_trap_target_zero_is_never_emitted(rule: Any) -> None:
    q, p = (F(1, 3), F(1, 3), F(1, 3)), (F(1, 2), F(1, 2), F(0))
    assert verdict(rule, q, p, 2)[0] == 0
    assert out(rule, q, p)[2] == 0


@pytest.mark.parametrize("rule", [Lantern(1, 0.5), Optimal(Lantern(1, 0.5))], ids=repr)
def test_trap_lantern_keeps_what_the_target_never_emits(rule: Any) -> None:
    """Token 2 borrows the 1/2 of its nearest neighbour, token 0: a finding, not bad input."""
    q, p = (F(1, 4), F(1, 4), F(1, 2)), (F(1, 2), F(1, 2), F(0))
    assert verdict(rule, q, p, 2)[0] == 1
    assert out(rule, q, p)[2] == F(1, 2)


def test_trap_lantern_delta_bounds_nothing() -> None:
    """Tokens 0 and 1 are nearest to each other; delta is .1, TV is .2 with the best residual."""
    rule = bind_codebook(Optimal(Lantern(1, 0.1)), [[0], [1], [50], [51]])
    q, p = array([F(1, 2), F(1, 2), 0, 0]), array([F(1, 10), F(1, 10), F(2, 5), F(2, 5)])
    law = output_law(rule, q, p, np.array(0))
    assert law.tolist() == [F(1, 5), F(1, 5), F(3, 10), F(3, 10)]
    assert total_variation(law, p) == F(1, 5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rule", SETTINGS, ids=repr)
def test_trap_empty_residual(rule: Any, dtype: type) -> None:
    """p == q up to rounding: no NaN, a law in every row, nothing off support but by LANTERN."""
    q = np.array([0.1, 0.2, 0.7, 1e-9], dtype=dtype)
    for p in (q * (q > 1e-6), np.nextafter(q, dtype(0)) * (q > 1e-6)):
        law = output_law(bound(rule, 4), q, p, np.array(0))
        assert law.dtype == dtype and np.isfinite(law).all()
        assert law.sum() == pytest.approx(q.sum(), abs=float(8 * np.finfo(dtype).eps))  # a few roundings
        assert law[3] == 0 or rule not in MASKED


def test_trap_a_token_never_drafted() -> None:
    """q(v) = 0: b is 1 where the target has mass and 0 elsewhere, the limit of the ratio."""
    q, p = (F(1), F(0), F(0)), (F(1, 2), F(1, 2), F(0))
    masked = (some for some in SETTINGS if isinstance(some, (*MASKED_RULES, *UNMASKED_RULES)))
    for rule in (some for some in masked if not isinstance(some, (Ledger, Band))):  # of paths and blocks: not reached
        assert [verdict(rule, q, p, x)[0] for x in (1, 2)] == [1, 0]


def test_transcendental_parts() -> None:
    """What the oracle rounds as the core does, against figures: H = ln 2, omega = 1.1 exp(-.7 i)."""
    half = (F(1, 2), F(1, 2), F(0))
    assert float(entropy(array(half))) == pytest.approx(0.6931471805599453, abs=ROUNDING)
    assert entropy(array((1, 0))) == 0
    omegas = Annealed(1.1, 0.7, clamp=False).omega(np.arange(3), array((1, 0)))
    assert [float(x) for x in omegas] == pytest.approx([1.1, 0.5462438, 0.2712567], abs=1e-7)  # as written
    factors = Annealed(1, 0.7, mean_mu(0.7, 4), clamp=False).omega(np.arange(4), np.ones(1))
    assert factors == pytest.approx([2.144, 1.065, 0.529, 0.263], abs=5e-4)  # three decimals
    assert factors.mean() == pytest.approx(1, abs=ROUNDING)
