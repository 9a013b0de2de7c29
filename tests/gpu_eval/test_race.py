"""On the real model race decoding equals plain decoding with the same noise, token for token, across rollbacks."""

import pytest
import torch

from gpu_eval.fashion import load_fashion
from gpu_eval.processing import Processing
from gpu_eval.race_ties import Agreement, race_agreement, tie
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


def test_uncached_too(models):
    assert agreement(models[torch.float64], Jacobi(16), [0, 1], 1.0, cached=False).equal == 2


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
    assert found.equal < 4


def test_a_tie_needs_a_small_gap():
    law = torch.tensor([0.5, 0.3, 0.2])
    gap, slack = tie(torch.tensor([1.0, 0.5, 0.0]), law, law * torch.tensor([1.0, 1.001, 0.999]))
    assert gap == 0.5 and 0.0019 < slack < 0.0021


def test_race_wraps_any_decoder(models):
    assert Race(Chain(2)).needs_draft and not Race(Jacobi(2)).needs_draft
