"""Where the figures come from: exact laws of table models, or the result of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from specsim.comparing.exact_side import Models
from specsim.costing.model import Prices, Spending, spending
from specsim.costing.sweep import MOST_SIZE, Measured, sizes, with_size
from specsim.decoders import CONSTANTS, DECODERS, Chain
from specsim.decoding import Decoder
from specsim.errors import SpecsimError, require
from specsim.files import read_json
from specsim.specs import parse

Progress = Callable[[int, int], None]
MOST_STEPS = 10**8
"""Tokens times lookaheads squared: some ten seconds."""


def exact_steps(
    models: Models, decoder: Decoder, rule: Any, largest: int, progress: Progress | None = None
) -> list[Measured]:
    """Every size up to `largest`, from the exact law."""
    steps = []
    for size in sizes(largest):
        law = models.law(with_size(decoder, size), rule)
        judged = sum(law.reached)
        rate = float(sum(law.kept) / judged) if judged else None
        steps.append(Measured(size, spending(decoder, law), rate))
        if progress is not None:
            progress(size, largest)
    return steps


def rates_spending(rates: list[float], lookahead: int, length: int) -> Spending:
    """A chain's run of `length` tokens when slot i keeps a judged draft with probability rates[i], whatever it kept.

    With n tokens left a round drafts m = min(L, n - 1) and keeps s of them with probability a_1 .. a_s (1 - a_(s+1)),
    so  calls(n) = 1 + sum_s P(s) calls(n - s - 1)  and  drafted(n) = m + sum_s P(s) drafted(n - s - 1).
    """
    calls, drafted = [0.0], [0.0]
    for left in range(1, length + 1):
        most = min(lookahead, left - 1)
        stops = stop_law(rates[:most])
        calls.append(1 + sum(p * calls[left - kept - 1] for kept, p in enumerate(stops)))
        drafted.append(most + sum(p * drafted[left - kept - 1] for kept, p in enumerate(stops)))
    return Spending(calls[length], drafted[length], drafted[length], length)


def stop_law(rates: list[float]) -> list[float]:
    """P(exactly s kept), s = 0 .. len(rates): a_1 .. a_s (1 - a_(s+1)), the last one a_1 .. a_L."""
    alive, law = 1.0, []
    for rate in rates:
        law.append(alive * (1 - rate))
        alive *= rate
    return [*law, alive]


def result_steps(path: Path, largest: int | None, price: Prices) -> tuple[Decoder, str, list[Measured], dict[str, Any]]:
    """A `specsim run` of a chain -> decoder, rule, a step for every lookahead up to the run's, and a check.

    The slots' rates are those of the run's own lookahead; a shorter one starts rounds at other positions, so its
    figures take rates that depend on nothing but the slot.  Slots never judged have none: longer ones are refused.
    """
    content = run_result(path)
    decoder = chain_of(path, content["configuration"]["decoder"])
    rates = measured_rates(content["acceptance_by_slot"], decoder.lookahead)
    if not rates:
        raise SpecsimError(f"{path}: no draft was judged, so there is no rate to compute with")
    if largest is not None and largest > len(rates):
        raise SpecsimError(
            f"cost: largest = {largest}, but {path} has rates for {len(rates)} slots; run a longer lookahead first"
        )
    calls = content["nfe_per_image"]
    length = round(calls * content["tokens_per_call"])
    last = min(len(rates), MOST_SIZE) if largest is None else largest
    if length * last**2 > MOST_STEPS:
        raise SpecsimError(
            f"cost: {length:,} tokens at {last} lookaheads would take too long; give a smaller --largest"
        )
    steps = [Measured(size, rates_spending(rates, size, length), rates[0]) for size in sizes(last)]
    check = {
        "measured_calls": calls,
        "measured_calls_interval": content["nfe_per_image_interval"],
        "calls_from_rates": rates_spending(rates, decoder.lookahead, length).calls if whole(rates, decoder) else None,
    }
    if len(steps) == decoder.lookahead and content["nfe_per_image_interval"] is not None:
        steps[-1] = steps[-1]._replace(interval=interval(steps[-1].spent, content["nfe_per_image_interval"], price))
    return decoder, content["configuration"]["rule"], steps, check


def chain_of(path: Path, text: str) -> Chain:
    """The decoder that ran.  Only a chain's text is parsed: a file of figures does not run code."""
    if text.partition("(")[0].strip() != Chain.__name__:
        raise SpecsimError(f"{path}: rates by slot tell nothing of other sizes of {text}; give the result of a Chain")
    return parse(text, DECODERS, "decoder", CONSTANTS)


