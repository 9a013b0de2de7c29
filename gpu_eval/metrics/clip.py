"""CLIP score of images and their prompts, with a CLIP model from a local folder; torchmetrics beside the formula.

The score of a pair is 100 max(cos, 0); that of a set is the mean. What is surprising in `torchmetrics.multimodal`: it
cuts at 0 after the mean, not in each pair, so pairs below 0 count there; a folder is accepted only where its path
contains the name of one of three publishers (for one of them code that lies beside the model is run), else a callable
is needed; the answers of transformers 5 are objects, which it divides by a norm they do not have; captions that are too
long lose their end token, by which CLIP finds the caption's embedding, so all of them become the embedding of
their first token; and floats in [0, 1] are scaled by 1 / 255 like bytes. All but the first are kept away here:
`Answers` and `Prepared` stand between.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gpu_eval.figures import METHOD, mean_interval
from gpu_eval.metrics.images import Images
from gpu_eval.prompts import Prompt
from specsim.errors import SpecsimError

BATCH = 50
"""Pairs that are embedded together."""


class Answers(nn.Module):
    """A CLIP model whose answers are embeddings [B, D], kept for the formula."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model, self.config = model, model.config
        self.images: list[Tensor] = []
        self.texts: list[Tensor] = []

    def get_image_features(self, pixels: Tensor) -> Tensor:
        self.images.append(embedding(self.model.get_image_features(pixels)))
        return self.images[-1]

    def get_text_features(self, tokens: Tensor, mask: Tensor) -> Tensor:
        self.texts.append(embedding(self.model.get_text_features(tokens, mask)))
        return self.texts[-1]


@dataclass(frozen=True)
class Prepared:
    """What makes pixels and tokens; captions are cut to `most` tokens with their end token kept."""

    tokenizer: Any
    pixels: Any
    most: int

    def __call__(self, text: Any = None, images: Any = None, **_: Any) -> Any:
        if images is not None:
            return self.pixels(images=images, return_tensors="pt")
        return self.tokenizer(text, return_tensors="pt", padding=True, truncation=True, max_length=self.most)


@dataclass(frozen=True)
class Clip:
    """A loaded model."""

    name: str
    model: nn.Module
    prepared: Prepared
    device: torch.device


def embedding(answer: Any) -> Tensor:
    """Embeddings [B, D] of what transformers returns: a tensor before version 5, an object after."""
    return answer if isinstance(answer, Tensor) else answer.pooler_output


def load_clip(folder: str | Path, device: torch.device) -> Clip:
    """A CLIPModel with tokenizer and image processor saved by transformers: config.json, model.safetensors,
    tokenizer files, preprocessor_config.json. Only safetensors are read, and nothing is fetched.

    Without torchvision transformers prepares images with Pillow, to the same sizes and constants.
    """
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise SpecsimError(f"--clip needs {error.name}: pip install transformers") from None
    if not (Path(folder) / "config.json").is_file():
        raise SpecsimError(f"--clip {folder} is no folder with a config.json: save a CLIPModel and its processor there")
    try:
        with quiet(transformers.utils.logging):
            model: Any = transformers.CLIPModel.from_pretrained(folder, local_files_only=True, use_safetensors=True)
            tokenizer = transformers.CLIPTokenizer.from_pretrained(folder, local_files_only=True)
            pixels = transformers.CLIPImageProcessor.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # transformers raises what its many readers raise
        raise SpecsimError(f"--clip {folder} holds no CLIP model: {' '.join(str(error).split())[:200]}") from error
    most = model.config.text_config.max_position_embeddings
    return Clip(str(folder), model.to(device).eval(), Prepared(tokenizer, pixels, most), device)


@contextmanager
def quiet(logging: Any) -> Iterator[None]:
    """Without transformers' bars, and without its advice to install torchvision."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@torch.no_grad()
def clip_score(clip: Clip, images: Images, prompts: list[Prompt]) -> dict[str, Any]:
    """{"value", "interval", "method", "below_zero", "torchmetrics"} of image i with prompt i, in the order of both.

    below_zero: pairs whose cosine is negative, which torchmetrics lets lower the mean.
    """
    from torchmetrics.multimodal.clip_score import CLIPScore  # takes seconds to import

    texts = texts_for(images, prompts)
    answers = Answers(clip.model)
    made: Any = (answers, clip.prepared)
    metric, done = CLIPScore(model_name_or_path=lambda: made).to(clip.device), 0
    for batch in images.batches(BATCH):
        metric.update(batch.to(clip.device), texts[done : done + len(batch)])
        done += len(batch)
    cosines = cosines_of(*(torch.cat(kept).double().cpu().numpy() for kept in (answers.images, answers.texts)))
    figure = mean_interval(pair_scores(cosines))
    below = int((cosines < 0).sum())
    return figure | {"method": METHOD, "below_zero": below, "torchmetrics": float(metric.compute())}


def texts_for(images: Images, prompts: list[Prompt]) -> list[str]:
    """A text for each image, or an error."""
    texts = [prompt.text for prompt in prompts if prompt.text is not None]
    if len(texts) < len(prompts):
        raise SpecsimError(f"prompts: {prompts[0].source} holds class labels; a CLIP score needs texts")
    if len(texts) != images.count:
        raise SpecsimError(f"prompts: {len(texts)} for {images.count} images of {images.name}; one for each is needed")
    return texts


def cosines_of(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Cosine of rows [n, D] -> [n]."""
    return (one * other).sum(-1) / (np.linalg.norm(one, axis=-1) * np.linalg.norm(other, axis=-1))


def pair_scores(cosines: np.ndarray) -> np.ndarray:
    """100 max(cos, 0) of every pair."""
    return 100 * np.maximum(cosines, 0)
