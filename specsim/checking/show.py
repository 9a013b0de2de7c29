"""A check on the terminal: what is exact is said to be exact, what is floating point is said to be."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from rich import box
from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from specsim.checking.met_laws import FIGURES, MetLaws
from specsim.checking.onetoken import Example, Worst
from specsim.checking.result import CheckResult
from specsim.checking.whole_blocks import Run, WholeBlocks

LONGEST = 9
"""Fractions with more characters than this are shown as decimals: a law of eight tokens has to fit 80 columns."""
FIGURE_NAMES = {"tv": "TV(out, p)", "distance": "line distance", "off": "off-support mass", "ratio": "max out/p"}


def render(result: CheckResult) -> RenderableType:
    """Everything a check found, in at most 80 columns."""
    return Group(*parts(result))


def parts(result: CheckResult) -> Iterator[RenderableType]:
    """Headline, edges, counterexamples, backends, real laws: what there is of them."""
    yield headline(result)
    yield edges(result)
    yield from counterexamples(result)
    if result.whole is not None and result.whole.smallest is not None:
        yield from run_tables(result.whole, result.whole.smallest)
    yield backends(result)
    if result.laws is not None:
        yield real_laws(result.laws)


def brief(value: Any) -> str:
    """A number in a cell: a short fraction as it is, anything longer or inexact with six digits."""
    if value is None:
        return "-"
    if isinstance(value, Fraction) and len(str(value)) <= LONGEST:
        return str(value)
    return f"{'~' if isinstance(value, Fraction) else ''}{float(value):.6g}"


def cell(text: str) -> str:
    """A number that was stored as text, short enough for a cell."""
    return text if len(text) <= LONGEST else f"~{float(Fraction(text)):.4g}"


def headline(result: CheckResult) -> RenderableType:
    """The verdict in a few lines."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for name, text in headlines(result):
        grid.add_row(name, Text(text))
    return grid


def headlines(result: CheckResult) -> Iterator[tuple[str, str]]:
    """(name, what is said of it) for every line of the headline."""
    yield "rule", result.rule
    if result.assumption:
        yield "assuming", result.assumption
    yield "numbers", numbers(result)
    slots = f"slots {', '.join(map(str, result.slots))}" if result.whole is None else "each a block of one draft"
    looked = f"{result.pairs} pairs of at most {result.largest_vocab} tokens, {slots}"
    yield "valid", f"yes, {result.validity.partition(': ')[2]}: {looked}"
    if result.whole is not None:
        yield "whole blocks", whole_blocks(result.whole)
    yield "bias", bias(result)
    yield "Pareto line", line(result)
    off = result.off_support
    yield "off support", "nothing where p = 0" if off.smallest is None else f"up to {at(off)}"
    yield "max out/p", brief(result.max_ratio) + one_draft(result)
    yield "backends", "agree" if result.agrees else "MISMATCH, see below"


def numbers(result: CheckResult) -> str:
    """Which statements are exact."""
    if result.exactness == "exact":
        exact = "pairs" if result.whole is None else "pairs and runs"
        return f"{exact} exact, in Fractions (~ where shown rounded); all else floating point"
    return f"floating point throughout ({result.exactness})"


def at(worst: Worst) -> str:
    """The worst value and where it is taken."""
    return f"{brief(worst.value)} ({worst.where})"


def one_draft(result: CheckResult) -> str:
    """What the figures of one token are about, of a rule that judges blocks."""
    return "" if result.whole is None else "; of one draft"


def whole_blocks(found: WholeBlocks) -> str:
    """What runs of blocks have shown."""
    runs = f"{found.runs} runs of at most {found.tokens} tokens, lookahead {found.lookahead}"
    off = f", {brief(found.off)} where the target has nothing" if found.off else ""
    tv = f"{brief(found.tv)}{f' ({found.where})' if found.smallest else ''}"
    calls = f"{found.calls:.4g} target calls a run, the strict rule {found.strict_calls:.4g}"
    return f"{found.blocks} blocks are laws; {runs} ({found.exactness}): TV(out, target) up to {tv}{off}; {calls}"


def bias(result: CheckResult) -> str:
    """Lossless, or biased by how much."""
    if result.verdict == "lossless":
        runs = "" if result.whole is None else ", of one draft and of whole runs"
        return "lossless: TV(out, p) = 0" + runs + (" up to rounding" * (result.exactness != "exact"))
    if result.tv.smallest is None and result.off_support.smallest is None:
        where = "in whole blocks" if result.whole is not None and not result.whole.lossless else "on the real laws"
        return f"biased, but only {where}: see below"
    return f"biased: TV(out, p) up to {at(result.tv)}" + one_draft(result)


