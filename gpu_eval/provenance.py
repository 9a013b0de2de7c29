"""Where a result comes from: versions, commit, device."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch


def provenance(device: torch.device) -> dict[str, Any]:
    """Device name and versions; commit is None outside a git checkout, and ends in "+" where files differ from it."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    return {
        "device": device.type,
        "device_name": name,
        "commit": commit(Path(__file__).parent),
        "versions": {
            "specsim": version("specsim"),
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
        },
    }


def commit(folder: Path) -> str | None:
    """The checkout's commit, with "+" if it has changes."""
    head = git(folder, "rev-parse", "HEAD")
    return None if head is None else head + ("+" if git(folder, "status", "--porcelain", "-uno") else "")


def git(folder: Path, *words: str) -> str | None:
    """What a git command prints, None where it fails."""
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
