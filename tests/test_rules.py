"""What holds of every shipped rule: strengths, codebooks, its forms, its source; and what single papers claim."""

import math
import re
import tracemalloc
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch

from specsim import RULES, SpecsimError, bind_codebook, exact, output_law, random_table
from specsim.arrays import to_numpy, total_variation
from specsim.catalogue import parameters
from specsim.checking import check
from specsim.decoders import Jacobi
from specsim.rules import (
    Annealed,
    Cactus,
    CascadeOpt,
    ContentAware,
    Ensemble,
    FuzzyJS,
    FuzzyKL,
    Grouped,
    Lantern,
    LanternPlus,
    Lenient,
    Optimal,
    Partitioned,
    Strict,
    Typical,
)
from specsim.rules.codebooks import Fixed, codes_of, nearest
from specsim.rules.grouped import LARGEST, ranking
from specsim.rules.optimal import acceptance
from specsim.specs import parse
from specsim.strength import Strength, strength_of, with_strength
from specsim.verification import Verdict, standard_residual, verdict_at
from tests.test_one_token import CANONICAL, CODEBOOK, SETTINGS, accepted, array, bound, out, pairs

F = Fraction
REFERENCES = (Path(__file__).parents[1] / "docs" / "references.bib").read_text()
KEYS = re.findall(r"^@\w+\{(\w+),", REFERENCES, re.MULTILINE)
TURNED = [rule for rule in (*(kind() for kind in RULES.values()), Optimal(LanternPlus())) if hasattr(rule, "strength")]
TURNED = [rule for rule in TURNED if rule.strength]
SOME_PAIRS = [*pairs(8, 3, seed=11), *pairs(8, 5, seed=12), (CANONICAL[::-1], CANONICAL)]


# Strengths


def values(strength: Strength) -> list[float]:
    """From the weakest end to the strongest: a few steps between, mostly where laws of a few tokens still change."""
    low, high = sorted(min(end, 8) for end in (strength.weakest, strength.strongest))
    steps = range(int(low), int(high) + 1) if strength.whole else [low + (high - low) * i / 8 for i in range(9)]
    return [strength.weakest, *sorted(steps, reverse=strength.strongest < strength.weakest), strength.strongest]


def totals(rule: Any, q: Any, p: Any) -> list[Fraction]:
    """The total acceptance sum q b at growing strength."""
    return [accepted(with_strength(rule, value), q, p) for value in values(strength_of(rule))]


def test_every_relaxed_rule_has_a_strength() -> None:
    assert {type(rule) for rule in TURNED} == set(RULES.values()) - {Strict}
    with pytest.raises(SpecsimError, match=r"Strict\(\) has no strength"):
        strength_of(Strict())
    with pytest.raises(SpecsimError, match="has no strength"):
        strength_of(Optimal(Strict()))


@pytest.mark.parametrize("rule", [rule for rule in TURNED if not isinstance(rule, (Grouped, Partitioned))], ids=repr)
def test_total_acceptance_grows_with_strength(rule: Any) -> None:
    grown = 0
    for q, p in SOME_PAIRS:
        found = totals(rule, q, p)
        assert found == sorted(found)
        grown += found[-1] > found[0]
    assert grown


def test_larger_runs_keep_more_where_they_merge_smaller_ones() -> None:
    """Runs of 1, 2, 4, 8: each cuts along the cuts of the next.  Runs of 2 and 3 cross, and no order holds."""
    for q, p in SOME_PAIRS:
        found = [accepted(Partitioned(size), q, p) for size in (1, 2, 4, 8, LARGEST)]
        assert found == sorted(found) and found[-1] == 1
    assert any(accepted(Partitioned(3), q, p) < accepted(Partitioned(2), q, p) for q, p in SOME_PAIRS)


def test_larger_windows_need_not_keep_more() -> None:
    """GSD's strength is no order: the wider window -1..0 keeps less than the strict rule; all of V keeps all."""
    q, p = (F(1, 2), F(1, 4), F(1, 4)), (F(1, 4), F(1, 4), F(1, 2))
    found = [accepted(Grouped(size, gap=9, distance=999), q, p) for size in (1, 2, LARGEST)]
    assert found == [F(3, 4), F(2, 3), 1]


NEVER_STRICT = ("Typical", "CascadeOpt", "LanternDynamic", "LanternPlusDynamic")
"""Typical looks at no draft; OPT defers to a surer draft at any price; the dynamic paths count any draft as certain."""


