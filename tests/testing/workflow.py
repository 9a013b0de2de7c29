"""A strict reader of the YAML that workflows are written in: block mappings, block sequences and plain values.

It refuses whatever else YAML has, so what it reads every YAML reader reads in the same way (but for values, which it
leaves as text).
"""

from __future__ import annotations

import re
from typing import Any

KEY = re.compile(r"(?P<key>[A-Za-z_][\w-]*):(?: +(?P<value>.*))?")
Line = tuple[int, str]


def load(text: str) -> Any:
    """The document; ValueError for anything out of the ordinary."""
    if "\t" in text:
        raise ValueError("a tab")
    rows = [line.rstrip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    lines = [(len(row) - len(row.lstrip()), row.lstrip()) for row in rows]
    value, rest = block(lines, 0)
    if rest:
        raise ValueError(f"indentation: {rest[0][1]}")
    return value


def block(lines: list[Line], indent: int) -> tuple[Any, list[Line]]:
    """A mapping or a sequence that begins at an indentation, and the lines after it."""
    if not lines or lines[0][0] != indent:
        raise ValueError(f"indentation: {lines[0][1] if lines else 'nothing'}")
    return (sequence if lines[0][1].startswith("- ") else mapping)(lines, indent)


def sequence(lines: list[Line], indent: int) -> tuple[list[Any], list[Line]]:
    """- item, again and again."""
    items: list[Any] = []
    while lines and lines[0][0] == indent:
        if not lines[0][1].startswith("- "):
            raise ValueError(f"no item: {lines[0][1]}")
        inner = lines[0][1][2:]
        if KEY.fullmatch(inner):
            item, lines = mapping([(indent + 2, inner), *lines[1:]], indent + 2)
        else:
            item, lines = scalar(inner), lines[1:]
        items.append(item)
    return items, lines


def mapping(lines: list[Line], indent: int) -> tuple[dict[str, Any], list[Line]]:
    """key: value, or key: and a deeper block."""
    found: dict[str, Any] = {}
    while lines and lines[0][0] == indent:
        entry = KEY.fullmatch(lines[0][1])
        if entry is None or entry["key"] in found:
            raise ValueError(f"no new key: {lines[0][1]}")
        lines = lines[1:]
        value: Any = None
        if entry["value"]:
            value = scalar(entry["value"])
        elif lines and lines[0][0] > indent:
            value, lines = block(lines, lines[0][0])
        found[entry["key"]] = value
    return found, lines


def scalar(text: str) -> str:
    """Plain text without anything that YAML reads in a way of its own, or text between double quotes."""
    if quoted := re.fullmatch(r'"([^"\\]*)"', text):
        return quoted[1]
    if text[0] in "[]{}&*!|>'\"%@`,?" or ": " in text or text.endswith(":") or " #" in text:
        raise ValueError(f"quote it: {text}")
    return text
