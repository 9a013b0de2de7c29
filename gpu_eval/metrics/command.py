"""The work behind `specsim metrics`: sets of images in, FID, IS and CLIP score out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table as Grid
from rich.text import Text
from torch import Tensor

from gpu_eval.metrics.clip import clip_score, load_clip, texts_for
from gpu_eval.metrics.extractors import SHIPPED, Extractor, extractor_of, look_at
from gpu_eval.metrics.frechet import ENOUGH, fid, saved_moments, warnings_of
from gpu_eval.metrics.images import Images, images_of
from gpu_eval.metrics.inception_score import SPLITS, inception_score
from gpu_eval.prompts import read_prompts
from gpu_eval.provenance import provenance
from gpu_eval.quality.frechet import Moments
from gpu_eval.run import best_device
from specsim.errors import SpecsimError, require

SCHEMA = "specsim.metrics/1"
FROM_FASHION = "distances in the features of fashion's classifier are no FID: they compare images of that model only"
Progress = Callable[[int, int], None]


def metrics_of(
    images: str | Path,
    reference: str | Path,
    extractor: Path | None = None,
    clip: Path | None = None,
    prompts: Path | None = None,
    resamples: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Everything that can be said of a set of images.  What can be refused is refused before a network runs."""
    device = best_device()
    if (clip is None) != (prompts is None):
        raise SpecsimError("metrics: a CLIP score needs both --clip and --prompts")
    own, other = images_of(images), reference_of(reference)
    for name, some in (("images", own), ("reference", other)):
        if isinstance(some, Images):
            require(some.count > 1, "metrics", name, some.count, "at least 2 images, for a covariance")
    asked = None if prompts is None else read_prompts(prompts)
    if asked is not None:
        texts_for(own, asked)
    model = None if clip is None else load_clip(clip, device)
    network = extractor_of(extractor, device)
    content = judged(network, own, other, resamples, progress)
    content["clip_score"] = None if model is None or asked is None else clip_score(model, own, asked)
    settings = {
        "images_from": own.name,
        "reference_from": str(reference),
        "extractor": network.name,
        "extractor_sha256": network.sha256,
    }
    return {"schema": SCHEMA, **settings, **content, **provenance(device)}


def reference_of(path: str | Path) -> Images | Moments:
    """Images, or the statistics an .npz holds in their place."""
    moments = None if Path(path).is_dir() else saved_moments(Path(path))
    return images_of(path) if moments is None else moments


def judged(
    network: Extractor, own: Images, other: Images | Moments, resamples: int | None, progress: Progress | None
) -> dict[str, Any]:
    """FID and IS, with what to know of them."""
    seen = look_at(network, own, progress)
    against: Tensor | Moments
    if isinstance(other, Images):
        against, count = look_at(network, other, progress).features, other.count
    else:
        against, count = (other[0].to(network.device), other[1].to(network.device)), None
    width, classes = seen.features.shape[-1], seen.log_probabilities
    scored = classes is not None and own.count >= SPLITS
    return {
        "images": own.count,
        "reference_images": count,
        "features": width,
        "fid": fid(seen.features, against, resamples),
        "inception_score": inception_score(classes) if classes is not None and scored else None,
        "warnings": [*warnings_of(own.count, count, width), *remarks(network, own.count, classes is not None)],
    }


def remarks(network: Extractor, count: int, classes: bool) -> list[str]:
    """What to know of the network, and of a score that is low for few images, or missing."""
    said = [FROM_FASHION] if network.name == SHIPPED else []
    if not classes:
        return [*said, f"no inception score: {network.name} gives no class probabilities"]
    if count < SPLITS:
        return [*said, f"no inception score: {count} images are too few for {SPLITS} splits"]
    few = f"{count} images in {SPLITS} splits: an inception score of few images is low; compare equal numbers only"
    return said + ([few] if count < ENOUGH else [])


def metrics_view(content: dict[str, Any]) -> Grid:
    """The figures for people."""
    distance, score, pairs = content["fid"], content["inception_score"], content["clip_score"]
    bias = "" if distance["bias"] is None else f"  of which bias {distance['bias']:.3f}"
    rows = [
        ("images", f"{content['images']}, reference {content['reference_images'] or 'statistics'}"),
        ("features", f"{content['features']} of {content['extractor']}"),
        ("Frechet distance", shown(distance) + bias),
    ]
    if score is not None:
        rows.append(("inception score", f"{score['value']:.3f} ± {score['std']:.3f} over {score['splits']} splits"))
    if pairs is not None:
        rows.append(("CLIP score", shown(pairs)))
    rows += [("intervals", distance["method"]), *(("warning", line) for line in content["warnings"])]
    title = Text(f"{content['images_from']}  against  {content['reference_from']}")
    table = Grid(title=title, show_header=False, title_justify="left")
    for name, cell in rows:
        table.add_row(name, Text(cell))
    return table


def shown(figure: dict[str, Any]) -> str:
    """A figure with its interval, where one exists."""
    ends = figure["interval"]
    return f"{figure['value']:.3f}" + ("" if ends is None else f"  [{ends[0]:.3f}, {ends[1]:.3f}]")
