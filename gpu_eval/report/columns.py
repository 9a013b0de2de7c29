"""The report's two tables, column by column.  Adding a column = adding a row here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from gpu_eval.report.rows import TABLES, Row
from specsim.decoding import Decoder


class Column(NamedTuple):
    """A heading and how a row fills it."""

    title: str
    cell: Callable[[Row], str]


def interval(figure: dict[str, Any], digits: int) -> str:
    """A sampled figure with its interval."""
    if figure["value"] is None:
        return "-inf"
    value = f"{figure['value']:.{digits}f}"
    if figure["interval"] is None:
        return value
    return f"{value} [{figure['interval'][0]:.{digits}f}, {figure['interval'][1]:.{digits}f}]"


def zero_or(value: Any, digits: int = 4) -> str:
    """A bare 0 is exactly 0; anything else is rounded, and a small value never to 0."""
    if value is None:
        return "-"
    text = f"{float(value):.{digits}f}"
    return "0" if value == 0 else text if float(text) else f"{float(value):.1e}"


def rounded_zero_or(value: float | None) -> str:
    """As `zero_or` for a float64 sum, in which rounding alone is no bias."""
    return zero_or(0 if value is not None and value < ROUNDING else value)


WIDEST = 120
"""Characters of a decoder in a table; the JSON has all of them."""
ROUNDING = 1e-12
"""A mean of some hundred float64 total variations of exact laws: rounding stays below 1e-14, bias does not."""


def table_columns(name: str) -> tuple[Column, ...]:
    """The exact figures on one table model."""
    return (
        Column(f"{name}: one token TV", lambda row: rounded_zero_or(row.exact[name].one_token_tv)),
        Column(f"{name}: run TV", lambda row: zero_or(row.exact[name].tv)),
        Column(f"{name}: calls", lambda row: f"{float(row.exact[name].calls):.3f}"),
    )


SYSTEM, VERDICT = Column("system", lambda row: row.system.name), Column("exact verdict", lambda row: row.verdict)
EXACT = (SYSTEM, VERDICT, *(column for name in TABLES for column in table_columns(name)))
SAMPLED = (
    SYSTEM,
    Column("tokens per call", lambda row: interval(row.tokens_per_call, 2)),
    Column("calls per image", lambda row: interval(row.nfe, 1)),
    Column("Frechet to plain decoding", lambda row: interval(row.quality.frechet_pool, 1)),
    Column("Frechet to real", lambda row: interval(row.quality.frechet_real, 1)),
    Column("accuracy", lambda row: interval(row.quality.label_accuracy, 2)),
    Column("log-likelihood", lambda row: interval(row.quality.log_likelihood, 2)),
    Column("s per image", lambda row: f"{row.seconds_per_image:.3f}"),
    Column("overhead", lambda row: f"{row.overhead:.0%}"),
)


def described(row: Row) -> str:
    """What a system is, with its parts as they are written on the command line."""
    rule = "" if row.system.rule is None else f", {row.system.rule!r}"
    other = "" if row.system.small_rule is None else f", {row.system.small_rule!r}"
    small = f"; on the table models, with their own draft, `{row.system.small!r}{other}`"
    small = "" if row.system.small == row.system.real and not other else small
    warning = f" ⚠ {row.system.warning}" if row.system.warning else ""
    return f"{row.system.about}: `{brief(row.system.real)}{rule}`{small}{warning}"


def brief(decoder: Decoder) -> str:
    """A decoder as it is written, but for large trees."""
    text = repr(decoder)
    return text if len(text) <= WIDEST else f"{type(decoder).__name__}: {len(getattr(decoder, 'paths', ()))} nodes"


ABOUT = (SYSTEM, Column("what it is", described))
FIGURES: dict[str, tuple[Column, ...]] = {
    "Exact, on real laws in table form": EXACT,
    "Sampled, on the image model": SAMPLED,
}
