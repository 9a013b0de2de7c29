"""What `specsim law` says of an exact law: as JSON for machines, as tables for people."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

from specsim.laws import Law
from specsim.tables import Table

SCHEMA = "specsim.law/1"
MOST_SEQUENCES = 4096
"""Laws over more sequences than this are left out of the JSON."""
MOST_SHOWN = 8
"""Sequences shown to people: those where the output differs most from the target."""


def law_json(law: Law, target: Table, configuration: dict[str, Any], exact: bool) -> dict[str, Any]:
    """Every figure of a law against its target; figures named `.._exact` are fractions as text."""
    tv = law.tv(target)
    content: dict[str, Any] = {"schema": SCHEMA, **configuration, "tv": float(tv)}
    if exact:
        content["tv_exact"] = str(tv)
        content["expected_calls_exact"] = str(law.calls)
        content["expected_accepted_exact"] = str(law.accepted)
    content |= {
        "kl": law.kl(target),
        "max_ratio": float(law.max_ratio(target)),
        "mass": float(law.total),
        "expected_calls": float(law.calls),
        "calls_distribution": {str(calls): float(p) for calls, p in law.call_law.items()},
        "expected_accepted": float(law.accepted),
        "expected_tokens": float(law.tokens),
        "tokens_per_call": float(law.tokens_per_call),
        "acceptance_by_slot": [None if a is None else float(a) for a in law.acceptance_by_slot],
        "token_tv": [float(x) for x in law.token_tv(target)],
        "token_kl": law.token_kl(target),
    }
    if len(law.mass) <= MOST_SEQUENCES:
        content["law"] = [float(m) for m in law.mass]
        if exact:
            content["law_exact"] = [str(m) for m in law.mass]
    return content


def law_view(content: dict[str, Any], law: Law, target_mass: Any) -> Group:
    """The same for people."""
    title = Text(f"{content['decoder']}  {content['rule'] or 'no rule'}")
    head = Grid(title=title, show_header=False, title_justify="left")
    for name, value in headline(content).items():
        head.add_row(name, value)
    slots = Grid(title="drafted tokens kept, by slot  P(kept | judged)", title_justify="left")
    kept = content["acceptance_by_slot"]
    for i in range(len(kept)):
        slots.add_column(str(i), justify="right")
    slots.add_row(*("-" if a is None else f"{a:.4f}" for a in kept))
    parts = [head, *([slots] if kept else []), *([differences(law, target_mass)] if content["tv"] else [])]
    return Group(*parts)


def headline(content: dict[str, Any]) -> dict[str, str]:
    """The main figures, in words."""
    tv = f"{content['tv']:.6g}  (float64)"
    if "tv_exact" in content:
        tv = (
            f"{content['tv']:.6g} = {shorten(content['tv_exact'])}"
            if content["tv"]
            else "0, exactly: lossless on this model"
        )
    return {
        "TV(output, target)": tv,
        "KL(output || target)": f"{content['kl']:.6g} nats",
        "max output / target": f"{content['max_ratio']:.6g}",
        "expected target calls": f"{content['expected_calls']:.6g}",
        "tokens per call": f"{content['tokens_per_call']:.4f}  (plain decoding: 1)",
        "drafted tokens kept": f"{content['expected_accepted']:.6g} of {content['expected_tokens']:.6g} tokens",
        "probability mass": f"{content['mass']:.12g}",
    }


def shorten(text: str, most: int = 40) -> str:
    """A long fraction cut in the middle for the screen; the JSON has it whole."""
    return text if len(text) <= most else f"{text[:12]}…{text[-12:]} ({len(text)} characters, whole with --json)"


def differences(law: Law, target_mass: Any) -> Grid:
    """The sequences where output and target differ most."""
    differing = (i for i in range(len(law.mass)) if law.mass[i] != target_mass[i])
    gaps = sorted(differing, key=lambda i: -abs(law.mass[i] - target_mass[i]))[:MOST_SHOWN]
    grid = Grid(title="sequences that differ most", title_justify="left")
    for name in ("tokens", "output", "target", "output - target"):
        grid.add_column(name, justify="right")
    for i in gaps:
        digits = [i // law.vocab**n % law.vocab for n in reversed(range(law.length))]
        gap = float(law.mass[i] - target_mass[i])
        row = (float(law.mass[i]), float(target_mass[i]), gap)
        grid.add_row(" ".join(map(str, digits)), *(f"{x:.6g}" for x in row))
    return grid
