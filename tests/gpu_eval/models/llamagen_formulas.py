"""The released formulas of LlamaGen for one row, from a state dict: no cache, no mask, one query at a time.

Vectors of a caption that are not there are left out of the sequence: hidden from everything, they change nothing.
"""

import math

import torch
from torch import Tensor

EPSILON, BASE = 1e-5, 10000


def logits(weights: dict[str, Tensor], heads: int, grid: int, prompt: Tensor, tokens: Tensor) -> Tensor:
    """[N, V] of a prompt [P, D] and image tokens [N]; float64."""
    x = torch.cat([prompt, weights["tok_embeddings.weight"][tokens[:-1]]])
    for n in range(1 + max(int(key.split(".")[1]) for key in weights if key.startswith("layers."))):
        layer = {key.removeprefix(f"layers.{n}."): w for key, w in weights.items() if key.startswith(f"layers.{n}.")}
        x = x + attended(layer, heads, grid, len(prompt), norm(x, layer["attention_norm.weight"]))
        y = norm(x, layer["ffn_norm.weight"])
        gate = y @ layer["feed_forward.w1.weight"].T
        x = (
            x
            + (gate / (1 + (-gate).exp()) * (y @ layer["feed_forward.w3.weight"].T)) @ layer["feed_forward.w2.weight"].T
        )
    return norm(x[len(prompt) - 1 :], weights["norm.weight"]) @ weights["output.weight"].T


def norm(x: Tensor, weight: Tensor) -> Tensor:
    return x / ((x * x).mean(-1, keepdim=True) + EPSILON).sqrt() * weight


def attended(layer: dict[str, Tensor], heads: int, grid: int, before: int, x: Tensor) -> Tensor:
    count, width = x.shape
    query, key, value = ((x @ part.T).reshape(count, heads, -1) for part in layer["attention.wqkv.weight"].split(width))
    out = torch.zeros_like(value)
    for h in range(heads):
        keys = torch.stack([turned(key[i, h], i - before, grid) for i in range(count)])
        for i in range(count):
            scores = keys[: i + 1] @ turned(query[i, h], i - before, grid) / math.sqrt(width // heads)
            out[i, h] = scores.softmax(0) @ value[: i + 1, h]
    return out.reshape(count, width) @ layer["attention.wo.weight"].T


def turned(vector: Tensor, token: int, grid: int) -> Tensor:
    """The prompt's, token < 0, become 0. Of an image token the first half of the pairs turns with its row, the second
    with its column; pair i of a half by BASE ** (-2 i / half) for each step."""
    if token < 0:
        return torch.zeros_like(vector)
    half, out = len(vector) // 2, vector.clone()
    for start, place in ((0, token // grid), (half, token % grid)):
        for i in range(0, half, 2):
            angle = place * BASE ** (-i / half)
            a, b = vector[start + i], vector[start + i + 1]
            out[start + i] = a * math.cos(angle) - b * math.sin(angle)
            out[start + i + 1] = a * math.sin(angle) + b * math.cos(angle)
    return out


def of_class(weights: dict[str, Tensor], label: int) -> Tensor:
    return weights["cls_embedding.embedding_table.weight"][label][None]


def of_caption(weights: dict[str, Tensor], vectors: Tensor, present: Tensor) -> Tensor:
    """The vectors [P, caption width] that are there, through the two layers with the tanh form of gelu."""
    x = vectors[present] @ weights["cls_embedding.cap_proj.fc1.weight"].T
    x = x / 2 * (1 + (math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)).tanh())
    return x @ weights["cls_embedding.cap_proj.fc2.weight"].T
