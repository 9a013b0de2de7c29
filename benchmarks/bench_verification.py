"""What a rule costs on `fashion`: verifying a block of four drafts, beside strict verification and the target call.

Goal: the ledger under 5 % of a target call.  The network is small, so shares are high: they fall with larger ones.
Compiled rules are what `specsim run --compile` verifies with; compiling itself is not measured.
"""

import time

import pytest
import torch

from gpu_eval.compiling import Compiled
from gpu_eval.fashion import load_fashion
from gpu_eval.processing import Processing
from specsim import Annealed, Band, BlockVerification, Ledger, Lenient, Strict
from specsim.verification import Drafted, verify

RULES = [Strict(), Annealed(2.0), Ledger(2.0), BlockVerification(), BlockVerification(Lenient(1.5)), Band(1.5)]
RULES += [Compiled(Strict()), Compiled(Ledger(2.0)), Compiled(BlockVerification())]
BATCHES = [8, 50]
DRAFTS, AT = 4, 20
"""Drafts of a block, and the position of an image where it begins."""
REPEATS = 20


def least_seconds(work):
    """The quickest of a few runs: what else the machine does only adds."""
    found = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return min(found)


@pytest.fixture(scope="module")
def met():
    """(block, seconds of the target call that answers it) for every batch."""
    model, found = load_fashion(), {}
    for batch in BATCHES:
        labels, tokens = torch.arange(batch) % 10, model.reference.tokens[:batch]
        start = torch.full((batch,), AT)
        target, draft = (make(labels, Processing(), cached=False) for make in (model.target, model.draft))
        laws = [law(tokens, start, DRAFTS + 1) for law in (draft, target)]
        slot = torch.arange(DRAFTS + 1)
        real = (slot < DRAFTS)[None].expand(batch, -1)
        found[batch] = Drafted(*laws, tokens[:, AT : AT + DRAFTS + 1], real, start[:, None] + slot), call(model, labels)
    return found


def call(model, labels):
    """Seconds of one cached target call on the block's window, after the tokens before it."""
    tokens = model.reference.tokens[: len(labels)]
    seconds = []
    for _ in range(REPEATS):
        target = model.target(labels, Processing())
        target(tokens, torch.full((len(labels),), AT - 1), 1)
        begin = time.perf_counter()
        target(tokens, torch.full((len(labels),), AT), DRAFTS + 1)
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_verify(benchmark, met, rule, batch):
    block, seconds = met[batch]
    benchmark.pedantic(verify, (rule, block), rounds=50, warmup_rounds=5, iterations=1)
    mine, strict = (least_seconds(lambda some=some: verify(some, block)) for some in (rule, Strict()))
    benchmark.extra_info |= {
        "threads": torch.get_num_threads(),
        "share_of_target_call": mine / seconds,
        "over_strict": mine / strict,
    }