@pytest.mark.parametrize("rule", TURNED, ids=repr)
def test_the_weakest_end(rule: Any) -> None:
    """The strict acceptance, for all rules that contain it; a fuzzy rule keeps all of equal laws, as strict does."""
    weakest = with_strength(rule, strength_of(rule).weakest)
    same = [accepted(weakest, q, p) == accepted(Strict(), q, p) for q, p in SOME_PAIRS]
    assert all(same) != (type(rule).__name__ in NEVER_STRICT)


def test_strength_of_a_wrapper_is_the_inner_rules() -> None:
    rule = Optimal(Lantern(k=3, delta=0.2))
    assert strength_of(rule) == Lantern.strength
    assert with_strength(rule, 0.7) == Optimal(Lantern(k=3, delta=0.7))
    assert with_strength(Lenient(), 2.5) == Lenient(2.5) and not Lenient.strength.whole and Grouped.strength.whole
    assert with_strength(Optimal(Optimal(Lenient())), 3.0) == Optimal(Optimal(Lenient(3.0)))


class Plain:
    """No dataclass."""

    strength = Strength("omega", 1.0, 2.0)

    def __repr__(self) -> str:
        return "Plain()"


class Turning(Plain):
    """A rule that says how it is turned, or should."""

    def __init__(self, turn: Any, strength: Any = Plain.strength) -> None:
        self.with_strength, self.strength = turn, strength


