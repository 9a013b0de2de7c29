"""LlamaGen's two-dimensional rotary embedding, with its pairs interleaved and a prompt in front of the image.

Image token j sits at (row, column) = (j // grid, j % grid). The first half of a head's numbers turns with
the row, the second half with the column; pair i of a half turns at speed base ** (-2 i / half). So the
score of a query and a key depends on the differences of their rows and of their columns only.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def rotation_table(
    grid: int, head_dim: int, base: float, class_rotation: str, prompt: int = 1, device: torch.device | str = "cpu"
) -> Tensor:
    """[2, prompt + N, head_dim] float64: cos and signed sin of every place, each angle once for both of its pair.

    The prompt's places come first, with cos = sin = 0 when `class_rotation` is "zero", and cos = 1, sin = 0 for
    "identity".
    """
    half = head_dim // 2
    speeds = base ** -(torch.arange(0, half, 2, dtype=torch.float64, device=device) / half)
    place = torch.arange(grid * grid, device=device)
    axes = torch.stack([place // grid, place % grid], dim=1)
    angles = (axes[:, :, None] * speeds).flatten(1)
    signs = torch.tensor([-1.0, 1.0], dtype=torch.float64, device=device)
    image = torch.stack([angles.cos().repeat_interleave(2, 1), (angles.sin()[:, :, None] * signs).flatten(1)])
    first = image.new_zeros(2, prompt, head_dim)
    if class_rotation == "identity":
        first[0] = 1
    return torch.cat([first, image], dim=1)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn pairs of x [..., head_dim], (a, b) -> (a cos - b sin, b cos + a sin), in the table's precision."""
    swapped = x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
    return (x * cos + swapped * sin).to(x.dtype)


class Rotation(nn.Module):
    """Holds the table in float32 or better whatever the model is cast to, as the released code rotates."""

    table: Tensor

    def __init__(self, grid: int, head_dim: int, base: float, class_rotation: str, prompt: int = 1) -> None:
        super().__init__()
        self.sizes = (grid, head_dim, base, class_rotation, prompt)
        self.register_buffer("table", rotation_table(*self.sizes).float(), persistent=False)

    def _apply(self, fn, recurse: bool = True):  # type: ignore[no-untyped-def]
        super()._apply(fn, recurse)
        dtype = torch.promote_types(self.table.dtype, torch.float32)
        self.table = rotation_table(*self.sizes, device=self.table.device).to(dtype)
        return self

    def forward(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """cos and sin [B, K, 1, head_dim] of places [B, K]; the 1 stands for the heads."""
        cos, sin = self.table[:, places, None]
        return cos, sin
