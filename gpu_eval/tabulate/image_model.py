"""The laws of an image transformer and its draft, pushed forward to groups of tokens, along real prefixes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gpu_eval.fashion import Fashion
from gpu_eval.tabulate.groups import centroids, partition
from gpu_eval.tabulate.plan import Progress, TablePlan, Tabulated
from gpu_eval.tabulate.rounding import rounded
from specsim.decoders import Autoregressive
from specsim.sampling import sample, to_numpy
from specsim.tables import table

ROWS = 128
"""Prefixes judged side by side: their keys and values take some 160 MB of `fashion`, twice that with guidance."""
WHAT = (
    "The model's tokens are put into groups (members). For every sequence of groups one sequence of the model's tokens "
    "stands in (representatives): it begins with the first tokens of a sampled picture (beginning) and every further "
    "token is drawn from the target's law restricted to its group. The law written down is the model's law after that "
    "token sequence, summed over each group; target and draft are taken after the same sequences and summed over the "
    "same groups."
)
NOT = (
    "It is not the law of the groups of a sampled picture: that would be a mixture over all token sequences of the "
    "same groups, of which one stands in here. Figures computed on the table are exact for the table, not the model."
)


def tabulate_images(load: Callable[..., Fashion], plan: TablePlan, progress: Progress = None) -> Tabulated:
    """The tables of a plan in which nothing is None.

    Laws are computed in float64 on the CPU: its rounding (about 1e-15) then practically never shows in laws rounded to
    1/denominator, nor in which representative is drawn, so another machine writes the same file.
    """
    assert plan.start is not None and plan.label is not None and plan.denominator is not None
    model = load(dtype=torch.float64)
    use = token_use(model)
    codes = to_numpy(model.codebook).astype(np.float64)
    groups = partition(codes, use, plan.vocab)
    beginning = first_tokens(model, plan)
    levels = list(coarse_levels(model, plan, groups, use, beginning, progress))
    target, target_moved = zip(*(rounded(target, plan.denominator) for _, target, _ in levels), strict=True)
    draft, draft_moved = zip(*(rounded(draft, plan.denominator) for _, _, draft in levels), strict=True)
    about = {
        "what": WHAT,
        "what_it_is_not": NOT,
        "numbers": f"computed in float64, rounded to multiples of 1/{plan.denominator} that sum to 1 (largest "
        "remainders); what is positive stays positive",
        "rounding_moved_tv": {"target": round(max(target_moved), 9), "draft": round(max(draft_moved), 9)},
        "codebook": "the mean vector of each group, weighted by use, to 6 decimals; use: how often a token stands in "
        "the reference pictures of all classes, plus 1",
        "processing": asdict(plan.processing),
        "group_sizes": [len(ids) for ids in groups],
        "group_use": [round(float(use[ids].sum() / use.sum()), 6) for ids in groups],
        "prefixes_the_target_never_makes": impossible([target for _, target, _ in levels]),
        "members": [ids.tolist() for ids in groups],
        "beginning": beginning.tolist(),
        "representatives": [tokens[:, plan.start :].tolist() for tokens, _, _ in levels],
    }
    codebook = centroids(codes, use, groups).round(6).tolist()
    return Tabulated(table(target, codebook, plan.vocab), table(draft, codebook, plan.vocab), about)


def token_use(model: Fashion) -> np.ndarray:
    """How often each token stands in the reference pictures, plus one so that none has weight 0, [V] float64."""
    return np.bincount(to_numpy(model.reference.tokens).ravel(), minlength=len(model.codebook)) + 1.0


def first_tokens(model: Fashion, plan: TablePlan) -> np.ndarray:
    """The first `start` tokens of the picture that plain decoding makes of this label and seed as image 0."""
    if not plan.start:
        return np.zeros(0, dtype=np.int64)
    target = model.target(torch.tensor([plan.label]), plan.processing)
    return to_numpy(sample(Autoregressive(), target, length=plan.start, rows=1, seed=plan.seed).tokens)[0]


def coarse_levels(
    model: Fashion,
    plan: TablePlan,
    groups: list[np.ndarray],
    use: np.ndarray,
    beginning: np.ndarray,
    progress: Progress = None,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Position by position: representatives [V**n, start + n], target and draft laws [V**n, V] summed over groups."""
    tokens, done = beginning[None], 0
    for n in range(plan.length):
        whole = laws_after(tokens, model.target, plan)
        yield tokens, summed(whole, groups), summed(laws_after(tokens, model.draft, plan), groups)
        done += len(tokens)
        if progress is not None:
            progress(done, plan.laws)
        if n < plan.length - 1:
            tokens = grown(tokens, whole, groups, use, np.random.default_rng([plan.seed, n]))


def laws_after(tokens: np.ndarray, make: Callable[..., Any], plan: TablePlan) -> np.ndarray:
    """The processed laws [R, K] of the token after each row of tokens [R, n]; make(labels, processing) is a model."""
    assert plan.label is not None
    parts = []
    for first in range(0, len(tokens), ROWS):
        rows: Tensor = torch.from_numpy(tokens[first : first + ROWS])
        model = make(torch.full((len(rows),), plan.label), plan.processing)
        parts.append(to_numpy(model(rows, torch.full((len(rows),), rows.shape[1]), 1))[:, 0])
    return np.concatenate(parts)


def summed(laws: np.ndarray, groups: list[np.ndarray]) -> np.ndarray:
    """laws [R, K] -> their sums over each group, [R, count]."""
    return np.stack([laws[:, ids].sum(axis=1) for ids in groups], axis=1)


def grown(
    tokens: np.ndarray, laws: np.ndarray, groups: list[np.ndarray], use: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Every row of tokens [R, n] continued by one member of each group, [R * count, n + 1], in base-V order."""
    uniform = rng.random((len(tokens), len(groups)))
    drawn = np.stack([member(laws, ids, use, uniform[:, g]) for g, ids in enumerate(groups)], axis=1)
    return np.concatenate([np.repeat(tokens, len(groups), axis=0), drawn.reshape(-1, 1)], axis=1)


def member(laws: np.ndarray, ids: np.ndarray, use: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """A member of the group per row, drawn from laws [R, K] restricted to it; the most used where they give it 0."""
    ids = ids[np.argsort(-use[ids], kind="stable")]
    upto = np.cumsum(laws[:, ids], axis=1)
    return ids[np.argmax(upto > (uniform * upto[:, -1])[:, None], axis=1)]


def impossible(levels: list[np.ndarray]) -> int:
    """How many prefixes of the table have target probability 0 (top-k and top-p make zeros)."""
    count, reached = 0, np.ones(1, dtype=bool)
    for laws in levels[:-1]:
        reached = (reached[:, None] & (laws > 0)).reshape(-1)
        count += int((~reached).sum())
    return count
