"""Name parameters in messages: as arguments of Python functions or as options of the program ``paraqd``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
