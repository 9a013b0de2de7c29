"""The report as pages: Markdown, and one HTML file with everything inside."""

from __future__ import annotations

import base64
from html import escape
from typing import Any

from gpu_eval.report.rows import Row

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:0 auto;padding:1rem;color:#1d2430;background:#fff}
h1{font-size:1.5rem} h2{font-size:1.15rem;margin-top:2rem} .scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.8rem;white-space:nowrap}
td,th{padding:.3rem .45rem;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child{text-align:left;position:sticky;left:0;background:inherit}
tr{background:#fff} td:last-child,th:last-child{text-align:left;white-space:normal;min-width:22rem}
td:nth-child(2),th:nth-child(2){text-align:left} img{max-width:100%;height:auto}
.lossless{color:#1b7f5c;font-weight:600} .biased{color:#b3402a;font-weight:600} tr.warning{background:#fdf1ee}
code{background:#f3f4f6;padding:0 .2rem;font-size:.9em;overflow-wrap:anywhere} small{color:#5b6472}
li{overflow-wrap:anywhere}
"""
COLUMNS = (
    "system",
    "exact verdict",
    "exact TV",
    "exact calls",
    "calls per image",
    "tokens per call",
    "s per image",
    "overhead",
    "what it is",
)
READING = (
    "**Exact** columns are computed in Fractions on a table model (`specsim/toys/target.json` and `draft.json`: vocab "
    "3, four tokens; the same decoder source, lookahead or window 3). A verdict there holds for that model; it is no "
    "proof for all models. **Sampled** columns decode the image model `fashion` (7 x 7 tokens of 512 codes; lookahead "
    "4 or window 16); brackets are 95 % bootstrap intervals over images. One call = one forward pass of the target. "
    "The two models differ, and so can the order of the systems on them. Seconds are one run on this machine, no "
    "better than their noise; on a small model fewer calls do not mean less time, because a longer window costs more "
    "per call. Overhead is everything outside the models (verification, redraft, bookkeeping), as a share of model "
    "time."
)
SLOWER = 1.2
"""Ratio of seconds from which a system is called slower than plain decoding: single runs differ by less than that."""


def cells(row: Row) -> list[str]:
    """One table row as text."""
    rule = "" if row.system.rule is None else f", {row.system.rule!r}"
    warning = f" ⚠ {row.system.warning}" if row.system.warning else ""
    return [
        row.system.name,
        row.verdict,
        "0" if row.lossless else f"{float(row.tv):.4f}",
        f"{float(row.calls):.3f}",
        interval(row.nfe, 1),
        interval(row.tokens_per_call, 2),
        f"{row.seconds_per_image:.3f}",
        f"{row.overhead:.0%}",
        f"{row.system.about}: `{row.system.real!r}{rule}`{warning}",
    ]


def interval(figure: dict[str, Any], digits: int) -> str:
    """A sampled figure with its interval."""
    low_high = figure["interval"]
    value = f"{figure['value']:.{digits}f}"
    return value if low_high is None else f"{value} [{low_high[0]:.{digits}f}, {low_high[1]:.{digits}f}]"


def markdown(rows: list[Row], heading: str, pictures: dict[str, str]) -> str:
    """The report as Markdown; pictures: title -> file name beside it."""
    lines = ["# What each decoder does", "", heading, "", READING, ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells(row)) + " |" for row in rows]
    lines += ["", *findings(rows), ""]
    for title, name in pictures.items():
        lines += [f"## {title}", "", f"![{title}]({name})", ""]
    return "\n".join(lines)


def findings(rows: list[Row]) -> list[str]:
    """Sentences that the figures of this very report support, flattering or not."""
    said = []
    for row in (row for row in rows if row.system.warning and not row.lossless):
        said.append(f"- **{row.system.name}** is biased: TV {float(row.tv):.4f} = {row.tv}. It {row.system.warning}.")
    biased = [row for row in rows if not row.lossless and not row.system.warning]
    said.append(f"- Exactly biased on the table model: {', '.join(row.system.name for row in biased)}.")
    plain = next(row for row in rows if row.system.name == "AR")
    slower = [row.system.name for row in rows if row.seconds_per_image > SLOWER * plain.seconds_per_image]
    if slower:
        said.append(f"- Over {SLOWER - 1:.0%} slower than plain decoding in seconds, in this run: {', '.join(slower)}.")
    return said


def html(rows: list[Row], heading: str, pictures: dict[str, bytes]) -> str:
    """The report as one file that needs nothing else."""
    head = "".join(f"<th>{escape(name)}</th>" for name in COLUMNS)
    body = "".join(html_row(row) for row in rows)
    images = "".join(
        f'<h2>{escape(title)}</h2><img alt="{escape(title)}" src="data:image/png;base64,{encoded(data)}">'
        for title, data in pictures.items()
    )
    listed = "".join(f"<li>{inline(escape(line[2:]))}</li>" for line in findings(rows))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>specsim report</title><style>{STYLE}</style>"
        f"<h1>What each decoder does</h1><p>{inline(escape(heading))}</p>"
        f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div><p><small>{inline(escape(READING))}</small></p>'
        f"<ul>{listed}</ul>{images}</html>\n"
    )


def encoded(data: bytes) -> str:
    """Bytes as text for a data: address."""
    return base64.b64encode(data).decode()


def html_row(row: Row) -> str:
    """One table row."""
    name, verdict, *figures, about = (escape(cell) for cell in cells(row))
    mark = ' class="warning"' if row.system.warning else ""
    rest = "".join(f"<td>{figure}</td>" for figure in figures)
    return f'<tr{mark}><td>{name}</td><td class="{row.verdict}">{verdict}</td>{rest}<td>{inline(about)}</td></tr>'


def inline(text: str) -> str:
    """Markdown's ** and ` as HTML; the text is escaped already."""
    for mark, tag in (("**", "b"), ("`", "code")):
        parts = text.split(mark)
        text = "".join(part if i % 2 == 0 else f"<{tag}>{part}</{tag}>" for i, part in enumerate(parts))
    return text
