"""What the commands share: the application, common options, and specs read from them."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Annotated, Any

import typer

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
    from specsim.decoders import CONSTANTS, DECODERS
    from specsim.specs import parse
    from specsim.tasks import require_decoder

    with redirect_stdout(sys.stderr):
        return require_decoder(parse(text, DECODERS, "decoder", CONSTANTS))
