"""The faults: what may be done to one node of a syntax tree, as text to put in its place."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
NEGATED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
NEGATED |= {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
ARITHMETIC |= {ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}
PAIRS = [("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"), ("floor", "ceil")]
PAIRS += [("cumulative_prod", "cumulative_sum"), ("zeros", "ones"), ("zeros_like", "ones_like")]
SWAPPED = dict(PAIRS) | {second: first for first, second in PAIRS}
UNORDERED = {"min", "max", "minimum", "maximum"}
"""Functions whose two arguments may change places."""
NO_SWAP = UNORDERED | {
    "isinstance",
    "hasattr",
    "getattr",
    "require",
    "require_number",
    "require_whole",
    "require_slots",
}
"""Calls whose swapped arguments are no fault, or no plausible one, or spoil an error's words alone."""

UNTOUCHED = {None, "strict", "repr"}
"""Keywords that stay: `strict=True` of a zip only asserts, and what a repr leaves out is no behaviour."""


class Change(NamedTuple):
    """Put `text` in the place of `node`."""

    operator: str
    node: ast.AST
    text: str


def changes(node: ast.AST) -> Iterator[Change]:
    """Every fault that one node allows."""
    for kind, found in KINDS:
        if isinstance(node, kind):
            yield from found(node)


def edited(node: Any, **fields: Any) -> str:
    """The node's text with other fields, in brackets: it may stand anywhere."""
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return f"({ast.unparse(other)})"


def compared(node: ast.Compare) -> Iterator[Change]:
    """< for <=, and < for >=."""
    for name, table in (("boundary", BOUNDARY), ("negation", NEGATED)):
        for i, operator in enumerate(node.ops):
            if type(operator) in table:
                operators = [*node.ops[:i], table[type(operator)](), *node.ops[i + 1 :]]
                yield Change(name, node, edited(node, ops=operators))


def calculated(node: ast.BinOp) -> Iterator[Change]:
    """+ for -, * for /, & for |."""
    if type(node.op) in ARITHMETIC:
        yield Change("arithmetic", node, edited(node, op=ARITHMETIC[type(node.op)]()))


def joined(node: ast.BoolOp) -> Iterator[Change]:
    """`and` for `or`."""
    yield Change("and/or", node, edited(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or()))


def unsigned(node: ast.UnaryOp) -> Iterator[Change]:
    """A dropped `not`, `~` or minus."""
    yield Change("dropped sign", node, f"({ast.unparse(node.operand)})")


def constant(node: ast.Constant) -> Iterator[Change]:
    """n + 1 for n, twice a float (1 for 0.0), False for True."""
    if isinstance(node.value, bool):
        yield Change("constant", node, str(not node.value))
    elif isinstance(node.value, int):
        yield Change("constant", node, str(node.value + 1))
    elif isinstance(node.value, float):
        yield Change("constant", node, repr(2 * node.value or 1.0))


def chosen(node: ast.IfExp) -> Iterator[Change]:
    """The branches of `a if c else b` swapped."""
    yield Change("swapped branches", node, edited(node, body=node.orelse, orelse=node.body))


def sliced(node: ast.Slice) -> Iterator[Change]:
    """A bound of a slice off by one (whole numbers get their + 1 as constants)."""
    for bound in (node.lower, node.upper):
        if bound is not None:
            for sign in "-" if isinstance(bound, ast.Constant) else "+-":
                yield Change("slice bound", bound, f"({ast.unparse(bound)}) {sign} 1")


def called(node: ast.Call) -> Iterator[Change]:
    """Another function of its kind, a keyword dropped, or two neighbouring arguments swapped."""
    name, args = called_name(node), node.args
    if name in SWAPPED:
        part = {"attr" if isinstance(node.func, ast.Attribute) else "id": SWAPPED[name]}
        yield Change("other function", node.func, edited(node.func, **part)[1:-1])
    for i, word in enumerate(node.keywords):
        if word.arg not in UNTOUCHED:
            yield Change("dropped keyword", node, edited(node, keywords=[*node.keywords[:i], *node.keywords[i + 1 :]]))
    for i in range(len(args) - 1):
        starred = any(isinstance(arg, ast.Starred) for arg in args[i : i + 2])
        if not starred and name not in NO_SWAP and ast.dump(args[i]) != ast.dump(args[i + 1]):
            yield Change(
                "swapped arguments", node, edited(node, args=[*args[:i], args[i + 1], args[i], *args[i + 2 :]])
            )


def called_name(node: ast.Call) -> str:
    """The last part of what is called: `where` of xp.where."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def returned(node: ast.Return) -> Iterator[Change]:
    """The first argument of a call in place of its result."""
    call = node.value
    args = call.args if isinstance(call, ast.Call) and called_name(call)[:1].islower() else []  # no classes
    if call is not None and args and not isinstance(args[0], ast.Starred):
        yield Change("returned argument", call, f"({ast.unparse(args[0])})")


def deleted(node: ast.Expr | ast.AugAssign) -> Iterator[Change]:
    """A statement left out; docstrings and `...` are none."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        yield Change("deleted statement", node, "pass")


def unguarded(node: ast.If) -> Iterator[Change]:
    """An early exit left out."""
    if not node.orelse and isinstance(node.body[-1], (ast.Raise, ast.Return, ast.Continue)):
        yield Change("deleted statement", node, "pass")


def reassigned(node: ast.FunctionDef) -> Iterator[Change]:
    """A second assignment to a name left out."""
    seen = {argument.arg for argument in node.args.args}
    for inner in sorted(ast.walk(node), key=lambda n: (getattr(n, "lineno", 0), getattr(n, "col_offset", 0))):
        if isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Name):
            if inner.targets[0].id in seen:
                yield Change("deleted statement", inner, "pass")
            seen.add(inner.targets[0].id)


KINDS: list[tuple[Any, Any]] = [
    *((ast.Compare, compared), (ast.BinOp, calculated), (ast.BoolOp, joined), (ast.UnaryOp, unsigned)),
    *((ast.Constant, constant), (ast.IfExp, chosen), (ast.Slice, sliced), (ast.Call, called), (ast.Return, returned)),
    *(((ast.Expr, ast.AugAssign), deleted), (ast.If, unguarded), (ast.FunctionDef, reassigned)),
]