def failing(value: float) -> Any:
    raise KeyError("two\nlines")


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        (Plain(), "strength 'omega' cannot be set; make the rule a frozen dataclass with that field"),
        (Lenient, "has no strength to turn"),
        (Turning(3), "Plain() at strength omega = 1.5: TypeError: 'int' object is not callable"),
        (Turning(failing), "Plain() at strength omega = 1.5: KeyError: 'two\\nlines'"),
        (Turning(lambda value: None), "Plain() at strength omega = 1.5: it returned None"),
        *(
            (Turning(id, Strength(*some)), "must name a field and two finite numbers, weakest and strongest")
            for some in ((3, 1.0, 2.0), ("x", "1", 2.0), ("x", 1.0, None), ("x", math.nan, 1), ("x", 1, math.inf))
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_strength_that_cannot_be_turned_is_one_line(rule: Any, wanted: str) -> None:
    with pytest.raises(SpecsimError, match=re.escape(wanted)) as caught:
        with_strength(rule, 1.5)
    assert "\n" not in str(caught.value)


# The two forms of a rule


@pytest.mark.parametrize("rule", [rule for rule in SETTINGS if hasattr(rule, "acceptance")], ids=repr)
@pytest.mark.parametrize("vocab", [1, 2, 5, 8])
def test_whole_vocabulary_acceptance_is_that_of_single_tokens(rule: Any, vocab: int) -> None:
    ready = bound(rule, vocab)
    for q, p in pairs(5, vocab, seed=vocab):
        whole = acceptance(ready, array(q), array(p), np.array(0))
        every = np.arange(vocab)
        laws = (np.broadcast_to(array(law), (vocab, vocab)) for law in (q, p))
        assert whole.tolist() == ready.at(*laws, every, 0 * every).accept.tolist()


@dataclass(frozen=True)
class OnlyAt:
    """A rule with neither a whole-law verdict nor `acceptance`."""

    def at(self, draft: Any, target: Any, token: Any, position: Any) -> Verdict:
        return bound(Lantern(1, 0.4), draft.shape[-1]).at(draft, target, token, position)


def test_a_rule_that_only_has_at_is_asked_for_every_token() -> None:
    for q, p in pairs(10, 4, seed=5):
        laws = array(q)[None, None], array(p)[None, None], np.arange(1)
        found, wanted = (rule(*laws) for rule in (Optimal(OnlyAt()), bound(Optimal(Lantern(1, 0.4)), 4)))
        assert found.accept.tolist() == wanted.accept.tolist()
        assert found.residual.tolist() == wanted.residual.tolist()


@pytest.mark.parametrize("inner", [3, Lantern, "Strict()", None], ids=repr)
def test_only_rules_are_wrapped(inner: Any) -> None:
    with pytest.raises(SpecsimError, match=r"Optimal: rule = .* must be an acceptance rule"):
        Optimal(inner)


# What the papers say


def test_ensemble_is_the_mixture() -> None:
    for (q, p), weight in ((pair, F(n, 7)) for pair in SOME_PAIRS for n in range(8)):
        mixture = [weight * a + (1 - weight) * b for a, b in zip(p, q, strict=True)]
        assert out(Ensemble(weight), q, p).tolist() == mixture


@pytest.mark.parametrize("lam", [1, 1.5, 5.0, 20.0])
def test_lantern_plus_with_the_best_residual_stays_below_lam(lam: float) -> None:
    reached = 0
    for q, p in pairs(60, 5, seed=21):
        law = out(Optimal(LanternPlus(3, lam)), q, p)
        assert all(a <= F(str(lam)) * b for a, b in zip(law, p, strict=True))
        reached += any(b and a == F(str(lam)) * b for a, b in zip(law, p, strict=True))
    assert reached or lam >= 5


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_partition_keeps_what_the_strict_rule_keeps_of_its_runs(size: int) -> None:
    """GSD's theorem: sum q b = sum over runs of min(P(C), Q(C)) = 1 - TV(runs), at least 1 - TV(p, q)."""
    below = 0
    for q, p in SOME_PAIRS:
        order = ranking(array(p))
        runs = [order[start : start + size] for start in range(0, len(p), size)]
        masses = [array([array(law)[run].sum() for run in runs]) for law in (q, p)]
        kept = accepted(Partitioned(size), q, p)
        assert kept == 1 - total_variation(*masses) >= accepted(Strict(), q, p)
        law = Partitioned(size)(array(q), array(p), np.array(0)).accept
        below += (law < Strict()(array(q), array(p), np.array(0)).accept).any()
    assert (below > 0) == (size > 1)  # in total, not token by token


def test_a_cascade_keeps_all_from_alpha_one_on() -> None:
    assert all(accepted(CascadeOpt(1), q, p) == 1 for q, p in SOME_PAIRS)


@pytest.mark.parametrize("budget", [0, 0.1, 1, 100.0])
def test_cactus_costs_what_the_optimal_residual_costs(budget: float) -> None:
    """On the line for every law: r G stays below [p - q b]+."""
    for q, p in SOME_PAIRS:
        law, best = (out(rule, q, p) for rule in (Cactus(budget), Optimal(Cactus(budget))))
        assert total_variation(law, array(p)) == total_variation(best, array(p))
    assert budget or all(out(Cactus(0), q, p).tolist() == list(p) for q, p in SOME_PAIRS)


# Codebooks


def test_binding() -> None:
    for rule in SETTINGS:
        ready = bind_codebook(rule, CODEBOOK)
        waits = codes_of(rule) == 0
        assert (codes_of(ready) == len(CODEBOOK)) == waits == (ready is not rule)
        assert repr(ready) == repr(rule) and bind_codebook(ready, None) is ready
        if waits:
            assert ready == bind_codebook(rule, CODEBOOK) != bind_codebook(rule, CODEBOOK[::-1])
            assert hash(ready) == hash(bind_codebook(rule, CODEBOOK))
            with pytest.raises(SpecsimError, match="needs a codebook for its neighbours, and this model has none"):
                bind_codebook(rule, None)
            half = np.array([F(1, 2)] * 2)
            with pytest.raises(SpecsimError, match="8 codes, the laws have 2 tokens"):
                output_law(ready, half, half, np.array(0))
            with pytest.raises(SpecsimError, match="bind a codebook"):
                output_law(rule, half, half, np.array(0))


def test_a_users_own_rule_takes_a_codebook() -> None:
    @dataclass(frozen=True)
    class Mine:
        codes: int = 0

        def bind(self, codebook: Any) -> "Mine":
            return replace(self, codes=len(codebook))

        def __call__(self, draft: Any, target: Any, position: Any) -> Verdict:
            assert self.codes == 3
            return Verdict(Strict()(draft, target, position).accept, standard_residual(draft, target))

    target = replace(random_table(3, 2, 1), codebook=CODEBOOK[:3])
    assert exact(Jacobi(2), target, rule=Mine()).tv(target) == exact(Jacobi(2), target, rule=Optimal(Mine())).tv(target)


def test_nearest_by_hand() -> None:
    assert nearest([[0], [1], [3], [2]], 2).tolist() == [[1, 3], [0, 3], [3, 1], [1, 2]]
    assert nearest([[0.0]], 4).tolist() == [[]]
    fixed = Fixed(np.arange(3))
    assert fixed.beside(torch.zeros(1)) is fixed.beside(torch.ones(1)) and fixed != 3
    with pytest.raises(SpecsimError, match="codebook"):
        nearest([], 2)


BAD_CODEBOOKS = ["abc", [[1, 2], [3]], {"a": 1}, [[10**400]], [[1j]], np.array([[1j]]), [["1"]], [[None]], [[1e101]]]
BAD_CODEBOOKS += [torch.zeros(2, 2, dtype=torch.complex64), [[math.inf]], np.zeros((2, 0)), [True, False], 3]


@pytest.mark.parametrize("codebook", BAD_CODEBOOKS, ids=lambda value: repr(value)[:30])
@pytest.mark.parametrize("rule", [Lantern(), Grouped()], ids=repr)
def test_what_is_no_codebook_is_one_line(rule: Any, codebook: Any) -> None:
    with pytest.raises(SpecsimError, match=r"^codebook") as caught:
        bind_codebook(rule, codebook)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300
    with pytest.raises(SpecsimError, match=r"^codebook"):
        check(rule, {}, codebook=codebook)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_a_codebook_may_be_a_tensor(dtype: Any) -> None:
    codes = torch.tensor([[0], [1], [3], [2]], dtype=dtype)
    codes = codes.requires_grad_() if dtype.is_floating_point else codes
    for rule in (Lantern(k=2), Grouped()):
        assert bind_codebook(rule, codes) == bind_codebook(rule, [[0], [1], [3], [2]])
    assert (check(Lantern(k=1), {}, codebook=codes) is not None) and to_numpy(codes).shape == (4, 1)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1.0, 3e99])
