"""Number types: tight in float64, decided in float32, reported in half precision; and laws of a very wide range."""

from dataclasses import replace

import pytest
import torch

pytest.importorskip("transformers")

from gpu_eval.check_model.check import Report, check, look_at
from gpu_eval.check_model.looks import (
    FAILS,
    HOLDS,
    INCONCLUSIVE,
    compare,
    differences,
    pair,
    rounding_limit,
)
from gpu_eval.check_model.subject import subject_of
from specsim.files import load_module
from tests.gpu_eval.check_model import mutants as m


def checked(monkeypatch, number):
    monkeypatch.setattr(load_module(m.EXAMPLE), "NUMBER", number)
    return check(subject_of(m.example(), 2, 0))


def one_item(name, loaded):
    return look_at(name, Report(subject_of(loaded, 2, 0), ()), "")


def verdicts(report):
    return {item.name: item.verdict for item in report.items}


def test_float64_is_held_to_its_own_rounding(monkeypatch):
    monkeypatch.setattr(load_module(m.EXAMPLE), "NUMBER", torch.float64)
    item = one_item("rollback", m.example())
    assert item.verdict == HOLDS and {look.limit for look in item.looks} == {rounding_limit(torch.float64)}


def test_half_precision_is_reported(monkeypatch):
    """Nothing fails, laws are float32 all the same, and what differs is said to be open."""
    report = checked(monkeypatch, torch.bfloat16)
    found = verdicts(report)
    assert not report.failed and report.subject.number == torch.bfloat16
    assert found["number range"] == found["laws"] == HOLDS and found["rows"] == INCONCLUSIVE


def test_half_precision_never_fails_by_a_comparison(monkeypatch):
    monkeypatch.setattr(load_module(m.EXAMPLE), "NUMBER", torch.float16)
    item = one_item("prefix", m.inner(m.Ahead))
    assert item.verdict == INCONCLUSIVE and "float16: reported, not required" in item.decisive.note


def test_half_precision_laws_taken_in_half_precision_fail(monkeypatch):
    monkeypatch.setattr(load_module(m.EXAMPLE), "NUMBER", torch.bfloat16)
    assert one_item("number range", m.laws(lambda laws: laws.bfloat16().float())).verdict == FAILS


def test_laws_whose_tail_underflows_hold():
    """Logits a hundred times as large: entries are denormal or 0 in float32, where their logs mean nothing."""

    def wide(lined):
        head = lined.network.head
        return replace(lined, network=replace(lined.network, head=lambda hidden: 100 * head(hidden)))

    report = check(subject_of(m.network(wide), 2, 0))
    (tail,) = (look for item in report.items for look in item.looks if look.what == "smallest positive entry")
    assert not report.failed and tail.measured < torch.finfo(torch.float32).tiny and "0 entries" not in tail.note


def test_logits_that_guidance_takes_out_of_range_fail():
    def huge(lined):
        head = lined.network.head
        return replace(lined, network=replace(lined.network, head=lambda hidden: 1e37 * head(hidden)))

    item = one_item("number range", m.network(huge))
    assert item.verdict == FAILS and "overflow under guidance 15" in item.decisive.note


def compared(gap: float, number: torch.dtype):
    laws = torch.tensor([[[0.5, 0.3, 0.2]]], dtype=torch.float64)
    found = laws * torch.tensor([1.0, 1.0, 1 + gap], dtype=torch.float64)
    return compare("a look", [pair(found, laws, torch.zeros(1, dtype=torch.int64))], number)


@pytest.mark.parametrize(
    "gap, number, verdict",
    [
        (1e-13, torch.float64, HOLDS),
        (1e-8, torch.float64, INCONCLUSIVE),  # a float64 network that rounds to float32 inside
        (1e-2, torch.float64, FAILS),
        (1e-4, torch.float32, HOLDS),
        (2e-3, torch.float32, INCONCLUSIVE),
        (1e-2, torch.float32, FAILS),
        (0.0, torch.bfloat16, HOLDS),
        (1e-4, torch.bfloat16, INCONCLUSIVE),
    ],
)
def test_limits_follow_from_the_type(gap, number, verdict):
    look = compared(gap, number)
    assert look.verdict == verdict and look.measured == pytest.approx(gap, rel=0.01, abs=1e-15)


def test_differences_in_the_tail_and_of_nan():
    laws = torch.tensor([[1.0, 1e-44, 0.0], [1.0, 1e-3, 0.0], [1.0, torch.nan, 0.0]])
    other = torch.tensor([[1.0, 0.0, 1e-40], [1.0, 0.0, 0.0], [1.0, 0.5, 0.0]])
    below, gone, broken = differences(laws, other).tolist()
    assert below == 0 and gone > 50 and broken == float("inf")
