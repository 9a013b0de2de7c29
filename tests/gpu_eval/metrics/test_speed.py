"""Calls and seconds: the identities of theorem T23 on sampled runs, exact laws as the truth, a scripted clock."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gpu_eval.metrics import speed
from gpu_eval.metrics.speed import measure, speed_of
from specsim import Autoregressive, Chain, Jacobi, exact, random_table, sample
from specsim.errors import SpecsimError

LENGTH, ROWS = 4, 400
DEVIATIONS = 5  # standard errors a sampled mean may be off: 6e-7 by chance
ROUNDING = 1e-12
EOS = 0


def tables():
    rng = np.random.default_rng(0)
    return [random_table(3, LENGTH, rng) for _ in range(2)]


def drawn(decoder, rows=ROWS, eos=None):
    target, draft = tables()
    batches = (range(rows // 4), range(rows // 4, rows))
    return [
        sample(decoder, target.floats(), draft.floats() if decoder.needs_draft else None, rows=list(b), eos=eos)
        for b in batches
    ]


@pytest.mark.parametrize("decoder", [Chain(2), Jacobi(3), Autoregressive()], ids=repr)
def test_sampled_figures_are_those_of_the_exact_law(decoder):
    target, draft = tables()
    law = exact(decoder, target, draft if decoder.needs_draft else None)
    batches = drawn(decoder)
    found, calls = speed_of(batches), np.concatenate([batch.calls for batch in batches])
    error = calls.std(ddof=1) / np.sqrt(ROWS)
    assert found["nfe"]["value"] == pytest.approx(float(law.calls), abs=DEVIATIONS * error + ROUNDING)
    for name, value in (("tokens_per_call", law.tokens_per_call), ("accepted_length", law.accepted / law.calls)):
        low, high = found[name]["interval"]
        assert abs(found[name]["value"] - float(value)) <= max(high - low, ROUNDING) * DEVIATIONS / 3


def test_a_chain_adds_one_token_a_call():
    """T23 (1), (6): true of every run, so of every sample."""
    found = speed_of(drawn(Chain(2)))
    assert found["tokens_per_call"]["value"] == pytest.approx(found["accepted_length"]["value"] + 1, abs=ROUNDING)
    assert found["step_compression"] == found["tokens_per_call"]


def test_a_window_may_end_without_a_bonus():
    """T23 (4): 0 <= accepted + calls - N <= 1."""
    batches = drawn(Jacobi(3))
    extra = np.concatenate([batch.accepted + batch.calls - LENGTH for batch in batches])
    assert set(extra.tolist()) == {0, 1}
    found = speed_of(batches)
    assert (
        found["accepted_length"]["value"] + 1 > found["tokens_per_call"]["value"] == found["step_compression"]["value"]
    )


def test_an_average_of_compressions_is_larger():
    """T23 (7): mean of N / calls above N / mean of calls, where runs differ."""
    found = speed_of(drawn(Chain(2)))
    assert found["mean_compression"]["value"] > found["step_compression"]["value"]


def test_plain_decoding_is_the_unit():
    found = speed_of(drawn(Autoregressive()))
    assert found["nfe"]["value"] == LENGTH and found["accepted_length"]["value"] == 0
    for name in ("tokens_per_call", "step_compression", "mean_compression"):
        assert found[name] == {"value": 1.0, "interval": [1.0, 1.0]}


def test_an_end_of_sequence_needs_plain_decoding():
    batches, plain = drawn(Chain(2), eos=EOS), drawn(Autoregressive(), eos=EOS)
    with pytest.raises(SpecsimError, match=r"eos = .* give the samples of plain decoding"):
        speed_of(batches)
    found = speed_of(batches, plain)
    sums = [sum(int(batch.calls.sum()) for batch in some) for some in (plain, batches)]
    assert found["step_compression"]["value"] == pytest.approx(sums[0] / sums[1], abs=ROUNDING)
    assert sums[0] < ROWS * LENGTH, "plain decoding stops early too"
    with pytest.raises(SpecsimError, match="images of plain decoding = 100 must be 400"):
        speed_of(batches, plain[:1])


def test_a_row_that_was_given_up_has_no_figures():
    first, second = drawn(Chain(2))
    with pytest.raises(SpecsimError, match=r"faults = .* must be none"):
        speed_of([first, replace(second, faults=("row 7",))])


class Clock:
    """Work that takes the seconds given, one after another, and a clock that shows them."""

    def __init__(self, seconds) -> None:
        self.time, self.seconds, self.looks = 0.0, iter(seconds), 0

    def work(self):
        self.time += next(self.seconds)

    def now(self, device):
        self.looks += 1
        self.time += 100  # the wait for what the device was given before
        return self.time


def test_latency_leaves_out_the_warm_up(monkeypatch):
    clock = Clock([50.0, 40.0, 1.0, 2.0, 3.0, 4.0, 9.0])
    monkeypatch.setattr(speed, "now", clock.now)
    found = measure(clock.work, torch.device("cpu"), warmup=2, repeats=5)
    assert found.seconds == (101.0, 102.0, 103.0, 104.0, 109.0) and clock.looks == 10
    content = found.as_json()
    assert content["median_seconds"] == 103.0 and content["quartiles_seconds"] == [102.0, 104.0]
    assert (content["warmup"], content["repeats"]) == (2, 5)
    assert content["device"] == "cpu" and "threads" in content["device_name"] and content["versions"]["torch"]


def test_every_look_at_a_cuda_clock_waits(monkeypatch):
    """Without a GPU: the call that waits is counted."""
    waits, device = [], torch.device("cuda", 1)
    monkeypatch.setattr(torch.cuda, "synchronize", waits.append)
    monkeypatch.setattr(speed, "provenance", lambda where: {"device": where.type})
    assert measure(lambda: None, device, warmup=1, repeats=3).hardware == {"device": "cuda"}
    assert waits == [device] * 6


@pytest.mark.gpu
def test_latency_on_cuda_covers_the_kernels():
    """Work that is only queued takes no time on the host, all of it on the device."""
    device = torch.device("cuda")
    matrix = torch.rand(4096, 4096, device=device)
    short, long = (measure(lambda n=n: [matrix @ matrix for _ in range(n)], device).as_json() for n in (1, 50))
    assert long["median_seconds"] > 10 * short["median_seconds"]
    assert long["device_name"] == torch.cuda.get_device_name(device)


@pytest.mark.parametrize(("warmup", "repeats", "said"), [(-1, 3, "warmup"), (0, 0, "repeats"), (1.5, 3, "warmup")])
def test_what_cannot_be_measured(warmup, repeats, said):
    with pytest.raises(SpecsimError, match=said):
        measure(lambda: None, torch.device("cpu"), warmup, repeats)
