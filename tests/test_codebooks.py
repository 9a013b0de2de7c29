"""Rules that read a codebook: how one is bound, and what is none."""

import math
import tracemalloc
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from specsim import SpecsimError, bind_codebook, exact, output_law, random_table
from specsim.arrays import to_numpy
from specsim.checking import check
from specsim.decoders import Jacobi
from specsim.rules import (
    Grouped,
    Lantern,
    Optimal,
    Strict,
)
from specsim.rules.codebooks import Fixed, codes_of, nearest
from specsim.verification import Verdict, standard_residual
from tests.test_one_token import CODEBOOK, SETTINGS

F = Fraction


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