def interval(spent: Spending, calls: list[float], price: Prices) -> list[float]:
    """The speed-up at both ends of the interval of the calls: tokens and drafts a call are taken as they are."""
    ends = (spent._replace(calls=n, further=spent.further * n / spent.calls) for n in calls)
    ends = (end._replace(draft_calls=end.further) for end in ends)
    return sorted(end.speed_up(price) for end in ends)


def whole(rates: list[float], decoder: Chain) -> bool:
    """Whether every slot of the run was judged."""
    return len(rates) == decoder.lookahead


def measured_rates(slots: list[float | None], lookahead: int) -> list[float]:
    """The rates up to the first slot that was never judged."""
    rates: list[float] = []
    for rate in slots[:lookahead]:
        if rate is None:
            break
        rates.append(rate)
    return rates


def run_result(path: Path) -> dict[str, Any]:
    """The content of a result.json; SpecsimError for anything else."""
    content = read_json(path)
    if not isinstance(content, dict) or content.get("schema") != "specsim.run/1":
        raise SpecsimError(f"{path} is no result of specsim run; give its result.json")
    wanted = ("configuration", "acceptance_by_slot", "nfe_per_image", "nfe_per_image_interval", "tokens_per_call")
    if missing := [key for key in wanted if key not in content]:
        raise SpecsimError(f"{path} lacks {', '.join(missing)}; write it anew with specsim run")
    if not isinstance(content["configuration"], dict) or not {"decoder", "rule"} <= set(content["configuration"]):
        raise SpecsimError(f"{path} lacks the decoder and rule in its configuration; write it anew with specsim run")
    for key in ("nfe_per_image", "tokens_per_call"):
        require(is_number(content[key], 1, LONGEST), str(path), key, content[key], f"a number from 1 to {LONGEST}")
    length = content["nfe_per_image"] * content["tokens_per_call"]
    require(length <= LONGEST, str(path), "nfe_per_image x tokens_per_call", length, f"at most {LONGEST} tokens")
    check_texts(path, content["configuration"])
    check_lists(path, content["acceptance_by_slot"], content["nfe_per_image_interval"])
    return content


LONGEST = 100_000
"""Tokens of a sequence: far beyond any image, and short enough to add up."""


def is_number(value: Any, low: float, high: float) -> bool:
    """Whether it is a number of JSON (not true or false) in a range."""
    return type(value) in (int, float) and low <= value <= high


def check_texts(path: Path, configuration: dict[str, Any]) -> None:
    """Decoder and rule are written as text."""
    decoder, rule = configuration["decoder"], configuration["rule"]
    require(isinstance(decoder, str), str(path), "decoder", decoder, "text such as 'Chain(lookahead=4)'")
    require(rule is None or isinstance(rule, str), str(path), "rule", rule, "text such as 'Strict()', or null")


def check_lists(path: Path, rates: Any, interval: Any) -> None:
    """Rates are probabilities or null, an interval is null or two numbers in order."""
    fit = isinstance(rates, list) and all(rate is None or is_number(rate, 0, 1) for rate in rates)
    require(
        fit, str(path), "acceptance_by_slot", rates, "a list of numbers from 0 to 1, or null for a slot never judged"
    )
    pair = isinstance(interval, list) and len(interval) == 2 and all(is_number(end, 1, LONGEST) for end in interval)
    fit = interval is None or (pair and interval[0] <= interval[1])
    require(fit, str(path), "nfe_per_image_interval", interval, "two numbers of at least 1 in order, or null")
