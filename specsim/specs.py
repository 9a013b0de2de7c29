"""A spec is a repr: read `Annealed(delta=1.1, nu=0.7)` from text, safely.

Grammar: `Name`, `Name()`, `Name(1.1, nu=0.7)`, nested calls (`Race(Jacobi(window=16))`), literals
(numbers, strings, booleans, None, tuples), and a user's own `path/to/file.py:Name(args)`, where known
names may stand around the file's own: `my.py:Optimal(Mine())`. Nothing is evaluated: the text is parsed
into a tree, and only known names are called. Whatever is wrong is one `SpecsimError` of one line.
"""

import ast
import difflib
import inspect
import re
import sys
import types
import typing
import warnings
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from specsim.errors import SpecsimError
from specsim.files import load_module

Names = Mapping[str, Any]

# A path may hold anything, a call only starts like one: `Table("a.py:b")` is no path.
_OWN_FILE = re.compile(r"(?!\w+\()(?P<path>.+?\.py)(:(?P<call>.*))?", re.DOTALL)
_FILE_INSIDE = re.compile(r"[(,=]\s*(?P<path>[^(),=:'\"]+\.py):")
# What a field of each annotation takes. An annotation that is not listed is not judged here.
_ACCEPTED: dict[Any, tuple[type, ...]] = {
    float: (int, float, Fraction),
    Fraction: (int, float, Fraction),
    int: (int,),
    bool: (bool,),
    str: (str,),
    types.NoneType: (types.NoneType,),
}


def parse(text: str, known: Names, kind: str, extra: Names | None = None) -> Any:
    """The object that `text` spells.

    `known` holds the names allowed at the top, `extra` more names inside (such as `Fraction`, or a constant),
    and `kind` is the word for errors ("rule"). A bare class is its call without arguments; any other bare
    callable, such as a function, stands for itself.
    """
    own_file = _OWN_FILE.fullmatch(text.strip())
    if own_file is None:
        return _top(text.strip(), known, {**(extra or {}), **known}, known, kind)
    module = load_module(own_file["path"])
    here = {name: value for name, value in vars(module).items() if callable(value) and name[0] != "_"}
    # Of the file only what it defines is worth listing in an error, not what it imports.
    listed = [name for name, value in here.items() if getattr(value, "__module__", "") == module.__name__]
    nested = {**(extra or {}), **known, **here}
    call = (own_file["call"] or "").strip()
    # A known name is allowed on top as long as something of the file's stands inside.
    around = nested if any(re.search(rf"\b{name}\b", call.partition("(")[2]) for name in listed) else here
    return _top(call, around, nested, listed, f"{kind} from {own_file['path']}")


def describe(thing: Callable[..., Any]) -> str:
    """The signature as text: `Annealed(delta: float = 1.1, nu: float = 0.7)`."""
    name = getattr(thing, "__name__", type(thing).__name__)
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature
        return f"{name}(...)"
    return f"{name}({', '.join(map(_field, parameters))})"


def _field(field: inspect.Parameter) -> str:
    hint = field.annotation
    shown = hint if isinstance(hint, str) else inspect.formatannotation(hint)
    typed = "" if hint is field.empty else f": {shown}"
    default = "" if field.default is field.empty else f" = {field.default!r}"
    return f"{field.name}{typed}{default}"


def _top(text: str, known: Names, nested: Names, listed: Iterable[str], kind: str) -> Any:
    """The outermost name must be `known`; `listed` is what an error offers instead."""
    choices = f"known: {', '.join(sorted(listed)) or 'none'}"
    if not text:
        raise SpecsimError(f"empty {kind}; {choices}")
    node = _tree(text, kind)
    name = node.func if isinstance(node, ast.Call) else node
    if not isinstance(name, ast.Name):
        raise SpecsimError(f"{kind} {_short(text)} is not a name or a call; {choices}")
    if name.id not in known:
        raise SpecsimError(f"unknown {kind}: {_short(name.id)}{_closest(name.id, listed)}; {choices}")
    return _object(node, nested, kind)


