"""Decoding `fashion`: verification and redraft as a share of model time, and seconds beside plain decoding in one run.

Goal: under 10 % of model time at batch 8, W 16, guidance 1, on CPU.
"""

import pytest
import torch

from gpu_eval.fashion import load_fashion
from gpu_eval.processing import Processing
from gpu_eval.run import Plan, decode
from specsim import Autoregressive, Chain, ContentAware, Jacobi, Race

DECODERS = {
    "AR": Autoregressive(),
    "SD": Chain(4),
    "SJD": Jacobi(16),
    "SCD-MC": Jacobi(16, "maximal"),
    "SCD-GS": Jacobi(16, "gumbel"),
    "SJD + CSD": Jacobi(16),
    "race": Race(Jacobi(16)),
}
IMAGES = 32


@pytest.fixture(scope="module")
def model():
    return load_fashion()


@pytest.fixture(scope="module")
def plain_seconds(model):
    decode(Plan("fashion", Autoregressive(), images=8), model)
    return decode(Plan("fashion", Autoregressive(), images=IMAGES), model).loop_seconds


@pytest.mark.parametrize("name", DECODERS)
def test_decode(benchmark, model, plain_seconds, name):
    rule = ContentAware(0.5, 0.35) if name == "SJD + CSD" else None
    plan = Plan("fashion", DECODERS[name], rule, IMAGES, batch=8, processing=Processing())
    done = benchmark.pedantic(decode, (plan, model), rounds=3, warmup_rounds=1, iterations=1)
    benchmark.extra_info |= {
        "threads": torch.get_num_threads(),
        "overhead_fraction": (done.loop_seconds - done.model_seconds) / done.model_seconds,
        "calls_per_image": float(done.calls.mean()),
        "seconds_over_plain": done.loop_seconds / plain_seconds,
    }
