"""The sampled side of `specsim cost`: the image model decoded at every lookahead or window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gpu_eval.fashion import Fashion
from gpu_eval.figures import METHOD, ratio_interval
from gpu_eval.provenance import provenance
from gpu_eval.run import Decoded, Plan, decode, load
from specsim.costing.command import content_of
from specsim.costing.model import Prices, spending
from specsim.costing.sweep import Measured, size_field, sizes, sweep, with_size
from specsim.decoding import Decoder


class Counts(NamedTuple):
    """What images cost: one number each [n], or their averages."""

    calls: Any
    drafted: Any
    tokens: Any


def cost_of_images(
    plan: Plan,
    decoders: Sequence[Decoder],
    price: Prices,
    largest: int,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Decode plan.images at every size of every decoder -> JSON content.  progress(runs done, runs)."""
    for decoder in decoders:
        size_field(decoder)
    fashion, total, done, swept = load(plan), len(decoders) * len(sizes(largest)), 0, []
    for decoder in decoders:
        steps = []
        for size in sizes(largest):
            steps.append(measured(replace(plan, decoder=with_size(decoder, size)), size, price, fashion))
            done += 1
            if progress is not None:
                progress(done, total)
        swept.append(sweep(decoder, plan.rule, steps, price))
    source = {"kind": f"samples of {plan.model}", "images": plan.images, "seed": plan.seed, "interval": METHOD}
    return content_of(source | provenance(fashion.target_net.output.weight.device), swept, price)


def measured(plan: Plan, size: int, price: Prices, fashion: Fashion) -> Measured:
    """One size: averages over images, the acceptance, and the speed-up's interval."""
    done = decode(plan, fashion)
    drafted = per_image(done, "drafted")
    spent = spending(plan.decoder, Counts(done.calls, drafted, done.lengths))
    figure = ratio_interval(done.lengths, np.asarray(spent.cost(price), dtype=float))
    judged = per_image(done, "reached").sum()
    mean = spending(plan.decoder, Counts(done.calls.mean(), drafted.mean(), done.lengths.mean()))
    return Measured(size, mean, float(done.accepted.sum() / judged) if judged else None, figure["interval"])


def per_image(done: Decoded, name: str) -> np.ndarray:
    """A count of every round, summed over each image's rounds."""
    return np.concatenate([getattr(part, name).sum(axis=0) for part in done.batches])
