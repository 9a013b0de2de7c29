"""Emu3-Gen: text to an image of height x width tokens of 32768 codes, in the layout of the transformers library.

Published as BAAI/Emu3-Gen-hf (Emu3-community/Emu3-Gen-hf).  Sources: baaivision/Emu3, image_generation.py and
emu3/mllm/utils_emu3.py (prompts, forced ends of lines); transformers, Emu3Processor and Emu3ForConditionalGeneration.
Layout read, not run on published weights.  Published settings: guidance 3, temperature 1, top-k 2048, and
" masterpiece, film grained, best quality." at the end of every prompt, which is the caller's to add.

Laws are over the visual tokens alone.  After every row of an image its sequence has an end of line, forced; what
follows the last row (end of line, of frame, of image, of text) holds nothing that is drawn and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from gpu_eval.models.hugging_face import HuggingFace, Prompts
from gpu_eval.models.lined import Lined
from gpu_eval.models.loaded import Loaded
from gpu_eval.models.pretrained import left_padded, load_model, load_tokenizer, token_id
from gpu_eval.prompts import Prompt
from specsim.errors import SpecsimError, shown

ARCHITECTURE = "Emu3ForConditionalGeneration"
AREA = 518_400  # pixels: 720 x 720, the processor's default
VISUAL = re.compile(r"<\|visual token (\d+)\|>")
LINE_END, IMAGE_START, IMAGE_SIZED = "<|extra_200|>", "<|image start|>", "<|image token|>"
NEGATIVE_PROMPT = (
    "lowres, bad anatomy, bad hands, text, error, missing fingers, extra digit, fewer digits, cropped, worst quality, "
    "low quality, normal quality, jpeg artifacts, signature, watermark, username, blurry."
)
"""The prompt of every unconditional row in the release, in the same form as the others."""


def load(folder: Path, device: torch.device | str, dtype: torch.dtype, area: int = AREA) -> Loaded:
    """The model of a folder with `pretrained.FILES`, for square images of about `area` pixels; codes are painted in
    float32 or better."""
    model, tokenizer = load_model(ARCHITECTURE, folder, device, dtype), load_tokenizer(folder)
    vq = model.model.vqmodel.to(torch.promote_types(dtype, torch.float32))
    emu3 = Emu3(model, tokenizer, visual_ids(model.config, folder), side(area, vq.spatial_scale_factor), folder)
    emu3.require_tokens()
    codebook = vq.quantize.embedding.weight  # not normalised: the decoder reads the codes as they are
    return Loaded(folder.resolve().name, "text", emu3.network, (emu3.side, emu3.side), codebook, emu3.paint)


def side(area: int, scale: int) -> int:
    """Tokens a side of a square of `area` pixels, `scale` pixels to a token, as the processor rounds it."""
    tokens = round(area**0.5 / scale) if area > 0 else 0
    if tokens < 1:
        raise SpecsimError(f"area is {shown(area)} pixels: give at least {scale * scale}, one token")
    return tokens


def visual_ids(config: Any, folder: Path) -> Tensor:
    """[V]: the transformer's id of every code, by the numbers in the tokens' names; ids need not be in order."""
    named = {name: VISUAL.fullmatch(name) for name in config.vocabulary_map or {}}
    ids = {int(match[1]): config.vocabulary_map[name] for name, match in named.items() if match}
    codes = config.vq_config.codebook_size
    if sorted(ids) != list(range(codes)):
        raise SpecsimError(
            f"{folder / 'config.json'} names {len(ids)} visual tokens in its vocabulary_map, "
            f"need <|visual token 000000|> to <|visual token {codes - 1:06}|>: fetch it again"
        )
    return torch.tensor([ids[code] for code in range(codes)])


@dataclass(frozen=True)
class Emu3:
    """A loaded model for images of side x side tokens; visual [V]: its ids of the codes."""

    model: Any
    tokenizer: Any
    visual: Tensor
    side: int
    folder: Path

    @property
    def begin(self) -> str:
        return str(self.tokenizer.bos_token)

    @property
    def line_end(self) -> int:
        return token_id(self.tokenizer, LINE_END, self.folder)

    def require_tokens(self) -> None:
        """The tokenizer has every special token of a prompt, as one id."""
        for token in (self.begin, LINE_END, IMAGE_START, IMAGE_SIZED, self.tokenizer.pad_token):
            token_id(self.tokenizer, token, self.folder)

    def ids(self, text: str) -> list[int]:
        """The processor's form: text, then how large an image begins."""
        wrapped = f"{self.begin}{text}{IMAGE_START}{self.side}*{self.side}{IMAGE_SIZED}"
        return list(self.tokenizer(wrapped, add_special_tokens=False).input_ids)

    def network(self, prompts: Sequence[Prompt], guided: bool) -> Lined:
        """Rows with these prompts, and with guidance as many with the negative prompt after."""
        texts = [prompt.text or "" for prompt in prompts]
        rows = [self.ids(text) for text in texts + [NEGATIVE_PROMPT] * (len(texts) if guided else 0)]
        ids, present = left_padded(rows, self.tokenizer.pad_token_id, self.model.device)
        vectors, visual = self.model.get_input_embeddings(), self.visual.to(self.model.device)
        known = torch.cat([visual, visual.new_tensor([self.line_end])])
        weight = self.model.lm_head.weight[visual]
        inner = HuggingFace(
            body=self.model.model.text_model,
            embed=lambda tokens: vectors(known[tokens]),
            head=lambda hidden: F.linear(hidden, weight),
            prompts=Prompts(vectors(ids), present),
            vocab=len(visual),
            length=self.side * (self.side + 1) - 1,
        )
        return Lined(inner, width=self.side, end=len(visual), length=self.side**2)

    @torch.no_grad()
    def paint(self, tokens: Tensor) -> Tensor:
        """Images [B, 3, H, W] in [0, 1] of tokens [B, length]; the decoder's own range is [-1, 1]."""
        images = self.model.model.vqmodel.decode(tokens.unflatten(1, (self.side, self.side)))
        return ((images + 1) / 2).clamp(0, 1)
