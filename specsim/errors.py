"""The one error a user can cause."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

LONGEST = 80
"""Characters of a value in an error."""


class SpecsimError(ValueError):
    """Bad input, said in one clear line; the command line prints it and exits with status 2."""


class TooLarge(SpecsimError):
    """An enumeration that would not fit its budget of memory."""


def require(condition: bool, owner: str, field: str, value: Any, wanted: str) -> None:
    """Refuse a field value: 'Lenient: omega = -1 must be a number above 0'."""
    if not condition:
        raise SpecsimError(f"{owner}: {field} = {shown(value)} must be {wanted}")


def require_number(owner: str, field: str, value: Any, low: float, high: float, above: bool = False) -> None:
    """A field is an int, a float or a Fraction from low to high; `above`: low itself is refused."""
    kind = "a number" if is_number(value) else "a Python number (int, float or Fraction)"
    span = f"above {low:g}, at most {high:g}" if above else f"from {low:g} to {high:g}"
    fits = is_number(value) and low <= value <= high and not (above and value == low)
    require(fits, owner, field, value, f"{kind} {span}")


def require_whole(owner: str, field: str, value: Any, low: int, high: int) -> None:
    """A field is an int from low to high."""
    require(type(value) is int and low <= value <= high, owner, field, value, f"a whole number from {low} to {high}")


def is_number(value: Any) -> bool:
    """True and False are no numbers here, nor are numpy's scalars but float64, which is a float."""
    return isinstance(value, (int, float, Fraction)) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """A value on one line, cut where it is long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an integer too long to be written, or a repr of somebody's own
        return f"a {type(value).__name__} that cannot be written"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def asked(what: str, call: Callable[..., Any], *arguments: Any) -> Any:
    """What somebody's own code makes of the arguments; whatever it raises, or None, is one line that names `what`."""
    try:
        made = call(*arguments)
    except SpecsimError:
        raise
    except (Exception, SystemExit) as error:
        raise SpecsimError(f"{what}: {type(error).__name__}: {' '.join(str(error).split())[:160]}") from error
    if made is None:
        raise SpecsimError(f"{what}: it returned None, must return the rule")
    return made
