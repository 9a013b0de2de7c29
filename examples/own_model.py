"""A model of your own: any causal language model of the transformers library that writes images as tokens.

    specsim check-model examples/own_model.py:make                     # a tiny random model: runs anywhere
    specsim check-model examples/own_model.py:make --weights FOLDER    # yours, as from_pretrained reads it
    specsim run --model examples/own_model.py:make --prompts "a red cup" --decoder "Jacobi(window=4)" --out out

What to change: the names in capitals; `ids`, how a prompt is written in ids of the model; `paint`, how image tokens
become pixels (your VQ decoder).  A model without ends of lines returns `inner` itself, with LINES * COLUMNS as length.
A model without guidance raises SpecsimError when `guided` rows are asked for.
"""

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

from gpu_eval.models.hugging_face import HuggingFace, Prompts
from gpu_eval.models.lined import Lined
from gpu_eval.models.loaded import Loaded

LINES, COLUMNS = 4, 4  # of an image, in tokens
VOCAB, FIRST = 24, 32  # image token v, 0 .. VOCAB - 1, has id FIRST + v in the model
END = VOCAB  # the end of a line has id FIRST + END
BEGIN = 31  # id of "an image begins", the last of every prompt
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
NUMBER = torch.float32  # in float32 check-model decides, in bfloat16 it can only report


def make(folder: str | None = None) -> Loaded:
    """The model in `folder`; without one a tiny model with random weights."""
    model, tokenizer = (tiny(), None) if folder is None else read(folder)
    model = model.to(DEVICE, NUMBER).eval()
    table, head = model.get_input_embeddings(), model.get_output_embeddings()

    def ids(text):
        words = [ord(sign) % BEGIN for sign in text] if tokenizer is None else tokenizer(text).input_ids
        return torch.tensor([*words, BEGIN], device=DEVICE)

    @torch.no_grad()
    def network(prompts, guided):
        """A row for each prompt; with guidance as many without a text after them."""
        texts = [prompt.text for prompt in prompts] + [""] * (len(prompts) if guided else 0)
        filled = pad_sequence([ids(text) for text in texts], True, padding_value=-1, padding_side="left")
        inner = HuggingFace(
            body=model.base_model,  # gives hidden states
            embed=lambda tokens: table(FIRST + tokens),
            head=lambda hidden: head(hidden)[..., FIRST : FIRST + VOCAB],
            prompts=Prompts(table(filled.clamp(min=0)), present=filled >= 0),
            vocab=VOCAB,
            length=LINES * COLUMNS + LINES - 1,  # the ends between lines are in its sequence too
        )
        return Lined(inner, COLUMNS, END, LINES * COLUMNS)

    return Loaded("own", "text", network, (LINES, COLUMNS), codebook=None, paint=paint)


def paint(tokens):
    """Images [B, channels, height, width] in [0, 1] of tokens [B, LINES * COLUMNS]: here a grey for each token."""
    return (tokens / (VOCAB - 1)).view(-1, 1, LINES, COLUMNS)


def read(folder):
    """Model and tokenizer; attention must take a mask of its caller's, as sdpa does."""
    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, attn_implementation="sdpa")
    return model, AutoTokenizer.from_pretrained(folder, local_files_only=True)


def tiny():
    """A Llama of two layers, the same at every call."""
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return LlamaForCausalLM(LlamaConfig(vocab_size=FIRST + VOCAB + 1, initializer_range=0.2, **sizes))
