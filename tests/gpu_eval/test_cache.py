"""A cached model gives the laws of the plain one after any calls, and recomputes no more than needed."""

from dataclasses import replace

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from torch.utils._python_dispatch import TorchDispatchMode

from gpu_eval.cache import Cached
from gpu_eval.fashion import load_fashion
from gpu_eval.labelled import class_model
from gpu_eval.network import ImageModel
from gpu_eval.processing import Processing
from gpu_eval.transformer import Config, Transformer
from specsim import Autoregressive, Chain, Jacobi, Race, RelaxedBonus, sample, watching
from specsim.errors import SpecsimError

ROUNDING = 1e-10  # float64 laws of a two-layer network, sums taken in another order
FLOAT32_ROUNDING = 2e-5  # float32 laws of the shipped target; 4e-6 seen
VOCAB, LENGTH = 5, 9


def build(guidance: float, rows: int = 3, seed: int = 3) -> ImageModel:
    torch.manual_seed(seed)
    net = Transformer(Config(VOCAB, 3, classes=4, layers=2, heads=2, width=16, ffn_multiple=8)).double()
    with torch.no_grad():
        for weight in net.parameters():
            weight.normal_(1.0 if weight.ndim == 1 else 0.0, 0.5)
    codebook = torch.zeros(VOCAB, 2)
    return class_model(net, torch.arange(rows), Processing(guidance=guidance), codebook)


def slot_counter(model: ImageModel) -> list[int]:
    """Fills with the number of slots of every forward from now on."""
    counts: list[int] = []
    model.network.net.register_forward_pre_hook(lambda net, inputs: counts.append(inputs[0].shape[1]))
    return counts


def lists_of(size: int, largest: int):
    return st.lists(st.integers(0, largest), min_size=size, max_size=size)


seeds = st.integers(0, 2**31)


def random_tokens(seed: int) -> torch.Tensor:
    return torch.randint(VOCAB, (3, LENGTH), generator=torch.Generator().manual_seed(seed))


class AnyHistory(RuleBasedStateMachine):
    """Random starts, counts, edits and rollbacks; tokens that a call must not read are filled with junk."""

    @initialize(guidance=st.sampled_from([1.0, 2.5]), seed=seeds)
    def begin(self, guidance, seed):
        self.model = build(guidance)
        self.cached, self.counts = Cached(self.model), slot_counter(self.model)
        self.tokens = random_tokens(seed)
        self.end = None  # of the last window, while nothing but a moving window happened since

    @rule(starts=lists_of(3, LENGTH + 1), count=st.integers(1, 5))
    def ask(self, starts, count):
        start = torch.tensor(starts)
        given = torch.where(torch.arange(LENGTH) < start[:, None] + count - 1, self.tokens, -7)
        expected, found = self.model(self.tokens, start, count), self.cached(given, start, count)
        assert torch.allclose(found, expected, atol=ROUNDING, rtol=0)
        given.fill_(-9)  # the caller may reuse its array
        self.start, self.end = start, (start + count).clamp_max(LENGTH)

    @precondition(lambda self: self.end is not None)
    @rule(kept=lists_of(3, LENGTH), seed=seeds, count=st.integers(1, 5))
    def move_window_on(self, kept, seed, count):
        """Some drafts are kept, the next token is corrected, the rest drafted anew: exactly `count` slots."""
        start = torch.minimum(self.start + torch.tensor(kept), self.end)
        before = torch.arange(LENGTH) < start[:, None] - 1
        self.tokens = torch.where(before, self.tokens, random_tokens(seed))
        self.ask(start.tolist(), count)
        assert self.counts[-1] == count

    @rule(row=st.integers(0, 2), place=st.integers(0, LENGTH - 1), value=st.integers(0, VOCAB - 1))
    def edit(self, row, place, value):
        self.tokens[row, place] = value
        self.end = None

    @rule(width=st.integers(4, LENGTH + 2))
    def ask_with_rows_of_any_width(self, width):
        tokens = torch.cat([self.tokens, self.tokens[:, :2]], 1)[:, :width]
        start = torch.full((3,), min(width, LENGTH) - 3)
        expected = self.model(self.tokens, start, 4)
        assert torch.allclose(self.cached(tokens, start, 4), expected, atol=ROUNDING, rtol=0)
        self.end = None

    @rule()
    def fail_halfway(self):
        """A token outside the vocabulary stops the call; what was known before must not be taken for new."""
        tokens = self.tokens.clone()
        tokens[1, 4] = VOCAB
        with pytest.raises(IndexError):
            self.cached(tokens, torch.tensor([2, 3, 2]), 5)
        self.end = None

    @rule()
    def forget(self):
        self.cached.forget()
        self.end = None


AnyHistory.TestCase.settings = settings(max_examples=100, stateful_step_count=15, deadline=None)
TestAnyHistory = AnyHistory.TestCase