def _tree(text: str, kind: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a doubtful literal such as "\d" is refused, not guessed
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        inside = _FILE_INSIDE.search(text)
        if inside is not None:
            written = f"{inside['path']}:{text.replace(inside['path'] + ':', '')}"
            raise SpecsimError(f"{kind} {_short(text)}: a file comes first; write {_short(written)}") from error
        reason = getattr(error, "msg", None) or str(error) or "nested too deeply"
        raise SpecsimError(f"{kind} {_short(text)} cannot be read: {_line(reason)}") from error


def _object(node: ast.expr, names: Names, kind: str) -> Any:
    """The object of a `Name` or of a `Name(...)`."""
    name = node.func if isinstance(node, ast.Call) else node
    if not isinstance(name, ast.Name):
        raise SpecsimError(f"{kind}: {_source(node)} does not call a plain name")
    if name.id not in names:
        close = f"{_closest(name.id, names)}; known: {', '.join(sorted(names))}"
        raise SpecsimError(f"{kind}: unknown name {_short(name.id)}{close}")
    thing = names[name.id]
    if not isinstance(node, ast.Call):
        return _construct(thing, name.id, [], {}) if isinstance(thing, type) else thing
    positional = [_value(item, names, kind) for item in node.args]
    return _construct(thing, name.id, positional, _keywords(node, names, kind))


def _keywords(call: ast.Call, names: Names, kind: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for word in call.keywords:
        if word.arg is None or word.arg in values:
            problem = "** is not allowed" if word.arg is None else f"field {_short(word.arg)} is given twice"
            raise SpecsimError(f"{kind} {_source(call)}: {problem}")
        values[word.arg] = _value(word.value, names, kind)
    return values


def _value(node: ast.expr, names: Names, kind: str) -> Any:
    match node:
        case ast.Constant(value=bool() | str() | None as plain):
            return plain
        case ast.Constant(value=number) if _finite(number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=number)) if _finite(number):
            return -number
        case ast.Tuple(elts=items):
            return tuple(_value(item, names, kind) for item in items)
        case ast.Name() | ast.Call():
            return _object(node, names, kind)
    wanted = "a finite number, a string, True, False, None, a tuple or a known name"
    raise SpecsimError(f"{kind}: {_source(node)} is not {wanted}")


def _finite(value: object) -> typing.TypeGuard[int | float]:
    return type(value) in (int, float) and value <= sys.float_info.max  # type: ignore[operator]


def _construct(thing: Callable[..., Any], name: str, positional: list[Any], named: dict[str, Any]) -> Any:
    try:
        _check_names(thing, name, named)
        _check_types(thing, positional, named)
        made = thing(*positional, **named)
    except SpecsimError:
        raise
    except (Exception, SystemExit) as error:  # whatever a constructor objects to answers what the user typed
        problem = _line(error) or type(error).__name__
        raise SpecsimError(f"{name}: {problem}; it is {describe(thing)}") from error
    if made is None:
        raise SpecsimError(f"{name} makes nothing: it gave None")
    return made


def _check_names(thing: Callable[..., Any], name: str, named: dict[str, Any]) -> None:
    fields = inspect.signature(thing).parameters
    open_ended = any(field.kind is field.VAR_KEYWORD for field in fields.values())
    for word in named:
        if word not in fields and not open_ended:
            close = _closest(word, fields)
            raise SpecsimError(f"{name} has no field {_short(word)}{close}; it is {describe(thing)}")


def _check_types(thing: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> None:
    """TypeError for missing, surplus or wrongly typed arguments."""
    hints = _hints(thing)
    for field, value in inspect.signature(thing).bind(*positional, **named).arguments.items():
        if not _fits(value, hints.get(field)):
            raise TypeError(f"{field}={_short(value)} has the wrong type")


def _hints(thing: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(thing)
    except Exception:  # a user's annotation need not resolve; then its fields are not judged
        return {}


def _fits(value: Any, hint: Any) -> bool:
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    kinds = typing.get_args(hint) if union else (hint,)
    if not all(kind in _ACCEPTED for kind in kinds):
        return True
    if isinstance(value, bool):  # True is an int to Python; here it is a mistake
        return bool in kinds
    return any(isinstance(value, _ACCEPTED[kind]) for kind in kinds)


def _closest(name: str, known: Iterable[str]) -> str:
    folded = {item.casefold(): item for item in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f" (did you mean '{folded[close[0]]}'?)" if close else ""


def _source(node: ast.expr) -> str:
    try:
        return _short(ast.unparse(node))
    except (RecursionError, ValueError):  # too deep, or an integer too long to be written
        return "an expression"


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:76]}...{shown[-1]}"


def _line(message: object) -> str:
    return " ".join(str(message).split())
