"""Compiled verification: the block that the rule itself makes, whatever the compiler did with it."""

import json
import os
import shutil
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import torch

from gpu_eval.compiling import Compiled
from gpu_eval.run import Plan
from specsim import Band, Jacobi, Lantern, Ledger, Lenient, Strict, Tree, random_table
from specsim.arrays import to_numpy
from specsim.errors import SpecsimError
from specsim.rules.codebooks import bind_codebook
from specsim.tasks import make_task
from specsim.verification import Drafted, verify
from tests.gpu_eval.test_run import call

ROUNDINGS = 16
"""Compiled sums are taken in another order, so numbers up to 1 may differ by as many epsilons."""
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler on a CPU")


def fractions(rng, shape):
    weights = rng.integers(0, 9, shape) + np.eye(shape[-1], dtype=int)[0]
    return np.frompyfunc(lambda part, whole: Fraction(int(part), int(whole)), 2, 1)(
        weights, weights.sum(-1, keepdims=True)
    )


def drafted(rows, kind=None):
    """A block of three drafts, in Fractions or as tensors of a number type."""
    rng = np.random.default_rng(rows)
    draft, target = fractions(rng, (rows, 4, 5)), fractions(rng, (rows, 4, 5))
    tokens, slot = rng.integers(0, 5, (rows, 4)), np.broadcast_to(np.arange(4), (rows, 4))
    real = slot < rng.integers(1, 4, (rows, 1))
    if kind is None:
        return Drafted(draft, target, tokens, real, slot)
    laws = (torch.asarray(law.astype(np.float64)).to(kind) for law in (draft, target))
    return Drafted(*laws, *(torch.asarray(np.array(array)) for array in (tokens, real, slot)))


@needs_compiler
@pytest.mark.parametrize("rule", [Strict(), Ledger(1.5, 0.5)], ids=repr)
def test_the_compiled_block_is_the_exact_one(rule):
    compiled = Compiled(rule)
    for rows, kind in ((3, torch.float32), (3, torch.float64), (7, torch.float64)):
        found, wanted = compiled.block(drafted(rows, kind)), verify(rule, drafted(rows))
        for mine, right in zip(found, wanted, strict=True):
            assert np.abs(to_numpy(mine) - right.astype(np.float64)).max() <= ROUNDINGS * torch.finfo(kind).eps
    other = verify(Ledger(1.51, 0.5), drafted(7))
    if isinstance(rule, Ledger):  # what the comparison can tell apart
        assert np.abs(to_numpy(found.stop) - other.stop.astype(np.float64)).max() > 1e6 * torch.finfo(kind).eps


def test_a_compiled_rule_is_refused_where_the_rule_is():
    model = random_table(3, 4, seed=0).floats()
    for rule in (Band(1.5), Compiled(Band(1.5))):
        with pytest.raises(SpecsimError, match="biased where a window is redrawn by a coupling"):
            make_task(Jacobi(window=2, continuation="maximal"), model, None, rule, None, None)
    make_task(Jacobi(window=2, continuation="maximal"), model, None, Compiled(Strict()), None, None)


def test_a_compiled_rule_is_bound_to_its_codebook():
    bound = bind_codebook(Compiled(Lantern(k=2, delta=0.2)), np.eye(3))
    assert bound.codes == 3 and bound.rule == bind_codebook(Lantern(k=2, delta=0.2), np.eye(3))


def test_without_a_compiler_the_error_says_so(tmp_path):
    words = ["run", "--decoder", "Chain(lookahead=2)", "--compile", "--images", "1", "--out", str(tmp_path)]
    environment = os.environ | {"CXX": "/no/such/compiler", "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "specsim", *words], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "torch.compile failed on Strict()" in done.stderr and "C++ compiler such as g++" in done.stderr


@needs_compiler
def test_run_compiled_decodes_the_same_images(capsys, monkeypatch, tmp_path):
    words = ("--decoder", "Chain(lookahead=3)", "--rule", "Ledger(w=2)", "--images", 3, "--json")
    contents = []
    for name, more in (("plain", ()), ("compiled", ("--compile",))):
        status, _, err = call(capsys, monkeypatch, *words, "--out", tmp_path / name, *more)
        assert (status, err) == (0, "")
        contents.append(json.loads((tmp_path / name / "result.json").read_text()))
    plain, compiled = contents
    assert plain["nfe"] == compiled["nfe"] and not plain["configuration"]["compiled"]
    assert plain["configuration"] | {"compiled": True} == compiled["configuration"]
    assert (tmp_path / "plain" / "images.png").read_bytes() == (tmp_path / "compiled" / "images.png").read_bytes()


def test_compile_is_refused_where_nothing_is_verified(capsys, monkeypatch, tmp_path):
    status, _, err = call(capsys, monkeypatch, "--decoder", "Autoregressive()", "--compile", "--out", tmp_path)
    assert status == 2 and "compile" in err and "verifies nothing by a rule" in err


def test_a_tree_is_not_compiled_and_that_is_said():
    with pytest.raises(SpecsimError, match="drafts trees"):
        Plan("fashion", Tree(), Lenient(2), compiled=True)