def test_nearest_at_any_size(size: float) -> None:
    found = nearest(np.array([[0.0], [1.0], [0.75], [-0.5]]) * size, 3)
    assert found.tolist() == [[3, 2, 1], [2, 0, 3], [1, 0, 3], [0, 2, 1]]


def test_a_codebook_is_copied() -> None:
    codes = np.array([[0.0], [1.0]])
    rule = bind_codebook(Grouped(), codes)
    codes[0] = 9
    assert rule == bind_codebook(Grouped(), [[0.0], [1.0]])


def test_a_users_own_rule_that_cannot_be_bound_is_one_line() -> None:
    @dataclass(frozen=True)
    class Waiting:
        codes: int = 0

    class Empty(Waiting):
        def bind(self, codebook: Any) -> Any:
            return None

    for kind, wanted in ((Waiting, r"codes = 0, so it waits for a codebook; give it bind"), (Empty, "returned None")):
        with pytest.raises(SpecsimError, match=wanted):
            bind_codebook(kind(), [[0.0]])


def test_a_large_codebook_needs_no_table_of_v_by_v() -> None:
    """V = 16,384 codes of 8 numbers: 2 GB as a table of distances, a hundredth of it here."""
    rng, vocab = np.random.default_rng(0), 16_384
    rule = bind_codebook(Grouped(), rng.normal(size=(vocab, 8)) / 6)
    target, draft = (rng.dirichlet(np.full(vocab, 0.1), size=(1, 2)) for _ in range(2))
    token = np.array([[int((draft[0, 0] - target[0, 0]).argmax()), 77]])
    tracemalloc.start()
    found = rule.at(draft, target, token, np.arange(2)).accept
    peak = tracemalloc.get_traced_memory()[1]
    whole = rule.acceptance(draft, target, np.arange(2))
    whole_peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24 and whole_peak < 2**27
    assert Optimal(rule).reach == 14 * 8  # what a check of real laws counts when it plans its memory
    assert found[0].tolist() == [whole[0, 0, token[0, 0]], whole[0, 1, 77]]
    assert (whole != Strict()(draft, target, np.arange(2)).accept).any()
    elsewhere = rule.at(*(torch.asarray(x) for x in (draft, target, token, np.arange(2)))).accept
    assert elsewhere[0].tolist() == pytest.approx(found[0].tolist(), rel=1e-12)  # sums of 14 terms


# Listings, sources, fields


@pytest.mark.parametrize("rule", SETTINGS, ids=repr)
def test_a_rule_is_its_repr(rule: Any) -> None:
    assert parse(repr(rule), RULES, "rule") == rule


def test_the_wrapper_is_listed_with_a_rule_to_type() -> None:
    assert parameters(Optimal) == {"rule": "Lantern(k=10, delta=0.1)"}
    assert parse("Optimal(Grouped)", RULES, "rule") == Optimal(Grouped())
    assert parse("Optimal(LanternPlus(k=5, lam=20))", RULES, "rule") == Optimal(LanternPlus(5, 20))


