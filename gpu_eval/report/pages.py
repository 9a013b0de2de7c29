"""The report as pages: Markdown, and one HTML file with everything inside."""

from __future__ import annotations

import base64
from html import escape

from gpu_eval.figures import METHOD, NORMAL_METHOD
from gpu_eval.report.columns import ABOUT, FIGURES, Column
from gpu_eval.report.findings import findings
from gpu_eval.report.rows import Row

TITLE = "What each decoder does"
STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:0 auto;padding:1rem;color:#1d2430;background:#fff}
h1{font-size:1.5rem} h2{font-size:1.15rem;margin-top:2rem} .scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.8rem;white-space:nowrap}
td,th{padding:.3rem .45rem;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child{text-align:left;position:sticky;left:0;background:inherit}
tr{background:#fff} th{white-space:normal;vertical-align:bottom}
table.about td:last-child,table.about th:last-child{text-align:left;white-space:normal;min-width:16rem}
img{max-width:100%;height:auto}
td.lossless{color:#1b7f5c;font-weight:600} td.biased{color:#b3402a;font-weight:600} tr.warning{background:#fdf1ee}
code{background:#f3f4f6;padding:0 .2rem;font-size:.9em;overflow-wrap:anywhere} small{color:#5b6472}
li{overflow-wrap:anywhere}
"""
READING = (
    "**Exact** figures are computed in Fractions from the law of the whole run, on two real sources in table form "
    "(`specsim tabulate`; vocab 3; `specsim/toys/`): `fashion`, the image model's laws over three groups of near "
    "codes, and `digits`, counts of scikit-learn's digits. The decoder source is the same, at lookahead or window 3. "
    "A verdict holds for those tables; it is no proof for all models. **One token TV** is what the rule does to one "
    "draft of the draft model, averaged over contexts; **run TV** is the distance of whole sequences; 0 without "
    "decimals is exactly 0. **Sampled** figures decode `fashion` (7 x 7 tokens of 512 codes; lookahead 4 or window "
    "16). One call = one forward pass of the target. Table and image model differ, and so can the order of the "
    "systems on them. **Quality** comes from the shipped classifier's features (no FID); a Frechet distance of few "
    "images is biased upwards, by as much in every row, since all have the same number of images. **Plain decoding** "
    "in its heading is a pool decoded with another seed; row AR is therefore the floor that chance alone makes. All "
    "rows use the same random numbers, so the three races show the very same images. Log-likelihood: nats a token "
    "under the target; a higher one is no better, it is the sign of duller images. Seconds are one run on this "
    "machine; on a small model a longer window costs more than it saves. Overhead is everything outside the models as "
    f"a share of model time. Intervals of tokens and calls: {METHOD}; of quality: {NORMAL_METHOD}. Figures of 2,000 "
    "images and several seeds are in `results/quality.json`, not here."
)


def markdown(rows: list[Row], heading: str, pictures: dict[str, str]) -> str:
    """The report as Markdown; pictures: title -> file name beside it."""
    lines = [f"# {TITLE}", "", heading, "", *(f"- {line}" for line in findings(rows)), ""]
    for title, columns in FIGURES.items():
        lines += [f"## {title}", "", *markdown_table(rows, columns), ""]
    for title, name in pictures.items():
        lines += [f"## {title}", "", f"![{title}]({name})", ""]
    lines += ["## The systems", "", *markdown_table(rows, ABOUT), "", "## How to read this", "", READING, ""]
    return "\n".join(lines)


def markdown_table(rows: list[Row], columns: tuple[Column, ...]) -> list[str]:
    """One table."""
    lines = ["| " + " | ".join(column.title for column in columns) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        lines.append("| " + " | ".join(column.cell(row).replace("|", "\\|") for column in columns) + " |")
    return lines


def html(rows: list[Row], heading: str, pictures: dict[str, bytes]) -> str:
    """The report as one file that needs nothing else."""
    listed = "".join(f"<li>{inline(escape(line))}</li>" for line in findings(rows))
    tables = "".join(
        f'<h2>{escape(title)}</h2><div class="scroll">{html_table(rows, columns)}</div>'
        for title, columns in FIGURES.items()
    )
    images = "".join(
        f'<h2>{escape(title)}</h2><img alt="{escape(title)}" src="data:image/png;base64,{encoded(data)}">'
        for title, data in pictures.items()
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>specsim report</title><style>{STYLE}</style>"
        f"<h1>{TITLE}</h1><p>{inline(escape(heading))}</p><ul>{listed}</ul>{tables}{images}"
        f'<h2>The systems</h2><div class="scroll">{html_table(rows, ABOUT)}</div>'
        f"<h2>How to read this</h2><p><small>{inline(escape(READING))}</small></p></html>\n"
    )


def html_table(rows: list[Row], columns: tuple[Column, ...]) -> str:
    """One table."""
    head = "".join(f"<th>{escape(column.title)}</th>" for column in columns)
    body = "".join(html_row(row, columns) for row in rows)
    kind = ' class="about"' if columns is ABOUT else ""
    return f"<table{kind}><tr>{head}</tr>{body}</table>"


def html_row(row: Row, columns: tuple[Column, ...]) -> str:
    """One table row; a verdict has its colour, a warning its background."""
    cells = (column.cell(row) for column in columns)
    filled = "".join(
        f'<td class="{cell}">{cell}</td>' if cell in ("lossless", "biased") else f"<td>{inline(escape(cell))}</td>"
        for cell in cells
    )
    return f"<tr{' class=' + chr(34) + 'warning' + chr(34) if row.system.warning else ''}>{filled}</tr>"


def encoded(data: bytes) -> str:
    """Bytes as text for a data: address."""
    return base64.b64encode(data).decode()


def inline(text: str) -> str:
    """Markdown's ** and ` as HTML; the text is escaped already."""
    for mark, tag in (("**", "b"), ("`", "code")):
        parts = text.split(mark)
        text = "".join(part if i % 2 == 0 else f"<{tag}>{part}</{tag}>" for i, part in enumerate(parts))
    return text
