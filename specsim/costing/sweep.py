"""The same decoder at every lookahead or window: spending, speed-up, the best size, and the size the formula picks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from specsim.costing.model import Prices, Spending, has_formula, innermost, naive_speed_up
from specsim.decoders import Chain, Jacobi, Race, RelaxedBonus
from specsim.decoding import Decoder
from specsim.errors import SpecsimError, require

SCHEMA = "specsim.cost/1"
SIZE_FIELD: dict[type, str] = {Chain: "lookahead", RelaxedBonus: "lookahead", Jacobi: "window"}
"""What is swept.  A new decoder with a size: a row here."""
ROUNDING = 1e-12
"""Speed-ups closer than this are equal: float64 ratios err by less."""
MOST_SIZE = 256
"""Longest lookahead or window of a sweep."""


class Measured(NamedTuple):
    """One size: what a run spends, and P(kept | judged) over all its drafts; interval: of the speed-up, or None."""

    size: int
    spent: Spending
    acceptance: float | None
    interval: list[float] | None = None


def size_field(decoder: Any) -> str:
    """The field that holds a decoder's size; SpecsimError for one without."""
    field = SIZE_FIELD.get(type(innermost(decoder)))
    if field is None:
        names = ", ".join(kind.__name__ for kind in SIZE_FIELD)
        raise SpecsimError(f"cost: {decoder!r} has no lookahead or window to sweep; give one of {names}")
    return field


def with_size(decoder: Any, size: int) -> Any:
    """The decoder at another lookahead or window."""
    if isinstance(decoder, Race):
        return replace(decoder, decoder=with_size(decoder.decoder, size))
    return replace(decoder, **{size_field(decoder): size})


def sizes(largest: int, most: int = MOST_SIZE) -> range:
    """1 .. largest."""
    require(1 <= largest <= most, "cost", "largest", largest, f"from 1 to {most}")
    return range(1, largest + 1)


def sweep(decoder: Decoder, rule: Any, steps: Sequence[Measured], price: Prices) -> dict[str, Any]:
    """JSON of one decoder: a row for every size, the best one, and what choosing by the formula costs.

    The formula's a is P(kept | judged) at size 1, where every slot is a first slot.
    """
    acceptance = steps[0].acceptance if has_formula(decoder) else None
    rows = [row_of(step, price, acceptance) for step in steps]
    content = {
        "decoder": repr(decoder),
        "rule": None if rule is None else repr(rule),
        "swept": size_field(decoder),
        "acceptance": acceptance,
        "sizes": rows,
    }
    return content | choice(rows)


def row_of(step: Measured, price: Prices, acceptance: float | None) -> dict[str, Any]:
    """One size."""
    spent = step.spent
    row: dict[str, Any] = {
        "size": step.size,
        "expected_calls": float(spent.calls),
        "further_tokens_in_calls": float(spent.further),
        "draft_calls": float(spent.draft_calls),
        "tokens_per_call": float(spent.tokens / spent.calls),
        "cost": float(spent.cost(price)),
        "speed_up": spent.speed_up(price),
        "naive_speed_up": None if acceptance is None else naive_speed_up(acceptance, step.size, price),
    }
    return row if step.interval is None else row | {"speed_up_interval": step.interval}


def choice(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The best size, the one the formula takes for the best, and the share of speed that choice loses."""
    best = best_of(rows, "speed_up")
    found: dict[str, Any] = {"best": best["size"], "best_speed_up": best["speed_up"], "naive_best": None, "loses": None}
    if rows[0]["naive_speed_up"] is None:
        return found
    naive = best_of(rows, "naive_speed_up")
    promised = {"naive_best": naive["size"], "naive_promise": naive["naive_speed_up"], "naive_gets": naive["speed_up"]}
    return found | promised | {"loses": 1 - naive["speed_up"] / best["speed_up"]}


def best_of(rows: Sequence[dict[str, Any]], key: str) -> dict[str, Any]:
    """The fastest row; of equally fast ones the smallest size."""
    most = max(row[key] for row in rows)
    return next(row for row in rows if row[key] >= most - ROUNDING)
