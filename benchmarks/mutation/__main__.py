"""python -m benchmarks.mutation --mutants 400 --seed 0 --out results/mutation.json, from the root of a checkout.

Judges a seeded sample of small faults in the core by a fast suite of tests.  The file is gone on with if it is there.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def mutation(
    mutants: Annotated[int, typer.Option(help="Size of the sample.")] = 400,
    seed: Annotated[int, typer.Option(help="The sample follows from it.")] = 0,
    out: Annotated[Path, typer.Option(help="JSON file, gone on with if it is there.")] = Path("results/mutation.json"),
    workers: Annotated[int, typer.Option(help="Mutants judged at the same time.")] = min(2, os.cpu_count() or 1),
) -> int:
    """Judge a sample of small faults in the core; exit 0 if at least nine in ten are noticed and the rest explained."""
    from benchmarks.mutation.run import GOAL, run
    from benchmarks.mutation.suite import specsim
    from specsim.errors import SpecsimError
    from specsim.terminal import FAILS, HOLDS

    root = Path.cwd()
    if not (root / "specsim" / "verification.py").is_file():
        raise SpecsimError(f"mutation: {root} is no checkout of specsim; run this from its root")
    command = shlex.join(["python", "-m", "benchmarks.mutation", *sys.argv[1:]])
    with progress_bar() as progress:
        content = run(specsim(root), mutants, seed, workers, out, command, progress)
    low, high = content["interval95"]
    rate = content["kill_rate"]
    print(f"{rate:.1%} of {mutants} mutants killed, 95 % interval {low:.1%} - {high:.1%}, {content['timeout']} by time")
    open_ones = [row for row in content["survivors"] if row["why"] is None]
    for row in open_ones:
        print(f"unexplained: {row['file']}:{row['line']}: {row['before']} -> {row['after']}")
    return HOLDS if rate >= GOAL and not open_ones else FAILS


@contextmanager
def progress_bar() -> Iterator[Any]:
    """A bar on stderr without a thread of its own, as this process forks."""
    columns = (TextColumn("mutants"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, auto_refresh=False, disable=not console.is_terminal) as bar:
        task = bar.add_task("mutants", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total, refresh=True)


def main() -> None:
    """Run the command.  Nothing that imports numpy is imported before its threads are forbidden: this process forks."""
    os.environ |= dict.fromkeys(THREADS, "1")
    from specsim.terminal import exit_status

    sys.exit(exit_status(lambda: app(standalone_mode=False)))


if __name__ == "__main__":
    main()
