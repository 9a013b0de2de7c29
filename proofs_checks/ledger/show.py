"""The ledger on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from proofs_checks.claims import ClaimResult
from proofs_checks.ledger.pages import CLAIMS_READING, CLAIMS_TITLE
from proofs_checks.ledger.wording import brief, counterexample_words, problems, summary, verdict_words
from proofs_checks.results import PartResult, TheoremResult

STYLES = {"proved": "green", "certified": "green", "tested": "cyan", "refuted": "yellow"}


def view(results: list[TheoremResult], claims: list[ClaimResult]) -> RenderableType:
    """Every theorem with its statements, then the claims, then the counts."""
    return Group(
        *(part for result in results for part in theorem(result)), *claim_rows(claims), *closing(results, claims)
    )


def theorem(result: TheoremResult) -> Iterator[RenderableType]:
    """Heading, statements, mutants."""
    yield Text(f"{result.id}  {result.title}", style="bold")
    yield Text(f"     {result.source}", style="dim")
    grid = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("id", "statement", "result", "worst margin", "s"):
        grid.add_column(name, justify="right" if name in ("worst margin", "s") else "left", vertical="top")
    for part in result.parts:
        margin = "-" if part.margin is None else brief(part.margin)
        words = verdict_words(part)
        grid.add_row(part.id, statement(part), Text(words, STYLES.get(words, "red")), margin, f"{part.seconds:.1f}")
    yield grid
    caught, settled = (
        sum(flags) for flags in ([m.caught for m in result.mutants], [w.settled for w in result.weakened])
    )
    yield Text(
        f"     mutants caught {caught} of {len(result.mutants)}, weakened settled {settled} of {len(result.weakened)}\n"
    )


def statement(part: PartResult) -> Text:
    """The sentence, who claims it, how it is known, and the smallest counterexample."""
    text = Text(part.text)
    if part.claimed:
        text.append(f"\nclaimed: {part.claimed}", style="dim")
    for note in part.notes:
        text.append(f"\n{note}", style="dim")
    if part.counterexample is not None:
        text.append(f"\n{counterexample_words(part.counterexample)}", style="yellow")
    return text


def claim_rows(claims: list[ClaimResult]) -> Iterator[RenderableType]:
    """The papers' sentences with their verdicts; the evidence is on the pages and in the JSON."""
    if not claims:
        return
    yield Text(CLAIMS_TITLE, style="bold")
    yield Text(CLAIMS_READING, style="dim")
    grid = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("id", "claim", "verdict"):
        grid.add_column(name, vertical="top")
    for claim in claims:
        grid.add_row(claim.id, Text(f"{claim.text}\n").append(claim.source, style="dim"), Text(claim.verdict, "bold"))
    yield grid


def closing(results: list[TheoremResult], claims: list[ClaimResult]) -> Iterator[RenderableType]:
    """The counts; what went wrong in red."""
    if claims:
        counts = Counter(claim.verdict for claim in claims)
        yield Text(
            f"{len(claims)} claims: {', '.join(f'{n} {word}' for word, n in counts.most_common())}", style="bold"
        )
    wrong = problems(results)
    for line in summary(results):
        yield Text(line, style="bold red" if line in wrong else "bold")