@pytest.mark.parametrize("kind", RULES.values(), ids=lambda kind: kind.__name__)
def test_a_docstring_says_what_the_rule_is_and_where_it_is_from(kind: type) -> None:
    text = str(kind.__doc__)
    cited = re.findall(r"\[([a-z]+\d{4}[a-z]*)\]", text)
    assert cited and set(cited) <= set(KEYS)
    assert "Source: " in text and re.search("lossless|biased", text, re.IGNORECASE)
    for key in cited:
        entry = REFERENCES.partition(f"{{{key},")[2].partition("\n}")[0]
        assert all(f"  {name} = {{" in entry for name in ("title", "author", "year"))
        assert (number := re.search(r"eprint = \{([\d.]+)\}", entry)) and f"arXiv {number[1]}" in text


def test_every_reference_is_cited() -> None:
    texts = " ".join(str(kind.__doc__) for kind in RULES.values())
    assert len(KEYS) == len(set(KEYS)) and all(f"[{key}]" in texts for key in KEYS)


BAD = [
    *((kind, "k", value) for kind in ("LanternDynamic", "LanternPlusDynamic") for value in (0, 1.5, True)),
    *((kind, "lam", value) for kind in ("LanternPlus", "LanternPlusDynamic") for value in (0.9, math.inf, math.nan)),
    *(("LanternDynamic", "delta", value) for value in (-0.1, math.nan)),
    *((kind, "size", value) for kind in ("Grouped", "Partitioned") for value in (0, 1.5, LARGEST + 1)),
    *(("Grouped", name, value) for name in ("gap", "distance") for value in (-1, math.nan)),
    *(("Grouped", "strict_tail", value) for value in (-1, 0.5)),
    *(("Typical", "epsilon", value) for value in (-0.1, 1.1, math.nan)),
    *(("Typical", "delta", value) for value in (-0.1, math.inf)),
    *(("Ensemble", "weight", value) for value in (-0.1, 1.1, math.nan)),
    *(("Cactus", "d", value) for value in (-0.1, math.inf, math.nan)),
    *((kind, "threshold", value) for kind in ("FuzzyKL", "FuzzyJS") for value in (-0.1, math.inf, math.nan)),
    *(("CascadeOpt", "alpha", value) for value in (-0.1, math.inf, math.nan)),
    *(("AdditiveUnmasked", "epsilon", value) for value in (-0.1, math.inf)),
    *(("ContentAwareUnmasked", name, -0.1) for name in ("lam", "delta")),
]


NUMBERS = [  # every field that takes a number, of every rule
    (kind, name)
    for kind, rule in RULES.items()
    for name, value in vars(rule()).items()
    if isinstance(value, (int, float)) and not isinstance(value, bool)
]
NO_NUMBERS = ("2", None, 1j, True, np.float32(0.5), 10**400, 10**5000, math.inf, -math.inf, math.nan, [1], F(10**400))


@pytest.mark.parametrize(("kind", "name"), NUMBERS)
def test_what_is_no_number_of_a_field_is_one_line(kind: str, name: str) -> None:
    for value in NO_NUMBERS:
        with pytest.raises(SpecsimError, match=rf"^{kind}: {name} = .* must be a ") as caught:
            RULES[kind](**{name: value})
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 220


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Lantern(neighbours=(1, 2))", "Lantern: neighbours = (1, 2) must be left out"),
        ("LanternPlus(neighbours='x')", "LanternPlus: neighbours = 'x' must be left out"),
        ("Grouped(codebook='x')", "Grouped: codebook = 'x' must be left out"),
    ],
)
def test_what_a_codebook_fills_in_is_not_typed(text: str, wanted: str) -> None:
    with pytest.raises(SpecsimError, match=re.escape(wanted)):
        parse(text, RULES, "rule")
    with pytest.raises(SpecsimError, match="clamp = 'no' must be True or False"):
        RULES["Annealed"](clamp="no")


