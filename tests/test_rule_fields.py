"""The fields of rules: what they take, what they refuse, and laws at the edge of their numbers."""

import math
import re
from fractions import Fraction
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch

from specsim import RULES, SpecsimError, bind_codebook, output_law
from specsim.rules import (
    Annealed,
    Cactus,
    CascadeOpt,
    ContentAware,
    FuzzyJS,
    FuzzyKL,
    Grouped,
    Lantern,
    LanternPlus,
    Strict,
    Typical,
)
from specsim.rules.grouped import LARGEST
from specsim.specs import parse
from specsim.verification import verdict_at
from tests.test_one_token import SETTINGS, SOME_PAIRS, accepted, array, bound, out, pairs

F = Fraction

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