def test_an_error_between_layers_leaves_no_stale_memory():
    model = build(1.0)
    cached, tokens = Cached(model), torch.arange(27).view(3, 9) % VOCAB
    start = torch.zeros(3, dtype=torch.int64)
    cached(tokens, start, 9)
    edited = tokens.clone()
    edited[:, 2:] = (edited[:, 2:] + 1) % VOCAB
    hook = model.network.net.layers[1].register_forward_pre_hook(lambda layer, inputs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cached(edited, start + 1, 4)  # layer 0 has written keys of the edited tokens
    hook.remove()
    assert torch.allclose(cached(tokens, start + 6, 2), model(tokens, start + 6, 2), atol=ROUNDING, rtol=0)


def test_rows_rolled_back_by_different_amounts_cost_what_the_deepest_needs():
    model = build(1.0)
    cached, counts, tokens = Cached(model), slot_counter(model), torch.zeros(3, 9, dtype=torch.int64)
    cached(tokens, torch.tensor([5, 5, 5]), 3)
    tokens[1, 1] = 1  # slots 2.. of row 1 must go
    cached(tokens, torch.tensor([6, 5, 8]), 2)
    assert counts == [8, 5]


def test_a_look_back_forgets_nothing():
    model = build(1.0)
    cached, counts, tokens = Cached(model), slot_counter(model), torch.zeros(3, 9, dtype=torch.int64)
    for position in (6, 1, 7):
        cached(tokens, torch.full((3,), position), 2)
    assert counts == [8, 2, 2]


@pytest.mark.parametrize("wrap", [lambda model: model, Cached])
def test_tokens_that_a_law_does_not_need_may_hold_anything(wrap):
    tokens, start = random_tokens(0), torch.tensor([0, 2, 6])
    junk = torch.where(torch.arange(LENGTH) < start[:, None] + 1, tokens, -1)
    expected = build(2.0)(tokens, start, 2)
    assert torch.allclose(wrap(build(2.0))(junk, start, 2), expected, atol=ROUNDING, rtol=0)


def test_shipped_target_in_float32_with_guidance():
    fashion, generator = load_fashion(), torch.Generator().manual_seed(0)
    labels, processing = torch.tensor([0, 5, 9]), Processing(guidance=2.0)
    plain, cached = fashion.target(labels, processing, cached=False), fashion.target(labels, processing)
    tokens, start = torch.randint(512, (3, 49), generator=generator), torch.zeros(3, dtype=torch.int64)
    for _ in range(12):
        assert torch.allclose(cached(tokens, start, 9), plain(tokens, start, 9), atol=FLOAT32_ROUNDING, rtol=0)
        start = (start + torch.randint(9, (3,), generator=generator)).clamp_max(49)
        fresh = torch.randint(512, (3, 49), generator=generator)
        tokens = torch.where(torch.arange(49) < start[:, None] - 1, tokens, fresh)


@pytest.mark.parametrize("wrap", [lambda model: model, Cached])
def test_rows_and_widths_that_do_not_fit_are_refused(wrap):
    model, start = wrap(build(1.0)), torch.zeros(3, dtype=torch.int64)
    with pytest.raises(SpecsimError, match="3 rows"):
        model(torch.zeros(2, 9, dtype=torch.int64), start[:2], 1)
    with pytest.raises(SpecsimError, match="position 4 need 4 tokens a row, got 3"):
        model(torch.zeros(3, 3, dtype=torch.int64), start + 2, 3)


def test_attributes_of_the_model_are_kept():
    model = build(1.0)
    cached = Cached(model)
    assert (cached.vocab, cached.length) == (model.vocab, model.length) == (VOCAB, LENGTH)
    assert cached.codebook is model.codebook
    assert cached.uniform.dtype == torch.float64 and cached.uniform.tolist() == [1 / VOCAB] * VOCAB


DECODERS = [
    Autoregressive(),
    Chain(4),
    RelaxedBonus(4),
    Jacobi(6),
    Jacobi(6, "maximal"),
    Race(Chain(3)),
    Race(Jacobi(5)),
]


@pytest.mark.parametrize("guidance", [1.0, 2.5])
@pytest.mark.parametrize("decoder", DECODERS, ids=repr)
def test_a_cache_that_is_told_what_to_expect_decodes_the_same(decoder, guidance):
    found = []
    for ahead in ((None, None), (0, 1)):
        models = [Cached(build(guidance, seed=seed), some) for seed, some in zip((3, 4), ahead, strict=True)]
        found.append(sample(decoder, models[0], models[1] if decoder.needs_draft else None, rows=3, seed=5))
        assert not any(model.broken.any() for model in models)
    assert torch.equal(found[0].tokens, found[1].tokens) and (found[0].calls == found[1].calls).all()


def test_a_cache_that_was_told_too_little_says_so():
    with pytest.raises(SpecsimError, match=r"draft model: row \d changed more tokens than its cache"):
        sample(Chain(2), Cached(build(1.0), 0), Cached(unchecked(build(1.0)), 0), rows=3, seed=5)


def unchecked(model: ImageModel) -> ImageModel:
    return replace(model, checked=False)


class Waits(TorchDispatchMode):
    """Counts what would wait for another device: a number read from a tensor."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("decoder", [Chain(4), Jacobi(6, "gumbel")], ids=repr)
def test_a_step_waits_for_the_device_once(decoder, monkeypatch):
    """With laws that nobody else checks: no number is read but in the one transfer at the end of a step."""
    transfers, plain = [], watching.together
    monkeypatch.setattr(watching, "together", lambda arrays: transfers.append(1) or plain(arrays))
    target, draft = (Cached(unchecked(build(2.0, seed=seed)), some) for seed, some in ((3, 0), (4, 1)))
    with Waits() as waits:
        found = sample(decoder, target, draft if decoder.needs_draft else None, rows=3, seed=5)
    assert waits.count == 0 and len(transfers) == len(found.start) > 1
    with Waits() as waits:
        sample(decoder, Cached(build(2.0)), Cached(build(2.0)) if decoder.needs_draft else None, rows=3, seed=5)
    assert waits.count > len(found.start)
