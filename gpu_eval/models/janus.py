"""Janus-Pro: text to 24 x 24 tokens of 16384 codes, in the layout of the transformers library.

Published as deepseek-community/Janus-Pro-1B and -7B.  Sources: deepseek-ai/Janus, generation_inference.py (prompt,
guidance rows, range of the pixels); transformers, JanusForConditionalGeneration.generate.  Layout read, not run on
published weights.  Published settings: guidance 5, temperature 1, every token.

The unconditional row of a prompt has its begin of sentence and its begin of image; every id between is the pad's, and
these pads are there: attention sees them.  So it depends on the length of the prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from gpu_eval.models.hugging_face import HuggingFace, Prompts
from gpu_eval.models.loaded import Loaded
from gpu_eval.models.pretrained import left_padded, load_model, load_tokenizer, token_id
from gpu_eval.prompts import Prompt

ARCHITECTURE = "JanusForConditionalGeneration"
IMAGE_START, PAD = "<begin_of_image>", "<｜▁pad▁｜>"


def load(folder: Path, device: torch.device | str, dtype: torch.dtype) -> Loaded:
    """The model of a folder with `pretrained.FILES`; codes are painted in float32 or better."""
    model, tokenizer = load_model(ARCHITECTURE, folder, device, dtype), load_tokenizer(folder)
    marks = Marks(tokenizer, *(token_id(tokenizer, token, folder) for token in (tokenizer.bos_token, IMAGE_START, PAD)))
    vq = model.model.vqmodel.to(torch.promote_types(dtype, torch.float32))
    side = model.config.vq_config.num_patches
    # The decoder normalises a code before it paints it, so distances are those of directions.
    codebook = F.normalize(vq.quantize.embedding.weight, dim=-1)
    return Loaded(
        folder.resolve().name, "text", partial(network, model, marks), (side, side), codebook, partial(paint, vq)
    )


@dataclass(frozen=True)
class Marks:
    """A tokenizer and the ids of its begin of sentence, its begin of image and its pad."""

    tokenizer: Any
    begin: int
    image: int
    pad: int

    def ids(self, text: str) -> list[int]:
        """Of the released chat form; the begin of sentence is put here, whether or not the tokenizer would."""
        return [self.begin, *self.tokenizer(wrapped(text), add_special_tokens=False).input_ids]


def wrapped(text: str) -> str:
    """One turn of the user and the begin of the answer, an image."""
    return f"<|User|>: {text.strip()}\n\n<|Assistant|>:{IMAGE_START}"


def network(model: Any, marks: Marks, prompts: Sequence[Prompt], guided: bool) -> HuggingFace:
    """Rows with these prompts, and with guidance their unconditional ones after."""
    rows = [marks.ids(prompt.text or "") for prompt in prompts]
    ids, present = left_padded(rows, marks.pad, model.device)
    if guided:
        ids, present = torch.cat([ids, unconditional(ids, present, marks)]), present.repeat(2, 1)
    config = model.config.vq_config
    return HuggingFace(
        body=model.model.language_model,
        embed=model.prepare_embeddings_for_image_generation,
        head=model.model.generation_head,
        prompts=Prompts(model.get_input_embeddings()(ids), present),
        vocab=config.num_embeddings,
        length=config.num_patches**2,
    )


def unconditional(ids: Tensor, present: Tensor, marks: Marks) -> Tensor:
    """ids [B, P] with all between the first that is there and the last replaced by the pad's, whatever a text holds."""
    ends = present & (present.cumsum(1) == 1)
    ends[:, -1] = True
    return torch.where(ends, ids, marks.pad)


@torch.no_grad()
def paint(vq: Any, tokens: Tensor) -> Tensor:
    """Images [B, 3, H, W] in [0, 1] of tokens [B, length]; the decoder's own range is [-1, 1]."""
    return ((vq.decode(tokens) + 1) / 2).clamp(0, 1)