@pytest.mark.parametrize(
    ("made", "same"),
    [
        (Annealed(1.1, F(7, 10), F(1, 2)), Annealed(1.1, 0.7, 0.5)),
        (Grouped(3, F(3, 10), F(1, 2)), Grouped(3, 0.3, 0.5)),
        (Lantern(2, F(2, 5)), Lantern(2, 0.4)),
        (Typical(F(9, 100), F(3, 10)), Typical()),
        (ContentAware(F(1, 2), F(4, 5)), ContentAware(0.5, 0.8)),
    ],
    ids=repr,
)
def test_fractions_are_fields_too(made: Any, same: Any) -> None:
    for q, p in SOME_PAIRS[:4]:
        assert out(made, q, p, 1).tolist() == out(same, q, p, 1).tolist()
        laws = [torch.asarray(np.array(law, dtype=float))[None] for law in (q, p)]
        found, wanted = (output_law(bound(rule, len(p)), *laws, torch.asarray([1])) for rule in (made, same))
        assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("rule", SETTINGS, ids=repr)
@pytest.mark.parametrize("exact_numbers", [True, False])
def test_laws_without_a_batch(rule: Any, exact_numbers: bool) -> None:
    """[V] is a shape like any other, for all forms of a rule."""
    for q, p in pairs(4, 4, seed=8):
        ready, laws = bound(rule, 4), [array(law) if exact_numbers else np.array(law, dtype=float) for law in (q, p)]
        for token in range(4):
            alone = verdict_at(ready, *laws, np.array(token), np.array(2))
            many = verdict_at(ready, *(law[None] for law in laws), np.array([token]), np.array([2]))
            assert alone.accept.shape == () and alone.accept == many.accept[0]
            assert alone.residual.tolist() == many.residual[0].tolist()
        if callable(rule):
            whole, many = ready(*laws, np.array(2)), ready(*(law[None] for law in laws), np.array([2]))
            assert [a.tolist() for a in whole] == [a[0].tolist() for a in many]


@pytest.mark.parametrize("kind", [FuzzyKL, FuzzyJS])
def test_a_threshold_of_zero_is_strict_in_floats(kind: type) -> None:
    """Laws a rounding apart: their divergence rounds to 0, and below."""
    rng = np.random.default_rng(4)
    draft = rng.dirichlet(np.ones(4), size=200)
    target = np.nextafter(draft, np.where(rng.random(draft.shape) < 0.5, 0, 1))
    wanted = Strict()(draft, target, np.array(0)).accept
    assert (wanted < 1).any() and (kind(0)(draft, target, np.array(0)).accept == wanted).all()


def test_what_float64_takes_for_zero_is_an_infinite_term() -> None:
    least = F(1, 10**400)
    q, p = (1 - least, least), (F(1, 2), F(1, 2))
    assert accepted(FuzzyKL(100), q, p) == accepted(Strict(), q, p) < 1


def test_an_empty_static_residual_keeps_the_support() -> None:
    """Reached by rounding alone: p a rounding below q wherever it has mass."""
    draft = np.array([0.3, 0.7, 0, 0], dtype=np.float32)
    target = np.nextafter(draft, np.float32(0))
    for rule in (LanternPlus(1, 1), Lantern(1, 0.0)):
        ready = bind_codebook(rule, [[0], [50], [1], [2]])
        found = verdict_at(ready, draft, target, np.array(0), np.array(0))
        assert found.accept < 1 and found.residual.tolist() == target.tolist()


@pytest.mark.parametrize(("kind", "name", "value"), BAD)
def test_a_field_out_of_range_is_named(kind: str, name: str, value: Any) -> None:
    with pytest.raises(SpecsimError, match=rf"^{kind}: {name} = {re.escape(repr(value))} must be "):
        RULES[kind](**{name: value})


@pytest.mark.parametrize(
    "rule", [Typical(), FuzzyKL(), FuzzyJS(), Cactus(), CascadeOpt(), Grouped(3, 0.3, 2)], ids=repr
)
@pytest.mark.parametrize("xp", [torch, array_api_strict])
def test_points_and_disjoint_laws_make_no_nan_in_float32(rule: Any, xp: Any) -> None:
    """Probabilities of 0 and 1, where logs, roots and quotients end."""
    laws = np.array([[0, 1, 0], [1, 0, 0], [0.5, 0.5, 0], [0, 0.25, 0.75]], dtype=np.float32)
    draft, target = (np.stack(x) for x in zip(*((a, b) for a in laws for b in laws), strict=True))
    law = output_law(bound(rule, 3), xp.asarray(draft), xp.asarray(target), xp.asarray(np.zeros(16, dtype=int)))
    law = np.asarray(law)
    assert law.dtype == np.float32 and np.isfinite(law).all() and (law >= 0).all()
    assert abs(law.sum(axis=-1) - 1).max() < 1e-6  # a few roundings
