"""Files: written whole or not at all, read with errors that name the file.

Every problem with a path is a `SpecsimError` of one line.
"""

import errno
import hashlib
import importlib.util
import json
import os
import secrets
import sys
import tempfile
import types
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from specsim.errors import SpecsimError


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text, as it is, in place of whatever `path` held."""
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write `data` in place of whatever `path` held: a reader sees the old file or the new one, never a part.

    The directory must exist. A symbolic link stays one. Anything but a regular file is refused, because
    replacing it would destroy it (`/dev/null`).
    """
    try:
        _replace(_place(Path(path), "it"), data)
    except (OSError, ValueError) as error:
        raise SpecsimError(f"cannot write {path}: {_reason(error)}") from error


def write_together(directory: Path, files: dict[str, bytes]) -> None:
    """Write several files so that a full disk or a name that is taken leaves all of them as they were.

    Directories are made if need be.  Everything is written under other names first; only then do the files take
    their places.
    """
    drafts: dict[Path, Path] = {}
    try:
        for name, data in files.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            target = _place(directory / name, name)
            drafts[target] = target.with_name(f".{secrets.token_hex(8)}.tmp")
            drafts[target].write_bytes(data)
        for target, draft in drafts.items():
            os.replace(draft, target)
    except (OSError, ValueError) as error:
        raise SpecsimError(f"cannot write in {directory}: {_reason(error)}") from error
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def ready_directory(path: str | Path, names: Iterable[str] = ()) -> Path:
    """Prove, before any work is spent, that files of these names can be written in the directory.

    It is made for that if need be, and taken away again: work that fails later leaves nothing behind.
    """
    directory, made = Path(path), list[Path]()
    if not str(path).strip():
        raise SpecsimError("the output directory is an empty path")
    try:
        made = [some for some in (directory, *directory.parents) if not some.exists()]
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=directory) as probe:
            probe.write(b"probe")
        for name in names:
            _place(directory / name, name)
    except (FileExistsError, NotADirectoryError) as error:
        problem = f"{error.filename} is not a directory"
        raise SpecsimError(f"cannot write in directory {path}: {problem}") from error
    except (OSError, ValueError) as error:
        raise SpecsimError(f"cannot write in directory {path}: {_reason(error)}") from error
    finally:
        for some in made:
            with suppress(OSError, ValueError):  # never made, or somebody else has put something in it
                some.rmdir()
    return directory


def ready_file(path: str | Path) -> Path:
    """The same for one file."""
    file = Path(path)
    if not file.name:
        raise SpecsimError(f"cannot write {str(path)!r}: it names no file")
    ready_directory(file.parent, [file.name])
    return file


def collide(one: str | Path, other: str | Path) -> bool:
    """Whether two paths cannot both be files: they are the same, or one lies below the other."""
    first, second = (Path(os.path.realpath(path)) for path in (one, other))
    return first == second or first in second.parents or second in first.parents


def require_regular(path: str | Path) -> None:
    """SpecsimError for what is there but no regular file: a device or a pipe may never end."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise SpecsimError(f"cannot read {path}: it is not a regular file")


def read_json(path: str | Path, exact: bool = False) -> Any:
    """The JSON value of a file, refusing what JSON does not settle: duplicate keys, NaN and infinities.

    With `exact`, a number with a point or an exponent is the Fraction of its decimal text (0.1 is 1/10).
    """
    require_regular(path)
    try:
        text = Path(path).read_bytes().decode()
    except UnicodeDecodeError as error:
        raise SpecsimError(f"{path} is not UTF-8 text: byte {error.start}") from error
    except (OSError, ValueError) as error:
        raise SpecsimError(f"cannot read {path}: {_reason(error)}") from error
    number = _fraction if exact else _float
    try:
        return json.loads(text, parse_float=number, parse_constant=_constant, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise SpecsimError(f"{path} is not JSON: line {error.lineno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise SpecsimError(f"{path} is not usable JSON: {error}") from error


def load_module(path: str | Path) -> types.ModuleType:
    """Run a user's Python file as a module, once for the same content. sys.path is left alone."""
    require_regular(path)
    try:
        source = Path(path).read_bytes()
        name = f"specsim_file_{hashlib.sha256(os.path.realpath(path).encode() + source).hexdigest()[:16]}"
    except (OSError, ValueError) as error:
        raise SpecsimError(f"cannot read {path}: {_reason(error)}") from error
    if name not in sys.modules:
        _execute(name, str(path), source)
    return sys.modules[name]


def _place(path: Path, name: str) -> Path:
    """Where a file of this path would lie, behind links; OSError where none can."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, f"{name} is not a regular file")
    os.stat(f"{target.parent}/.")  # a link may lead to where there is nothing
    return target


def _replace(target: Path, data: bytes) -> None:
    # Not tempfile: its files are private (0600), while a result should have the mode that the umask gives.
    draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(data)
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _float(text: str) -> float:
    value = float(text)
    if abs(value) == float("inf"):
        raise ValueError(f"the number {text[:40]} is out of range")
    return value


def _fraction(text: str) -> Fraction:
    # The float's range bounds the exponent: 1e999999999 would fill the memory as a Fraction.
    value, digits = _float(text), text.lower().partition("e")[0]
    if value == 0 and digits.strip("-0."):
        raise ValueError(f"the number {text[:40]} is out of range")
    return Fraction(text) if value else Fraction(0)


def _constant(text: str) -> None:
    raise ValueError(f"{text} is not a JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """ValueError if a key is given twice: keeping the last one would hide the first."""
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is given twice")
    return value


def _execute(name: str, path: str, source: bytes) -> None:
    loader = SourceFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None  # a loader was given
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while the file runs
    try:
        # Not loader.exec_module: its bytecode cache could serve an older edit of the same second and size.
        exec(loader.source_to_code(source, path), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        at = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
        problem = " ".join(str(getattr(error, "msg", error)).split())
        raise SpecsimError(f"{path} fails to load: {type(error).__name__}: {problem}{at}") from error
