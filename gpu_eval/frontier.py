"""The sampled side of `specsim frontier`: rules on a real model, where no program can hold all that can happen.

With one draft a call there is a line all the same: TV(out, p) >= E_q[b] - (1 - TV(p, q)) in every context, with
equality for every rule that keeps at least what strict verification keeps and corrects as well as can be.  Its mean
over contexts is the least TV that any rule has on them.  For longer blocks no limit is known at this size, and none is
drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from gpu_eval.along import ALONG, CHUNK, laws_along, paths_along
from gpu_eval.fashion import Fashion
from gpu_eval.figures import CONFIDENCE
from gpu_eval.processing import Processing
from gpu_eval.provenance import provenance
from gpu_eval.run import Decoded, Plan, decode, load
from specsim.comparing.frontier_picture import short
from specsim.comparing.lineup import has_strength
from specsim.comparing.tuning import Effort, tune
from specsim.decoders import Autoregressive, Chain
from specsim.divergences import MEASURES, TARGET, Estimate, mean
from specsim.divergences.rounds import slots_along
from specsim.divergences.whole import whole_law
from specsim.errors import require, require_whole
from specsim.rules import Annealed, ContentAware, Ensemble, Ledger, Lenient, Strict, Typical
from specsim.rules.band import Band
from specsim.rules.block import BlockVerification
from specsim.rules.codebooks import bind_codebook
from specsim.sampling import to_numpy

SCHEMA = "specsim.frontier/1"
DEFAULTS: tuple[Any, ...] = (
    *(Strict(), Lenient(1.5), Annealed(2.0, 0.7), Ledger(1.5)),
    *(BlockVerification(), BlockVerification(Lenient(1.5)), Band(1.5)),
)
ONE_TOKEN: tuple[Any, ...] = (Strict(), Lenient(1.5), ContentAware(), Ensemble(), Typical())
"""Rules where none is named: of blocks, and of one token, where rules that differ only in later slots are the same."""
WORDS = {
    "tv": "TV(out, target)",
    "kl": "KL(out, target) in nats",
    "kl_reverse": "KL(target, out) in nats",
    "chi2": "chi-square(out, target)",
    "local": "sum of local errors",
}
"""Divergences that can be estimated without bias from samples."""
PLAIN_SEED = 2**34
"""Added to a seed: the images of plain decoding, which are not those that the rules decode."""
PILOT = 3
"""Images of plain decoding on whose contexts strengths are chosen; what a chosen strength costs is then measured."""
CHOOSING = Effort(slack=2e-3, grid=9, resolution=1e-3)
"""How finely a strength is chosen: points of a curve need no more."""
LOSSLESS = 1e-9
"""How far a mean of float64 sums may lie below the line."""
MOST_POINTS = 20
MOST_DRAFTS = 48
"""An image has 49 tokens, and a block's last one is never a draft."""
FEWEST_IMAGES = 2
"""A standard error needs two."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Sampled:
    """What is sampled.  points: strengths of a rule beside its own, spread over what one token's acceptance can be."""

    model: str = "fashion"
    lookahead: int = 1
    divergence: str = "tv"
    images: int = 100
    seed: int = 0
    batch: int = 100
    points: int = 3
    processing: Processing = Processing()

    def __post_init__(self) -> None:
        require(
            self.divergence != "ratio", "frontier", "divergence", "ratio", "another: a sample knows no largest ratio"
        )
        require(self.divergence in WORDS, "frontier", "divergence", self.divergence, f"one of {', '.join(WORDS)}")
        require(self.model in ALONG, "frontier", "model", self.model, f"one of {', '.join(ALONG)}")
        require_whole("frontier", "points", self.points, 0, MOST_POINTS)
        require_whole("frontier", "lookahead", self.lookahead, 1, MOST_DRAFTS)
        require(self.images >= FEWEST_IMAGES, "frontier", "images", self.images, f"at least {FEWEST_IMAGES}")
        self.plan(Chain(self.lookahead), None, self.seed)

    @property
    def one_token(self) -> bool:
        """Whether the line is known: one draft a call, and TV."""
        return self.lookahead == 1 and self.divergence == "tv"

    def plan(self, decoder: Any, rule: Any, seed: int) -> Plan:
        """The run of a system."""
        return Plan(self.model, decoder, rule, self.images, seed, self.batch, None, self.processing)