def line(result: CheckResult) -> str:
    """On the line, or how far off."""
    if result.on_line:
        return "on it: P(reject) + TV(out, p) = TV(p, q)" + one_draft(result)
    if result.line.smallest is None:
        return "off it, but only on the real laws: see below"
    worse = "; dominated: it only accepts less than the strict rule" if result.dominated else ""
    return f"off by up to {at(result.line)}{worse}"


def columns(*names: str, last: JustifyMethod = "right") -> Table:
    """A compact table with a text column first and numbers after it; `last` justifies the last column."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for i, name in enumerate(names):
        justify: JustifyMethod = "left" if i == 0 else last if i == len(names) - 1 else "right"
        table.add_column(name, justify=justify, overflow="fold")
    return table


def titled(title: str, table: Table, note: str = "") -> Group:
    """A table under its title: rich's own titles are folded to the width of the table."""
    return Group("", Text(title, style="bold"), table, *([Text(note)] if note else []))


def edges(result: CheckResult) -> Group:
    """One row for each group of pairs."""
    table = columns("group", "pairs", "worst TV", "line", "off support", "accepts", "strict")
    for edge in result.edges:
        on = "on" if edge.on_line else "off"
        rates = (f"{edge.acceptance:.3f}", f"{edge.strict:.3f}")
        table.add_row(edge.group, str(edge.pairs), brief(edge.tv), on, brief(edge.off_support), *rates)
    return titled(f"groups of pairs ({kind(result)}; acceptance is a mean in floating point)", table)


def kind(result: CheckResult) -> str:
    """The numbers of the pairs."""
    return "exact" if result.exactness == "exact" else "float64"


def counterexamples(result: CheckResult) -> Iterator[Group]:
    """The smallest pair for each thing that is wrong; a pair that serves twice is shown once."""
    found: dict[tuple[str, int], tuple[Example, list[str]]] = {}
    named = {"TV(out, p)": result.tv, "line distance": result.line, "off support": result.off_support}
    for name, worst in named.items():
        if (some := worst.smallest) is not None:
            found.setdefault((some.pair, some.slot), (some, []))[1].append(f"{name} {brief(some.value)}")
    for some, facts in found.values():
        title = f"smallest pair with {', '.join(facts)} ({kind(result)}): {some.pair}, slot {some.slot}"
        yield titled(title, counterexample(some))


def counterexample(some: Example) -> Table:
    """One pair, token by token."""
    table = columns("token", "p", "q", "b", "G", "out")
    residual = some.residual or ("-",) * len(some.target)
    rows = zip(some.target, some.draft, some.accept, residual, some.out, strict=True)
    for token, row in enumerate(rows):
        table.add_row(str(token), *(text if text == "-" else cell(text) for text in row))
    return table


def run_tables(found: WholeBlocks, run: Run) -> Iterator[Group]:
    """The smallest run that goes wrong: what comes out, sequence by sequence, and the laws."""
    kind = "exact" if found.exactness == "exact" else "float64"
    table = columns("sequence", "target", "out")
    for sequence, wanted, out in zip(run.sequences, run.wanted, run.out, strict=True):
        table.add_row(sequence, cell(wanted), cell(out))
    yield titled(f"smallest run with TV(out, target) {brief(run.value)} ({kind}): {run.name}", table)
    laws = columns("prefix", "p", "q")
    for prefix, target in run.target.items():
        laws.add_row(prefix or "-", *(" ".join(map(cell, law)) for law in (target, run.draft[prefix])))
    yield titled("laws after each prefix", laws)


def backends(result: CheckResult) -> Group:
    """The parity rows."""
    table = columns("backend", "difference", "allowed", "", last="left")
    for row in result.parity:
        leak = f"leaks {row.leak:.3g} off support" if row.leak else ""
        edge = f"{row.edges} at the edge of a threshold" if row.edges else ""
        facts = ["agrees" if row.agrees else "MISMATCH", leak, edge, row.note]
        text = Text("; ".join(fact for fact in facts if fact))
        table.add_row(f"{row.backend} {row.numbers}", difference(row.difference), f"{row.tolerance:.1e}", text)
    against = "exact" if result.exactness == "exact" else "numpy float64"
    return titled(f"backends (floating point, against the {against} verdict)", table)


def difference(value: float | None) -> str:
    """The difference of a backend, where there is one."""
    return "-" if value is None else f"{value:.1e}"


def real_laws(laws: MetLaws) -> Group:
    """The figures over laws that a model met."""
    table = columns("over the laws", "mean", "maximum")
    for name in FIGURES if laws.judged else ():
        table.add_row(FIGURE_NAMES.get(name, name), f"{laws.mean[name]:.6g}", f"{laws.maximum[name]:.6g}")
    count = f"{laws.judged:,} of {laws.laws:,} real laws over {laws.vocab:,} tokens"
    return titled(f"{count} (float64), {laws.file}", table, laws.skipped)
