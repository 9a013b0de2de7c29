"""The ledger as pages: Markdown with pictures beside it, and one HTML file with everything inside."""

from __future__ import annotations

from html import escape

from proofs_checks.claims import ClaimResult
from proofs_checks.ledger.wording import brief, counterexample_words, summary, verdict_words
from proofs_checks.results import PartResult, TheoremResult, WeakenedResult

CLAIMS_TITLE = "What the papers claim"
CLAIMS_READING = (
    "Verdicts follow from the evidence, aspect by aspect: holds = all of it speaks for the claim; consistent with its "
    "own table = only figures that the paper itself prints do, nobody has measured them again here; in part = some "
    "aspects do not; undecided = the data cannot tell; not checkable here = nothing here ever could. Evidence told "
    "beside does not count."
)
TITLE = "What is known of speculative decoders, and how"
READING = (
    "proved = by SMT for all inputs at the stated V and L, or for every V where the statement is a sum over tokens and "
    "holds for each of them; certified = a linear program's optimum, bounded by a rounded dual in Fractions; tested = "
    "searched in Fractions over so many cases, listed from the smallest on and drawn at random; refuted = a "
    "counterexample was found. Sentences that are stated to fail are there because somebody claims them, or would. "
    "Margin: how far the worst case is from failing; 0 for equalities and tight bounds."
)
STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:0 auto;padding:1rem;color:#1d2430;background:#fff}
h1{font-size:1.5rem} h2{font-size:1.1rem;margin:2.2rem 0 .2rem} .source{color:#5b6472;font-size:.85rem;margin:0}
.part{border-left:4px solid #ccc;padding:.1rem .8rem;margin:.8rem 0} .part p{margin:.2rem 0;overflow-wrap:anywhere}
.proved,.certified{border-color:#1b7f5c} .tested{border-color:#4c78a8} .refuted{border-color:#c2a83e}
.unexpected{border-color:#b3402a;background:#fdf1ee} .word{font-weight:600} small{color:#5b6472}
svg{max-width:100%;height:auto} details{font-size:.85rem} table{border-collapse:collapse;font-size:.85rem}
td,th{padding:.3rem .5rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top} .scroll{overflow-x:auto}
"""
Pictures = dict[str, str]
"""Part id -> SVG text."""


def markdown(results: list[TheoremResult], claims: list[ClaimResult], pictures: Pictures, heading: str) -> str:
    """The ledger as Markdown; pictures lie beside it as ID.svg."""
    lines = [f"# {TITLE}", "", heading, "", *(f"- {line}" for line in summary(results)), "", READING, ""]
    for result in results:
        lines += [f"## {result.id} {result.title}", "", f"Source: {result.source}", ""]
        for part in result.parts:
            lines += [*markdown_part(part), *([f"![{part.id}]({part.id}.svg)", ""] if part.id in pictures else [])]
        lines += [checked(result), ""]
    return "\n".join([*lines, *markdown_claims(claims), ""])


def markdown_claims(claims: list[ClaimResult]) -> list[str]:
    """The papers' sentences, each with its evidence."""
    lines = [f"## {CLAIMS_TITLE}", "", CLAIMS_READING, ""] if claims else []
    for claim in claims:
        lines += [f"**{claim.id}, {claim.verdict}**: {claim.text} ({claim.source})", ""]
        lines += [*(f"- {line}" for line in claim.evidence_lines), ""]
    return lines


def markdown_part(part: PartResult) -> list[str]:
    """One statement."""
    claimed = f" (claimed: {part.claimed})" if part.claimed else ""
    lines = [f"**{part.id}, {verdict_words(part)}**: {part.text}{claimed}", ""]
    lines += [f"- {fact}" for fact in facts(part)]
    return [*lines, ""]


def facts(part: PartResult) -> list[str]:
    """Everything else that is known of a statement."""
    margin = [] if part.margin is None else [f"worst margin {brief(part.margin)}, {part.seconds:.1f} s"]
    example = [] if part.counterexample is None else [counterexample_words(part.counterexample)]
    return [*part.notes, *example, *margin]


def checked(result: TheoremResult) -> str:
    """The mutants and weakened statements in one line."""
    mutants = "; ".join(f"{some.name} ({'caught' if some.caught else 'SURVIVES'})" for some in result.mutants)
    weakened = "; ".join(weakened_words(some) for some in result.weakened)
    return f"Mutants: {mutants or 'none'}. Weakened: {weakened or 'none'}."


def weakened_words(some: WeakenedResult) -> str:
    """A weakened statement and what became of it."""
    why = f": {some.why}" if some.why else ""
    example = f", {counterexample_words(some.counterexample)}" if some.counterexample else ""
    return f"{some.text} ({some.status}{why}{example})"


def html(results: list[TheoremResult], claims: list[ClaimResult], pictures: Pictures, heading: str) -> str:
    """The ledger as one file that needs nothing else."""
    body = "".join(html_theorem(result, pictures) for result in results)
    counts = "".join(f"<li>{escape(line)}</li>" for line in summary(results))
    links = " ".join(f'<a href="#{result.id}">{result.id}</a>' for result in results)
    links += ' <a href="#claims">claims</a>' if claims else ""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>specsim ledger</title><style>{STYLE}</style><h1>{TITLE}</h1><p>{escape(heading)}</p>"
        f"<p>{links}</p><ul>{counts}</ul><p><small>{escape(READING)}</small></p>{body}{html_claims(claims)}</html>\n"
    )


def html_claims(claims: list[ClaimResult]) -> str:
    """The papers' sentences, each with its evidence."""
    title = f'<h2 id="claims">{CLAIMS_TITLE}</h2><p><small>{CLAIMS_READING}</small></p>' if claims else ""
    return title + "".join(
        f'<div class="part claim"><p><span class="word">{claim.id}, {escape(claim.verdict)}.</span> '
        f"{escape(claim.text)} <small>({escape(claim.source)})</small></p><details><summary>evidence</summary>"
        f"{''.join(f'<p>{escape(line)}</p>' for line in claim.evidence_lines)}</details></div>"
        for claim in claims
    )


def html_theorem(result: TheoremResult, pictures: Pictures) -> str:
    """One theorem."""
    parts = "".join(html_part(part, pictures.get(part.id, "")) for part in result.parts)
    return (
        f'<h2 id="{result.id}">{result.id} {escape(result.title)}</h2><p class="source">{escape(result.source)}</p>'
        f"{parts}<details><summary>mutants and weakened statements</summary><p>{escape(checked(result))}</p></details>"
    )


def html_part(part: PartResult, picture: str) -> str:
    """One statement, with its picture."""
    words = verdict_words(part)
    kind = words if part.agrees else "unexpected"
    claimed = f" <small>(claimed: {escape(part.claimed)})</small>" if part.claimed else ""
    lines = "".join(f"<p><small>{escape(fact)}</small></p>" for fact in facts(part))
    return (
        f'<div class="part {kind}"><p><span class="word">{part.id}, {escape(words)}.</span> {escape(part.text)}'
        f"{claimed}</p>{lines}{picture}</div>"
    )
