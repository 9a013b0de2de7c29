"""What the rows of tests/edges say of a scripted run or of a verdict, as lines of complaint that name the row."""

from __future__ import annotations

from typing import Any

import numpy as np

from specsim import bind_codebook
from specsim.arrays import arange, to_numpy
from specsim.verification import Verdict, verdict_at
from tests.edge_runs import BACKENDS, ROUNDINGS, Batch, Outcome, law

WRITTEN = 1e-8
"""The figures of the data are written with nine digits."""


def allowed(batch: Batch, field: str) -> np.ndarray:
    """Which tokens the rows' answers allow, bool [B, N, V]; every token where a row says nothing."""
    length, vocab = batch.target.shape[1:3]
    found = np.ones((len(batch.rows), length, vocab), dtype=bool)
    for row, may in zip(batch.rows, found, strict=True):
        if field in row:
            ids = row[field] if isinstance(row[field][0], list) else [row[field]] * length
            may[:] = [[token in these for token in range(vocab)] for these in ids]
    return found


def outside(batch: Batch, outcome: Outcome, field: str) -> np.ndarray:
    """Batch rows in which a token came out that the answer does not allow, [B]."""
    return ~np.take_along_axis(allowed(batch, field), outcome.tokens[..., None], axis=-1)[..., 0].all(axis=1)


def complaints(batch: Batch, decoder: Any, outcome: Outcome, keeps_support: bool) -> list[str]:
    """What a run did that it must not, each as one line naming row, script and decoder."""
    tokens, vocab = outcome.tokens, batch.target.shape[-1]
    if tokens.min() < 0 or tokens.max() >= vocab:
        return [f"{decoder!r}: an id outside 0..{vocab - 1}"]
    ended = np.cumsum(tokens == batch.eos, axis=1)[:, :-1] > 0
    wrong = {
        "a token after the end": (ended & (tokens[:, 1:] != batch.eos)).any(axis=1),
        "a token off the support": outside(batch, outcome, "only") & keeps_support,
        "a token neither law has": outside(batch, outcome, "shared") & getattr(decoder, "needs_draft", False),
    }
    found = [(int(row), what) for what, rows in wrong.items() for row in np.flatnonzero(rows)] + outcome.faults
    return [f"{decoder!r}, {batch.rows[row]['name']}, u = {batch.scripts[row]}: {what}" for row, what in found]


def verdict(rule: Any, draft: np.ndarray, target: np.ndarray, backend: str) -> Verdict:
    """Every token put to the rule on a backend: accept [V] and residual [V, V] in numpy."""
    vocab, xp = len(target), BACKENDS[backend]
    bound = bind_codebook(rule, [[token / 2] for token in range(vocab)])
    wide = [xp.asarray(np.tile(one, (vocab, 1))) for one in (draft, target)]
    every = arange(vocab, wide[0])
    return Verdict(*map(to_numpy, verdict_at(bound, *wide, every, 0 * every)))


def verdict_faults(row: dict, rule: Any, dtype: type, backend: str, keeps_support: bool, written: bool) -> list[str]:
    """b and G of every token: probabilities and laws; on the target's support; as written in the row."""
    target, draft, accept, residual = (law(row[field], dtype) for field in ("target", "draft", "accept", "residual"))
    found, slack = verdict(rule, draft, target, backend), ROUNDINGS * float(np.finfo(dtype).eps)
    refused = draft * (1 - found.accept) > 0
    law_slack = slack + abs(target.sum() - 1)
    good = {
        "an acceptance is no probability": ((found.accept >= 0) & (found.accept <= 1)).all(),
        "a residual is not finite, or negative": np.isfinite(found.residual).all() and (found.residual >= 0).all(),
        "a residual is no law": (abs(found.residual.sum(axis=-1) - 1) <= law_slack)[refused].all(),
    }
    if keeps_support:
        good["a token off the support is kept"] = not found.accept[target == 0].any()
        good["a replacement is off the support"] = not found.residual[refused][:, target == 0].any()
    if written:
        near = abs(found.accept - accept) <= max(slack, WRITTEN) * accept
        good["acceptances differ from the answer"] = near.all()
        good["residuals differ from the answer"] = (abs(found.residual - residual) <= slack).all()
    return [f"{rule!r}, {row['name']}: {what}" for what, holds in good.items() if not holds]
