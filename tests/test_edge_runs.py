"""Edge cases as data (tests/edges): every row with every rule, every decoder and every backend.

Which rules may emit tokens of target probability 0 is data too (groups.json), and the rows must show it of each.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import torch

from specsim import DECODERS, RULES, SpecsimError, sample
from specsim.decoders import Chain, Jacobi
from specsim.files import read_json
from specsim.specs import parse
from specsim.verification import carries_state, judges_blocks
from tests import edge_runs
from tests.edge_answers import complaints, outside, verdict_faults
from tests.edge_runs import BACKENDS, EDGES, RULED, RULELESS, batches, decode, read_rows

GROUPS = read_json(EDGES / "groups.json")
LEAVES_SUPPORT = GROUPS["leaves_support"]
DTYPES = {"float32": np.float32, "float64": np.float64}
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_rule = pytest.mark.parametrize("name", RULES)
each_backend = pytest.mark.parametrize("backend", BACKENDS)


def rows(name: str) -> Any:
    """A parametrization over the rows of one file."""
    found = read_rows(name)
    return pytest.mark.parametrize("row", found, ids=[row["name"] for row in found])


def backends(dtype: str) -> list[str]:
    """array_api_strict is numpy with fewer functions: once is enough, and it is slow."""
    return [name for name in BACKENDS if name != "array_api_strict" or dtype == "float32"]


@lru_cache
def all_batches(dtype: str) -> list[edge_runs.Batch]:
    return batches(read_rows("runs"), DTYPES[dtype])


def check(decoder: Any, rule: Any, dtype: str, keeps_support: bool) -> bool:
    """Every row on every backend of a number type: no complaint, and the same run -> did it leave the support?"""
    left = False
    for batch in all_batches(dtype):
        found = [decode(batch, decoder, rule, backend) for backend in backends(dtype)]
        assert complaints(batch, decoder, found[0], keeps_support) == []
        if dtype == "float32" and type(rule).__name__ in GROUPS["residuals_may_be_a_rounding"]:
            # [w p - q]+ where w p = q is a rounding, and at u = 1 - 2**-24 the token put there is drawn from it.
            assert all(other.faults == found[0].faults for other in found[1:])
            continue
        for other in found[1:]:
            assert plain(other, rule) == plain(found[0], rule)
        left = left or bool(outside(batch, found[0], "only").any())
    return left


def plain(outcome: edge_runs.Outcome, rule: Any) -> list[list]:
    """What two backends must agree on.

    Libraries round a logarithm, or a sum over the vocabulary, differently, and at u = 1 - 2**-24 that bit decides
    whether a draft is kept or the same token put in its place: the tokens are the same, the counts need not be.
    """
    counts = [] if type(rule).__name__ in GROUPS["accepts_by_rounded_sums"] else [outcome.accepted, outcome.calls]
    return [outcome.faults, *(array.tolist() for array in (outcome.tokens, *counts))]


@each_dtype
@each_rule
def test_every_rule(name: str, dtype: str) -> None:
    leaves, rule = name in LEAVES_SUPPORT, RULES[name]()
    assert any([check(decoder, rule, dtype, not leaves) for decoder in RULED if may(decoder, rule)]) == leaves


def may(decoder: Any, rule: Any) -> bool:
    """Rules that are joint over the block are refused in a window that a coupling redraws, and in trees."""
    if getattr(decoder, "single_tokens", False) and (carries_state(rule) or judges_blocks(rule)):
        return False
    coupled = getattr(decoder, "continuation", "independent") != "independent"
    return not (coupled and getattr(rule, "independent_only", False))


@each_dtype
@pytest.mark.parametrize("decoder", RULELESS, ids=repr)
def test_every_decoder_without_a_rule(decoder: Any, dtype: str) -> None:
    assert not check(decoder, None, dtype, keeps_support=True)


def test_every_decoder_is_run() -> None:
    assert {type(decoder) for decoder in (*RULED, *RULELESS)} == set(DECODERS.values())
    assert {name for group in GROUPS.values() for name in group} <= set(RULES)


@pytest.mark.parametrize("decoder", [Chain(6), Jacobi(2, "maximal"), *RULELESS[1:]], ids=repr)
def test_a_finished_row_changes_nothing_for_the_others(decoder: Any) -> None:
    """Rows that end at different positions: each decoded alone is what it was in the batch."""
    [batch] = batches([row for row in read_rows("runs") if row.get("eos") == 2], np.float64)
    rule = RULES["Lenient"]() if decoder.takes_rule else None
    together = decode(batch, decoder, rule, "numpy")
    ends = {list(tokens).index(2) if 2 in tokens else None for tokens in together.tokens}
    assert len(ends) > 2 and len(set(together.calls)) > 1
    for i in range(len(batch.rows)):
        alone = decode(only(batch, i), decoder, rule, "numpy")
        for one, many in zip(alone[:3], together[:3], strict=True):
            assert one[0].tolist() == many[i].tolist(), (batch.rows[i]["name"], batch.scripts[i])


def only(batch: edge_runs.Batch, row: int) -> edge_runs.Batch:
    """One row of a batch, with the noise it had there."""
    return batch._replace(
        rows=[batch.rows[row]],
        noise=batch.noise[row : row + 1],
        target=batch.target[row : row + 1],
        draft=batch.draft[row : row + 1],
        scripts=batch.scripts[row : row + 1],
    )


@each_dtype
@each_backend
@rows("scripts")
def test_scripts(row: dict, backend: str, dtype: str) -> None:
    """One script of uniforms, one answer: tokens, drafted tokens accepted, target calls."""
    [batch] = batches([{**row, "scripts": [row["script"]]}], DTYPES[dtype])
    rule = parse(row["rule"], RULES, "rule") if "rule" in row else None
    found = decode(batch, parse(row["decoder"], DECODERS, "decoder"), rule, backend)
    assert found.faults == []
    assert found.tokens[0].tolist() == row["tokens"]
    assert (found.accepted[0], found.calls[0]) == (row["accepted"], row["calls"])


@each_dtype
@each_backend
@rows("verdicts")
def test_verdicts(row: dict, backend: str, dtype: str) -> None:
    """b and G of every token: as written for the strict rule, and probabilities and laws for every rule."""
    for name, kind in RULES.items():
        keeps = name not in LEAVES_SUPPORT
        assert verdict_faults(row, kind(), DTYPES[dtype], backend, keeps, written=name == "Strict") == []


@each_backend
@rows("errors")
def test_errors(row: dict, backend: str) -> None:
    """One line that names the row and the position, whoever reads the law: every rule once, and every decoder."""
    kind = row.get("dtype", "float32")
    if not hasattr(BACKENDS[backend], kind):
        pytest.skip(f"{backend} has no {kind}")
    target, draft = (model(row.get(name), backend, kind) for name in ("target", "draft"))
    pairs = [(Chain(6), RULES[name]()) for name in RULES] + [(decoder, None) for decoder in (*RULED, *RULELESS)]
    for decoder, rule in pairs:
        if "draft" in row and not decoder.needs_draft:
            continue
        with np.errstate(all="ignore"), pytest.raises(SpecsimError) as caught:  # numpy warns of inf - inf on the way
            sample(decoder, target, draft, rule, rows=3)
        assert row["error"] in str(caught.value) and "\n" not in str(caught.value), (decoder, rule)


def model(written: Any, backend: str, kind: str) -> edge_runs.Rowwise:
    """A model whose row 1 is what is written, between two rows that are in order."""
    laws = edge_runs.laws_of(written or [1, 0, 0], 3, np.float64)
    calm = edge_runs.laws_of([1] + [0] * (laws.shape[-1] - 1), 3, np.float64)
    xp = BACKENDS[backend]
    return edge_runs.Rowwise(xp.asarray(np.stack([calm, laws, calm]), dtype=getattr(xp, kind)))


@pytest.mark.parametrize(("xp", "kind"), [(np, "float16"), (torch, "float16"), (torch, "bfloat16")])
def test_half_precision_behind_a_float32_uniform(xp: Any, kind: str) -> None:
    """A model may say one number type and give another."""
    laws = xp.full((1, 3, 2), 0.5, dtype=getattr(xp, kind))
    model = SayingFloat32(laws, xp.asarray([0.5, 0.5], dtype=xp.float32))
    with pytest.raises(SpecsimError, match=f"target laws are {kind}; give float32"):
        sample(Jacobi(2), model)


@dataclass(frozen=True)
class SayingFloat32:
    """Laws of one type [B, N, V], and a uniform law of another [V]."""

    laws: Any
    uniform: Any
    vocab, length, codebook = 2, 3, None

    def __call__(self, tokens: Any, start: Any, count: int) -> Any:
        return self.laws[:, :count]
