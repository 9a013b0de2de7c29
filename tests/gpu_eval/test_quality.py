"""Quality figures against values known in advance."""

import json

import pytest
import torch

from gpu_eval.fashion import load_fashion
from gpu_eval.processing import Processing
from gpu_eval.quality import frechet_distance, law_figures, main, sample, statistics

ROUNDING = 1e-6  # an eigenvalue 0 is seen as some 1e-15, and its square root is taken


def test_frechet_distance_of_commuting_covariances():
    """For diagonal covariances it is |m1 - m2|^2 + sum (sqrt c1 - sqrt c2)^2, variance 0 included."""
    turn = torch.linalg.qr(torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)))[0]
    one = torch.tensor([1.0, 2.0, 3.0]).double(), turn @ torch.diag(torch.tensor([4.0, 0.0, 9.0]).double()) @ turn.T
    two = torch.tensor([1.0, 0.0, 3.0]).double(), turn @ torch.diag(torch.tensor([1.0, 4.0, 9.0]).double()) @ turn.T
    assert frechet_distance(one, two) == pytest.approx(4 + 1 + 4, abs=ROUNDING)
    assert frechet_distance(one, one) == pytest.approx(0, abs=ROUNDING)


def test_frechet_distance_of_covariances_that_do_not_commute():
    """tr (C1 C2)^(1/2) of 2 x 2 matrices is sqrt(tr C1 C2 + 2 sqrt(det C1 C2))."""
    one, two = torch.tensor([[2.0, 1.0], [1.0, 2.0]]).double(), torch.tensor([[3.0, -1.0], [-1.0, 1.0]]).double()
    root = ((one @ two).trace() + 2 * torch.det(one @ two).sqrt()).sqrt()
    expected = float(one.trace() + two.trace() - 2 * root)
    zero = torch.zeros(2).double()
    assert frechet_distance((zero, one), (zero, two)) == pytest.approx(expected, abs=ROUNDING)


def test_statistics_are_the_unbiased_ones():
    mean, covariance = statistics(torch.tensor([[0.0, 0.0], [2.0, 4.0]]))
    assert mean.tolist() == [1, 2] and covariance.tolist() == [[2, 4], [4, 8]]


def test_acceptance_is_one_minus_the_distance_of_the_laws():
    fashion = load_fashion()
    labels, tokens = fashion.reference.labels[:4], fashion.reference.tokens[:4]
    entropy, top, acceptance = law_figures(fashion, Processing(), labels, tokens)
    target, draft = (
        make(labels, cached=False)(tokens, torch.zeros(4, dtype=torch.int64), 49)
        for make in (fashion.target, fashion.draft)
    )
    assert float(acceptance) == pytest.approx(1 - float((target - draft).abs().sum(-1).mean()) / 2, abs=1e-5)
    assert 0 < float(top) < 1 and 0 < float(entropy) < 9


def test_samples_at_temperature_zero_are_the_greedy_path():
    fashion, labels = load_fashion(), torch.tensor([1, 7])
    model = fashion.target(labels, Processing(temperature=0.0))
    tokens = sample(model, 2, torch.Generator())
    laws = fashion.target(labels, cached=False)(tokens, torch.zeros(2, dtype=torch.int64), 49)
    assert torch.equal(laws.argmax(-1), tokens)


def test_command_prints_one_object_for_each_guidance(capsys):
    assert main(["--images", "12", "--guidance", "1", "2"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["guidance"] for line in lines] == [1, 2] and all(line["frechet"] > 0 for line in lines)
    assert main(["--images", "1"]) == 2
