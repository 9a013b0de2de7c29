"""The one error a user can cause."""

from __future__ import annotations

from typing import Any


class SpecsimError(ValueError):
    """Bad input, said in one clear line; the command line prints it and exits with status 2."""


class TooLarge(SpecsimError):
    """An enumeration that would not fit its budget of memory."""


def require(condition: bool, owner: str, field: str, value: Any, wanted: str) -> None:
    """Refuse a field value: 'Lenient: omega = -1 must be a number above 0'."""
    if not condition:
        raise SpecsimError(f"{owner}: {field} = {value!r} must be {wanted}")
