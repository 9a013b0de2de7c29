"""A model from `FILE.py:function`; what goes wrong in the user's own code is said with file and line."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from specsim.errors import LONGEST, SpecsimError, shown
from specsim.specs import parse

PARTS = ("name", "prompts", "network", "grid", "codebook", "paint", "length", "model")
KINDS = ("label", "text")


class UserError(SpecsimError):
    """Raised inside the user's own code."""


def load(spec: str, weights: Path | None) -> Any:
    """What `FILE.py:function` returns, called with the folder of weights if there is one: a `Loaded`."""
    if ".py:" not in spec:
        raise SpecsimError(f"model {shown(spec)}: give FILE.py:function, e.g. own_model.py:make")
    if weights is not None and not weights.is_dir():
        raise SpecsimError(f"--weights {weights}: no such folder")
    made = named(spec)
    if callable(made) and missing(made):
        arguments = () if weights is None else (str(weights),)
        with users_code(file_of(spec), "while making the model"):
            made = made(*arguments)
    if lacks := missing(made):
        raise SpecsimError(
            f"{spec} gives {shown(made)}, which lacks {', '.join(lacks)}: return a gpu_eval.models.loaded.Loaded"
        )
    if made.prompts not in KINDS:
        raise SpecsimError(f'{spec}: prompts = {shown(made.prompts)} must be "label" or "text"')
    return made


def named(spec: str) -> Any:
    """The function, or what a call of it made."""
    try:
        return parse(spec, {}, "model")
    except SpecsimError as error:
        cause, path = error.__cause__, file_of(spec)
        if cause is None or not passes(cause, path):
            raise
        raise UserError(f"{place(cause, path)}: {last_line(cause)} (while loading)") from error


def file_of(spec: str) -> str:
    """The file of a spec, as written."""
    return spec.strip().partition(".py:")[0] + ".py"


def missing(made: Any) -> list[str]:
    """What of a `Loaded` a thing has not."""
    return [name for name in PARTS if not hasattr(made, name)]


@contextmanager
def users_code(path: str, when: str) -> Iterator[None]:
    """Errors other than specsim's own become one line with the last line of the traceback that is in the file."""
    try:
        yield
    except SpecsimError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"{place(error, path)}: {last_line(error)} ({when})") from error


def passes(error: BaseException, path: str) -> bool:
    """Whether the traceback passes through the file."""
    return any(frame.filename == path for frame in traceback.extract_tb(error.__traceback__))


def place(error: BaseException, path: str) -> str:
    """file:line, of the file where the traceback passes through it."""
    frames = traceback.extract_tb(error.__traceback__)
    last = ([frame for frame in frames if frame.filename == path] or frames)[-1]
    return f"{last.filename}:{last.lineno}"


def last_line(error: BaseException) -> str:
    """The last line of a traceback."""
    text = " ".join(traceback.format_exception_only(error)[-1].split())
    return text if len(text) <= 3 * LONGEST else f"{text[: 3 * LONGEST]}..."
