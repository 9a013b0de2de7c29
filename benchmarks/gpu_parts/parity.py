"""The same tokens: on the device as on the CPU, and of a race as of plain decoding.  Model: the shipped `fashion`."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from benchmarks.gpu_parts.bench import Bench, Left, Record, attempt
from gpu_eval.fashion import Fashion, load_fashion
from gpu_eval.race_ties import race_agreement
from specsim import Autoregressive, BlockVerification, Chain, ContentAware, Jacobi, Ledger, Race, RelaxedBonus, Strict
from specsim.decoding import Decoder
from specsim.sampling import sample, to_numpy

RUNS: tuple[tuple[Decoder, Any], ...] = (
    (Autoregressive(), None),
    (Chain(4), Strict()),
    (Jacobi(16, "maximal"), None),
    (Jacobi(16), ContentAware()),
    (Chain(4), Ledger()),
    (Jacobi(16, "gumbel"), None),
    (Race(Jacobi(16)), None),
    (RelaxedBonus(4), BlockVerification()),
)
RACES: tuple[Decoder, ...] = (Jacobi(16), Chain(4))


def images(bench: Bench) -> int:
    return 2 if bench.small else 8


def parity(bench: Bench, record: Record, left: Left) -> None:
    """In float64, where rounding is far below any gap between uniforms and cumulative sums."""
    models = [load_fashion(device, torch.float64) for device in ("cpu", bench.device)]
    for decoder, rule in RUNS[: 2 if bench.small else None]:
        name = f"{decoder!r}" if rule is None else f"{decoder!r} {rule!r}"
        attempt(record, name, left, partial(same_tokens, models, decoder, rule, images(bench)))


def same_tokens(models: list[Fashion], decoder: Decoder, rule: Any, rows: int) -> Record:
    """Both models' tokens for the same uniforms, compared."""
    one, two = (tokens(model, decoder, rule, rows, seed=3).cpu() for model in models)
    differ = (one != two).any(dim=1)
    return {"images": rows, "equal": int((~differ).sum()), "holds": not bool(differ.any())}


def tokens(model: Fashion, decoder: Decoder, rule: Any, rows: int, seed: int) -> Tensor:
    """[rows, 49]."""
    labels = torch.arange(rows) % 10
    draft = model.draft(labels) if decoder.needs_draft else None
    return sample(decoder, model.target(labels), draft, rule, rows=rows, seed=seed).tokens


def race(bench: Bench, record: Record, left: Left) -> None:
    """In float32 a race is plain decoding but for measured ties; in bfloat16 the rate is reported, and no more."""
    rows = range(images(bench))
    for decoder in RACES[: 1 if bench.small else None]:
        attempt(record, f"{decoder!r} float32", left, partial(agreement, bench, decoder, rows))
        attempt(record, f"{decoder!r} bfloat16", left, partial(rate, bench, decoder, len(rows)))


def agreement(bench: Bench, decoder: Decoder, rows: range) -> Record:
    """By `gpu_eval.race_ties`."""
    model, labels = load_fashion(bench.device), torch.arange(len(rows)) % 10
    found = race_agreement(decoder, lambda: model.target(labels), lambda: model.draft(labels), rows, seed=7)
    return {"images": found.rows, "equal": found.equal, "ties": found.ties, "faults": list(found.faults)} | {
        "holds": found.holds
    }


def rate(bench: Bench, decoder: Decoder, rows: int) -> Record:
    """Share of images, and of tokens before the first that differs, that agree with plain decoding by races."""
    model = load_fashion(bench.device, torch.bfloat16)
    plain, fast = (to_numpy(tokens(model, Race(inner), None, rows, seed=7)) for inner in (Autoregressive(), decoder))
    together = (plain == fast).cumprod(axis=1)
    return {"images": rows, "images_equal": float(together[:, -1].mean()), "tokens_equal": float(together.mean())}
