"""Commands that judge images: metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from specsim.cli.options import AsJson, app, option
from specsim.terminal import emit, needing, progress_bar

NETWORK = (
    "TorchScript file (a program: it is run) or torch-fidelity's weights. Without it: the classifier of fashion, for "
    "its 28 x 28 grey images."
)


@app.command()
def metrics(
    images: Annotated[Path, option("--images", "Folder of pictures, or an .npz with an array of images.")],
    reference: Annotated[Path, option("--reference", "The same of real images, or an .npz with their mu and sigma.")],
    extractor: Annotated[Path | None, option("--extractor", NETWORK)] = None,
    clip: Annotated[Path | None, option("--clip", "Folder of a CLIP model saved by transformers.")] = None,
    prompts: Annotated[Path | None, option("--prompts", "With --clip: a text for each image, in their order.")] = None,
    resamples: Annotated[
        int | None, option("--resamples", "For the interval of the FID: 400, of wide features 50. 0 = no interval.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """FID, inception score and CLIP score of a set of images."""
    with needing("metrics", "gpu"):
        from gpu_eval.metrics.command import metrics_of, metrics_view

    with progress_bar("images") as update:
        content = metrics_of(images, reference, extractor, clip, prompts, resamples, update)
    emit(content, metrics_view(content), as_json)
