"""What needs a CUDA device: a seed gives the same images there, and a race is a race.  Run with: pytest -m gpu."""

import pytest
import torch

from gpu_eval.fashion import load_fashion
from gpu_eval.race_ties import race_agreement
from specsim import Autoregressive, Chain, ContentAware, Jacobi
from specsim.sampling import sample, to_numpy

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here"),
]
RUNS = [
    (Autoregressive(), None),
    (Chain(4), None),
    (Jacobi(16), ContentAware()),
    (Jacobi(16, "maximal"), None),
    (Jacobi(16, "gumbel"), None),
]


@pytest.mark.parametrize(("decoder", "rule"), RUNS, ids=repr)
def test_the_same_uniforms_give_the_same_tokens(decoder, rule):
    """In float64 rounding is far below any gap between uniforms and cumulative sums."""
    tokens = []
    for device in ("cpu", "cuda"):
        fashion, labels = load_fashion(device, torch.float64), torch.arange(8)
        draft = fashion.draft(labels) if decoder.needs_draft else None
        tokens.append(to_numpy(sample(decoder, fashion.target(labels), draft, rule, rows=8, seed=3).tokens))
    assert (tokens[0] == tokens[1]).all()


@pytest.mark.parametrize("decoder", [Jacobi(16), Chain(4)], ids=repr)
def test_a_race_on_the_device(decoder):
    fashion, labels = load_fashion("cuda"), torch.arange(8)
    found = race_agreement(decoder, lambda: fashion.target(labels), lambda: fashion.draft(labels), range(8), seed=7)
    assert found.holds
