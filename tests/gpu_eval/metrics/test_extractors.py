"""Networks for features: TorchScript programs of the published signature, torch-fidelity's, the shipped classifier."""

import hashlib
import sys
import types
import warnings
import zipfile

import numpy as np
import pytest
import torch
from torch import nn

from gpu_eval.fashion import load_fashion
from gpu_eval.metrics import extractors
from gpu_eval.metrics.extractors import extractor_of, look_at
from gpu_eval.metrics.images import images_of
from specsim.errors import SpecsimError

CPU = torch.device("cpu")
FEATURES, CLASSES = 5, 4
ROUNDING = 1e-6  # float32 probabilities and features near 1


class Network(nn.Module):
    """The calls of the StyleGAN release's Inception file, on a small network."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.output = nn.Linear(12, FEATURES), nn.Linear(FEATURES, CLASSES)

    def forward(self, img: torch.Tensor, return_features: bool = False, no_output_bias: bool = False):
        pooled = nn.functional.adaptive_avg_pool2d(img.float() / 128 - 1, (2, 2)).flatten(1)
        features = self.body(pooled).relu()
        if return_features:
            return features
        logits = features @ self.output.weight.t() if no_output_bias else self.output(features)
        return logits.softmax(1)


class FeaturesOnly(nn.Module):
    """Features [B, 3]."""

    def forward(self, img: torch.Tensor):
        return img.float().mean((2, 3))


class Logits(nn.Module):
    """Classes that are no probabilities."""

    def forward(self, img: torch.Tensor, return_features: bool = False):
        return img.float().mean((2, 3)) - 128


class OneRow(nn.Module):
    """One row of features, whatever the batch."""

    def forward(self, img: torch.Tensor):
        return img.float().mean((0, 2, 3))[None]


class NoNumbers(nn.Module):
    """Features that are NaN."""

    def forward(self, img: torch.Tensor):
        return img.float().mean((2, 3)) * float("nan")


def saved(network, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.script(network.eval()).save(str(path))
    return path


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    path = tmp_path_factory.mktemp("images") / "x.npz"
    np.savez(path, images=np.random.default_rng(0).integers(0, 256, (7, 8, 8, 3), dtype=np.uint8))
    return images_of(path)


def test_a_program_of_the_published_signature(tmp_path, images, monkeypatch):
    """Features without the last layer; classes without its bias; batches in order."""
    monkeypatch.setattr(extractors, "BATCH", 3)
    torch.manual_seed(0)
    network, done = Network(), []
    seen = look_at(extractor_of(saved(network, tmp_path / "n.pt"), CPU), images, lambda now, total: done.append(now))
    (batch,) = images.batches(50)
    whole = (tmp_path / "n.pt").read_bytes()
    assert extractor_of(tmp_path / "n.pt", CPU).sha256 == hashlib.sha256(whole).hexdigest()
    with torch.no_grad():
        features = network(batch, return_features=True).double()
        logits = network.output.weight @ features.float().T
    assert torch.allclose(seen.features, features, atol=ROUNDING) and done == [3, 6, 7]
    assert torch.allclose(seen.log_probabilities, logits.T.double().log_softmax(-1), atol=ROUNDING)
    assert not torch.allclose(seen.log_probabilities, network(batch).double().log(), atol=100 * ROUNDING)


def test_a_program_with_features_only(tmp_path, images):
    seen = look_at(extractor_of(saved(FeaturesOnly(), tmp_path / "n.pt"), CPU), images)
    (batch,) = images.batches(50)
    assert torch.allclose(seen.features, batch.double().mean((2, 3)), rtol=ROUNDING) and seen.log_probabilities is None


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (Logits(), "no probabilities"),
        (OneRow(), r"returns \[1, 3\] for 7 images"),
        (NoNumbers(), "features that are no numbers"),
        (nn.Conv2d(1, 2, 3), r"fails on uint8 images \[7, 3, 8, 8\]"),
    ],
)
def test_programs_that_do_not_fit(tmp_path, images, network, said):
    extractor = extractor_of(saved(network, tmp_path / "n.pt"), CPU)
    with pytest.raises(SpecsimError, match=said):
        look_at(extractor, images)


class Mark:
    """Its pickle writes a file when it is loaded."""

    def __init__(self, path) -> None:
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


class Fidelity(nn.Module):
    """Stands in for the package's network: the same constructor, uint8 in, a tuple in the order of the list out."""

    def __init__(self, name, features_list, feature_extractor_weights_path) -> None:
        super().__init__()
        assert features_list == ["2048", "logits_unbiased"]
        self.body = nn.Linear(3, 6)
        self.load_state_dict(torch.load(feature_extractor_weights_path, weights_only=True))

    def forward(self, images):
        assert images.dtype == torch.uint8
        features = self.body(images.float().mean((2, 3)) / 255)
        return features, 2 * features


