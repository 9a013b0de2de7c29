"""Mutants: copies of one source file that differ from it in one small fault."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.mutation.operators import UNTOUCHED, Change, changes

ERRORS = {"SpecsimError", "TooLarge"}
"""What is inside these calls is the text of an error."""


class Mutant(NamedTuple):
    """A fault: where it is, the lines it is in before and after (on one line), and the whole source that has it.

    where: the class or function, a function with "()" behind it; empty at the top.
    """

    file: str
    line: int
    where: str
    operator: str
    before: str
    after: str
    source: str


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Every mutant of a source, in the order of its lines; texts that mean the same are one."""
    meanings = {ast.dump(ast.parse(source))}
    found = []
    for change, where in allowed(ast.parse(source), ""):
        mutant = with_change(file, source, change, where)
        meaning = ast.dump(ast.parse(mutant.source))
        if meaning not in meanings:
            meanings.add(meaning)
            found.append(mutant)
    return sorted(found, key=lambda mutant: mutant[:-1])


def allowed(node: ast.AST, where: str) -> Iterator[tuple[Change, str]]:
    """Every change below a node with the function it is in, leaving out what only people and checkers read."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        outer = f"{where.removesuffix('()')}." if where else ""
        where = f"{outer}{node.name}{'()' if isinstance(node, ast.FunctionDef) else ''}"
    for change in changes(node):
        yield change, where
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list"):
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, ast.AST) and not is_text(inner):
                    yield from allowed(inner, where)


def is_text(node: ast.AST) -> bool:
    """Errors and their words, texts put together, assertions for the type checker, and what a repr leaves out."""
    error = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS
    hidden = isinstance(node, ast.keyword) and node.arg in UNTOUCHED
    return error or hidden or isinstance(node, (ast.Raise, ast.JoinedStr, ast.Assert))


def with_change(file: str, source: str, change: Change, where: str) -> Mutant:
    """The source with the change made; columns count bytes, as the syntax tree does."""
    node, lines = change.node, source.encode().splitlines(keepends=True)
    first, last = node.lineno - 1, node.end_lineno - 1  # type: ignore[attr-defined]
    head, tail = lines[first][: node.col_offset], lines[last][node.end_col_offset :]  # type: ignore[attr-defined]
    new = head + change.text.encode() + tail
    before, after = (" ".join(text.decode().split()) for text in (b"".join(lines[first : last + 1]), new))
    whole = b"".join([*lines[:first], new, *lines[last + 1 :]]).decode()
    return Mutant(file, first + 1, where, change.operator, before, after, whole)
