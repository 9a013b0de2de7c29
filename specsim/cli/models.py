"""Commands that decode with real models: run, models, report, tabulate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from specsim.cli.options import AsJson, DecoderSpec, RuleSpec, Seed, app, decoder_of, option, rule_of
from specsim.terminal import FAILS, emit, needing, progress_bar, say


@app.command()
def run(
    decoder: DecoderSpec,
    out: Annotated[str, option("--out", "Directory for images.png and result.json.")],
    model: Annotated[str, option("--model", "A name from `specsim models`, or FILE.py:function.")] = "fashion",
    weights: Annotated[Path | None, option("--weights", "Folder of the model's weights.")] = None,
    draft_weights: Annotated[Path | None, option("--draft-weights", "The same of a smaller one that drafts.")] = None,
    dtype: Annotated[str | None, option("--dtype", "float32, bfloat16, float16, float64.")] = None,
    prompts: Annotated[
        str | None, option("--prompts", "COCO captions JSON, PartiPrompts TSV, a text file, classes 0-9, or one text.")
    ] = None,
    rule: RuleSpec = None,
    images: Annotated[int, option("--images", "How many images.")] = 16,
    batch: Annotated[int, option("--batch", "Images decoded side by side.")] = 8,
    label: Annotated[int | None, option("--label", "Class of every image (default: 0 to 9 in turn).")] = None,
    guidance: Annotated[float, option("--guidance", "Classifier-free guidance; 1 = none.")] = 1.0,
    temperature: Annotated[float, option("--temperature", "0 = the likeliest token.")] = 1.0,
    top_k: Annotated[int, option("--top-k", "0 = no limit.")] = 0,
    top_p: Annotated[float, option("--top-p", "1 = no limit.")] = 1.0,
    compiled: Annotated[
        bool, option("--compile", "Compile the verification with torch.compile: a few seconds, once.")
    ] = False,
    seed: Seed = 0,
    save_laws: Annotated[Path | None, option("--save-laws", "Write the laws met, for: check --laws.")] = None,
    save_sequences: Annotated[
        bool, option("--save-sequences", "With Autoregressive(): write sequences.npz too, for: tune --laws.")
    ] = False,
    save_images: Annotated[
        bool, option("--save-images", "Write pictures.npz and prompts.txt too, for: metrics --images.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Decode images with a real model; write images.png and result.json."""
    with needing("run", "gpu"):
        from gpu_eval.processing import Processing
        from gpu_eval.prompts import prompts_for
        from gpu_eval.run import Plan
        from gpu_eval.run_command import Output, Source, run_to_directory, run_view

    processing = Processing(guidance, temperature, top_k, top_p)
    asked = prompts_for(prompts, label, images, seed)
    plan = Plan(model, decoder_of(decoder), rule_of(rule), images, seed, batch, label, processing, compiled, asked)
    output, source = Output(out, save_laws, save_sequences, save_images), Source(weights, draft_weights, dtype)
    with progress_bar("images") as update:
        content = run_to_directory(plan, output, source, update, say)
    emit(content, run_view(content, Path(out)), as_json)
    if content["failed"]:
        raise typer.Exit(FAILS)


@app.command()
def models(as_json: AsJson = False) -> None:
    """The image models that `run` decodes, and what each needs."""
    with needing("models", "gpu"):
        from gpu_eval.models.show import models_json, models_view

    emit(models_json(), models_view(), as_json)


@app.command()
def report(
    out: Annotated[str, option("--out", "Directory for report.html, report.md and the pictures.")] = "report",
    images: Annotated[int, option("--images", "Images per system.")] = 200,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """The main job: every system in one table, exact verdicts beside pictures of a real model."""
    with needing("report", "gpu"):
        from gpu_eval.report.command import report_to_directory, report_view

    with progress_bar("systems") as update:
        content = report_to_directory(out, images, seed, update)
    emit(content, report_view(content, Path(out)), as_json)


@app.command()
def tabulate(
    model: Annotated[str, option("--model", "fashion (the image model) or digits (scikit-learn's).")],
    out: Annotated[str, option("--out", "File of the target's table; the draft's is FILE.draft.json beside it.")],
    draft_out: Annotated[str | None, option("--draft-out", "Another file for the draft's table.")] = None,
    vocab: Annotated[int, option("--vocab", "Groups of near codes, or grey levels.")] = 3,
    length: Annotated[int, option("--length", "Tokens of a sequence.")] = 5,
    start: Annotated[int | None, option("--start", "Tokens of a sampled picture that come before.")] = None,
    label: Annotated[int | None, option("--label", "Class of the picture.")] = None,
    denominator: Annotated[int | None, option("--denominator", "Laws are rounded to multiples of 1 / this.")] = None,
    guidance: Annotated[float, option("--guidance", "Classifier-free guidance; 1 = none.")] = 1.0,
    temperature: Annotated[float, option("--temperature", "0 = the likeliest token.")] = 1.0,
    top_k: Annotated[int, option("--top-k", "0 = no limit.")] = 0,
    top_p: Annotated[float, option("--top-p", "1 = no limit.")] = 1.0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Write a real model's laws, coarsened to a small vocabulary, as table models for exact laws."""
    with needing("tabulate", "gpu"):
        from gpu_eval.processing import Processing
        from gpu_eval.tabulate.command import tabulate_to_files, tabulate_view
        from gpu_eval.tabulate.plan import TablePlan

    processing = Processing(guidance, temperature, top_k, top_p)
    plan = TablePlan(model, vocab, length, start, label, seed, denominator, processing)
    with progress_bar("laws") as update:
        content = tabulate_to_files(plan, out, draft_out, update)
    emit(content, tabulate_view(content), as_json)