@pytest.fixture
def package(monkeypatch):
    module = types.ModuleType("torch_fidelity.feature_extractor_inceptionv3")
    module.FeatureExtractorInceptionV3 = Fidelity
    monkeypatch.setitem(sys.modules, "torch_fidelity", types.ModuleType("torch_fidelity"))
    monkeypatch.setitem(sys.modules, module.__name__, module)


@torch.no_grad()
def test_weights_of_torch_fidelity(tmp_path, images, package):
    torch.manual_seed(0)
    body = nn.Linear(3, 6)
    torch.save({f"body.{name}": value for name, value in body.state_dict().items()}, tmp_path / "w.pth")
    seen = look_at(extractor_of(tmp_path / "w.pth", CPU), images)
    (batch,) = images.batches(50)
    features = body(batch.float().mean((2, 3)) / 255)
    assert torch.allclose(seen.features, features.double(), atol=ROUNDING)
    assert torch.allclose(seen.log_probabilities, (2 * features).double().log_softmax(-1), atol=ROUNDING)


def test_a_pickle_is_never_run(tmp_path, package):
    torch.save({"body.weight": Mark(tmp_path / "mark")}, tmp_path / "w.pth")
    with pytest.raises(SpecsimError, match="no file of torch-fidelity's weights") as caught:
        extractor_of(tmp_path / "w.pth", CPU)
    assert not (tmp_path / "mark").exists() and "\n" not in str(caught.value)


def test_without_the_package_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_fidelity", None)
    (tmp_path / "w.pth").write_bytes(b"whatever")
    with pytest.raises(SpecsimError, match="pip install torch-fidelity"):
        extractor_of(tmp_path / "w.pth", CPU)


def test_files_that_are_no_network(tmp_path):
    with pytest.raises(SpecsimError, match="is no file"):
        extractor_of(tmp_path / "n.pt", CPU)
    with zipfile.ZipFile(tmp_path / "n.pt", "w") as archive:
        archive.writestr("n/code/__torch__.py", "no program")
    with pytest.raises(SpecsimError, match="no usable TorchScript file") as caught:
        extractor_of(tmp_path / "n.pt", CPU)
    assert "\n" not in str(caught.value)


def grey_file(tmp_path, array):
    np.savez(tmp_path / "x.npz", images=array)
    return images_of(tmp_path / "x.npz")


@torch.no_grad()
def test_the_shipped_classifier(tmp_path):
    levels = np.random.default_rng(0).integers(0, 256, (5, 28, 28), dtype=np.uint8)
    seen = look_at(extractor_of(None, CPU), grey_file(tmp_path, levels))
    classifier = load_fashion().classifier
    pixels = torch.from_numpy(levels)[:, None].float() / 255
    assert torch.allclose(seen.features, classifier.features(pixels).double(), atol=ROUNDING, rtol=ROUNDING)
    logits = classifier(pixels).double()
    assert torch.allclose(seen.log_probabilities, logits.log_softmax(-1), atol=10 * ROUNDING, rtol=10 * ROUNDING)


@pytest.mark.parametrize(("shape", "said"), [((2, 28, 27), "27 x 28 pixels"), ((2, 28, 28, 3), "in colour")])
def test_what_the_shipped_classifier_cannot_judge(tmp_path, shape, said):
    images = grey_file(tmp_path, np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8))
    with pytest.raises(SpecsimError, match=said):
        look_at(extractor_of(None, CPU), images)
