"""The laws of both models along images that the target itself sampled, as a file that `specsim tune --laws` reads."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import torch

from gpu_eval.along import CHUNK, laws_along
from gpu_eval.fashion import Fashion
from gpu_eval.run import Decoded, Plan
from specsim.decoders import Autoregressive
from specsim.errors import SpecsimError

SEQUENCES = "sequences.npz"
LIMIT = 64 * 2**20
"""Bytes of laws kept; beyond it the first images only, which are as good a sample as all of them, and it is said."""
STORED = np.float32


def require_own_tokens(plan: Plan) -> None:
    """The figures of blocks are means over the target's own sequences: no other decoder's tokens will do."""
    if not isinstance(plan.decoder, Autoregressive):
        raise SpecsimError(
            f"save-sequences: {plan.decoder!r} does not draw from the target alone; run --decoder 'Autoregressive()'"
        )


def sequences_file(plan: Plan, done: Decoded, model: Fashion, limit: int = LIMIT) -> tuple[bytes, dict[str, Any]]:
    """npz of tokens [B, N], target and draft laws [B, N, V], codebook [V, d]; and what to say of it."""
    length, codebook = done.tokens.shape[1], np.asarray(model.codebook.detach().cpu())
    each = 2 * length * len(codebook) * np.dtype(STORED).itemsize
    kept = min(len(done.tokens), max(1, limit // each))
    parts = [laws_of(plan, done, model, slice(first, min(first + CHUNK, kept))) for first in range(0, kept, CHUNK)]
    target, draft = (np.concatenate(some) for some in zip(*parts, strict=True))
    buffer = io.BytesIO()
    np.savez(buffer, tokens=done.tokens[:kept], target=target, draft=draft, codebook=codebook)
    return buffer.getvalue(), {"written": kept, "images": len(done.tokens), "limit_mib": limit // 2**20}


def laws_of(plan: Plan, done: Decoded, model: Fashion, rows: slice) -> tuple[np.ndarray, np.ndarray]:
    """Both models' processed laws along some of the images, [b, N, V] each."""
    tokens, labels = (torch.from_numpy(array[rows]) for array in (done.tokens, done.labels))
    laws = laws_along(model, plan.processing, tokens, labels)
    return tuple(law.cpu().numpy().astype(STORED) for law in laws)  # type: ignore[return-value]
