"""The `specsim` command: the one room above all three packages; it imports them inside the commands."""

from __future__ import annotations

import sys

from specsim.cli import check_model, core, limits, metrics, models, proofs, studies, tuning  # noqa: F401  their commands enter the application
from specsim.cli.options import app
from specsim.terminal import exit_status


def main() -> None:
    """Run a command; exit status: see `terminal.exit_status`."""
    sys.exit(exit_status(lambda: app(standalone_mode=False)))
