"""The `specsim` command: the one file that knows all three packages, and it imports them inside the commands."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer

from specsim.errors import SpecsimError
from specsim.terminal import FAILS, emit, exit_status, needing, progress_bar, say

app = typer.Typer(
    help="Know, not guess, what a speculative decoder does.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def option(name: str, text: str) -> Any:
    """An option with its help."""
    return typer.Option(name, help=text)


RuleSpec = Annotated[str | None, option("--rule", "Acceptance rule: 'Lenient(omega=1.3)' or 'my.py:Mine()'.")]
DecoderSpec = Annotated[str, option("--decoder", "Decoder, e.g. 'Chain(lookahead=4)'; see: specsim decoders.")]
AsJson = Annotated[bool, option("--json", "Print JSON on stdout and nothing else there.")]
Seed = Annotated[int, option("--seed", "Everything random follows from it.")]


def main() -> None:
    """Run a command; exit status: see `terminal.exit_status`."""
    sys.exit(exit_status(lambda: app(standalone_mode=False)))


def show_version(asked: bool) -> None:
    """Print the version and stop."""
    if asked:
        from specsim import __version__

        print(f"specsim {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Know, not guess, what a speculative decoder does."""


def rule_of(text: str | None, check: bool = True) -> Any:
    """The rule a spec names; with `check`, one that is no valid rule is refused here."""
    from specsim.rules import RULES
    from specsim.specs import parse

    if text is None:
        return None
    with redirect_stdout(sys.stderr):
        rule = parse(text, RULES, "rule")
        if check:
            from specsim.checking.result import require_rule

            require_rule(rule)
    return rule


def decoder_of(text: str) -> Any:
    """The decoder a spec names."""
    from specsim.decoders import DECODERS
    from specsim.specs import parse
    from specsim.tasks import require_decoder

    with redirect_stdout(sys.stderr):
        return require_decoder(parse(text, DECODERS, "decoder"))


@app.command()
def rules(as_json: AsJson = False) -> None:
    """List the acceptance rules with their parameters."""
    from specsim.catalogue import listing, view
    from specsim.rules import RULES

    emit({"schema": "specsim.rules/1", "rules": listing(RULES)}, view("rules", RULES), as_json)


@app.command()
def decoders(as_json: AsJson = False) -> None:
    """List the decoders with their parameters."""
    from specsim.catalogue import listing, view
    from specsim.decoders import DECODERS

    emit({"schema": "specsim.decoders/1", "decoders": listing(DECODERS)}, view("decoders", DECODERS), as_json)


