"""Commands that need no more than the core: rules, decoders, new-rule, check, law."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from specsim.cli.options import AsJson, DecoderSpec, RuleSpec, app, decoder_of, option, rule_of
from specsim.errors import SpecsimError
from specsim.terminal import FAILS, emit, progress_bar, say


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
    import os.path

    from specsim.files import write_text
    from specsim.skeleton import skeleton

    path = out or Path(f"{name.lower()}.py")
    text = skeleton(name, str(path))
    if os.path.exists(path):  # Path.exists raises for a name that is too long
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
