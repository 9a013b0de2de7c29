"""Commands that prove: prove."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from specsim.cli.options import AsJson, app, option
from specsim.terminal import FAILS, emit, needing, progress_bar, say


@app.command()
def prove(
    theorem: Annotated[list[str] | None, option("--theorem", "Id such as T07; may be repeated (default: all).")] = None,
    profile: Annotated[str, option("--profile", "ci (minutes) or thorough (hours).")] = "ci",
    out: Annotated[str | None, option("--out", "Directory for ledger.html, ledger.md and counterexamples.")] = None,
    jobs: Annotated[int | None, option("--jobs", "Theorems run side by side (default: the cores).")] = None,
    as_json: AsJson = False,
) -> None:
    """The ledger: every theorem proved, certified or tested by a machine, or refuted with a smallest counterexample."""
    with needing("prove", "proofs"):
        from proofs_checks.ledger.command import make_ledger
        from proofs_checks.ledger.show import view

    with progress_bar("theorems") as update:

        def tell(result: Any, done: int, of: int) -> None:
            update(done, of)
            if not sys.stderr.isatty():  # where there is no bar, a line for each
                say(f"{done} of {of}: {result.id} {result.result}, {result.seconds:.0f} s")

        ledger = make_ledger(theorem, profile, (os.cpu_count() or 1) if jobs is None else jobs, out, tell)
    emit(ledger.content, view(ledger.results, ledger.claims), as_json)
    if out is not None:
        say(f"wrote {out}/ledger.html, ledger.md, ledger.json and the counterexamples")
    if not ledger.ok:
        raise typer.Exit(FAILS)