class Contexts(NamedTuple):
    """Images of plain decoding with both models' laws along them, [B, N, V], and their tokens [B, N]."""

    target: Tensor
    draft: Tensor
    tokens: Tensor


class Token(NamedTuple):
    """One verified token, averaged over an image's contexts, [B] each: accepted, and TV(out, p)."""

    accepted: np.ndarray
    tv: np.ndarray


class Mark(NamedTuple):
    """A rule at one strength (None: it has none).  above: how far it lies above the line, where there is one."""

    rule: Any
    strength: float | None
    cost: Estimate
    value: Estimate
    above: Estimate | None = None


def contexts(fashion: Fashion, sampled: Sampled, plain: Decoded, images: int) -> list[Contexts]:
    """The first images, in parts that fit."""
    tokens, labels = torch.from_numpy(plain.tokens[:images]), torch.from_numpy(plain.labels[:images])
    parts = [slice(first, first + CHUNK) for first in range(0, len(tokens), CHUNK)]
    laws = (laws_along(fashion, sampled.processing, tokens[part], labels[part]) for part in parts)
    return [Contexts(*some, tokens[part].to(some[0].device)) for some, part in zip(laws, parts, strict=True)]


def verified(fashion: Fashion, rule: Any, some: Sequence[Contexts]) -> Token:
    """One drafted token under a rule, in every context."""
    bound = whole_law(bind_codebook(rule, fashion.codebook))
    slots = [slots_along(bound, *part, 1)[0] for part in some]
    means = [(to_numpy(slot.keeps.mean(-1)), to_numpy(slot.local.mean(-1))) for slot in slots]
    return Token(*(np.concatenate(parts) for parts in zip(*means, strict=True)))


def strengths(fashion: Fashion, rule: Any, pilot: Sequence[Contexts], points: int) -> list[tuple[Any, float | None]]:
    """The rule as given, and at strengths whose acceptance of one token is evenly spread above the strict rule's."""
    if not has_strength(rule):
        return [(rule, None)]
    seen: dict[str, float] = {}

    def accepted(candidate: Any) -> float:
        if repr(candidate) not in seen:
            seen[repr(candidate)] = float(verified(fashion, candidate, pilot).accepted.mean())
        return seen[repr(candidate)]

    least = accepted(Strict())
    goals = [least + (1 - least) * i / (points + 1) for i in range(1, points + 1)]
    found = [tune(accepted, rule, goal, CHOOSING).points[:1] for goal in goals]
    return [(rule, None), *((point.rule, point.value) for some in found for point in some)]


def on_one_token(fashion: Fashion, rule: Any, value: float | None, some: Sequence[Contexts], strict: Token) -> Mark:
    """Acceptance and TV of one verified token, and how far above the line the rule lies in these very contexts."""
    token = verified(fashion, rule, some)
    line = token.accepted - strict.accepted
    return Mark(rule, value, mean(token.accepted), mean(token.tv), mean(token.tv - line))


def on_runs(fashion: Fashion, sampled: Sampled, rule: Any, value: float | None, plain: Decoded) -> Mark:
    """Target calls of a run, and its divergence: from plain decoding's images or from its own, as the measure needs."""
    measure, decoder = MEASURES[sampled.divergence], Chain(sampled.lookahead)
    own = decode(sampled.plan(decoder, rule, sampled.seed), fashion)
    [runs] = paths_along(fashion, sampled.processing, [rule], sampled.lookahead, own)
    drawn = runs
    if measure.sample == TARGET:
        [drawn] = paths_along(fashion, sampled.processing, [rule], sampled.lookahead, plain)
    return Mark(rule, value, mean(runs.calls), mean(measure.values(drawn)))


