"""Captions as LlamaGen's text-to-image models read them: cleaned, and encoded by flan-t5-xl.

Sources: FoundationVision/LlamaGen, language/t5.py and autoregressive/sample/sample_t2i.py, which take the cleaning
from DeepFloyd IF. Layout read, not run on published weights. Tags and broken encodings are mended by the packages that
the release uses, whose versions differ at the edges (an entity at the very end of a caption).
"""

from __future__ import annotations

import html
import importlib
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import torch
from torch import Tensor

from gpu_eval.models.pretrained import library, load_tokenizer, one_line, quiet, require_files, require_match
from specsim.errors import SpecsimError

DOMAIN = r"[a-z0-9.\-]+[.](?:com|co|ru|net|org|edu|gov|it)[\w/-]*\b/?(?!@)"
FILE_KINDS = "png|jpg|jpeg|bmp|webp|eps|pdf|apk|mp4"
DASHES = (
    r"\-\u058a\u05be\u1400\u1806\u2010-\u2015\u2e17\u2e1a\u2e3a\u2e3b\u2e40"
    r"\u301c\u3030\u30a0\ufe31\ufe32\ufe58\ufe63\uff0d"
)
JOINS = re.compile(r"[-_]")
MOST_JOINS = 3

Rules = tuple[tuple[str, str], ...]
"""(pattern, what stands for it), in this order. Captions are in lower case by then."""

LINKS: Rules = (
    ("<person>", "person"),
    (rf"\b(https?:(/{{1,3}}|[a-z0-9%])|{DOMAIN})", ""),
    (rf"\b(www:(/{{1,3}}|[a-z0-9%])|{DOMAIN})", ""),
)
MARKS: Rules = (
    (r"@\w+\b", ""),
    ("[\u31c0-\u9fff]+", ""),  # Chinese characters, their strokes and enclosed forms, hexagrams
    (f"[{DASHES}]+", "-"),
    ("[`´«»“”¨]", '"'),
    ("[‘’]", "'"),
    ("&quot;?", ""),
    ("&amp", ""),
    (r"\d{1,3}(\.\d{1,3}){3}", " "),
    (r"\d:\d\d\s+$", ""),
    (r"\\n", " "),
    (r"#\d{1,3}\b", ""),
    (r"#\d{5,}\b", ""),
    (r"\b\d{6,}\b", ""),
    (rf"\S+\.({FILE_KINDS})", ""),
    ("[\"']{2,}", '"'),
    (r"\.{2,}", " "),
    (r"[#®•©™&@·º½¾¿¡§~()\[\]{}|\\/*]+", " "),
    (r"\s+\.\s+", " "),
)
WORDS: Rules = (
    (r"\b[a-zA-Z]{1,3}\d{3,15}\b", ""),  # numbers of articles and pictures, in several forms
    (r"\b[a-zA-Z]+\d+[a-zA-Z]+\b", ""),
    (r"\b\d+[a-zA-Z]+\d+\b", ""),
    (r"(worldwide\s+)?(free\s+)?shipping", ""),
    (r"(free\s)?download(\sfree)?", ""),
    (r"\bclick\b\s(for|on)\s\w+", ""),
    (rf"\b({FILE_KINDS})(\simages?)?", ""),
    (r"\bpage\s+\d+\b", ""),
    (r"\b\d*[a-zA-Z]+\d+[a-zA-Z]+\d+[a-zA-Z\d]*\b", " "),
    (r"\b\d+\.?\d*[xх×]\d+\.?\d*\b", ""),  # sizes; the second x is Cyrillic
    (r"\b\s+:\s+", ": "),
    (r"(\D[,./])\b", r"\1 "),
    (r"\s+", " "),
    (r"^[\"']([\w\W]+)[\"']$", r"\1"),
    (r"^['_,\-:;]", ""),
    (r"['_,\-:+]$", ""),
    (r"^\.\S+$", ""),
)


def cleaned(text: str) -> str:
    """A caption as the encoder gets it. The release cleans twice: what one pass lays bare the next one sees."""
    return clean_once(clean_once(text))


def clean_once(text: str) -> str:
    text = replaced(unquote_plus(text).strip().lower(), LINKS)
    text = replaced(without_tags(text), MARKS)
    if len(JOINS.findall(text)) > MOST_JOINS:  # words-joined-like-these
        text = JOINS.sub(" ", text)
    text = html.unescape(html.unescape(needed("ftfy").fix_text(text))).strip()
    return replaced(text, WORDS).strip()


def replaced(text: str, rules: Rules) -> str:
    for pattern, other in rules:
        text = re.sub(pattern, other, text)
    return text


def without_tags(text: str) -> str:
    """The text between tags; a caption that looks like a file or an address is one all the same."""
    bs4 = needed("bs4")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs4.MarkupResemblesLocatorWarning)
        return str(bs4.BeautifulSoup(text, features="html.parser").text)


def needed(name: str) -> Any:
    """A package that the release cleans captions with."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise SpecsimError(f'LlamaGen cleans captions with {name}: pip install "specsim[models]"') from None


@dataclass(frozen=True)
class Captions:
    """`encode(texts) -> (vectors [B, length, width], present [B, length])`, filled up on the left with zeros."""

    tokenizer: Any
    encoder: Any
    length: int

    @torch.no_grad()
    def __call__(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        found = self.tokenizer(
            [cleaned(text) for text in texts],
            max_length=self.length,
            padding="max_length",
            padding_side="right",
            truncation=True,
            return_tensors="pt",
        ).to(self.encoder.device)
        ids, mask = found["input_ids"], found["attention_mask"]
        return to_the_left(self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state, mask.bool())


def to_the_left(vectors: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
    """Rows filled up on the right, vectors [B, P, D] and present [B, P], filled up on the left with zeros."""
    order = torch.arange(present.shape[1], device=present.device) + present.sum(1, keepdim=True)
    order, present = order % present.shape[1], present.flip(1)
    return vectors.gather(1, order[..., None].expand_as(vectors)) * present[..., None], present


def load_captions(path: Path, device: torch.device | str, dtype: torch.dtype, length: int, width: int) -> Captions:
    """The encoder of a T5 folder, for captions of at most `length` tokens; the model reads vectors of this width."""
    require_files(path)
    tokenizer = load_tokenizer(path)
    with quiet(), one_line(path):
        encoder, report = library().T5EncoderModel.from_pretrained(
            path, local_files_only=True, use_safetensors=True, dtype=dtype, output_loading_info=True
        )
    others = [key for key in report["unexpected_keys"] if not key.startswith(("decoder.", "lm_head."))]
    require_match(path, {**report, "unexpected_keys": others})
    if encoder.config.d_model != width:
        raise SpecsimError(
            f"{path} makes vectors of width {encoder.config.d_model}, the model reads {width}: fetch another encoder"
        )
    return Captions(tokenizer, encoder.to(device).eval().requires_grad_(False), length)
