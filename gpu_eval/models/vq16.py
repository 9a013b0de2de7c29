"""LlamaGen's VQ-16 image tokenizer, decoder side: tokens -> images of 16 times the grid's side.

Source: FoundationVision/LlamaGen, tokenizer/tokenizer_image/vq_model.py; releases vq_ds16_c2i.pt and
vq_ds16_t2i.pt. Layout read, not run on published weights. The state dict's keys are the release's. The
VQ of deepseek-ai/Janus (janus/models/vq_model.py) has the same architecture and keys; a Janus checkpoint
holds it beside the language model, so it is not read here. `VQConfig(multipliers=(1, 2, 2, 4))` is
LlamaGen's VQ-8.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_eval.models.checkpoints import fill, read_weights
from specsim.errors import SpecsimError

GROUPS, EPSILON = 32, 1e-6  # of every group normalisation
NOT_DECODER = ("encoder.", "quant_conv.weight", "quant_conv.bias", "quantize.codebook_used")
"""Keys of the release that turning tokens into images does not need; codebook_used counts use in training."""


@dataclass(frozen=True)
class VQConfig:
    """Sizes of the release; `multipliers` of `channels` run from the finest level to the coarsest."""

    codes: int = 16384
    latent: int = 8
    z_channels: int = 256
    channels: int = 128
    multipliers: tuple[int, ...] = (1, 1, 2, 2, 4)
    blocks: int = 2  # residual blocks of a level of the encoder; the decoder has one more

    @property
    def scale(self) -> int:
        """Pixels a side for each token a side."""
        return 2 ** (len(self.multipliers) - 1)


VQ_16 = VQConfig()


def _normalise(channels: int) -> nn.GroupNorm:
    return nn.GroupNorm(GROUPS, channels, eps=EPSILON)


class Residual(nn.Module):
    """[B, inputs, H, W] -> [B, outputs, H, W]."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.norm1 = _normalise(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm2 = _normalise(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.nin_shortcut = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        inner = self.conv1(F.silu(self.norm1(x)))
        return self.nin_shortcut(x) + self.conv2(F.silu(self.norm2(inner)))


class Attention(nn.Module):
    """One head over all places of the grid; [B, channels, H, W] to the same."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = _normalise(channels)
        self.q = nn.Conv2d(channels, channels, 1)
        self.k = nn.Conv2d(channels, channels, 1)
        self.v = nn.Conv2d(channels, channels, 1)
        self.proj_out = nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        normed = self.norm(x)
        q, k, v = (part(normed).flatten(2).transpose(1, 2)[:, None] for part in (self.q, self.k, self.v))
        mixed = F.scaled_dot_product_attention(q, k, v)[:, 0]
        return x + self.proj_out(mixed.transpose(1, 2).unflatten(2, x.shape[2:]))


class Upsample(nn.Module):
    """Every pixel four times, then a convolution; [B, channels, H, W] -> [B, channels, 2 H, 2 W]."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(F.interpolate(x, scale_factor=2.0, mode="nearest"))


class Level(nn.Module):
    """Residual blocks of one resolution: the coarsest attends after each, all but the finest double the size."""

    def __init__(self, inputs: int, outputs: int, blocks: int, coarsest: bool, finest: bool) -> None:
        super().__init__()
        self.res = nn.ModuleList(Residual(inputs if block == 0 else outputs, outputs) for block in range(blocks))
        self.attn = nn.ModuleList(Attention(outputs) if coarsest else nn.Identity() for _ in range(blocks))
        self.upsample = nn.Identity() if finest else Upsample(outputs)

    def forward(self, x: Tensor) -> Tensor:
        for residual, attention in zip(self.res, self.attn, strict=True):
            x = attention(residual(x))
        return self.upsample(x)


class Decoder(nn.Module):
    """[B, z_channels, h, w] -> [B, 3, scale h, scale w], coarsest level first."""

    def __init__(self, config: VQConfig) -> None:
        super().__init__()
        widths = [config.channels * multiplier for multiplier in reversed(config.multipliers)]
        last = len(widths) - 1
        self.conv_in = nn.Conv2d(config.z_channels, widths[0], 3, padding=1)
        self.mid = nn.Sequential(Residual(widths[0], widths[0]), Attention(widths[0]), Residual(widths[0], widths[0]))
        self.conv_blocks = nn.Sequential(
            *(
                Level(inputs, outputs, config.blocks + 1, coarsest=level == 0, finest=level == last)
                for level, (inputs, outputs) in enumerate(zip(widths[:1] + widths, widths, strict=False))
            )
        )
        self.norm_out = _normalise(widths[-1])
        self.conv_out = nn.Conv2d(widths[-1], 3, 3, padding=1)

    def forward(self, z: Tensor) -> Tensor:
        levels = self.conv_blocks(self.mid(self.conv_in(z)))
        return self.conv_out(F.silu(self.norm_out(levels)))


class Codes(nn.Module):
    """The stored code vectors [codes, latent], of any norm."""

    def __init__(self, codes: int, latent: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(codes, latent)


class VQ16(nn.Module):
    """tokens [B, h * w] -> images [B, 3, scale h, scale w]; token j is grid place (j // w, j % w), h = w."""

    def __init__(self, config: VQConfig) -> None:
        super().__init__()
        self.config = config
        self.quantize = Codes(config.codes, config.latent)
        self.post_quant_conv = nn.Conv2d(config.latent, config.z_channels, 1)
        self.decoder = Decoder(config)

    @property
    def codebook(self) -> Tensor:
        """[codes, latent], rows of norm 1: what the decoder sees, and what distances of tokens are taken in."""
        return F.normalize(self.quantize.embedding.weight, dim=-1)

    def paint(self, vectors: Tensor) -> Tensor:
        """Images in about [-1, 1], not clipped, from code vectors [B, N, latent]; N is a square."""
        side = isqrt(vectors.shape[1])
        return self.decoder(self.post_quant_conv(vectors.transpose(1, 2).unflatten(2, (side, side))))

    @torch.no_grad()
    def decode(self, tokens: Tensor) -> Tensor:
        """Images [B, 3, H, W] float32 in [0, 1]; a SpecsimError for tokens of another vocab or no square of them."""
        require_tokens(tokens, self.config.codes)
        return ((self.paint(self.codebook[tokens]).float() + 1) / 2).clamp(0, 1)


def require_tokens(tokens: Tensor, codes: int) -> None:
    """[B, N] ids of codes, N the square of the grid's side."""
    if tokens.ndim != 2 or not tokens.numel() or isqrt(tokens.shape[1]) ** 2 != tokens.shape[1]:
        raise SpecsimError(f"tokens have shape {tuple(tokens.shape)}, need [B, N] with N the square of a grid's side")
    low, high = int(tokens.min()), int(tokens.max())
    if low < 0 or high >= codes:
        raise SpecsimError(f"tokens run from {low} to {high}, need 0..{codes - 1}: tokens of another tokenizer")


def load_vq16(path: Path, config: VQConfig = VQ_16) -> VQ16:
    """A frozen float32 tokenizer from a release's file: {"model": state dict}, or any form `read_weights` takes."""
    module = VQ16(config)
    fill(module, read_weights(path), path, NOT_DECODER)
    return module.eval().requires_grad_(False)
