"""Commands that need no more than the core: rules, decoders, new-rule, check, replay, law."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from specsim.cli.options import AsJson, DecoderSpec, RuleSpec, app, decoder_of, option, rule_of
from specsim.errors import SpecsimError, shown
from specsim.terminal import FAILS, emit, needing, progress_bar, say


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
    rule: Annotated[str, typer.Argument(help="Rule: 'Additive(epsilon=0.1)', 'myrule.py:MyRule()'; or a decoder.")],
    laws: Annotated[Path | None, option("--laws", "Laws that a model met, from: specsim run --save-laws.")] = None,
    expect: Annotated[str | None, option("--expect", "What exit 0 means: lossless, on-line or biased.")] = None,
    claims: Annotated[str | None, option("--claims", "What it must keep: lossless,on-line,support,monotone,..")] = None,
    profile: Annotated[str | None, option("--profile", "With --claims: how hard to look, ci or thorough.")] = None,
    out: Annotated[str | None, option("--out", "With --claims: directory for counterexamples and tests.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check a rule: valid? lossless or biased, by how much? on the Pareto line? off-support? the same on torch?

    With --claims, look for the smallest counterexample to each claim of a rule or decoder: exit 0 if none is found.
    """
    from specsim.cli.studies import only_with, only_without

    if claims is None:
        only_with("--claims", profile=profile, out=out)
        check_rule(rule, laws, expect, as_json)
    else:
        only_without("--claims", laws=laws, expect=expect)
        claims_of(
            rule, claims, "ci" if profile is None else profile, "counterexamples" if out is None else out, as_json
        )


def check_rule(spec: str, laws: Path | None, expect: str | None, as_json: bool) -> None:
    """Everything about one verified token."""
    from specsim.checking import result as checking
    from specsim.checking.show import render

    if expect not in (None, *checking.EXPECTATIONS):
        raise SpecsimError(f"--expect {expect}: must be one of {', '.join(checking.EXPECTATIONS)}")
    with progress_bar("checking") as update:
        found = checking.check(rule_alone(spec), backends(), laws, progress=lambda _, done, of: update(done, of))
    emit(checking.as_json(found), render(found), as_json)
    if expect is not None and not checking.meets(found, expect):
        say(f"expected {expect}: it is {checking.summary(found)}")
        raise typer.Exit(FAILS)


def rule_alone(spec: str) -> Any:
    """The rule that a spec names; of a decoder it has to be said what is asked."""
    advice = f"{spec} is a decoder: say what it must keep, e.g. --claims lossless,accounting"
    try:
        rule = rule_of(spec, check=False)
    except SpecsimError:
        if names_decoder(spec):
            raise SpecsimError(advice) from None
        raise
    if hasattr(rule, "start") and hasattr(rule, "step"):
        raise SpecsimError(advice)
    return rule


def names_decoder(spec: str) -> bool:
    """Whether a spec is that of a shipped decoder."""
    try:
        return decoder_of(spec) is not None
    except SpecsimError:
        return False


def claims_of(spec: str, names: str, profile: str, out: str, as_json: bool) -> None:
    """The claims of a rule or decoder; what fails is written down."""
    with needing("check --claims", "test"):
        from specsim.testing.claims_command import check_claims

    with progress_bar("claims") as update:
        answer = check_claims(spec, names, profile, out, update)
    emit(answer.content, answer.view, as_json)
    if answer.failed:
        say(f"{', '.join(answer.failed)}: does not hold of {spec}")
        raise typer.Exit(FAILS)


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A counterexample, from: specsim check --claims, or specsim prove.")],
    subject: Annotated[str | None, option("--subject", "Another rule or decoder than the file names.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compute a counterexample again: exit 0 if the claim holds on it now, 1 if it still fails."""
    with needing("replay", "test"):
        from specsim.testing.claims_command import replay_counterexample

    with progress_bar("replaying"):
        answer = replay_counterexample(file, subject, theorem_case)
    emit(answer.content, answer.view, as_json)
    if answer.failed:
        raise typer.Exit(FAILS)


def theorem_case(found: Any) -> Any:
    """The case of a part of a theorem, "T07.5", computed again with the part's own subject."""
    with needing("replay", "proofs"):
        from proofs_checks.theorems import THEOREMS
    from specsim.testing.counterexamples import part_of, replay

    name, _, number = found.statement.partition(".")
    if name not in THEOREMS or not (number.isascii() and number.isdigit() and len(number) < 4):
        raise SpecsimError(
            f"unknown statement {shown(found.statement)}; known: T02.1 and so on of {', '.join(THEOREMS)}"
        )
    statement = part_of(THEOREMS[name].parts, int(number), name).statement
    return replay(statement, found, found.subject or "the theorem's own subject")


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
