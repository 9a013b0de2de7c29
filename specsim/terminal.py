"""What every command shares: one line for every error, progress bars, JSON or a view."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from specsim.errors import SpecsimError

HOLDS, FAILS, BAD_INPUT, INTERRUPTED, UNREAD = 0, 1, 2, 130, 141
LONGEST_LINE = 600
"""Characters of an error line: a value may be far longer than anybody reads."""


def exit_status(command: Callable[[], Any]) -> int:
    """Run a command: 0 holds, 1 does not, 2 bad usage or input, 130 interrupted, 141 nobody reads on.

    Whatever goes wrong is one line on stderr, never a traceback (but see SPECSIM_TRACEBACK).
    """
    try:
        status = command() or HOLDS
    except BaseException as error:
        if os.environ.get("SPECSIM_TRACEBACK"):
            raise
        status = failed(error)
    try:
        sys.stdout.flush()
    except OSError as error:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  what could not be printed is not tried again at exit
        status = failed(error)
    return status


def failed(error: BaseException) -> int:
    """Say what went wrong, and its exit status.  An interrupt or a reader that went away needs no words."""
    # The command line library turns both into errors of its own, which keep what they came from.
    chain = (error, error.__cause__, error.__context__)
    if any(isinstance(link, KeyboardInterrupt) for link in chain):
        return INTERRUPTED
    if any(isinstance(link, BrokenPipeError) for link in chain):
        return UNREAD
    if line := reason(error):
        say(f"error: {line}")
    return BAD_INPUT


def reason(error: BaseException) -> str:
    """One line for any error; an unforeseen one names its type and place, and how to see more."""
    if isinstance(error, SpecsimError):
        return str(error)
    if hasattr(error, "format_message"):  # a usage error of the command line library
        return error.format_message()
    if isinstance(error, SystemExit):
        return "a rule or decoder tried to end the program; it may only return"
    if isinstance(error, MemoryError):
        return "out of memory; use a smaller case"
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    return f"{type(error).__name__}: {error} ({where}; SPECSIM_TRACEBACK=1 shows where it came from)"


def say(line: str) -> None:
    """One line on stderr: cut where it is too long, and without control characters."""
    text = "".join(c if c.isprintable() else " " for c in line)
    text = text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 60]} … {text[-50:]}"
    Console(stderr=True, soft_wrap=True, highlight=False).print(text, markup=False)


@contextmanager
def progress_bar(what: str) -> Iterator[Any]:
    """A bar on stderr for work that may take longer than two seconds; yields update(done, total)."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with redirect_stdout(sys.stderr), bar:  # a rule that prints must not spoil the JSON on stdout
        task = bar.add_task(what, total=None)
        yield lambda done, total=None: bar.update(task, completed=done, total=total)


def emit(content: dict[str, Any], view: Any, as_json: bool) -> None:
    """JSON for machines, or a view for people."""
    if as_json:
        print(json.dumps(jsonable(content), indent=1, allow_nan=False))
    else:
        Console().print(view)


def jsonable(content: Any) -> Any:
    """The same with infinities, which JSON has no number for, as the text "inf"."""
    if isinstance(content, dict):
        return {key: jsonable(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [jsonable(value) for value in content]
    return "inf" if isinstance(content, float) and content == float("inf") else content


@contextmanager
def needing(command: str, extra: str) -> Iterator[None]:
    """A missing package is bad usage, and the extra that brings it is named."""
    try:
        yield
    except ModuleNotFoundError as error:
        how = f"pip install 'specsim[{extra}]', in a checkout pip install -e '.[{extra}]'"
        raise SpecsimError(f"{command} needs {error.name}: {how}") from None
