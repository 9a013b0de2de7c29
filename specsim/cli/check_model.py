"""The command that checks the wrapper of a model: check-model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from specsim.cli.options import AsJson, Seed, app, option
from specsim.terminal import FAILS, emit, needing, progress_bar, say


@app.command("check-model")
def check_model(
    model: Annotated[str, typer.Argument(help="FILE.py:function that returns a Loaded, e.g. own_model.py:make.")],
    weights: Annotated[Path | None, option("--weights", "Folder that the function is called with.")] = None,
    rows: Annotated[int, option("--rows", "Prompts side by side.")] = 4,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Check a model of one's own: are its laws laws, of the prefix alone, the same cached, batched and guided?

    Exit 0 if nothing fails, 1 if something does, 2 where the model cannot be made or asked.
    """
    with needing("check-model", "gpu"):
        from gpu_eval.check_model import command

    with progress_bar("guarantees") as update:
        report = command.check_model(model, weights, rows, seed, update)
    emit(command.as_json(report, model), command.view(report), as_json)
    if report.failed:
        say(f"{', '.join(report.failed)}: does not hold of {model}")
        raise typer.Exit(FAILS)