@app.command("new-rule")
def new_rule(
    name: Annotated[str, typer.Argument(help="Class name of the rule, e.g. MyRule.")],
    out: Annotated[Path | None, option("--out", "File to write (default: the name in lower case, .py).")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a commented rule file that already passes `specsim check`."""
    from specsim.files import write_text
    from specsim.skeleton import skeleton

    path = out or Path(f"{name.lower()}.py")
    text = skeleton(name, str(path))
    if path.exists():
        raise SpecsimError(f"new-rule: {path} exists already; choose another --out")
    write_text(path, text)
    content = {"schema": "specsim.new-rule/1", "file": str(path), "rule": f"{path}:{name}"}
    emit(content, f"wrote {path}\ncheck it with: specsim check {path}:{name}", as_json)


@app.command()
def check(
    rule: Annotated[str, typer.Argument(help="Rule to check: 'Additive(epsilon=0.1)' or 'my_rule.py:MyRule()'.")],
    laws: Annotated[Path | None, option("--laws", "Laws that a model met, from: specsim run --save-laws.")] = None,
    expect: Annotated[str | None, option("--expect", "What exit 0 means: lossless, on-line or biased.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check a rule: valid? lossless or biased, by how much? on the Pareto line? off-support? the same on torch?"""
    from specsim.checking import result as checking
    from specsim.checking.show import render

    if expect not in (None, *checking.EXPECTATIONS):
        raise SpecsimError(f"--expect {expect}: must be one of {', '.join(checking.EXPECTATIONS)}")
    with progress_bar("checking") as update:
        found = checking.check(
            rule_of(rule, check=False), backends(), laws, progress=lambda _, done, of: update(done, of)
        )
    emit(checking.as_json(found), render(found), as_json)
    if expect is not None and not checking.meets(found, expect):
        say(f"expected {expect}: it is {checking.summary(found)}")
        raise typer.Exit(FAILS)


def backends() -> dict[str, Any]:
    """Other array libraries that are installed."""
    try:
        from gpu_eval.backends import BACKENDS
    except ModuleNotFoundError:
        return {}
    return BACKENDS


@app.command()
def law(
    target: Annotated[Path, option("--target", 'Table model: {"vocab": V, "laws": [...]}.')],
    decoder: DecoderSpec,
    draft: Annotated[Path | None, option("--draft", "Table model of the draft, for Chain.")] = None,
    rule: RuleSpec = None,
    length: Annotated[int | None, option("--length", "Tokens of a sequence (default: all the target has).")] = None,
    eos: Annotated[int | None, option("--eos", "Id of the end-of-sequence token.")] = None,
    exact: Annotated[bool, option("--exact", "Fractions instead of float64.")] = False,
    memory: Annotated[float, option("--memory", "GiB that the enumeration may take.")] = 4.0,
    as_json: AsJson = False,
) -> None:
    """Compute the exact law of a decoder's output on table models, and its distance from the target."""
    from specsim.law_command import law_of_files
    from specsim.law_report import law_view

    parts = decoder_of(decoder), rule_of(rule)
    with progress_bar("target calls") as update:
        content, found, wanted = law_of_files(
            target, draft, *parts, length, eos, exact, memory, lambda calls, _: update(calls)
        )
    emit(content, law_view(content, found, wanted), as_json)


@app.command()
def run(
    decoder: DecoderSpec,
    out: Annotated[str, option("--out", "Directory for images.png and result.json.")],
    model: Annotated[str, option("--model", "Image model.")] = "fashion",
    rule: RuleSpec = None,
    images: Annotated[int, option("--images", "How many images.")] = 16,
    batch: Annotated[int, option("--batch", "Images decoded side by side.")] = 8,
    label: Annotated[int | None, option("--label", "Class of every image (default: 0 to 9 in turn).")] = None,
    guidance: Annotated[float, option("--guidance", "Classifier-free guidance; 1 = none.")] = 1.0,
    temperature: Annotated[float, option("--temperature", "0 = the likeliest token.")] = 1.0,
    top_k: Annotated[int, option("--top-k", "0 = no limit.")] = 0,
    top_p: Annotated[float, option("--top-p", "1 = no limit.")] = 1.0,
    seed: Seed = 0,
    save_laws: Annotated[Path | None, option("--save-laws", "Write the laws met, for: check --laws.")] = None,
    as_json: AsJson = False,
) -> None:
    """Decode images with a real model; write images.png and result.json."""
    with needing("run", "gpu"):
        from gpu_eval.processing import Processing
        from gpu_eval.run import Plan
        from gpu_eval.run_command import run_to_directory, run_view

    processing = Processing(guidance, temperature, top_k, top_p)
    plan = Plan(model, decoder_of(decoder), rule_of(rule), images, seed, batch, label, processing)
    with progress_bar("images") as update:
        content = run_to_directory(plan, out, save_laws, update)
    emit(content, run_view(content, Path(out)), as_json)


@app.command()
def report(
    out: Annotated[str, option("--out", "Directory for report.html, report.md and the pictures.")] = "report",
    images: Annotated[int, option("--images", "Images per system.")] = 100,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """The main job: every system in one table, exact verdicts beside pictures of a real model."""
    with needing("report", "gpu"):
        from gpu_eval.report.command import report_to_directory, report_view

    with progress_bar("systems") as update:
        content = report_to_directory(out, images, seed, update)
    emit(content, report_view(content, Path(out)), as_json)


if __name__ == "__main__":
    main()
