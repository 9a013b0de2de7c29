"""The README's table of theorems, made from a saved ledger:  python -m proofs_checks.ledger.readme"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from specsim.files import write_text

BEGIN, END = "<!-- theorems: python -m proofs_checks.ledger.readme -->", "<!-- end of theorems -->"
ROOT = Path(__file__).resolve().parents[2]
SAVED = ROOT / "results" / "ledger.json"


def table(ledger: dict[str, Any]) -> str:
    """One row for each theorem: how its statements are known, and how many claimed sentences are refuted beside it."""
    lines = ["| | theorem | statements known by | sentences refuted |", "|---|---|---|---|"]
    for theorem in ledger["theorems"]:
        title = theorem["title"].replace("|", "\\|")
        held = [part["method"] for part in theorem["parts"] if part["stated"] == "holds"]
        methods = ", ".join(f"{held.count(m)} {m}" for m in ("proved", "certified", "tested") if m in held)
        refuted = sum(part["result"] == "fails" for part in theorem["parts"])
        anchor = f"docs/theory.md#{theorem['id'].lower()}"
        lines.append(f"| [{theorem['id']}]({anchor}) | {title} | {methods} | {refuted or '-'} |")
    return "\n".join(lines)


def with_table(readme: str, made: str) -> str:
    """The README with the table between its marks."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md has no marks {BEGIN} .. {END}")
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


def main() -> None:
    """Write the table into README.md."""
    readme = ROOT / "README.md"
    text = with_table(readme.read_text(), table(json.loads(SAVED.read_text())))
    write_text(readme, text)
    print(f"wrote {readme.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
