"""The figures of a run, as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from gpu_eval.figures import METHOD, mean_interval, ratio_interval, slot_rates
from gpu_eval.models.loaded import Pair
from gpu_eval.provenance import provenance
from gpu_eval.run import Decoded, Failed, Plan
from specsim.errors import SpecsimError

SCHEMA = "specsim.run/2"
SHOWN = 5


def result_json(plan: Plan, done: Decoded, pair: Pair) -> dict[str, Any]:
    """Every figure of a run, without failed images.  Sampled figures have an interval named `<figure>_interval`."""
    going = np.isin(np.arange(plan.images), [some.image for some in done.failed], invert=True)
    if not going.any():
        raise SpecsimError(f"run: no image could be decoded: {done.failed[0].what}")
    calls, lengths = done.calls[going], done.lengths[going]
    figures = {
        "nfe_per_image": mean_interval(calls),
        "tokens_per_call": ratio_interval(lengths, calls),
        "accepted_per_call": ratio_interval(done.accepted[going], calls),
        "step_compression": ratio_interval(np.full(len(calls), pair.target.length), calls),
    }
    content: dict[str, Any] = {"schema": SCHEMA}
    for name, figure in figures.items():
        content |= {name: figure["value"], f"{name}_interval": figure["interval"]}
    return content | {
        "interval": METHOD,
        "seconds_per_image": done.loop_seconds / plan.images,
        "step_overhead_fraction": (done.loop_seconds - done.model_seconds) / done.model_seconds,
        "acceptance_by_slot": slot_rates(done.batches),
        "nfe": done.calls.tolist(),
        "failed": [failed_json(some) for some in done.failed],
        "seed": plan.seed,
        "dtype": str(done.like.dtype).removeprefix("torch."),
        **provenance(done.like.device),
        "configuration": configuration(plan, pair) | {"batch": done.batch, "batch_asked": plan.batch},
    }


def failed_json(some: Failed) -> dict[str, Any]:
    """What is known of an image that was given up."""
    asked = {name: value for name, value in asdict(some.prompt).items() if value is not None}
    return {"image": some.image, "prompt": asked, "position": some.position, "what": some.what}


def configuration(plan: Plan, pair: Pair) -> dict[str, Any]:
    """Everything that decides the output."""
    rule = repr(plan.rule) if plan.rule is not None else ("Strict()" if plan.decoder.takes_rule else None)
    return {
        "model": plan.model,
        "target": pair.target.name,
        "draft": pair.draft.name if pair.draft is not None and plan.decoder.needs_draft else None,
        "decoder": repr(plan.decoder),
        "rule": rule,
        "images": plan.images,
        "label": plan.label,
        "prompts": [{"text": some.text, "label": some.label} for some in plan.prompts[: plan.images]],
        "compiled": plan.compiled,
        **asdict(plan.processing),
    }