def frontier_of_images(sampled: Sampled, rules: Sequence[Any], progress: Progress | None = None) -> dict[str, Any]:
    """Every rule at a few strengths -> JSON content.  progress(points done, points)."""
    rules = list({repr(rule): rule for rule in (rules or (ONE_TOKEN if sampled.one_token else DEFAULTS))}.values())
    plan = sampled.plan(Autoregressive(), None, sampled.seed + PLAIN_SEED)
    fashion = load(plan)
    plain = decode(plan, fashion)
    met = contexts(fashion, sampled, plain, sampled.images if sampled.one_token else min(PILOT, sampled.images))
    pilot = [Contexts(*(part[:PILOT] for part in met[0]))]
    chosen = [strengths(fashion, rule, pilot, sampled.points) for rule in rules]
    strict, marks, total = verified(fashion, Strict(), met), list[list[Mark]](), sum(map(len, chosen))
    for several in chosen:
        marks.append([])
        for rule, value in several:
            one = on_one_token(fashion, rule, value, met, strict) if sampled.one_token else None
            marks[-1].append(one or on_runs(fashion, sampled, rule, value, plain))
            if progress is not None:
                progress(sum(map(len, marks)), total)
    return content_of(fashion, sampled, strict, marks)


def content_of(fashion: Fashion, sampled: Sampled, strict: Token, marks: list[list[Mark]]) -> dict[str, Any]:
    """Everything for machines; figures are {value, interval}."""
    below = [some for several in marks for some in several if some.above is not None and some.above.value < -LOSSLESS]
    return {
        "schema": SCHEMA,
        "model": sampled.model,
        "lookahead": sampled.lookahead,
        "length": None if sampled.one_token else fashion.length,
        "divergence": {"name": sampled.divergence, "words": WORDS[sampled.divergence]},
        "cost": cost_json(sampled, fashion.length),
        "numbers": "estimates in float64",
        "interval": f"{CONFIDENCE:.0%} normal, between images",
        "images": sampled.images,
        "seed": sampled.seed,
        "processing": vars(sampled.processing),
        "limits": [line_json(strict)] if sampled.one_token else [],
        "rules": [rule_json(several) for several in marks],
        "notes": notes(sampled),
        "problems": [f"{some.rule!r} lies {-some.above.value:.2g} below the line" for some in below if some.above],
        **provenance(fashion.target_net.output.weight.device),
    }


def cost_json(sampled: Sampled, length: int) -> dict[str, str]:
    """What the cost is, and which way is cheaper."""
    if sampled.one_token:
        return {"name": "accepted", "words": "drafts accepted, mean over contexts", "better": "more"}
    return {"name": "calls", "words": f"expected target calls of an image ({length} tokens)", "better": "fewer"}


def line_json(strict: Token) -> dict[str, Any]:
    """The line in these contexts: from what strict verification accepts, TV 0, to everything."""
    least = float(strict.accepted.mean())
    ends = [{"cost": least, "value": 0.0}, {"cost": 1.0, "value": 1 - least}]
    return {"kind": "one-token", "words": "least TV of any rule, one draft a call", "slope": 1.0, "points": ends}


def rule_json(several: list[Mark]) -> dict[str, Any]:
    """A rule at every strength, as given first."""
    rule = several[0].rule
    return {"rule": repr(rule), "name": short(rule), "points": [mark_json(some) for some in several]}


def mark_json(some: Mark) -> dict[str, Any]:
    """A rule at one strength."""
    figures = {"cost": some.cost, "value": some.value} | ({} if some.above is None else {"above_line": some.above})
    named = {"rule": repr(some.rule), "strength": some.strength}
    return named | {name: {"value": e.value, "interval": interval(e)} for name, e in figures.items()}


def interval(estimate: Estimate) -> list[float] | None:
    """value +- z standard errors; None where there is no finite error."""
    half = float(stats.norm.isf((1 - CONFIDENCE) / 2)) * estimate.error
    return [estimate.value - half, estimate.value + half] if np.isfinite(half) else None


def notes(sampled: Sampled) -> list[str]:
    """What must be read beside the figures."""
    if sampled.one_token:
        return [
            "one verified token in the contexts of plain decoding: the line is exact there, and how far a rule lies "
            "above it is compared in the same contexts"
        ]
    what = "a lookahead above 1" if sampled.lookahead > 1 else f"{WORDS[sampled.divergence]}"
    said = [f"no limit is drawn: for laws of this size none is known with {what}"]
    if sampled.divergence == "chi2":
        said.append(
            "chi-square is heavy tailed: rare images carry it, and both the estimate and its interval may be low"
        )
    return said
