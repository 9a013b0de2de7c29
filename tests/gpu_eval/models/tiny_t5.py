"""A tiny random T5 in the files of the real one."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, T5Config, T5EncoderModel, T5ForConditionalGeneration

WORDS = ("<pad>", "</s>", "<unk>", "a", "red", "blue", "car", ".", "dog", ",", "on", "grass")


def ids(text: str) -> torch.Tensor:
    """[1, n]: the words of a text, which stand apart, and the end of the sequence."""
    return torch.tensor([[WORDS.index(word) for word in [*text.split(), "</s>"]]])


def write_encoder(folder: Path, width: int) -> None:
    """A T5 with its decoder, as flan-t5-xl is published, and a tokenizer of a few words."""
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    sizes = {"vocab_size": len(WORDS), "d_model": width, "d_kv": 4, "d_ff": 8, "num_layers": 2, "num_heads": 2}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = T5Config(**sizes, feed_forward_proj="gated-gelu", tie_word_embeddings=False)
        T5ForConditionalGeneration(config).save_pretrained(folder)


def encoder(folder: Path) -> T5EncoderModel:
    """Read back by the library itself, in float64."""
    return T5EncoderModel.from_pretrained(folder, dtype=torch.float64).eval().requires_grad_(False)
