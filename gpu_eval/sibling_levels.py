"""The law of the token that becomes final where W sibling drafts are judged in turn, as `specsim.trees` judges them.

    out_W(q, p) = q b + sum_x q(x) (1 - b(x)) out_(W-1)(q without x, G_x),   out_1 = specsim.flows.output_law

q: law of the eldest sibling, p: the law it is judged against, b and G_x: what the rule says of it and leaves if x is
refused.  Everything is summed, or, of three siblings, the two elder ones are drawn and the third is summed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from specsim.arrays import Array, number, total_variation
from specsim.flows import every_token, token_flow
from specsim.siblings import SIBLINGS

SLOT = np.zeros(1, dtype=np.int64)
"""The slot that rules are shown: 0 for every child of the final tokens."""


class Level(NamedTuple):
    """In G estimates of the same: law [G, V] of the token; kept, judged [G, W]: P(sibling is kept), P(it is judged).

    Summed exactly there is one estimate, G = 1.
    """

    law: Array
    kept: Array
    judged: Array

    @property
    def accepted(self) -> Array:
        """P(some sibling is kept) [G]: the drafts that are kept of this level."""
        return self.kept.sum(axis=-1)

    @property
    def refused(self) -> Array:
        """P(all siblings are judged and refused) [G]."""
        return (self.judged - self.kept)[..., -1]


Thin = Callable[[int, Array], tuple[Array, Array]]
"""thin(elder siblings refused, masses [n, G]) -> which branches are followed [m], and with which masses [m, G]."""


def every(elders: int, masses: Array) -> tuple[Array, Array]:
    """All branches that have any mass."""
    (there,) = (masses > 0).any(axis=-1).nonzero()
    return there, masses[there]


class Comb:
    """Of the branches with two elder siblings, drawn ones: G systematic samples, each a branch every `step` of mass.

    Unbiased, as each sample begins at a point drawn uniformly in a step.  Holds how much mass went by.
    """

    def __init__(self, step: float, rng: np.random.Generator, samples: int) -> None:
        self.step, self.passed = step, rng.uniform(0, 1, samples)

    def __call__(self, elders: int, masses: Array) -> tuple[Array, Array]:
        if elders < 2:
            return every(elders, masses)
        ends = self.passed + masses.cumsum(axis=0) / self.step
        counts = np.diff(np.floor(ends), axis=0, prepend=np.floor(self.passed)[None])
        self.passed = ends[-1]
        return every(elders, counts * self.step)


def level(rule: Any, draft: Array, target: Array, width: int, comb: Comb | None = None) -> Level:
    """draft, target [V], numpy arrays of floats or Fractions; width: W siblings, drawn without replacement."""
    mass = np.full(1 if comb is None else len(comb.passed), number(1, target))
    return branch(rule, (draft, target), width, comb or every, mass, 0)


def branch(rule: Any, laws: tuple[Array, Array], width: int, thin: Thin, mass: Array, elders: int) -> Level:
    """The same after so many elder siblings were refused, with probability mass [G]: all of it times mass."""
    draft, target = laws
    if width == 1:
        flow = token_flow(rule, draft[None], target[None], SLOT)
        return Level(mass[:, None] * flow.law, (mass * flow.kept.sum())[:, None], mass[:, None])
    accept, residual = verdicts(rule, draft, target)
    refused, masses = thin(elders + 1, (draft * (1 - accept))[:, None] * mass)
    younger, there = without(draft, refused, elders + 1)
    after = (
        branch(rule, (younger[i], residual[token]), width - 1, thin, masses[i], elders + 1)
        if there[i]
        else nobody(residual[token], masses[i], width - 1)
        for i, token in enumerate(refused)
    )
    return eldest(Level(mass[:, None] * (draft * accept), mass * (draft * accept).sum(), mass), after, width)


def verdicts(rule: Any, draft: Array, target: Array) -> tuple[Array, Array]:
    """What `verdict_at` says of each token: accept [V], residual [V, V].  A rule that looks at none is asked once."""
    if hasattr(rule, "at"):
        verdict = every_token(rule, draft[None], target[None], SLOT)
        return verdict.accept[0], verdict.residual[0]
    verdict = rule(draft[None], target[None], SLOT)
    return verdict.accept[0], np.broadcast_to(verdict.residual[0], (len(draft), len(draft)))


def without(draft: Array, refused: Array, number: int) -> tuple[Array, Array]:
    """The law of the next sibling [n, V] after each refused token [n], and whether there is one [n]."""
    wide = np.broadcast_to(draft, (len(refused), 1, len(draft)))
    law, there = SIBLINGS["distinct"](wide, refused[:, None], number)
    return law[:, 0], there[:, 0]


def nobody(left: Array, mass: Array, width: int) -> Level:
    """No token is left to be drafted: what elder siblings left of the target's law decides."""
    nothing = 0 * mass[:, None] + np.zeros(width, dtype=np.int64)
    return Level(mass[:, None] * left, nothing, nothing)


def eldest(own: Level, after: Any, width: int) -> Level:
    """The eldest sibling's part (law kept [G, V], kept and judged [G]) and all that comes after its refusals."""
    law, kept = own.law, 0 * own.kept[:, None] + np.zeros(width - 1, dtype=np.int64)
    judged = kept
    for one in after:
        law, kept, judged = law + one.law, kept + one.kept, judged + one.judged
    return Level(law, np.concatenate([own.kept[:, None], kept], -1), np.concatenate([own.judged[:, None], judged], -1))


def divergence(law: np.ndarray, other: np.ndarray) -> float:
    """KL(law || other) of laws [V] in nats; inf where other lacks what law has.  Rounding below 0 is cut off."""
    some = law > 0
    with np.errstate(divide="ignore"):
        return max(0.0, float((law[some] * (np.log(law[some]) - np.log(other[some]))).sum()))


def figures(found: Level, target: np.ndarray) -> dict[str, float]:
    """What a level does: divergences of its law (kl: out || p, kl_reverse: p || out), drafts kept, and of each sibling
    P(kept), P(judged).

    From samples the divergences are on the high side, being convex; `tv_least` is on the low side.
    """
    law, kept, judged = (array.mean(axis=0) for array in found)
    away = {"tv": float(total_variation(law, target)), "kl": divergence(law, target)}
    ranks = range(1, len(kept) + 1)
    of_each = {f"kept_{k}": float(kept[k - 1]) for k in ranks} | {f"judged_{k}": float(judged[k - 1]) for k in ranks}
    sampled = {} if len(found.law) == 1 else {"tv_least": tv_least(found.law, target), "error": error(found.accepted)}
    return {**away, "kl_reverse": divergence(target, law), "accepted": float(kept.sum()), **of_each, **sampled}


def tv_least(laws: np.ndarray, target: np.ndarray) -> float:
    """sum (out - p) of one sample over the tokens of which the others have too much, [G, V]: below TV in the mean."""
    others = (laws.sum(axis=0) - laws) / (len(laws) - 1)
    return float(np.where(others > target, laws - target, 0).sum(axis=-1).mean())


def error(values: np.ndarray) -> float:
    """Standard error of the mean of independent samples [G]."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))
