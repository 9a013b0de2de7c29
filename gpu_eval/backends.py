"""Array libraries beside numpy that a rule is compared on, by name: converters of a numpy array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

BACKENDS: dict[str, Callable[..., Any]] = {"torch": torch.asarray}
