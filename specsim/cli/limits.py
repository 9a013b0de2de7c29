"""Commands about what is possible at all: frontier."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from specsim.cli.options import AsJson, app, option, rule_of
from specsim.cli.studies import DraftFile, ImageModel, TargetFile, given_of, only_with, only_without
from specsim.terminal import FAILS, emit, needing, progress_bar, say

Rules = Annotated[
    list[str] | None,
    option("--rules", "Rule, e.g. 'Lenient(omega=1.5)'; again for more (default: some that tell the story)."),
]


@app.command()
def frontier(
    target: TargetFile = None,
    draft: DraftFile = None,
    lookahead: Annotated[int, option("--lookahead", "Drafts of a block.")] = 3,
    length: Annotated[int | None, option("--length", "Whole runs of so many tokens (default: one block).")] = None,
    rules: Rules = None,
    divergence: Annotated[str, option("--divergence", "tv, kl, kl_reverse, chi2, local or ratio.")] = "tv",
    out: Annotated[str | None, option("--out", "Directory for frontier.svg, .png, .json and .md.")] = None,
    points: Annotated[
        int | None, option("--points", "Points of a curve, 4 or more (25); with --model 0 or more (3).")
    ] = None,
    exact: Annotated[bool, option("--exact", "The rules' figures in Fractions instead of float64.")] = False,
    memory: Annotated[float | None, option("--memory", "GiB that a program or an enumeration may take (4).")] = None,
    model: ImageModel = None,
    images: Annotated[int | None, option("--images", "With --model: images of each rule and strength (100).")] = None,
    seed: Annotated[int | None, option("--seed", "With --model: everything random follows from it (0).")] = None,
    batch: Annotated[int | None, option("--batch", "With --model: images decoded side by side (100).")] = None,
    guidance: Annotated[float | None, option("--guidance", "With --model: 1 = none.")] = None,
    temperature: Annotated[float | None, option("--temperature", "With --model: 0 = the likeliest token.")] = None,
    top_k: Annotated[int | None, option("--top-k", "With --model: 0 = no limit.")] = None,
    top_p: Annotated[float | None, option("--top-p", "With --model: 1 = no limit.")] = None,
    as_json: AsJson = False,
) -> None:
    """The least divergence that any verifier has at a cost, and every rule against it; exit 1 if one lies below.

    One block of drafts against the drafts it keeps, or with --length whole runs against their target calls.

    On an image model's laws (--model): with --lookahead 1 against the exact line, else no limit is known or drawn.
    """
    sampled = {"images": images, "seed": seed, "batch": batch}
    processed = {"guidance": guidance, "temperature": temperature, "top_k": top_k, "top_p": top_p}
    if model is None:
        only_with("--model", **sampled, **processed)
        gibibytes = 4.0 if memory is None else memory
        asked = (target, draft, lookahead, length, divergence, gibibytes)
        content, shown = on_tables(asked, rules or [], 25 if points is None else points, exact, out)
    else:
        only_without("--model", target=target, draft=draft, length=length, exact=exact, memory=memory)
        named = {"model": model, "lookahead": lookahead, "divergence": divergence, "points": points}
        content, shown = on_images(given_of(named | sampled), given_of(processed), rules or [], out)
    emit(content, shown, as_json)
    if out is not None:
        say(f"wrote {out}/frontier.svg, frontier.png, frontier.json and frontier.md")
    if content["problems"]:
        say(f"{len(content['problems'])} below the limit, where nothing can be: {content['problems'][0]}")
        raise typer.Exit(FAILS)


def on_tables(
    asked: tuple[Path | None, Path | None, int, int | None, str, float],
    rules: list[str],
    points: int,
    exact: bool,
    out: str | None,
) -> tuple[dict[str, Any], Any]:
    """Exactly, on table models -> JSON content and a view.  What was asked is checked before any rule, as that takes
    longer."""
    with needing("frontier", "proofs"):
        from proofs_checks.frontiers.command import frontier_command, frontier_files, require_points
        from proofs_checks.frontiers.show import view

    require_points(points)
    setting, names = frontier_files(*asked)
    with needing("frontier", "proofs"):
        import cvxpy  # noqa: F401  the programs need it, and this says so before any work
    judged = [rule_of(text) for text in rules]
    with progress_bar("points") as update, solvers_muted():
        content, found = frontier_command(setting, names, judged, points, exact, out, update)
    return content, view(found, content)


def on_images(
    named: dict[str, Any], processed: dict[str, Any], rules: list[str], out: str | None
) -> tuple[dict[str, Any], Any]:
    """By sampling a real model -> JSON content and a view."""
    from specsim.comparing.frontier_picture import FILES
    from specsim.files import ready_directory

    with needing("frontier --model", "gpu"):
        from gpu_eval.frontier import Sampled, frontier_of_images
        from gpu_eval.frontier_show import view, write
        from gpu_eval.processing import Processing

    sampled = Sampled(**named, processing=Processing(**processed))
    if out is not None:
        ready_directory(out, FILES)
    judged = [rule_of(text) for text in rules]
    with progress_bar("points") as update:
        content = frontier_of_images(sampled, judged, update)
    if out is not None:
        write(out, content)
    return content, view(content)


@contextmanager
def solvers_muted() -> Iterator[None]:
    """HiGHS prints its name on the process's own stdout, where JSON has to stand alone."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
