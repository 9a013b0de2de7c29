"""The image tokenizer: 28 x 28 grey pixels <-> a 7 x 7 grid of codes (VQ-VAE, van den Oord et al. 2017).

Latents and codes are l2-normalised (as in LlamaGen's and ViT-VQGAN's tokenizers), so the nearest code is
the one of largest inner product. The codebook is an exponential moving average of the latents it wins; a
code that wins few is moved onto a latent of the batch. Token j is grid position (j // 7, j % 7).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class TokenizerConfig:
    codes: int = 512
    latent: int = 8
    channels: int = 64
    blocks: int = 2
    grid: int = 7
    decay: float = 0.97  # of the moving average: a code remembers some thirty batches
    dead: float = 4.0  # a code that wins fewer latents a batch is moved; a batch of 128 has 12 for each code

    @property
    def side(self) -> int:
        """Pixels a side: two halvings make the grid."""
        return 4 * self.grid


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.wide = nn.Conv2d(channels, channels, 3, padding=1)
        self.mix = nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.mix(F.relu(self.wide(F.relu(x))))


def _encoder(config: TokenizerConfig) -> nn.Sequential:
    width = config.channels
    return nn.Sequential(
        nn.Conv2d(1, width, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(width, width, 4, stride=2, padding=1),
        *(Residual(width) for _ in range(config.blocks)),
        nn.ReLU(),
        nn.Conv2d(width, config.latent, 1),
    )


def _decoder(config: TokenizerConfig) -> nn.Sequential:
    width = config.channels
    return nn.Sequential(
        nn.Conv2d(config.latent, width, 3, padding=1),
        *(Residual(width) for _ in range(config.blocks)),
        nn.ReLU(),
        nn.ConvTranspose2d(width, width, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.ConvTranspose2d(width, 1, 4, stride=2, padding=1),
    )


class Tokenizer(nn.Module):
    """images [B, 1, 28, 28] in [0, 1] <-> tokens [B, 49] int64; `codebook` [codes, latent], of norm 1."""

    codebook: Tensor
    wins: Tensor
    sums: Tensor

    def __init__(self, config: TokenizerConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = _encoder(config)
        self.decoder = _decoder(config)
        self.register_buffer("codebook", torch.zeros(config.codes, config.latent))
        # A new codebook has won nothing, so the first training step moves every code onto data.
        self.register_buffer("wins", torch.zeros(config.codes), persistent=False)
        self.register_buffer("sums", torch.zeros(config.codes, config.latent), persistent=False)

    def latents(self, images: Tensor) -> Tensor:
        """[B, grid * grid, latent], rows of norm 1."""
        return F.normalize(self.encoder(2 * images - 1).flatten(2).transpose(1, 2), dim=-1)

    def nearest(self, latents: Tensor) -> Tensor:
        """Code of largest inner product, lowest id first among equals."""
        return (latents @ self.codebook.T).argmax(-1)

    def paint(self, codes: Tensor) -> Tensor:
        """Images in [-1, 1], not clipped, from code vectors [B, grid * grid, latent]."""
        grid = self.config.grid
        return self.decoder(codes.transpose(1, 2).unflatten(2, (grid, grid)))

    @torch.no_grad()
    def encode(self, images: Tensor) -> Tensor:
        return self.nearest(self.latents(images))

    @torch.no_grad()
    def decode(self, tokens: Tensor) -> Tensor:
        return ((self.paint(self.codebook[tokens]) + 1) / 2).clamp(0, 1)

    @torch.no_grad()
    def learn_codes(self, latents: Tensor, generator: torch.Generator) -> None:
        """One step of the moving average on latents [M, latent]; then dead codes move onto random latents."""
        won = F.one_hot(self.nearest(latents), self.config.codes).to(latents)
        self.wins.lerp_(won.sum(0), 1 - self.config.decay)
        self.sums.lerp_(won.T @ latents, 1 - self.config.decay)
        dead = self.wins < self.config.dead
        fresh = latents[torch.randint(len(latents), (self.config.codes,), generator=generator)]
        self.sums[dead] = fresh[dead]
        self.wins[dead] = self.config.dead
        self.codebook.copy_(F.normalize(self.sums, dim=-1))

    def loss(self, images: Tensor, commitment: float, generator: torch.Generator) -> Tensor:
        """|image - decoded|^2 + commitment * |latent - code|^2, straight through the choice of code."""
        latents = self.latents(images)
        self.learn_codes(latents.detach().flatten(0, 1), generator)
        codes = self.codebook[self.nearest(latents.detach())]
        painted = self.paint(latents + (codes - latents).detach())
        return F.mse_loss(painted, 2 * images - 1) + commitment * F.mse_loss(latents, codes)
