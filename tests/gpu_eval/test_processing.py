"""Logits to laws: each step against its definition in plain Python, ties and number types included."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gpu_eval.processing import Processing, guide, keep_top_k, keep_top_p, law, require_finite
from specsim.errors import SpecsimError

ROUNDING = 1e-12  # float64, a dozen terms
FLOAT32_ROUNDING = 1e-6  # sum of seven float32 terms
# Few distinct values, so that ties are common.
rows = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=9)


def softmax(logits):
    weights = [math.exp(x) for x in logits]
    return [w / sum(weights) for w in weights]


def ranking(logits):
    """Likeliest first, lower ids first among equals."""
    return sorted(range(len(logits)), key=lambda i: (-logits[i], i))


def as_law(logits, processing):
    return law(torch.tensor(logits, dtype=torch.float64), processing)


def close(found, expected):
    return torch.allclose(found, torch.tensor(expected, dtype=torch.float64), atol=ROUNDING, rtol=0)


@given(rows, st.sampled_from([0.5, 1.0, 3.0]))
def test_temperature(logits, temperature):
    assert close(as_law(logits, Processing(temperature=temperature)), softmax([x / temperature for x in logits]))


@given(rows)
def test_temperature_zero_is_the_first_of_the_largest(logits):
    expected = [float(i == ranking(logits)[0]) for i in range(len(logits))]
    assert as_law(logits, Processing(temperature=0.0)).tolist() == expected


@given(rows, st.integers(1, 12))
def test_top_k_keeps_exactly_k_and_the_lowest_ids(logits, k):
    kept = ranking(logits)[:k]
    total = sum(math.exp(logits[i]) for i in kept)
    expected = [math.exp(x) / total if i in kept else 0.0 for i, x in enumerate(logits)]
    assert close(as_law(logits, Processing(top_k=k)), expected)


@given(rows, st.floats(0.01, 0.99))
def test_top_p_keeps_the_fewest_that_reach_the_share(logits, share):
    law_of, order = softmax(logits), ranking(logits)
    sums = [sum(law_of[i] for i in order[:n]) for n in range(len(order) + 1)]
    if min(abs(s - share) for s in sums) < ROUNDING:
        return  # rounding decides
    kept = order[: next(n for n, s in enumerate(sums) if s >= share)]
    expected = [law_of[i] / sum(law_of[j] for j in kept) if i in kept else 0.0 for i in range(len(logits))]
    assert close(as_law(logits, Processing(top_p=share)), expected)


def test_top_p_is_taken_of_what_top_k_left():
    logits = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64).log()
    assert close(law(logits, Processing(top_k=2, top_p=0.62)), [1.0, 0.0, 0.0])  # 5/8 of the mass left
    assert close(law(logits, Processing(top_p=0.62)), [0.625, 0.375, 0.0])


def test_temperature_comes_before_top_p():
    logits = torch.tensor([0.6, 0.4]).double().log()
    assert law(logits, Processing(temperature=0.1, top_p=0.7)).count_nonzero() == 1
    assert law(logits, Processing(top_p=0.7)).count_nonzero() == 2


def test_guidance_extrapolates_from_the_unconditional_logits():
    conditional, unconditional = torch.tensor([1.0, 2.0]), torch.tensor([0.0, 4.0])
    assert guide(conditional, unconditional, 3.0).tolist() == [3.0, -2.0]
    assert guide(conditional, unconditional, 0.0).tolist() == unconditional.tolist()


@pytest.mark.parametrize("given_type", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("processing", [Processing(), Processing(temperature=0.0), Processing(top_k=3, top_p=0.9)])
def test_laws_are_float32_or_better(given_type, processing):
    found = law(torch.linspace(-2, 2, 7).to(given_type).expand(2, 3, 7), processing)
    assert found.dtype == (torch.float64 if given_type == torch.float64 else torch.float32)
    assert found.shape == (2, 3, 7)
    assert (found.sum(-1) - 1).abs().max() < FLOAT32_ROUNDING


def test_batches_are_processed_row_by_row():
    logits = torch.randn(4, 5, 9, generator=torch.Generator().manual_seed(0)).round()  # rounded: ties
    for step in (lambda x: keep_top_k(x, 4), lambda x: keep_top_p(x, 0.6)):
        assert torch.equal(step(logits), torch.stack([torch.stack([step(x) for x in row]) for row in logits]))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_broken_logits_are_located(value):
    logits = torch.zeros(2, 3, 4)
    require_finite(logits, torch.tensor([5, 7]))
    logits[1, 2, 3] = value
    with pytest.raises(SpecsimError, match=f"row 1, position 9 hold {value}"):
        require_finite(logits, torch.tensor([5, 7]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("guidance", math.nan),
        ("temperature", -1.0),
        ("temperature", math.inf),
        ("top_k", -1),
        ("top_k", 2.5),
        ("top_p", 0.0),
        ("top_p", 1.5),
        ("top_p", math.nan),
    ],
)
def test_bad_settings_name_the_field_and_show_the_value(name, value):
    with pytest.raises(SpecsimError, match=f"{name} is {value}"):
        Processing(**{name: value})


@pytest.mark.parametrize("temperature", [1e-30, 1e-38, 1e-45, 1e-300])
def test_a_tiny_temperature_is_the_argmax_and_never_overflows(temperature):
    """Dividing first would give inf - inf = NaN in the softmax, and a NaN law decodes to nonsense without a word."""
    logits = torch.tensor([[3.0, 90.0, -5.0], [1.0, 0.5, 1e30]])
    assert law(logits, Processing(temperature=temperature)).tolist() == [[0, 1, 0], [0, 0, 1]]
