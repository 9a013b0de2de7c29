"""Sentences that the figures of this very report support, flattering or not."""

from __future__ import annotations

from typing import Any

from gpu_eval.report.rows import TABLES, Row

SLOWER = 1.2
"""Ratio of seconds from which a system is called slower than plain decoding: single runs differ by less than that."""


def findings(rows: list[Row]) -> list[str]:
    """Every sentence that holds here."""
    return [
        said for finding in (warned, biased, dominated, wasteful, floor, undecided, slower) for said in finding(rows)
    ]


def warned(rows: list[Row]) -> list[str]:
    """Systems that do not do what they claim."""
    return [
        f"**{row.system.name}** is biased: run TV {tvs(row)}. It {row.system.warning}."
        for row in rows
        if row.system.warning and not row.lossless
    ]


def tvs(row: Row) -> str:
    """The run TV on every table."""
    return ", ".join(f"{float(row.exact[name].tv):.4f} ({name})" for name in TABLES)


def biased(rows: list[Row]) -> list[str]:
    """How many relaxed systems pay, and how much at least and at most."""
    relaxed = [row for row in rows if not row.lossless and not row.system.warning]
    if not relaxed:
        return []
    ranges = "; ".join(span(relaxed, name) for name in TABLES)
    return [f"{len(relaxed)} relaxed systems are exactly biased on the table models. Run TV {ranges}."]


def span(rows: list[Row], name: str) -> str:
    """The least and the greatest run TV on one table, with the systems that have them."""
    ends = min(rows, key=lambda row: row.exact[name].tv), max(rows, key=lambda row: row.exact[name].tv)
    least, most = (f"{float(row.exact[name].tv):.4f} ({row.system.name})" for row in ends)
    return f"on {name} from {least} to {most}"


def dominated(rows: list[Row]) -> list[str]:
    """Systems with more bias and no fewer calls than another one, on every table."""
    said = []
    for row in rows:
        by = [other.system.name for other in rows if other is not row and beats(other, row)]
        if not row.lossless and by:
            said.append(f"**{row.system.name}** (more TV, no fewer calls than {listed(by[:2])})")
    return [f"Beaten outright on every table model: {'; '.join(said)}."] if said else []


def beats(one: Row, other: Row) -> bool:
    """Whether `one` has less TV and no more calls than `other` on every table."""
    pairs = [(one.exact[name], other.exact[name]) for name in TABLES]
    return all(a.tv < b.tv and a.calls <= b.calls for a, b in pairs)


def wasteful(rows: list[Row]) -> list[str]:
    """Systems that verify more drafts a call than another one with their rule and draft model, and keep fewer."""
    said = []
    for row in rows:
        for other in rows:
            same = (row.system.rule, row.system.model) == (other.system.rule, other.system.model)
            if same and drafts(row) > drafts(other) > 0 and below(row, other):
                many = f"{drafts(row)} drafts a call for {row.tokens_per_call['value']:.2f} tokens"
                few = f"{other.system.name}'s {drafts(other)} for {other.tokens_per_call['value']:.2f}"
                said.append(f"**{row.system.name}** ({many}, {few})")
    return [f"More drafts, fewer tokens with the same rule and draft model: {'; '.join(said)}."] if said else []


def drafts(row: Row) -> int:
    """Most drafts that a call from a draft model verifies; 0 where there is none."""
    real: Any = row.system.real
    if not real.needs_draft:
        return 0
    real = getattr(real, "decoder", real)
    return len(getattr(real, "paths", ())) or getattr(real, "nodes", 0) or getattr(real, "lookahead", 0)


def below(one: Row, other: Row) -> bool:
    """Whether one keeps fewer tokens a call than the other, by their intervals."""
    mine, theirs = one.tokens_per_call["interval"], other.tokens_per_call["interval"]
    return mine is not None and theirs is not None and mine[1] < theirs[0]


def floor(rows: list[Row]) -> list[str]:
    """What chance alone makes, in the same table."""
    plain = rows[0].quality.frechet_pool
    count = rows[0].quality.images
    between = "" if plain["interval"] is None else f" [{plain['interval'][0]:.1f}, {plain['interval'][1]:.1f}]"
    return [
        f"The floor: plain decoding differs from plain decoding of another seed by a Frechet distance of "
        f"{plain['value']:.1f}{between} at {count} images. Only what lies well above it is a difference in images."
    ]


def undecided(rows: list[Row]) -> list[str]:
    """Biased systems whose images this report cannot tell from plain decoding."""
    plain = rows[0].quality.frechet_pool["interval"]
    if plain is None:
        return ["Too few images for intervals: nothing is said about image quality."]
    biased_rows = [row for row in rows if not row.lossless and row.quality.frechet_pool["interval"] is not None]
    apart = [row.system.name for row in biased_rows if row.quality.frechet_pool["interval"][0] > plain[1]]
    return [
        f"Of {len(biased_rows)} exactly biased systems, these images tell {len(apart)} apart from plain decoding by "
        f"their Frechet distance: {listed(apart)}. That the others look the same is no evidence that they are."
    ]


def slower(rows: list[Row]) -> list[str]:
    """Fewer calls, more seconds."""
    plain = rows[0].seconds_per_image
    others = rows[1:]
    fast = [row.system.name for row in others if row.seconds_per_image <= SLOWER * plain]
    return [
        f"{len(others) - len(fast)} of {len(others)} systems took over {SLOWER - 1:.0%} longer than plain decoding in "
        f"seconds, in this run on this machine; the others: {listed(fast)}."
    ]


def listed(names: list[str]) -> str:
    """Names in a sentence."""
    return ", ".join(names) or "none"
