"""The network whose features a Frechet distance is taken in, and whose classes an inception score is of.

- A TorchScript file, e.g. `inception-2015-12-05.pt` of the StyleGAN2-ADA release: 2048 features, 1008 classes, its own
  resizing to 299 x 299. Such a file is no pickle, but it is a program that runs with your rights: only one that is
  named is ever loaded. (Calls read from its users' code; run here on small programs with the same signature.)
- torch-fidelity's weights, `weights-inception-2015-12-05-6726825d.pth`, with the package torch-fidelity installed. It
  resizes as TensorFlow 1 did. (Layout read, not run on published weights.)
- Without a file, images of 28 x 28 grey pixels: the classifier that ships with the model `fashion`, 64 features. Its
  distances are no FID: they compare images of that model only.

All take uint8. `torchmetrics` wraps torch-fidelity's network but resizes with antialiasing by default, so its FID
differs from published ones for images that are not 299 x 299; a network of one's own gets the images as they
are, unresized, in training mode if it is in that; and `(images * 255).byte()` there cuts floats where a
picture file rounds them.
"""

from __future__ import annotations

import hashlib
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gpu_eval.fashion import load_fashion
from gpu_eval.metrics.images import Images
from specsim.errors import SpecsimError
from specsim.files import require_regular

BATCH = 50
"""Images that go through a network together."""
SHIPPED = "fashion classifier"
SIDE = 28
"""Pixels of an image that the shipped classifier knows."""
SLACK = 1e-3
"""How far probabilities may be from a sum of 1: a program may run in half precision."""
Progress = Callable[[int, int], None]


class Look(NamedTuple):
    """What a network says of images: features [n, D], log of the class probabilities [n, K] or None."""

    features: Tensor
    log_probabilities: Tensor | None


@dataclass(frozen=True)
class Extractor:
    """look(uint8 [B, 3, H, W]) -> Look, in the network's own dtype; sha256: of the file it comes from."""

    name: str
    look: Callable[[Tensor], Look]
    device: torch.device
    sha256: str | None = None


def extractor_of(path: Path | None, device: torch.device) -> Extractor:
    """The network of a file; None is the shipped classifier."""
    if path is None:
        return shipped(device)
    require_regular(path)
    if not path.is_file():
        raise SpecsimError(f"extractor {path} is no file: give a TorchScript file or torch-fidelity's weights")
    found = scripted(path, device) if is_script(path) else torch_fidelity(path, device)
    with path.open("rb") as file:
        return replace(found, sha256=hashlib.file_digest(file, "sha256").hexdigest())


def shipped(device: torch.device) -> Extractor:
    """The classifier of `fashion`; grey levels are taken from pictures whose three channels agree."""
    classifier = load_fashion(device).classifier.eval()

    def look(images: Tensor) -> Look:
        grey = images[:, :1]
        if images.shape[-2:] != (SIDE, SIDE) or not bool((images == grey).all()):
            what = (
                "in colour"
                if images.shape[-2:] == (SIDE, SIDE)
                else f"of {images.shape[-1]} x {images.shape[-2]} pixels"
            )
            raise SpecsimError(
                f"an image {what}: without --extractor only grey ones of {SIDE} x {SIDE} can be judged; name a network"
            )
        features = classifier.features(grey.float() / 255)
        return Look(features, classifier.head(features).double().log_softmax(-1))

    return Extractor(SHIPPED, look, device)


def is_script(path: Path) -> bool:
    """Whether a file is a TorchScript archive: a zip with a folder of code."""
    try:
        with zipfile.ZipFile(path) as archive:
            return any("/code/" in name for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError):
        return False


def scripted(path: Path, device: torch.device) -> Extractor:
    """A program that maps uint8 [B, 3, H, W] to features; with an argument `return_features` it gives class
    probabilities otherwise, and they are taken without the last layer's bias where it has `no_output_bias`, as in
    the original inception score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of TorchScript as a whole: the files exist all the same
        try:
            network: Any = torch.jit.load(str(path), map_location=device).eval()
        except (RuntimeError, ValueError, OSError) as error:
            raise SpecsimError(f"extractor {path} is no usable TorchScript file: {one_line(error)}") from error
    known = {argument.name for argument in network.forward.schema.arguments}
    classes = {"no_output_bias": True} if "no_output_bias" in known else {}

    def look(images: Tensor) -> Look:
        try:
            if "return_features" not in known:
                return Look(network(images), None)
            return Look(network(images, return_features=True), logarithms(network(images, **classes), path))
        except RuntimeError as error:
            shape = list(images.shape)
            raise SpecsimError(f"extractor {path} fails on uint8 images {shape}: {one_line(error)}") from error

    return Extractor(path.name, look, device)


def logarithms(chances: Tensor, path: Path) -> Tensor:
    """log of class probabilities [n, K]; error if they are none."""
    chances = chances.double()
    if not bool((chances >= 0).all() & ((chances.sum(-1) - 1).abs() <= SLACK).all()):
        raise SpecsimError(f"extractor {path} gives classes that are no probabilities: its last step must be a softmax")
    return chances.log()


def torch_fidelity(path: Path, device: torch.device) -> Extractor:
    """torch-fidelity's own network; its class logits are without the last layer's bias."""
    try:
        package = import_module("torch_fidelity.feature_extractor_inceptionv3")
    except ModuleNotFoundError as error:
        raise SpecsimError(
            f"extractor {path} is no TorchScript file; as weights of torch-fidelity it needs {error.name}: "
            "pip install torch-fidelity"
        ) from None
    try:
        torch.load(path, map_location="cpu", weights_only=True)  # before a package opens it in its own way
        network = package.FeatureExtractorInceptionV3("inception-v3-compat", ["2048", "logits_unbiased"], str(path))
    except Exception as error:  # whatever a foreign file makes the unpickler or the package raise
        raise SpecsimError(f"extractor {path} is no file of torch-fidelity's weights: {one_line(error)}") from error
    network = network.to(device).eval()

    def look(images: Tensor) -> Look:
        features, logits = network(images)
        return Look(features, logits.double().log_softmax(-1))

    return Extractor(path.name, look, device)


def one_line(error: Exception) -> str:
    """The end of an error, where TorchScript says what went wrong."""
    return " ".join(str(error).split())[-200:] or type(error).__name__


@torch.no_grad()
def look_at(extractor: Extractor, images: Images, progress: Progress | None = None) -> Look:
    """A whole set: float64 features [n, D] and log probabilities [n, K], on the extractor's device."""
    features, classes, done = [], [], 0
    for batch in images.batches(BATCH):
        look = extractor.look(batch.to(extractor.device))
        done += len(batch)
        features.append(checked(look.features, len(batch), extractor, images.name).double())
        classes += [] if look.log_probabilities is None else [look.log_probabilities]
        if progress is not None:
            progress(done, images.count)
    return Look(torch.cat(features), torch.cat(classes) if classes else None)


def checked(features: Any, count: int, extractor: Extractor, name: str) -> Tensor:
    """Features as rows of numbers, or an error: a network of the user's own may return anything."""
    if not isinstance(features, Tensor) or len(features) != count or features.ndim < 2:
        what = list(features.shape) if isinstance(features, Tensor) else type(features).__name__
        raise SpecsimError(f"extractor {extractor.name} returns {what} for {count} images; it must be [{count}, D]")
    if not bool(features.isfinite().all()):
        raise SpecsimError(f"extractor {extractor.name} gives features that are no numbers for images of {name}")
    return features.flatten(1)
