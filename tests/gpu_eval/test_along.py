"""Both image models' laws along images, and what follows from them."""

from typing import NamedTuple

import numpy as np
import pytest
import torch

from gpu_eval import along
from gpu_eval.along import divergences, laws_along, paths_along
from gpu_eval.fashion import Fashion, load_fashion
from gpu_eval.processing import Processing
from gpu_eval.quality.measures import log_chances
from specsim import Lantern, Lenient, SpecsimError, Strict
from specsim.divergences import MEASURES

FLOAT32 = 1e-4  # log of a float32 law, in batches of different sizes
ROUNDING = 1e-12  # of 49 float64 ratios
PROCESSING = Processing(guidance=1.5, top_k=100)


class Some(NamedTuple):
    tokens: np.ndarray
    labels: np.ndarray


@pytest.fixture(scope="module")
def fashion() -> Fashion:
    return load_fashion()


@pytest.fixture(scope="module")
def drawn(fashion: Fashion) -> Some:
    return Some(fashion.reference.tokens[:6].numpy(), fashion.reference.labels[:6].numpy())


def test_laws_are_those_of_the_models_at_every_token(fashion: Fashion, drawn: Some) -> None:
    """Position n without and with the tokens from n on, through the cache the decoders use."""
    tokens, labels = torch.from_numpy(drawn.tokens), torch.from_numpy(drawn.labels)
    target, draft = laws_along(fashion, PROCESSING, tokens, labels)
    assert target.dtype == torch.float64 and target.shape == draft.shape == (6, 49, 512)
    assert float(abs(target.sum(-1) - 1).max()) < ROUNDING
    chances = target.gather(-1, tokens[..., None])[..., 0].log().numpy()
    assert np.allclose(chances, log_chances(fashion, PROCESSING, drawn.tokens, drawn.labels), atol=FLOAT32)
    position = torch.full((6,), 20)
    for found, make in ((target, fashion.target), (draft, fashion.draft)):
        alone = make(labels, PROCESSING)(tokens[:, :20], position, 1)[:, 0]
        assert torch.allclose(found[:, 20], alone.double(), atol=FLOAT32)


def test_a_lossless_rule_has_no_divergence_on_images(fashion: Fashion, drawn: Some) -> None:
    """Not even where the laws have zeros."""
    [paths] = paths_along(fashion, PROCESSING, [Strict()], 4, drawn)
    possible = np.isfinite(log_chances(fashion, PROCESSING, drawn.tokens, drawn.labels)).all(-1)
    assert np.allclose(paths.ratio, possible, atol=ROUNDING)
    for part in (paths.off_support, paths.token_tv, paths.token_kl, paths.local, paths.relaxed):
        assert abs(part).max() < ROUNDING


def test_rules_share_the_laws_and_images_are_taken_in_parts(
    fashion: Fashion, drawn: Some, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = [Lenient(1.5), Lantern(10, 0.4)]
    together, done = paths_along(fashion, Processing(), rules, 4, drawn), []
    monkeypatch.setattr(along, "CHUNK", 4)
    alone = [paths_along(fashion, Processing(), [r], 4, drawn, lambda *a: done.append(a))[0] for r in rules]
    assert done == [(4, 6), (6, 6)] * 2
    for first, second in zip(together, alone, strict=True):
        assert all(np.allclose(a, b, rtol=FLOAT32, atol=FLOAT32) for a, b in zip(first, second, strict=True))
    assert (together[1].local > together[0].local).all()


def test_every_measure_is_named(fashion: Fashion, drawn: Some) -> None:
    found = divergences(fashion, Processing(), Lenient(1.5), 4, drawn, drawn)
    assert set(found) == {*MEASURES, "relaxed_run"}
    assert 0 < found["tv"].value <= 1 and found["off_support"].value == 0


def test_images_and_classes_must_go_together(fashion: Fashion, drawn: Some) -> None:
    with pytest.raises(SpecsimError, match=r"tokens \(6, 49\) for 5 labels: give \[n, 49\] tokens and n labels"):
        paths_along(fashion, Processing(), [Strict()], 4, Some(drawn.tokens, drawn.labels[:5]))
    with pytest.raises(SpecsimError, match=r"tokens \(6, 20\) for 6 labels"):
        paths_along(fashion, Processing(), [Strict()], 4, Some(drawn.tokens[:, :20], drawn.labels))
