"""Commands that compare: compare, cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from specsim.cli.options import AsJson, RuleSpec, app, decoder_of, option, rule_of
from specsim.errors import SpecsimError
from specsim.terminal import emit, needing, progress_bar

Rules = Annotated[list[str], typer.Argument(help="Rules, e.g.: Strict 'Lenient(omega=1.3)' myrule.py:MyRule().")]
Decoders = Annotated[list[str] | None, option("--decoder", "Decoder; give it again for more (default: Chain).")]
TargetFile = Annotated[Path | None, option("--target", "Table model (default: a shipped one).")]
DraftFile = Annotated[Path | None, option("--draft", "Table model of the draft (default: a shipped one).")]
ImageModel = Annotated[str | None, option("--model", "Sample on this image model instead, e.g. fashion.")]
OutDirectory = Annotated[str | None, option("--out", "Directory for the figures as files and a picture.")]


def only_without(option_name: str, **given: Any) -> None:
    """Options that say nothing where another one is given are refused, not ignored."""
    for name in given_of(given):
        raise SpecsimError(f"--{name.replace('_', '-')} says nothing with {option_name}; leave one of them out")


def only_with(option_name: str, **given: Any) -> None:
    """Options that say nothing unless another one is given are refused too."""
    for name in given_of(given):
        raise SpecsimError(f"--{name.replace('_', '-')} says nothing without {option_name}; give it, or leave this out")


def given_of(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given at all."""
    return {name: value for name, value in options.items() if value is not None and value is not False}


@app.command()
def compare(
    rules: Rules,
    at_calls: Annotated[float | None, option("--at-calls", "Retune to this many target calls a sequence.")] = None,
    at_accepted: Annotated[float | None, option("--at-accepted", "Retune to so many kept drafts a call.")] = None,
    at_tokens_per_call: Annotated[float | None, option("--at-tokens-per-call", "Retune to so many tokens.")] = None,
    decoder: Decoders = None,
    target: TargetFile = None,
    draft: DraftFile = None,
    length: Annotated[int | None, option("--length", "Tokens of a sequence (default: all the target has).")] = None,
    exact: Annotated[bool, option("--exact", "Final figures in Fractions instead of float64.")] = False,
    memory: Annotated[float | None, option("--memory", "GiB that an enumeration may take (4).")] = None,
    model: ImageModel = None,
    images: Annotated[int | None, option("--images", "With --model: images per seed (100).")] = None,
    seeds: Annotated[str | None, option("--seeds", "With --model: seeds ('0 1 2').")] = None,
    pilot: Annotated[int | None, option("--pilot", "With --model: images that tune, of another seed (100).")] = None,
    batch: Annotated[int | None, option("--batch", "With --model: images decoded side by side (100).")] = None,
    guidance: Annotated[float | None, option("--guidance", "With --model: 1 = none.")] = None,
    temperature: Annotated[float | None, option("--temperature", "With --model: 0 = the likeliest token.")] = None,
    top_k: Annotated[int | None, option("--top-k", "With --model: 0 = no limit.")] = None,
    top_p: Annotated[float | None, option("--top-p", "With --model: 1 = no limit.")] = None,
    out: OutDirectory = None,
    as_json: AsJson = False,
) -> None:
    """Compare rules, retuned to the same cost: exactly on table models, or by images of a real model."""
    from itertools import product

    from specsim.comparing.command import compare_files
    from specsim.comparing.goals import the_goal
    from specsim.comparing.show import view

    goal = the_goal(calls=at_calls, accepted=at_accepted, tokens_per_call=at_tokens_per_call)
    chosen, judged = [decoder_of(text) for text in decoder or ["Chain(lookahead=3)"]], [rule_of(text) for text in rules]
    sampled = {"images": images, "seeds": seeds, "pilot": pilot, "batch": batch}
    processed = {"guidance": guidance, "temperature": temperature, "top_k": top_k, "top_p": top_p}
    if model is None:
        only_with("--model", **sampled, **processed)
        gibibytes = 4.0 if memory is None else memory
        with progress_bar("systems") as update:
            content = compare_files(target, draft, chosen, judged, goal, length, exact, gibibytes, out, update)
        emit(content, view(content), as_json)
        return
    only_without("--model", target=target, draft=draft, length=length, exact=exact, memory=memory)
    if goal is None:
        only_with("a goal such as --at-calls", pilot=pilot)
    with needing("compare --model", "gpu"):
        from gpu_eval.comparing.command import COLUMNS, READING, compare_images, seeds_of
        from gpu_eval.comparing.measured import Setting
        from gpu_eval.processing import Processing

    chosen_seeds = seeds_of("0 1 2" if seeds is None else seeds)
    counts = given_of({"images": images, "pilot": pilot, "batch": batch})
    setting = Setting(model, seeds=chosen_seeds, processing=Processing(**given_of(processed)), **counts)
    with progress_bar("runs") as update:
        content = compare_images(setting, list(product(chosen, judged)), goal, out, update)
    emit(content, view(content, COLUMNS, READING), as_json)


@app.command()
def cost(
    draft_cost: Annotated[float, option("--draft-cost", "Cost of a draft call, in target calls of one token.")],
    per_token: Annotated[
        float, option("--call-cost-per-token", "Cost of every further token in a target call, in the same unit.")
    ] = 0.0,
    rule: RuleSpec = None,
    decoder: Decoders = None,
    largest: Annotated[int | None, option("--largest", "Sweep lookahead or window from 1 to this.")] = None,
    target: TargetFile = None,
    draft: DraftFile = None,
    length: Annotated[int | None, option("--length", "Tokens of a sequence (default: all the target has).")] = None,
    result: Annotated[Path | None, option("--result", "result.json of a chain's run instead of table models.")] = None,
    model: ImageModel = None,
    images: Annotated[int | None, option("--images", "With --model: images per size (100).")] = None,
    batch: Annotated[int | None, option("--batch", "With --model: images decoded side by side (100).")] = None,
    seed: Annotated[int | None, option("--seed", "With --model: everything random follows from it (0).")] = None,
    out: OutDirectory = None,
    as_json: AsJson = False,
) -> None:
    """What a run costs, and which lookahead or window pays best: exactly, from a run's rates, or by sampling."""
    from specsim.costing.command import FILES, cost_of_files, cost_of_result, write
    from specsim.costing.model import prices
    from specsim.costing.show import view
    from specsim.files import ready_directory

    price = prices(draft_cost, per_token)
    chosen = [decoder_of(text) for text in decoder or ["Chain()"]]
    sampled = {"images": images, "batch": batch, "seed": seed}
    if out is not None:
        ready_directory(out, FILES)
    if model is None:
        only_with("--model", **sampled)
    if result is not None:
        only_without("--result", rule=rule, decoder=decoder, target=target, draft=draft, length=length, model=model)
        content = cost_of_result(result, price, largest)
    elif model is None:
        with progress_bar("sizes") as update:
            content = cost_of_files(target, draft, chosen, rule_of(rule), price, largest, length, update)
    else:
        only_without("--model", target=target, draft=draft, length=length)
        with needing("cost --model", "gpu"):
            from gpu_eval.costing import cost_of_images
            from gpu_eval.run import Plan

        plan = Plan(model, chosen[0], rule_of(rule), **({"images": 100, "batch": 100} | given_of(sampled)))
        with progress_bar("runs") as update:
            content = cost_of_images(plan, chosen, price, 8 if largest is None else largest, update)
    if out is not None:
        write(out, content)
    emit(content, view(content), as_json)
