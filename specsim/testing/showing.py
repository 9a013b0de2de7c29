"""Counterexamples for people: token by token, run by run, and as a test that fails until the mistake is mended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from pprint import pformat
from typing import Any

import numpy as np
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from specsim.checking.show import brief
from specsim.tables import Table as Model
from specsim.testing.claims import Judged
from specsim.testing.counterexamples import counterexample
from specsim.testing.domains import Case
from specsim.testing.run_claims import sequences
from specsim.testing.statements import Statement
from specsim.testing.statements import shown as vectors_of


def tables(statement: Statement, case: Case) -> Iterator[RenderableType]:
    """A case for people: what is no law in a line, models prefix by prefix, then token by token or run by run."""
    written = case.as_json()["values"]
    models = {name: value for name, _ in case.raw if isinstance(value := getattr(case, name), Model)}
    vectors = vectors_of(statement, case)
    columns = [list(values) for values in vectors.values()]
    untold = {name: text for name, text in written.items() if name not in models}
    facts = [f"{name} = {text}" for name, text in untold.items() if not is_column(getattr(case, name), columns)]
    yield Text(", ".join([f"V = {case.vocab}", *([f"N = {case.length}"] if models else []), *facts]))
    if models:
        yield model_table(models)
    if vectors:
        yield vector_table(vectors, case)


def is_column(value: Any, columns: list[list[Any]]) -> bool:
    """Whether a vector is told already as a column."""
    return isinstance(value, np.ndarray) and value.reshape(-1).tolist() in columns


def grid(*names: str) -> Table:
    """A compact table, its first column a label."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for i, name in enumerate(names):
        table.add_column(name, justify="right" if i else "left", overflow="fold")
    return table


def model_table(models: dict[str, Model]) -> Table:
    """The laws of models, one row for each prefix."""
    table, first = grid("after", *models), next(iter(models.values()))
    prefixes = [name for n in range(first.length) for name in sequences(first.vocab, n)]
    for i, prefix in enumerate(prefixes):
        table.add_row(prefix or "(start)", *(" ".join(map(brief, model.laws[i])) for model in models.values()))
    return table


def vector_table(vectors: dict[str, Any], case: Case) -> Table:
    """Vectors side by side: over tokens, over sequences, or over anything else by number."""
    count = max(len(values) for values in vectors.values())
    runs = count == case.vocab**case.length and case.length > 1
    names = sequences(case.vocab, case.length) if runs else [str(i) for i in range(count)]
    table = grid("sequence" if runs else "token" if count == case.vocab else "row", *vectors)
    for i, name in enumerate(names):
        cells = (cell(values[i]) if i < len(values) else "-" for values in vectors.values())
        table.add_row(name, *cells)
    return table


def cell(value: Any) -> str:
    """A number as a short fraction or decimal; text as it is."""
    return value if isinstance(value, str) else brief(value)


def view(statement: Statement, case: Case, margin: Any, title: str) -> Group:
    """A counterexample under its title."""
    fails = f"{statement.text}: margin {brief(margin)}"
    return Group(Text(title, style="bold"), Text(fails), *tables(statement, case))


TEST = '''\
"""{claim} fails for {subject}: {text}.

{table}

Found by `specsim check`.  Fails until the {kind} is mended; keep it to see that it stays so.
"""

from pathlib import Path

from specsim.testing import assert_case

ROOT = Path(__file__).resolve().parent / {root!r}  # paths of the subject begin here
CASE = {case}


def test_{name}() -> None:
    assert_case(CASE, root=ROOT)
'''


def written_test(judged: Judged, directory: Path) -> str:
    """A test file, to lie in `directory`, that fails as long as the counterexample is one."""
    statement, finding, found = judged.statement, judged.finding, counterexample(judged)
    assert statement is not None and finding is not None and finding.counterexample is not None
    table = as_text(Group(*tables(statement, finding.counterexample)))
    parts = {"claim": judged.claim.name, "subject": judged.subject.name, "text": statement.text, "table": table}
    plain = {name: part.replace("\\", "/").replace('"""', "'''") for name, part in parts.items()}
    name = judged.claim.name.replace("-", "_")
    root, case = os.path.relpath(os.path.realpath("."), os.path.realpath(directory)), literal(found.as_json())
    return TEST.format(**plain, kind=judged.subject.kind, root=root, case=case, name=name)


def literal(content: dict[str, Any]) -> str:
    """JSON as a Python literal."""
    return pformat(content, indent=1, width=116, sort_dicts=False)


def as_text(view: RenderableType) -> str:
    """What a terminal of 100 columns would show."""
    console = Console(file=StringIO(), width=100, color_system=None)
    with console.capture() as captured:
        console.print(view)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())
