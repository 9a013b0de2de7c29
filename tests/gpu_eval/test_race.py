"""On the real model race decoding equals plain decoding with the same noise, token for token, across rollbacks."""

import pytest
import torch

from gpu_eval.fashion import load_fashion
from gpu_eval.processing import Processing
from gpu_eval.race_ties import Agreement, fault, race_agreement
from specsim import Chain, Jacobi, Race

DECODERS = [Jacobi(16), Jacobi(5, tail="onehot"), Chain(4)]
SEED = 7


@pytest.fixture(scope="module")
def models():
    return {dtype: load_fashion(dtype=dtype) for dtype in (torch.float64, torch.float32)}


def agreement(fashion, decoder, rows, guidance, cached=True) -> Agreement:
    labels, processing = torch.tensor([row % 10 for row in rows]), Processing(guidance=guidance)
    return race_agreement(
        decoder,
        lambda: fashion.target(labels, processing, cached),
        lambda: fashion.draft(labels, processing, cached),
        rows,
        SEED,
    )


@pytest.mark.parametrize("rows", [range(1), range(8)], ids=["batch 1", "batch 8"])
@pytest.mark.parametrize("guidance", [1.0, 2.0])
@pytest.mark.parametrize("decoder", DECODERS, ids=repr)
def test_race_equals_plain_decoding(models, decoder, guidance, rows):
    """float64: rounding is far below any gap, so every token is equal.  float32: only measured ties may differ."""
    assert agreement(models[torch.float64], decoder, list(rows), guidance).equal == len(rows)
    assert agreement(models[torch.float32], decoder, list(rows), guidance).holds


@pytest.mark.parametrize("guidance", [1.0, 2.0])
def test_cached_windows_against_plain_decoding_without_a_cache(models, guidance):
    """A cache that is wrong in the same way at every call would agree with itself."""
    labels, processing, fashion = torch.arange(4), Processing(guidance=guidance), models[torch.float32]
    cached, single = (lambda kept=kept: fashion.target(labels, processing, kept) for kept in (True, False))
    for decoder in (Jacobi(16), Chain(4)):
        drafts = lambda: fashion.draft(labels, processing, False)  # noqa: E731
        assert race_agreement(decoder, cached, drafts, range(4), SEED, single).holds


class Shifted:
    """A model that answers every window one position late: what an off-by-one in a cache does."""

    def __init__(self, model):
        self.model = model
        self.vocab, self.length, self.uniform, self.codebook = model.vocab, model.length, model.uniform, model.codebook

    def __call__(self, tokens, start, count):
        laws = self.model(tokens, start, count)
        return laws if count == 1 else torch.cat([laws[:, :1], laws[:, :1], laws[:, 1:-1]], dim=1)


def test_a_wrong_window_is_a_fault(models):
    """The check itself: wrong laws inside a window must not pass as ties."""
    labels = torch.arange(4)
    make = lambda: Shifted(models[torch.float32].target(labels))  # noqa: E731
    found = race_agreement(Jacobi(8), make, None, range(4), SEED)
    assert len(found.faults) == 4 and not found.holds and not found.ties


def test_a_tie_needs_a_small_gap_and_laws_that_agree():
    law = torch.tensor([[0.5, 0.3, 0.2]])
    near, far = law * torch.tensor([1.0, 1.00001, 0.99999]), law * torch.tensor([1.0, 1.01, 0.985])
    apart, close = torch.tensor([1.0, 0.5, 0.0]), torch.tensor([1.0, 0.999999, 0.0])
    assert "gap 0.5" in fault(apart, law, near, True) and fault(close, law, near, True) is None
    assert fault(apart, law, near, False) is None
    for score in (apart, close):
        assert "log p differs" in fault(score, law, far, True) and "log p differs" in fault(score, law, far, False)
    assert "differs by 8" in fault(close, law, torch.tensor([[0.5, 0.5, 0.0]]), True)
    denormal = torch.tensor([[0.5, 0.5, 1e-45]])
    assert fault(close, denormal, torch.tensor([[0.5, 0.5, 0.0]]), False) is None


def test_race_wraps_any_decoder(models):
    assert Race(Chain(2)).needs_draft and not Race(Jacobi(2)).needs_draft
