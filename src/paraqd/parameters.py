"""Check numbers that are given as parameters, and name parameters in messages.

A message names a parameter as an argument of a Python function or as an option of the program ``paraqd``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from numbers import Integral, Real

from paraqd.errors import ArgumentError

_COLUMNS = ("question", "paraphrase", "label", "id", "score")
_state = {"options": False}


def are_options() -> bool:
    """Return True if messages name parameters as options."""
    return _state["options"]


def name_as_options(options: bool) -> None:
    """Set whether messages name parameters as options."""
    _state["options"] = options


@contextmanager
def as_options() -> Iterator[None]:
    """Name parameters as options in the messages that are created inside the context."""
    before = are_options()
    name_as_options(True)
    try:
        yield
    finally:
        name_as_options(before)


def named(name: str, value: object = True) -> str:
    """Return a parameter and its value as the user writes them.

    >>> named("overwrite"), named("workers", 2), named("question", "my text")
    ('overwrite=True', 'workers=2', "question='my text'")
    >>> with as_options():
    ...     named("overwrite"), named("workers", 2), named("question", "my text"), named("out", "NAME.csv")
    ('--overwrite', '--workers 2', '--question-column "my text"', '-o NAME.csv')
    """
    if not _state["options"]:
        return f"{name}={value!r}"
    option = "-o" if name == "out" else f"--{name.replace('_', '-')}" + ("-column" if name in _COLUMNS else "")
    if value is True:
        return option
    return f'{option} "{value}"' if " " in str(value) else f"{option} {value}"


def whole_number(name: str, given: object, *, least: int | None = None) -> int:
    """Return a whole number, which may be one of numpy's, as an int. Raise an `ArgumentError` if it cannot be used.

    >>> whole_number("n", 5, least=1)
    5
    """
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise ArgumentError(f"{name} is {given!r}: pass a whole number")
    if least is not None and given < least:
        raise ArgumentError(f"{name} is {int(given)}: pass at least {least}")
    return int(given)


def truth(name: str, given: object) -> bool:
    """Return True or False, which may be one of numpy's. Raise an `ArgumentError` if it is anything else.

    >>> truth("gate", True)
    True
    """
    if not isinstance(given, bool) and type(given).__name__ not in ("bool", "bool_"):
        raise ArgumentError(f"{name} is {given!r}: pass True or False")
    return bool(given)


def number_between(name: str, given: object, least: float, most: float) -> float:
    """Return a number as a float. Raise an `ArgumentError` if it is no number, or outside the limits.

    >>> number_between("timeout", 60, 0.001, 1_000_000)
    60.0
    """
    if isinstance(given, Real) and not isinstance(given, bool):
        with suppress(OverflowError):
            if least <= float(given) <= most:
                return float(given)
    raise ArgumentError(f"{name} is {given!r}: pass a number from {least:,} to {most:,}")
